#include "score/python_number.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "score/python_value.h"
#include "score/seconds_column.h"

namespace deem::score {
namespace {

__extension__ typedef __float128 Wide;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string text_of(const PythonNumber& number) {
  std::string out;
  append_number(out, number);
  return out;
}

TEST(PythonNumber, ComparesIntsWithFloatsExactly) {
  // 2^53 + 1 is no double: converting it first would call the two equal.
  EXPECT_TRUE(compare(9007199254740993, 9007199254740992.0) > 0);
  EXPECT_TRUE(compare(9007199254740992, 9007199254740992.0) == 0);
  EXPECT_TRUE(compare(-1, -1.5) > 0);
  EXPECT_TRUE(compare(std::numeric_limits<std::int64_t>::max(), 9223372036854775808.0) < 0);
  EXPECT_TRUE(compare(0, kNan) == std::partial_ordering::unordered);
}

TEST(ExactSum, RoundsOnceWhateverTheOrder) {
  // Python: math.fsum([1e16, 1, 1e-16, -1e16]) == 1.0, fsum([.1] * 10) == 1.0
  std::vector<double> values{1e16, 1, 1e-16, -1e16};
  do {
    ExactSum sum;
    for (double v : values) sum.add(v);
    EXPECT_EQ(sum.value(), 1.0);
  } while (std::next_permutation(values.begin(), values.end()));
  ExactSum tenths;
  for (int i = 0; i < 10; ++i) tenths.add(0.1);
  EXPECT_EQ(tenths.value(), 1.0);
}

TEST(ExactSum, TakesInfinityAndNanAlongAndRefusesOverflow) {
  ExactSum sum;
  sum.add(1);
  sum.add(std::numeric_limits<double>::infinity());
  EXPECT_EQ(sum.value(), std::numeric_limits<double>::infinity());
  sum.add(kNan);
  EXPECT_TRUE(std::isnan(*sum.value()));
  ExactSum large;
  large.add(std::numeric_limits<double>::max());
  large.add(std::numeric_limits<double>::max());
  EXPECT_FALSE(large.value().has_value());
}

TEST(ExactSum, AgreesWithAWiderTypeAtEveryScale) {
  // Pairs a + b - a, whose exact sum is b, and three-way sums that 113 bits of
  // __float128 hold.
  std::mt19937_64 engine(11);
  for (int i = 0; i < 20'000; ++i) {
    const auto draw = [&engine](int spread) {
      const double unit = static_cast<double>(engine() >> 11) * 0x1p-53 - 0.5;
      return std::ldexp(unit, static_cast<int>(engine() % static_cast<std::uint64_t>(spread)));
    };
    const double a = draw(1000), b = draw(1000) * 0x1p-1040, c = draw(20), d = draw(20),
                 e = draw(20);
    ExactSum cancelled, close;
    for (double v : {a, b, -a}) cancelled.add(v);
    EXPECT_EQ(cancelled.value(), b);
    for (double v : {c, d, e}) close.add(v);
    EXPECT_EQ(close.value(), static_cast<double>(static_cast<Wide>(c) + d + e));
  }
  ExactSum none;
  EXPECT_EQ(none.value(), 0.0);
}

TEST(ExactSum, CarriesAcrossManyValues) {
  ExactSum sum;
  for (int i = 0; i < 3'000'000; ++i) sum.add(0x1.fffffffffffffp-1);
  EXPECT_EQ(sum.value(), 3'000'000 * 0x1.fffffffffffffp-1);
}

TEST(PythonSquare, IsWhatLibmGivesForPow) {
  static volatile const double two = 2.0;
  std::mt19937_64 engine(7);
  int off = 0;
  for (int i = 0; i < 200'000; ++i) {
    const double x = static_cast<double>(engine() >> 11) * 0x1p-53 - 0.25;
    ASSERT_EQ(python_square(x), std::pow(x, two)) << x;
    off += python_square(x) != x * x ? 1 : 0;
  }
  EXPECT_LT(off, 2000);
  EXPECT_EQ(python_square(0), 0);
  EXPECT_EQ(python_square(1e-200), 0);
  EXPECT_TRUE(std::isinf(python_square(1e200)));
}

TEST(PythonSum, TurnsToFloatsAtTheFirstFloat) {
  PythonSum sum;
  sum.add(PythonNumber::of_int(std::numeric_limits<std::int64_t>::max()));
  sum.add(PythonNumber::of_int(std::numeric_limits<std::int64_t>::max()));
  std::string out;
  sum.append_to(out);
  EXPECT_EQ(out, "18446744073709551614");
  sum.add(PythonNumber::of_float(0.5));
  out.clear();
  sum.append_to(out);
  EXPECT_EQ(out, "1.8446744073709552e+19");
}

TEST(SecondsColumn, KeepsTypesAndTakesTheMiddle) {
  SecondsColumn ints;
  for (int i : {3, 1, 2}) ints.add(PythonNumber::of_int(i));
  EXPECT_EQ(text_of(ints.take_quantiles().median), "2");
  for (int i : {3, 1}) ints.add(PythonNumber::of_int(i));
  EXPECT_EQ(text_of(ints.take_quantiles().median), "2.0");
  EXPECT_EQ(text_of(ints.take_quantiles().median), "null");
  ints.add(PythonNumber::of_float(-0.0));
  EXPECT_EQ(text_of(ints.take_quantiles().p95), "-0.0");
}

TEST(SecondsColumn, RoundsTheIndexOfP95HalfToEven) {
  // NOTES.md 7: 11 values take index 10 (9.5), 31 take 28 (28.5), 51 take 48,
  // 71 take 66.
  struct Case {
    std::size_t n, index;
  };
  for (const auto& [n, index] :
       {Case{1, 0}, Case{11, 10}, Case{31, 28}, Case{51, 48}, Case{71, 66}}) {
    SecondsColumn column;
    for (std::size_t i = n; i-- > 0;) column.add(PythonNumber::of_float(static_cast<double>(i)));
    EXPECT_EQ(column.take_quantiles().p95.real, static_cast<double>(index)) << n;
  }
}

TEST(SecondsColumn, KeepsEightBytesARow) {
  SecondsColumn column;
  constexpr std::size_t kRows = 200'000;
  for (std::size_t i = 0; i < kRows; ++i)
    column.add(PythonNumber::of_float(static_cast<double>(i % 997)));
  EXPECT_LE(column.kept_bytes(), kRows * 9);
  // 200,000 = 200·997 + 600, so 201·497 = 99,897 lie below 497 and its 201 hold
  // both middles.
  EXPECT_EQ(column.take_quantiles().median.real, 497);
}

TEST(PythonValue, NanEqualsItselfOnlyInsideContainers) {
  const auto parse = [](std::string_view text) {
    return codec::parse_json(text, codec::JsonMode::Python).value();
  };
  EXPECT_FALSE(equal(parse("NaN"), parse("NaN")));
  EXPECT_TRUE(equal(parse("[NaN]"), parse("[NaN]")));
  EXPECT_TRUE(equal(parse("{\"a\": 1, \"b\": true}"), parse("{\"b\": 1.0, \"a\": true}")));
  EXPECT_FALSE(equal(parse("\"1\""), parse("1")));
  EXPECT_TRUE(equal(parse("100000000000000000000"), parse("1e20")));
}

}  // namespace
}  // namespace deem::score
