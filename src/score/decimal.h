#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

// Decimals to doubles, exactly and without branches on the digits: in a scan
// over millions of numbers each mispredicted branch costs as much as a
// conversion.
namespace deem::score {

__extension__ typedef unsigned __int128 WideUnsigned;

/// A decimal as scanned: ±digits · 10^exponent.
struct Decimal {
  std::uint64_t digits = 0;
  std::int32_t exponent = 0;
  bool negative = false;
};

inline constexpr std::size_t kMaxDigits = 19;  // any 19 digits fit 64 bits
inline constexpr int kMaxFivePower = 27;       // 5^27 < 2^63

namespace decimal_tables {

constexpr auto kTens = [] {
  std::array<std::uint64_t, kMaxDigits + 1> tens{1};
  for (std::size_t i = 1; i < tens.size(); ++i) tens[i] = tens[i - 1] * 10;
  return tens;
}();

/// 5^k shifted until its top bit is set, and the inverse that Möller and
/// Granlund's division
/// ("Improved division by invariant integers", 2011, algorithm 4) wants:
/// ⌊(2^128−1)/d⌋ − 2^64.
struct Divisor {
  std::uint64_t value = 0, inverse = 0;
  int shift = 0;
};
constexpr auto kDivisors = [] {
  std::array<Divisor, kMaxFivePower + 1> divisors{};
  std::uint64_t power = 1;
  for (Divisor& divisor : divisors) {
    divisor.shift = std::countl_zero(power);
    divisor.value = power << divisor.shift;
    divisor.inverse = static_cast<std::uint64_t>(~WideUnsigned{0} / divisor.value);
    power *= 5;
  }
  return divisors;
}();

/// From entry n on: n bytes of ones come last among 16.
constexpr auto kLastBytes = [] {
  std::array<unsigned char, 32> bytes{};
  std::fill(bytes.begin() + 16, bytes.end(), static_cast<unsigned char>(0xff));
  return bytes;
}();

}  // namespace decimal_tables

/// The value of the `n` ASCII digits that end before `end`, n ≤ kMaxDigits. 24
/// bytes before `end` must be readable.
inline std::uint64_t read_digits(const char* end, std::size_t n) {
#ifdef __SSE2__
  // The last sixteen: pairs, fours, eights.
  const auto* const keep = decimal_tables::kLastBytes.data() + std::min<std::size_t>(n, 16);
  __m128i digits =
      _mm_sub_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(end - 16)), _mm_set1_epi8('0'));
  digits = _mm_and_si128(digits, _mm_loadu_si128(reinterpret_cast<const __m128i*>(keep)));
  const __m128i pairs = _mm_add_epi16(
      _mm_mullo_epi16(_mm_and_si128(digits, _mm_set1_epi16(0xff)), _mm_set1_epi16(10)),
      _mm_srli_epi16(digits, 8));
  const __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(1 << 16 | 100));
  const __m128i eights =
      _mm_madd_epi16(_mm_packs_epi32(fours, fours), _mm_set1_epi32(1 << 16 | 10000));
  const auto both = static_cast<std::uint64_t>(_mm_cvtsi128_si64(eights));
  const std::uint64_t low = (both & 0xffffffff) * 100'000'000 + (both >> 32);
  // Up to four before them, zeros for those that are not there.
  const std::size_t more = std::max<std::size_t>(n, 16) - 16;
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, end - 20, sizeof bytes);
  std::uint64_t four = (bytes ^ 0x30303030U) & (~std::uint64_t{0} << (8 * (4 - more)));
  four = (four * 10 + (four >> 8)) & 0x00ff00ff;
  four = (four * 100 + (four >> 16)) & 0xffff;
  return four * 10'000'000'000'000'000 + low;
#else
  std::uint64_t value = 0;
  for (const char* at = end - n; at < end; ++at)
    value = value * 10 + static_cast<std::uint64_t>(*at - '0');
  return value;
#endif
}

/// The nearest double, ties to even, for digits below 10^19 and an exponent
/// from −27 to 0; false outside that range. Exact: one 128-by-64-bit division
/// with its remainder.
inline bool round_decimal(const Decimal& decimal, double& value) {
  if (decimal.digits == 0) {
    value = decimal.negative ? -0.0 : 0.0;
    return true;
  }
  const int k = -decimal.exponent;
  if (k < 0 || k > kMaxFivePower) return false;
  const decimal_tables::Divisor& divisor = decimal_tables::kDivisors[static_cast<std::size_t>(k)];
  const int shift = std::countl_zero(decimal.digits);
  const std::uint64_t digits = decimal.digits << shift;

  // quotient = ⌊digits · 2^63 / divisor⌋, between 2^62 and 2^64, and its
  // remainder.
  const std::uint64_t high = digits >> 1;
  const std::uint64_t low = digits << 63;
  const WideUnsigned estimate =
      WideUnsigned{high} * divisor.inverse + ((WideUnsigned{high + 1} << 64) | low);
  auto quotient = static_cast<std::uint64_t>(estimate >> 64);
  std::uint64_t remainder = low - quotient * divisor.value;
  const std::uint64_t over = remainder > static_cast<std::uint64_t>(estimate) ? 1 : 0;
  quotient -= over;
  remainder += divisor.value & (0 - over);
  const std::uint64_t under = remainder >= divisor.value ? 1 : 0;
  quotient += under;
  remainder -= divisor.value & (0 - under);

  // To 53 bits, half to even; the remainder tells an exact half from more.
  const int drop = 11 - std::countl_zero(quotient);
  std::uint64_t mantissa = quotient >> drop;
  const std::uint64_t dropped = quotient & ((std::uint64_t{1} << drop) - 1);
  const std::uint64_t half = std::uint64_t{1} << (drop - 1);
  const std::uint64_t up_at_half = (mantissa & 1) | (remainder != 0 ? 1 : 0);
  mantissa += dropped + up_at_half > half ? 1 : 0;

  // digits / 5^k / 2^k: the shifts of both sides come back in the exponent.
  // Always normal.
  const int exponent = drop - 63 + divisor.shift - shift - k;
  const auto scale = std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  const double magnitude = static_cast<double>(static_cast<std::int64_t>(mantissa)) * scale;
  value = decimal.negative ? -magnitude : magnitude;
  return true;
}

}  // namespace deem::score
