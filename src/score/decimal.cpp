#include "score/decimal.h"

#include <array>
#include <bit>
#include <cstring>

namespace deem::score {
namespace {

__extension__ typedef unsigned __int128 WideUnsigned;

constexpr int kMaxPower = 27;  // 5^27 < 2^63

/// 5^k shifted until its top bit is set, and the inverse that Möller and Granlund's division
/// ("Improved division by invariant integers", 2011, algorithm 4) wants: ⌊(2^128−1)/d⌋ − 2^64.
struct Divisor {
  std::uint64_t value = 0, inverse = 0;
  int shift = 0;
};

constexpr std::array<Divisor, kMaxPower + 1> make_divisors() {
  std::array<Divisor, kMaxPower + 1> divisors{};
  std::uint64_t power = 1;
  for (Divisor& divisor : divisors) {
    divisor.shift = std::countl_zero(power);
    divisor.value = power << divisor.shift;
    divisor.inverse = static_cast<std::uint64_t>(~WideUnsigned{0} / divisor.value);
    power *= 5;
  }
  return divisors;
}
constexpr std::array<Divisor, kMaxPower + 1> kDivisors = make_divisors();

std::uint64_t read_eight(std::uint64_t digits) {
  // Pairs, then fours, then eight, as in simdjson and fast_float; first digit in the lowest byte.
  digits = (digits * 10 + (digits >> 8)) & 0x00ff00ff00ff00ff;
  digits = (digits * 100 + (digits >> 16)) & 0x0000ffff0000ffff;
  return (digits * 10000 + (digits >> 32)) & 0xffffffff;
}

}  // namespace

std::uint64_t read_digits(const char* at, std::size_t n) {
  std::uint64_t value = 0;
  if constexpr (std::endian::native == std::endian::little) {
    constexpr std::array<std::uint64_t, 8> kTens{1,     10,     100,     1000,
                                                 10000, 100000, 1000000, 10000000};
    const auto load = [](const char* from) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, from, sizeof bytes);
      return bytes - 0x3030303030303030;
    };
    for (; n >= 8; n -= 8, at += 8) value = value * 100'000'000 + read_eight(load(at));
    // What follows the last digits is shifted out; zeros come in before the first.
    if (n > 0) value = value * kTens[n] + read_eight(load(at) << (8 * (8 - n)));
  } else {
    for (; n > 0; --n) value = value * 10 + static_cast<std::uint64_t>(*at++ - '0');
  }
  return value;
}

bool round_decimal(const Decimal& decimal, double& value) {
  if (decimal.digits == 0) {
    value = decimal.negative ? -0.0 : 0.0;
    return true;
  }
  if (decimal.exponent > 0 || decimal.exponent < -kMaxPower) return false;
  const int k = -decimal.exponent;
  const Divisor& divisor = kDivisors[static_cast<std::size_t>(k)];
  const int shift = std::countl_zero(decimal.digits);
  const std::uint64_t digits = decimal.digits << shift;

  // quotient = ⌊digits · 2^63 / divisor⌋, between 2^62 and 2^64, and its remainder.
  const std::uint64_t high = digits >> 1;
  const std::uint64_t low = digits << 63;
  const WideUnsigned estimate =
      WideUnsigned{high} * divisor.inverse + ((WideUnsigned{high + 1} << 64) | low);
  auto quotient = static_cast<std::uint64_t>(estimate >> 64);
  std::uint64_t remainder = low - quotient * divisor.value;
  if (remainder > static_cast<std::uint64_t>(estimate)) {
    --quotient;
    remainder += divisor.value;
  }
  if (remainder >= divisor.value) {
    ++quotient;
    remainder -= divisor.value;
  }

  // To 53 bits, half to even; the remainder tells an exact half from more.
  const int drop = 11 - std::countl_zero(quotient);
  std::uint64_t mantissa = quotient >> drop;
  const std::uint64_t dropped = quotient & ((std::uint64_t{1} << drop) - 1);
  const std::uint64_t half = std::uint64_t{1} << (drop - 1);
  if (dropped > half || (dropped == half && (remainder != 0 || (mantissa & 1) != 0))) ++mantissa;

  // digits / 5^k / 2^k: the shifts of both sides come back in the exponent. Always normal.
  const int exponent = drop - 63 + divisor.shift - shift - k;
  const auto scale = std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  const double magnitude = static_cast<double>(mantissa) * scale;
  value = decimal.negative ? -magnitude : magnitude;
  return true;
}

}  // namespace deem::score
