#include "score/decimal.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <random>
#include <string>

namespace deem::score {
namespace {

double reference(const Decimal& decimal) {
  const std::string text = (decimal.negative ? "-" : "") + std::to_string(decimal.digits) + "e" +
                           std::to_string(decimal.exponent);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

TEST(RoundDecimal, IsTheNearestDouble) {
  std::mt19937_64 engine(3);
  for (int i = 0; i < 300'000; ++i) {
    Decimal decimal{engine() >> (1 + engine() % 63), -static_cast<int>(engine() % 28),
                    engine() % 2 == 0};
    double value = 1;
    ASSERT_TRUE(round_decimal(decimal, value));
    ASSERT_EQ(value, reference(decimal)) << decimal.digits << "e" << decimal.exponent;
    ASSERT_EQ(std::signbit(value), decimal.negative);
  }
}

TEST(RoundDecimal, HalfwayCasesGoToEven) {
  // 2^53 + 1, + 3 lie half-way between doubles; so do m + 1/2 for m of 53 bits.
  double value = 0;
  ASSERT_TRUE(round_decimal({9007199254740993, 0, false}, value));
  EXPECT_EQ(value, 9007199254740992.0);
  ASSERT_TRUE(round_decimal({9007199254740995, 0, false}, value));
  EXPECT_EQ(value, 9007199254740996.0);
  ASSERT_TRUE(round_decimal({45035996273704965, -1, false}, value));  // 2^52 + 0.5
  EXPECT_EQ(value, 4503599627370496.0 + 0);
  ASSERT_TRUE(round_decimal({45035996273704975, -1, false}, value));  // 2^52 + 1.5
  EXPECT_EQ(value, 4503599627370498.0);
  EXPECT_FALSE(round_decimal({1, -28, false}, value));
  EXPECT_FALSE(round_decimal({1, 1, false}, value));
}

TEST(ReadDigits, TakesThoseBeforeTheEnd) {
  const std::string text = "?????.....1234567890123456789";
  const char* const end = text.data() + text.size();
  std::uint64_t want = 0, weight = 1;
  for (std::size_t n = 0; n <= kMaxDigits; ++n) {
    EXPECT_EQ(read_digits(end, n), want) << n;
    want += weight * static_cast<std::uint64_t>(end[-static_cast<std::ptrdiff_t>(n) - 1] - '0');
    weight *= 10;
  }
}

}  // namespace
}  // namespace deem::score
