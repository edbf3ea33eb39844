#pragma once

#include <cstddef>
#include <cstdint>

namespace deem::score {

/// A decimal as scanned: ±digits · 10^exponent.
struct Decimal {
  std::uint64_t digits = 0;
  std::int32_t exponent = 0;
  bool negative = false;
};

/// The nearest double, ties to even, for digits below 10^19 and an exponent from −27 to 0; false
/// outside that range. Exact: one 128-by-64-bit division with its remainder.
bool round_decimal(const Decimal& decimal, double& value);

/// The value of `n` ASCII digits, n ≤ 19. 8 bytes from every digit on must be readable.
std::uint64_t read_digits(const char* at, std::size_t n);

}  // namespace deem::score
