#include "score/python_number.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "codec/json.h"
#include "score/python_sort.h"

namespace deem::score {

std::partial_ordering compare(std::int64_t whole, double real) {
  if (std::isnan(real)) return std::partial_ordering::unordered;
  constexpr double kTop = 9223372036854775808.0;  // 2^63
  if (real >= kTop) return std::partial_ordering::less;
  if (real < -kTop) return std::partial_ordering::greater;
  const double cut = std::trunc(real);
  const auto other = static_cast<std::int64_t>(cut);
  if (whole != other) return whole <=> other;
  return 0.0 <=> real - cut;
}

std::partial_ordering compare(const PythonNumber& a, const PythonNumber& b) {
  if (a.is_float() && b.is_float()) return a.real <=> b.real;
  if (b.is_float()) return compare(a.whole, b.real);
  if (a.is_float()) return 0 <=> compare(b.whole, a.real);
  return a.whole <=> b.whole;
}

void append_wide_int(std::string& out, WideInt value) {
  if (value < 0) out += '-';
  std::string digits;
  do {
    const auto digit = static_cast<int>(value % 10);  // has the sign of value
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
    value /= 10;
  } while (value != 0);
  out.append(digits.rbegin(), digits.rend());
}

void append_number(std::string& out, const PythonNumber& number) {
  switch (number.kind) {
    case PythonNumber::Kind::None:
      out += "null";
      return;
    case PythonNumber::Kind::Int:
      append_wide_int(out, number.whole);
      return;
    case PythonNumber::Kind::Bool:
      out += number.whole != 0 ? "true" : "false";
      return;
    case PythonNumber::Kind::Float:
      codec::append_python_float(out, number.real);
      return;
  }
}

void PythonSum::add(const PythonNumber& number) {
  if (number.kind == PythonNumber::Kind::None) return;
  if (!is_float_ && !number.is_float()) {
    whole_ += number.whole;
    return;
  }
  if (!is_float_) {
    is_float_ = true;
    real_ = static_cast<double>(whole_);
  }
  real_ += number.as_double();
}

void PythonSum::append_to(std::string& out) const {
  if (is_float_) {
    codec::append_python_float(out, real_);
  } else {
    append_wide_int(out, whole_);
  }
}

namespace {

/// window · 2^unit to the nearest double, half to even. Requires 0 < window <
/// 2^96 with more than 64 bits, or a value that is a multiple of the smallest
/// double.
double round_scaled(WideInt window, int unit) {
  const auto upper = static_cast<std::uint64_t>(window >> 64);
  const int length = upper != 0
                         ? 64 + static_cast<int>(std::bit_width(upper))
                         : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(window)));
  // Fewer bits for a subnormal, whose last bit stands for 2^-1074.
  const int drop = std::max({length - 53, -1074 - unit, 0});
  WideInt mantissa = window >> drop;
  if (drop > 0) {
    const WideInt dropped = window - (mantissa << drop);
    const WideInt half = WideInt{1} << (drop - 1);
    if (dropped > half || (dropped == half && (mantissa & 1) != 0)) ++mantissa;
  }
  return std::ldexp(static_cast<double>(mantissa), unit + drop);
}

}  // namespace

void ExactSum::add(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto exponent = static_cast<unsigned>(bits >> 52 & 0x7ff);
  if (exponent == 0x7ff) {
    special_ += value;
    return;
  }
  // The value is mantissa · 2^(place − 1075), place at least 1 (subnormals
  // share it).
  const std::uint64_t fraction = bits & 0xfffffffffffff;
  const std::uint64_t mantissa = exponent > 0 ? fraction | std::uint64_t{1} << 52 : fraction;
  const unsigned place = std::max(exponent, 1U);
  const std::size_t piece = place / 32;
  const unsigned shift = place % 32;
  const std::uint64_t upper = mantissa >> (32 - shift);
  const std::int64_t sign = bits >> 63 != 0 ? -1 : 1;
  pieces_[piece] += sign * static_cast<std::int64_t>(mantissa << shift & 0xffffffff);
  pieces_[piece + 1] += sign * static_cast<std::int64_t>(upper & 0xffffffff);
  pieces_[piece + 2] += sign * static_cast<std::int64_t>(upper >> 32);
  if (--until_carry_ == 0) carry();
}

void ExactSum::carry() {
  for (std::size_t i = 0; i + 1 < kPieces; ++i) {
    const std::int64_t over = pieces_[i] >> 32;
    pieces_[i] -= over << 32;
    pieces_[i + 1] += over;
  }
  until_carry_ = kCarryAfter;
}

std::optional<double> ExactSum::value() const {
  if (special_ != 0) return special_;  // infinite, or NaN (which is != 0 too)
  // Pieces without overlap, largest first: after the carries all but the top
  // lie in [0, 2^32).
  ExactSum whole = *this;
  whole.carry();
  const auto& pieces = whole.pieces_;
  std::size_t top = kPieces;
  while (top > 0 && pieces[top - 1] == 0) --top;
  if (top == 0) return 0;
  const bool negative = pieces[top - 1] < 0;
  if (negative) {
    for (std::int64_t& piece : whole.pieces_) piece = -piece;
    whole.carry();
    while (pieces[top - 1] == 0) --top;
  }
  // 64 bits from the highest set bit on, with all below it folded into the
  // last: enough to round.
  WideInt window = 0;
  std::size_t below = top;
  for (int taken = 0; taken < 3; ++taken) window = window << 32 | (below > 0 ? pieces[--below] : 0);
  bool rest = false;
  while (below > 0) rest |= pieces[--below] != 0;
  if (rest) window |= 1;
  const double magnitude = round_scaled(window, 32 * (static_cast<int>(top) - 3) - 1075);
  if (std::isinf(magnitude)) return std::nullopt;
  return negative ? -magnitude : magnitude;
}

double python_square(double x) {
  // glibc's pow is within 0.509 ulp and |log of the result| · 2^-14.6 ulp of
  // the exact square (its own analysis, e_pow.c), so it can leave x·x only
  // where that lies so close to half-way between two doubles; half as far below
  // a power of two.
  const double square = x * x;
  const auto bits = std::bit_cast<std::uint64_t>(square);
  constexpr std::uint64_t kExponent = 0x7ff0000000000000;
  if (square > 1e-60 && square < 1e60) {
    const double ulp = std::bit_cast<double>(bits & kExponent) * 0x1p-52;
    const double error = std::fabs(std::fma(x, x, -square));
    if (error < 0.48 * ulp && ((bits & ~kExponent) != 0 || error == 0)) return square;
  }
  if (square == 0 && x == 0) return 0;
  static volatile const double two = 2.0;  // volatile: the compiler would make it x * x
  return std::pow(x, two);
}

void python_sort(std::vector<PythonNumber>& numbers) {
  const auto less = [](const PythonNumber& a, const PythonNumber& b) { return compare(a, b) < 0; };
  const bool nan = std::ranges::any_of(
      numbers, [](const PythonNumber& n) { return n.is_float() && std::isnan(n.real); });
  if (nan) {
    ListSort<PythonNumber, decltype(less)>(numbers, less).run();
  } else {
    std::ranges::stable_sort(numbers, less);
  }
}

}  // namespace deem::score
