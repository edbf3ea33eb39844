#include <gtest/gtest.h>

#include <limits>

#include "codec/json.h"

namespace deem::codec {
namespace {

struct FloatCase {
  double value;
  const char* want;
};

// What CPython's repr() prints.
TEST(AppendPythonFloat, PrintsRepr) {
  for (const auto& [value, want] : {FloatCase{0.1, "0.1"},
                                    {0.0, "0.0"},
                                    {-0.0, "-0.0"},
                                    {1.0, "1.0"},
                                    {-2.5, "-2.5"},
                                    {100.0, "100.0"},
                                    {123456.789, "123456.789"},
                                    {0.0001, "0.0001"},
                                    {0.00012345, "0.00012345"},
                                    {1e-05, "1e-05"},
                                    {9.999e-05, "9.999e-05"},
                                    {-1.5e-07, "-1.5e-07"},
                                    {1e15, "1000000000000000.0"},
                                    {9999999999999998.0, "9999999999999998.0"},
                                    {1e16, "1e+16"},
                                    {1e22, "1e+22"},
                                    {1e23, "1e+23"},
                                    {1.2345e+16, "1.2345e+16"},
                                    {1e100, "1e+100"},
                                    {5e-324, "5e-324"},
                                    {2.2250738585072014e-308, "2.2250738585072014e-308"},
                                    {1.7976931348623157e308, "1.7976931348623157e+308"},
                                    {0.1 + 0.2, "0.30000000000000004"},
                                    {1.0 / 3.0, "0.3333333333333333"},
                                    {2.0 / 3.0, "0.6666666666666666"},
                                    {9007199254740993.0, "9007199254740992.0"},
                                    {std::numeric_limits<double>::infinity(), "Infinity"},
                                    {-std::numeric_limits<double>::infinity(), "-Infinity"},
                                    {std::numeric_limits<double>::quiet_NaN(), "NaN"}}) {
    std::string out;
    append_python_float(out, value);
    EXPECT_EQ(out, want);
  }
}

TEST(DumpJson, PrintsEveryKind) {
  const Json json = Json::object({{"n", nullptr},
                                  {"t", true},
                                  {"f", false},
                                  {"i", -12},
                                  {"big", Json::big_int("123456789012345678901234567890")},
                                  {"d", 1.0},
                                  {"s", "x"},
                                  {"a", Json::array({1, Json::array(), Json::object()})}});
  EXPECT_EQ(
      dump_json(json),
      R"({"n": null, "t": true, "f": false, "i": -12, "big": 123456789012345678901234567890, )"
      R"("d": 1.0, "s": "x", "a": [1, [], {}]})");
}

struct StringCase {
  std::string text;
  const char* ascii;
  const char* utf8;
};

TEST(AppendJsonString, EscapesWhatPythonEscapes) {
  for (const auto& [text, ascii, utf8] :
       {StringCase{"", R"("")", R"("")"},
        {"a/b\x7f", R"("a/b\u007f")", "\"a/b\x7f\""},
        {"\x7f\xff", R"("\u007f\ufffd")", "\"\x7f\ufffd\""},
        {"\"\\\n\r\t\b\f", R"("\"\\\n\r\t\b\f")", R"("\"\\\n\r\t\b\f")"},
        {std::string("\0\x01\x1f", 3), R"("\u0000\u0001\u001f")", R"("\u0000\u0001\u001f")"},
        {"é€", R"("\u00e9\u20ac")", "\"é€\""},
        {"\u2028\uffff", R"("\u2028\uffff")", "\"\u2028\uffff\""},
        {"\U0001f600\U00010000\U0010ffff", R"("\ud83d\ude00\ud800\udc00\udbff\udfff")",
         "\"\U0001f600\U00010000\U0010ffff\""},
        {"a long run of plain text é and more", R"("a long run of plain text \u00e9 and more")",
         "\"a long run of plain text é and more\""},
        // A lone surrogate in WTF-8; then bytes that are no text at all.
        {"\xed\xa0\xbdx", R"("\ud83dx")", R"("\ud83dx")"},
        {"\xff\xc3", R"("\ufffd\ufffd")", "\"\ufffd\ufffd\""},
        {"\xe2\x82", R"("\ufffd\ufffd")", "\"\ufffd\ufffd\""},
        {"\xc0\xaf\xf8", R"("\ufffd\ufffd\ufffd")", "\"\ufffd\ufffd\ufffd\""},
        {"\xf4\x90\x80\x80", R"("\ufffd\ufffd\ufffd\ufffd")", "\"\ufffd\ufffd\ufffd\ufffd\""}}) {
    std::string out;
    append_json_string(out, text);
    EXPECT_EQ(out, ascii);
    out.clear();
    append_json_string(out, text, false);
    EXPECT_EQ(out, utf8);
  }
}

const Json& sample() {
  static const Json json = Json::object({{"b", Json::array({1, 2})},
                                         {"é", Json::object()},
                                         {"a", Json::object({{"z", 1}, {"y", Json::array()}})}});
  return json;
}

// Each `want` is json.dumps's own output for the same value and arguments.
TEST(DumpJson, FollowsTheStyle) {
  EXPECT_EQ(dump_json(sample(), {.compact = true}),
            R"({"b":[1,2],"\u00e9":{},"a":{"z":1,"y":[]}})");
  EXPECT_EQ(dump_json(sample(), {.ascii = false, .sort_keys = true}),
            R"({"a": {"y": [], "z": 1}, "b": [1, 2], "é": {}})");
  EXPECT_EQ(dump_json(sample(), {.indent = 1}),
            "{\n \"b\": [\n  1,\n  2\n ],\n \"\\u00e9\": {},\n \"a\": {\n  \"z\": 1,\n  \"y\": "
            "[]\n }\n}");
  EXPECT_EQ(dump_json(Json::array({1, 2}), {.indent = 0}), "[\n1,\n2\n]");
  EXPECT_EQ(dump_json(Json::array({1, Json::object({{"a", 2}})}), {.compact = true, .indent = 2}),
            "[\n  1,\n  {\n    \"a\":2\n  }\n]");
}

TEST(DumpJson, SortsKeysByCodePoint) {
  // In UTF-16 the astral one would come before U+FFFF.
  EXPECT_EQ(dump_json(Json::object({{"\U00010000", 1}, {"\uffff", 2}, {"a", 3}, {"B", 4}, {"", 5}}),
                      {.ascii = false, .sort_keys = true}),
            "{\"\": 5, \"B\": 4, \"a\": 3, \"\uffff\": 2, \"\U00010000\": 1}");
}

}  // namespace
}  // namespace deem::codec
