#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "codec/json.h"

namespace deem::codec {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string repeat(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

struct ValueCase {
  const char* text;
  Json want;
};

TEST(ParseJson, ReadsEveryKindInBothModes) {
  const std::vector<ValueCase> cases = {
      {"null", nullptr},
      {" \t\r\n true \n", true},
      {"false", false},
      {"0", 0},
      {"-0", 0},
      {"-0.0", -0.0},
      {"1e0", 1.0},
      {"1E+2", 100.0},
      {"-1.5e-3", -0.0015},
      {"123456789012345678", 123456789012345678},
      {"9223372036854775807", std::numeric_limits<std::int64_t>::max()},
      {"-9223372036854775808", std::numeric_limits<std::int64_t>::min()},
      {"9223372036854775808", Json::big_int("9223372036854775808")},
      {"-18446744073709551617", Json::big_int("-18446744073709551617")},
      {"5e-324", 5e-324},
      {"1e-400", 0.0},
      {"-1e-400", -0.0},
      {"2.2250738585072011e-308", 2.2250738585072011e-308},
      {"1.7976931348623157e308", std::numeric_limits<double>::max()},
      {R"("")", ""},
      {R"("\"\\\/\b\f\n\r\t")", "\"\\/\b\f\n\r\t"},
      {R"("\u00e9\u20AC\u007f")", "é€\x7f"},
      {R"("\ud83d\ude00")", "\U0001f600"},
      {"\"\x7f\U0001f600\u2028\"", "\x7f\U0001f600\u2028"},
      {R"("\u0000")", std::string(1, '\0')},
      {"[]", Json::array()},
      {"[ 1 , [ ] , {} ]", Json::array({1, Json::array(), Json::object()})},
      {R"({ "b" : 1 , "a" : {"c":[2]} })",
       Json::object({{"b", 1}, {"a", Json::object({{"c", Json::array({2})}})}})},
      {R"({"": null})", Json::object({{"", nullptr}})},
  };
  for (const ValueCase& c : cases) {
    for (const JsonMode mode : {JsonMode::Strict, JsonMode::Python}) {
      const auto read = parse_json(c.text, mode);
      ASSERT_TRUE(read) << c.text << ": " << read.error().message;
      EXPECT_EQ(*read, c.want) << c.text;
    }
  }
}

TEST(ParseJson, KeepsTheSignOfAFloatZeroOnly) {
  EXPECT_TRUE(std::signbit(parse_json("-0.0")->as_double()));
  EXPECT_TRUE(std::signbit(parse_json("-1e-999")->as_double()));
  EXPECT_FALSE(parse_json("-0")->kind() == Json::Kind::Double);
}

TEST(ParseJson, OfEqualKeysTheLastValueStandsAtTheFirstPlace) {
  EXPECT_EQ(parse_json(R"({"a": 1, "b": 2, "a": 3, "\u0061": 4})").value(),
            Json::object({{"a", 4}, {"b", 2}}));
  EXPECT_EQ(parse_json(R"({"x": {"a": 1, "a": 2}, "a": 5})").value(),
            Json::object({{"x", Json::object({{"a", 2}})}, {"a", 5}}));
}

TEST(ParseJson, EqualKeysAmongThousandsAreMergedAlike) {
  std::string text = "[0, {";
  std::vector<Json::Member> want;
  for (int i = 0; i < 3000; ++i) {
    text += "\"k" + std::to_string(i % 1000) + "\": " + std::to_string(i) + ", ";
    if (i < 1000) want.emplace_back("k" + std::to_string(i), i + 2000);
  }
  text += "\"end\": 1}]";
  want.emplace_back("end", 1);
  EXPECT_EQ(parse_json(text).value(), Json::array({0, Json::object(want)}));
}

TEST(ParseJson, PythonModeTakesWhatPythonTakes) {
  EXPECT_TRUE(std::isnan(parse_json("NaN", JsonMode::Python)->as_double()));
  EXPECT_EQ(parse_json("[Infinity, -Infinity, 1e400, -1e400]", JsonMode::Python).value(),
            Json::array({kInfinity, -kInfinity, kInfinity, -kInfinity}));
  EXPECT_EQ(parse_json(R"("\ud83d")", JsonMode::Python).value(), "\xed\xa0\xbd");
  EXPECT_EQ(parse_json(R"("\ude00\ud83d")", JsonMode::Python).value(), "\xed\xb8\x80\xed\xa0\xbd");
  EXPECT_EQ(parse_json(R"("\ud83d\ud83d\ude00")", JsonMode::Python).value(),
            "\xed\xa0\xbd\U0001f600");
  EXPECT_EQ(parse_json(R"("\ud83dx\ude00")", JsonMode::Python).value(),
            "\xed\xa0\xbdx\xed\xb8\x80");
}

TEST(ParseJson, TakesIntegersUpToPythonsLimit) {
  const std::string digits(4'300, '7');
  for (const std::string& text : {digits, "-" + digits}) {
    EXPECT_EQ(parse_json(text)->digits(), text);
    const auto longer = parse_json(text + "7");
    ASSERT_FALSE(longer);
    EXPECT_EQ(longer.error().message, "line 1 column 1: an integer of more than 4300 digits");
  }
}

TEST(ParseJson, GoesAsDeepAsTheLimit) {
  EXPECT_TRUE(parse_json(repeat("[", 512) + repeat("]", 512)));
  EXPECT_TRUE(parse_json(repeat("{\"a\":", 512) + "1" + repeat("}", 512)));
  for (const std::string& open :
       {repeat("[", 513), repeat("{\"a\":", 513), repeat("[{\"a\":", 257)}) {
    const auto read = parse_json(open);
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().message.find("nested more than 512 deep"), std::string::npos);
  }
  EXPECT_FALSE(parse_json(repeat("[", 10'000'000)));
}

struct BadCase {
  std::string text;
  const char* want;
};

TEST(ParseJson, RefusesWithPlaceAndReasonInBothModes) {
  const std::vector<BadCase> cases = {
      {"", "line 1 column 1: the text ends where a value should be"},
      {" \n ", "line 2 column 2: the text ends where a value should be"},
      {"\xef\xbb\xbf{}", "line 1 column 1: a byte order mark before the value"},
      {"[\"é\", \xff]", "line 1 column 7: invalid UTF-8"},
      {"\"\xed\xa0\x80\"", "line 1 column 2: invalid UTF-8"},
      {"nul", "line 1 column 1: no JSON value"},
      {"True", "line 1 column 1: no JSON value"},
      {"'a'", "line 1 column 1: no JSON value"},
      {"+1", "line 1 column 1: no JSON value"},
      {".5", "line 1 column 1: no JSON value"},
      {"-", "line 1 column 1: no JSON value"},
      {"--1", "line 1 column 1: no JSON value"},
      {"nan", "line 1 column 1: no JSON value"},
      {"01", "line 1 column 1: a number with a leading zero"},
      {"-012", "line 1 column 1: a number with a leading zero"},
      {"1.", "line 1 column 1: a number without digits after its point"},
      {"[1.e5]", "line 1 column 2: a number without digits after its point"},
      {"1e", "line 1 column 1: a number without digits in its exponent"},
      {"1e+", "line 1 column 1: a number without digits in its exponent"},
      {"0x10", "line 1 column 2: something follows the value"},
      {"1 2", "line 1 column 3: something follows the value"},
      {"{} // no", "line 1 column 4: something follows the value"},
      {"[1,]", "line 1 column 4: no JSON value"},
      {"[1 2]", "line 1 column 4: expected ',' or ']'"},
      {"[1", "line 1 column 3: expected ',' or ']'"},
      {"{", "line 1 column 2: expected a key in double quotes"},
      {"{a: 1}", "line 1 column 2: expected a key in double quotes"},
      {"{\"a\": 1,}", "line 1 column 9: expected a key in double quotes"},
      {"{\"a\" 1}", "line 1 column 6: expected ':' after the key"},
      {"{\"a\": 1 \"b\": 2}", "line 1 column 9: expected ',' or '}'"},
      {"{\n  \"é\": \"x\n\"}", "line 2 column 10: a control character in a string"},
      {"[\"abc", "line 1 column 2: a string without its closing quote"},
      {"[\"abc\\", "line 1 column 2: a string without its closing quote"},
      {R"(["a\x41"])", "line 1 column 4: no such escape"},
      {R"(["\u12g4"])", "line 1 column 3: \\u needs four hex digits"},
      {R"(["\u123)", "line 1 column 3: \\u needs four hex digits"},
      {R"(["\ud83d\u12g4"])", "line 1 column 9: \\u needs four hex digits"},
      {std::string("[1\0]", 4), "line 1 column 3: expected ',' or ']'"},
  };
  for (const BadCase& c : cases) {
    for (const JsonMode mode : {JsonMode::Strict, JsonMode::Python}) {
      const auto read = parse_json(c.text, mode);
      ASSERT_FALSE(read) << c.text;
      EXPECT_EQ(read.error().code, Error::Code::Corrupt);
      EXPECT_EQ(read.error().message, c.want) << c.text;
    }
  }
}

TEST(ParseJson, StrictModeRefusesWhatOnlyPythonTakes) {
  const std::vector<BadCase> cases = {
      {"NaN", "line 1 column 1: no JSON value"},
      {"[Infinity]", "line 1 column 2: no JSON value"},
      {"-Infinity", "line 1 column 1: no JSON value"},
      {"1e400", "line 1 column 1: a number past the range of a double"},
      {R"("\ud83d")", "line 1 column 2: half a surrogate pair"},
      {R"("x\ude00")", "line 1 column 3: half a surrogate pair"},
      {R"("\ud83d\u0041")", "line 1 column 2: half a surrogate pair"},
  };
  for (const BadCase& c : cases) {
    const auto read = parse_json(c.text);
    ASSERT_FALSE(read) << c.text;
    EXPECT_EQ(read.error().message, c.want) << c.text;
    EXPECT_TRUE(parse_json(c.text, JsonMode::Python)) << c.text;
  }
}

TEST(ParseJson, EveryCutOfAValidTextIsRefused) {
  const std::string text = R"({"a": [1.5e3, "x\u00e9\ud83d\ude00", true, null], "b": {"c": -12}})";
  ASSERT_TRUE(parse_json(text));
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(parse_json(text.substr(0, size))) << size;
  }
}

}  // namespace
}  // namespace deem::codec
