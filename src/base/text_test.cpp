#include "base/text.h"

#include <gtest/gtest.h>

namespace deem {
namespace {

struct Utf8Case {
  const char* name;
  std::string bytes;
  bool want;
};
class IsUtf8 : public testing::TestWithParam<Utf8Case> {};

// Each is tried at every place within an eight-byte word.
TEST_P(IsUtf8, FollowsUnicodeTable37) {
  for (std::size_t before = 0; before < 9; ++before) {
    for (const std::size_t after : {0u, 1u, 8u}) {
      const std::string text =
          std::string(before, 'x') + GetParam().bytes + std::string(after, 'y');
      EXPECT_EQ(is_utf8(text), GetParam().want) << before << " " << after;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, IsUtf8,
    testing::Values(
        Utf8Case{"Empty", "", true}, Utf8Case{"Ascii", "plain ascii text", true},
        Utf8Case{"TwoBytes", "\xc2\x80\xdf\xbf", true},
        Utf8Case{"ThreeBytes", "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf", true},
        Utf8Case{"FourBytes", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", true},
        Utf8Case{"LoneContinuation", "\x80", false}, Utf8Case{"OverlongTwo", "\xc0\xaf", false},
        Utf8Case{"OverlongThree", "\xe0\x9f\xbf", false},
        Utf8Case{"OverlongFour", "\xf0\x8f\xbf\xbf", false},
        Utf8Case{"Surrogate", "\xed\xa0\x80", false},
        Utf8Case{"AboveTheLast", "\xf4\x90\x80\x80", false},
        Utf8Case{"FiveBytes", "\xf8\x88\x80\x80\x80", false}, Utf8Case{"CutTwo", "\xc3", false},
        Utf8Case{"CutThree", "\xe2\x82", false}, Utf8Case{"CutFour", "\xf0\x9f\x98", false}),
    [](const auto& p) { return p.param.name; });

TEST(FindInvalidUtf8, NamesTheStartOfTheSequence) {
  EXPECT_EQ(find_invalid_utf8("twelve bytes \xe2\x82"), 13);
  EXPECT_EQ(find_invalid_utf8("é\xff"), 2);
  EXPECT_EQ(find_invalid_utf8("é"), std::string_view::npos);
}

TEST(CountCodePoints, CountsWhatPythonCounts) {
  EXPECT_EQ(count_code_points(""), 0);
  EXPECT_EQ(count_code_points("naïve"), 5);
  EXPECT_EQ(count_code_points("e\u0301"), 2);
  EXPECT_EQ(count_code_points("\U0001f600!"), 2);
}

TEST(Trim, TakesAsciiWhiteSpaceOnly) {
  EXPECT_EQ(trim(" \t\r\n\v\fa b\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(trim("\u00a0a"), "\u00a0a");
}

TEST(ToLower, LeavesOtherBytes) { EXPECT_EQ(to_lower("AZ[É"), "az[É"); }

TEST(Split, GivesEveryPartEmptyOnesToo) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split("", ','), Parts{""});
  EXPECT_EQ(split("0.1", '.'), (Parts{"0", "1"}));
  EXPECT_EQ(split(",a,,b,", ','), (Parts{"", "a", "", "b", ""}));
}

TEST(Printable, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(printable("naïve \U0001f600", 80), "naïve \U0001f600");
  EXPECT_EQ(printable("a\nb\r\t", 80), "a\\nb\\r\\t");
  EXPECT_EQ(printable(std::string_view("\0\x1b[31m\x7f", 7), 80), "\\x00\\x1b[31m\\x7f");
  EXPECT_EQ(printable("\xff\xc3(", 80), "\\xff\\xc3(");
  EXPECT_EQ(printable("\u0085\u2028\u202e", 80), "\\u0085\\u2028\\u202e");
}

// The format characters of Unicode 15 at the ends of their blocks, and their neighbours.
TEST(Printable, ShowsWhatHasNoWidth) {
  EXPECT_EQ(printable("a\u200bb\u200f\u202a\u202e", 80), "a\\u200bb\\u200f\\u202a\\u202e");
  EXPECT_EQ(printable("\u2060\u2064\u2066\u206f", 80), "\\u2060\\u2064\\u2066\\u206f");
  EXPECT_EQ(printable("\u061c\ufeff\ufff9\ufffb", 80), "\\u061c\\ufeff\\ufff9\\ufffb");
  EXPECT_EQ(printable("\U000e0000\U000e0041\U000e007f", 80), "\\U000e0000\\U000e0041\\U000e007f");
  const std::string shown = "\u200a\u2010\u2027\u202f\u205f\u2070\ufefe\ufffc\ufffd\U000e0100";
  EXPECT_EQ(printable(shown, 80), shown);
}

TEST(Printable, CutsToTheLimitWithAnEllipsis) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdefg", 6), "abcde…");
  EXPECT_EQ(printable("äöüß", 3), "äö…");
  EXPECT_EQ(printable("abc\x01z", 5), "abc…");  // an escape is not cut in two
  EXPECT_EQ(printable("abc", 1), "…");
  EXPECT_EQ(printable("abc", 0), "");
}

struct DistanceCase {
  const char* a;
  const char* b;
  std::size_t want;
};

TEST(EditDistance, CountsInsertionsRemovalsChangesAndSwaps) {
  for (const auto& [a, b, want] :
       {DistanceCase{"", "", 0}, DistanceCase{"", "abc", 3}, DistanceCase{"kitten", "sitting", 3},
        DistanceCase{"hlep", "help", 1}, DistanceCase{"socre", "score", 1},
        DistanceCase{"flaw", "lawn", 2}, DistanceCase{"ca", "abc", 3}}) {
    EXPECT_EQ(edit_distance(a, b), want) << a << " " << b;
    EXPECT_EQ(edit_distance(b, a), want) << b << " " << a;
  }
}

}  // namespace
}  // namespace deem
