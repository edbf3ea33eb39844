#include "codec/jsonl.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace deem::codec {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> texts;
  std::size_t number = 0;
  for (Lines lines(text); const auto line = lines.next();) {
    EXPECT_EQ(line->number, ++number);
    EXPECT_EQ(line->text.data(), text.data() + line->offset);
    texts.emplace_back(line->text);
  }
  return texts;
}

struct LinesCase {
  std::string text;
  std::vector<std::string> want;
};

// `want` is [l.rstrip("\n") for l in open(…)] of CPython.
TEST(Lines, EndWhereUniversalNewlinesEnd) {
  for (const auto& [text, want] : {LinesCase{"", {}},
                                   {"\n", {""}},
                                   {"a", {"a"}},
                                   {"a\n", {"a"}},
                                   {"a\nb", {"a", "b"}},
                                   {"a\r\nb\r\n", {"a", "b"}},
                                   {"a\rb\r", {"a", "b"}},
                                   {"a\r\r\nb", {"a", "", "b"}},
                                   {"a\n\rb", {"a", "", "b"}},
                                   {"\r\n\r\n\n\r", {"", "", "", ""}},
                                   {"a\rb\rc\nd", {"a", "b", "c", "d"}},
                                   {"a\u2028b\u0085c\v\fd\n", {"a\u2028b\u0085c\v\fd"}},
                                   {std::string("a\0b\nc", 5), {std::string("a\0b", 3), "c"}}}) {
    EXPECT_EQ(lines_of(text), want);
  }
}

TEST(Lines, OnlyALastLineMayLackItsEnd) {
  Lines lines("a\nb\r");
  EXPECT_TRUE(lines.next()->ended);
  EXPECT_TRUE(lines.next()->ended);
  EXPECT_FALSE(lines.next());
  Lines torn("a\rtorn");
  EXPECT_TRUE(torn.next()->ended);
  EXPECT_FALSE(torn.next()->ended);
  EXPECT_FALSE(torn.next());
}

TEST(Lines, CarriageReturnsAloneCostNoQuadraticTime) {
  const std::string text(2'000'000, '\r');
  std::size_t count = 0;
  for (Lines lines(text); lines.next();) ++count;
  EXPECT_EQ(count, 2'000'000);
}

}  // namespace
}  // namespace deem::codec
