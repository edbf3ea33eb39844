#include "codec/json.h"

#include <gtest/gtest.h>

#include <limits>

namespace deem::codec {
namespace {

static_assert(!std::is_convertible_v<void*, Json> && !std::is_convertible_v<char, Json>);

TEST(Json, EachTypeHasItsKind) {
  EXPECT_TRUE(Json().is_null());
  EXPECT_TRUE(Json(nullptr).is_null());
  EXPECT_EQ(Json(true).kind(), Json::Kind::Bool);
  EXPECT_EQ(Json(1).kind(), Json::Kind::Int);
  EXPECT_EQ(Json(1U).kind(), Json::Kind::Int);
  EXPECT_EQ(Json(std::size_t{1}).kind(), Json::Kind::Int);
  EXPECT_EQ(Json(1LL).kind(), Json::Kind::Int);
  EXPECT_EQ(Json(1.0).kind(), Json::Kind::Double);
  EXPECT_EQ(Json("s").kind(), Json::Kind::String);
  EXPECT_EQ(Json(std::string_view("s")).kind(), Json::Kind::String);
  EXPECT_EQ(Json::array().kind(), Json::Kind::Array);
  EXPECT_EQ(Json::object().kind(), Json::Kind::Object);
  EXPECT_EQ(Json::from(std::optional<int>()).kind(), Json::Kind::Null);
  EXPECT_EQ(Json::from(std::optional<int>(3)), Json(3));
}

TEST(Json, AnUnsignedPast63BitsIsABigInt) {
  EXPECT_EQ(Json(std::uint64_t{9'223'372'036'854'775'807U}).as_int(),
            std::numeric_limits<std::int64_t>::max());
  const Json big(std::uint64_t{9'223'372'036'854'775'808U});
  EXPECT_EQ(big.kind(), Json::Kind::BigInt);
  EXPECT_EQ(big.digits(), "9223372036854775808");
  EXPECT_EQ(big.as_double(), 9223372036854775808.0);
}

TEST(Json, ABigIntThatFitsIsAnInt) {
  EXPECT_EQ(Json::big_int("-9223372036854775808"), Json(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(Json::big_int("-9223372036854775809").digits(), "-9223372036854775809");
  EXPECT_EQ(Json::big_int("0000"), Json(0));
  EXPECT_EQ(Json::big_int("-0"), Json(0));
  EXPECT_EQ(Json::big_int("000123456789012345678901").digits(), "123456789012345678901");
}

TEST(Json, ABigIntPastADoubleIsInfinite) {
  const std::string digits(400, '9');
  EXPECT_EQ(Json::big_int(digits).as_double(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(Json::big_int("-" + digits).as_double(), -std::numeric_limits<double>::infinity());
}

TEST(Json, SetAppendsOrReplacesInPlace) {
  Json object;
  object.set("a", 1).set("b", 2).set("a", "three");
  EXPECT_EQ(object, Json::object({{"a", "three"}, {"b", 2}}));
  object.set("self", object);
  EXPECT_EQ(object.find("self")->members().size(), 2);
}

TEST(Json, PushMakesAnArray) {
  Json array;
  array.push(1);
  array.push("x");
  EXPECT_EQ(array, Json::array({1, "x"}));
}

TEST(Json, FindSaysNullptrForWhatIsNotThere) {
  EXPECT_EQ(Json::object({{"a", 1}}).find("b"), nullptr);
  EXPECT_EQ(Json(1).find("a"), nullptr);
}

TEST(Json, GettersWantTheirKind) {
  const Json json = Json::object({{"s", "x"}, {"i", 1}, {"d", 1.5}, {"b", false}, {"n", nullptr}});
  EXPECT_EQ(json.get_string("s"), "x");
  EXPECT_EQ(json.get_string("i"), std::nullopt);
  EXPECT_EQ(json.get_int("i"), 1);
  EXPECT_EQ(json.get_int("d"), std::nullopt);
  EXPECT_EQ(json.get_double("i"), 1.0);
  EXPECT_EQ(json.get_double("d"), 1.5);
  EXPECT_EQ(json.get_double("b"), std::nullopt);
  EXPECT_EQ(json.get_bool("b"), false);
  EXPECT_EQ(json.get_bool("i"), std::nullopt);
  EXPECT_EQ(json.get_bool("n"), std::nullopt);
  EXPECT_EQ(Json("x").get_string("s"), std::nullopt);
}

TEST(Json, EqualityIsOfKindAndOrder) {
  EXPECT_NE(Json(1), Json(1.0));
  EXPECT_NE(Json(1), Json(true));
  EXPECT_NE(Json::object({{"a", 1}, {"b", 2}}), Json::object({{"b", 2}, {"a", 1}}));
  EXPECT_NE(Json(std::numeric_limits<double>::quiet_NaN()),
            Json(std::numeric_limits<double>::quiet_NaN()));
}

TEST(JsonDeathTest, AWrongKindIsABug) {
  EXPECT_DEATH(static_cast<void>(Json("x").as_int()), "bug");
  EXPECT_DEATH(static_cast<void>(Json(1).items()), "bug");
  EXPECT_DEATH(Json(1).set("a", 1), "bug");
  EXPECT_DEATH(static_cast<void>(Json::big_int("1e5")), "bug");
}

}  // namespace
}  // namespace deem::codec
