#include "codec/toml.h"

#include <gtest/gtest.h>

namespace deem::codec {
namespace {

TEST(ParseToml, KeepsTheOrderOfTheFile) {
  const auto doc = parse_toml(R"(zeta = 1
alpha = { y = true, b = "x", a = [3, 1.5] }

[task.who]
type = "choice"

[server]
name = 'b'

[task.answered]
type = "noul"
b.two = 2
a = 0
b.one = 1

[[arm]]
name = "z"
[[arm]]
name = "a"
[arm.extra]
k = 1
)",
                              "deem.toml");
  ASSERT_TRUE(doc) << doc.error().message;
  EXPECT_EQ(
      dump_json(doc->root),
      R"({"zeta": 1, "alpha": {"y": true, "b": "x", "a": [3, 1.5]}, )"
      R"("task": {"who": {"type": "choice"}, )"
      R"("answered": {"type": "noul", "b": {"two": 2, "one": 1}, "a": 0}}, )"
      R"("server": {"name": "b"}, "arm": [{"name": "z"}, {"name": "a", "extra": {"k": 1}}]})");
}

TEST(ParseToml, KnowsThePlaceOfEveryPath) {
  const auto doc = parse_toml(
      "a = 1\n\n[t.\"x/y\"]\n  \"é\".b = [1,\n  2]\n[[arm]]\nname = 'z'\n[[arm]]\nk=1\n", "f.toml");
  ASSERT_TRUE(doc) << doc.error().message;
  EXPECT_EQ(doc->line("a"), 1);
  EXPECT_EQ(doc->where("a"), "f.toml:1:1");
  EXPECT_EQ(doc->where("t"), "f.toml:3:2");
  EXPECT_EQ(doc->where("arm/0/name"), "f.toml:7:1");
  EXPECT_EQ(doc->line("arm/1/k"), 9);
  EXPECT_EQ(doc->line("arm/1"), 8);
  EXPECT_EQ(doc->where("arm/1/none/at/all"), "f.toml:8:1");
  EXPECT_EQ(doc->where("none"), "f.toml");
  EXPECT_EQ(doc->line("none"), 0);
}

TEST(ParseToml, ReadsEveryKind) {
  const auto doc = parse_toml(R"(i = -9_000
h = 0xff
f = 1e3
inf = -inf
b = false
s = "a\tb\u00e9"
m = """
two
lines"""
d = 2026-12-01
t = 05:11:23
dt = 2026-12-01T05:11:23Z
empty = {}
none = []
)",
                              "f");
  ASSERT_TRUE(doc) << doc.error().message;
  EXPECT_EQ(
      dump_json(doc->root),
      R"({"i": -9000, "h": 255, "f": 1000.0, "inf": -Infinity, "b": false, "s": "a\tb\u00e9", )"
      R"("m": "two\nlines", "d": "2026-12-01", "t": "05:11:23", "dt": "2026-12-01T05:11:23Z", )"
      R"("empty": {}, "none": []})");
}

TEST(ParseToml, AnEmptyTextIsAnEmptyTable) {
  EXPECT_EQ(parse_toml("", "f")->root, Json::object());
  EXPECT_EQ(parse_toml("# only this", "f")->root, Json::object());
}

TEST(ParseToml, ErrorsNameFileLineAndColumn) {
  for (const auto& [text, start] :
       {std::pair<std::string, std::string>{"a = 1\nb = \n", "deem.toml:2:"},
        {"a = 1\na = 2\n", "deem.toml:2:"},
        {"[t\n", "deem.toml:1:"},
        {"a = \"x", "deem.toml:1:"},
        {"a = \"\xff\"", "deem.toml:1:"},
        {"a = 99999999999999999999", "deem.toml:1:"}}) {
    const auto doc = parse_toml(text, "deem.toml");
    ASSERT_FALSE(doc) << text;
    EXPECT_EQ(doc.error().code, Error::Code::BadInput);
    EXPECT_TRUE(doc.error().message.starts_with(start)) << doc.error().message;
    EXPECT_EQ(doc.error().message.find('\n'), std::string::npos) << doc.error().message;
  }
}

std::string repeat(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(ParseToml, RefusesDepthWithoutEnd) {
  EXPECT_EQ(parse_toml("a = " + repeat("[", 65), "f").error().message,
            "f:1:69: brackets more than 64 deep");
  EXPECT_EQ(parse_toml("x = 1\n" + repeat("a.", 100'000) + "a = 1", "f").error().message,
            "f:2:64: a key of more than 32 parts");
  EXPECT_FALSE(parse_toml("x = {" + repeat("\"a\" . ", 100'000) + "a = 1}", "f"));
  EXPECT_FALSE(parse_toml(repeat("x = {", 100'000), "f"));
  EXPECT_TRUE(parse_toml("a = " + repeat("[", 64) + repeat("]", 64), "f"));
  EXPECT_TRUE(parse_toml(repeat("a.", 31) + "a = 1", "f"));
}

TEST(ParseToml, DotsAndBracketsInStringsAreNoDepth) {
  const std::string dots = repeat("a.[{", 200);
  for (const std::string& text :
       {"a = \"\\\"" + dots + "\"", "a = '" + dots + "'",
        "a = \"\"\"x\"\"\n" + dots + "\"\"\"\"\"\nb = 1", "a = '''\n" + dots + "'''",
        "a = 1 # " + dots, "a = [" + repeat("1.5, ", 200) + "]"}) {
    const auto doc = parse_toml(text, "f");
    EXPECT_TRUE(doc) << doc.error().message;
  }
}

}  // namespace
}  // namespace deem::codec
