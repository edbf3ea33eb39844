#include <gtest/gtest.h>

#include <array>

#include "kit/json_scan.h"

namespace deem::kit {
namespace {

using Lines = std::vector<std::size_t>;

TEST(JsonScan, ElementsOfTheOutermostListHaveTheirLines) {
  static constexpr std::string_view kAll[] = {"*"};
  EXPECT_EQ(scan_json("[\n {\"a\": [1,\n 2]},\n\n \"x\\\"\", 3,\n null]", kAll).lines,
            (Lines{2, 5, 5, 6}));
}

TEST(JsonScan, PatternFollowsNamedMembersOnly) {
  static constexpr std::string_view kQas[] = {"data", "*", "qas", "*"};
  const char* text =
      "{\"qas\": [0],\n\"data\": [\n{\"qas\": [1,\n2], \"other\": [3]},\n{\"x\": {\"qas\": [4]},\n"
      "\"qas\": [{\"qas\": [5]}]}]}";
  EXPECT_EQ(scan_json(text, kQas).lines, (Lines{3, 4, 6}));
}

TEST(JsonScan, MemberThatComesTwiceIsToldWithItsSecondLine) {
  const auto twice = scan_json("{\"a\": {\"b\": 1},\n\"b\": {\"a\": 2},\n\"a\": 3}").duplicates;
  ASSERT_EQ(twice.size(), 1U);
  EXPECT_EQ(twice[0].key, "a");
  EXPECT_EQ(twice[0].line, 3U);
}

TEST(JsonScan, AnyBytesAreSafe) {
  for (const char* text : {"", "]", "}}", "\"", "\"\\", "[", "{\"a", "{,,}", "[1", "-"}) {
    scan_json(text);
  }
}

}  // namespace
}  // namespace deem::kit
