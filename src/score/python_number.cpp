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

void ExactSum::add(double value) {
  if (!std::isfinite(value)) {
    special_ += value;
    return;
  }
  std::size_t kept = 0;
  double x = value;
  for (double y : partials_) {
    if (std::fabs(x) < std::fabs(y)) std::swap(x, y);
    const double high = x + y;
    const double low = y - (high - x);
    if (low != 0) partials_[kept++] = low;
    x = high;
  }
  partials_.resize(kept);
  if (!std::isfinite(x)) {
    in_range_ = false;
    partials_.clear();
    return;
  }
  if (x != 0) partials_.push_back(x);
}

double ExactSum::value() const {
  if (special_ != 0) return special_;  // infinite, or NaN (which is != 0 too)
  if (partials_.empty()) return 0;
  // The partials do not overlap and grow, so the first inexact addition from the top decides,
  // and a half-way case looks one partial further down.
  std::size_t n = partials_.size();
  double high = partials_[--n];
  double low = 0;
  while (n > 0) {
    const double x = high;
    const double y = partials_[--n];
    high = x + y;
    low = y - (high - x);
    if (low != 0) break;
  }
  if (n > 0 && ((low < 0 && partials_[n - 1] < 0) || (low > 0 && partials_[n - 1] > 0))) {
    const double twice = low * 2;
    const double candidate = high + twice;
    if (twice == candidate - high) high = candidate;
  }
  return high;
}

double python_square(double x) {
  // pow is within 0.54 ulp of the exact square (glibc's own bound), so it can leave x·x only
  // where the exact square lies that close to half-way between two doubles.
  const double square = x * x;
  const auto bits = std::bit_cast<std::uint64_t>(square);
  constexpr std::uint64_t kExponent = 0x7ff0000000000000;
  if (square > 1e-280 && square < 1e300 && (bits & ~kExponent) != 0) {
    const double ulp = std::bit_cast<double>(bits & kExponent) * 0x1p-52;
    if (std::fabs(std::fma(x, x, -square)) < 0.45 * ulp) return square;
  }
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
