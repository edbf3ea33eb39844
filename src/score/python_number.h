#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deem::score {

/// Holds any sum of 64-bit integers over a file.
__extension__ typedef __int128 WideInt;

/// A number as Python's json.loads gives it; None where a row has none.
struct PythonNumber {
  enum class Kind : std::uint8_t { None, Int, Bool, Float };
  Kind kind = Kind::None;
  std::int64_t whole = 0;  // Int; Bool as 0 or 1
  double real = 0;         // Float

  static PythonNumber of_int(std::int64_t value) { return {Kind::Int, value, 0}; }
  static PythonNumber of_bool(bool value) { return {Kind::Bool, value ? 1 : 0, 0}; }
  static PythonNumber of_float(double value) { return {Kind::Float, 0, value}; }

  bool is_float() const { return kind == Kind::Float; }
  double as_double() const { return is_float() ? real : static_cast<double>(whole); }
};

/// Python's comparison: an int against a float exactly; unordered with NaN.
std::partial_ordering compare(std::int64_t whole, double real);
std::partial_ordering compare(const PythonNumber& a, const PythonNumber& b);

/// Appends the number as json.dumps prints it; "null" for None.
void append_number(std::string& out, const PythonNumber& number);
void append_wide_int(std::string& out, WideInt value);

/// Python 3.11's sum(): exact while all are ints, plain left-to-right doubles
/// from the first float on (3.12 compensates; 3.11 does not).
class PythonSum {
 public:
  void add(const PythonNumber& number);
  void append_to(std::string& out) const;

 private:
  bool is_float_ = false;
  WideInt whole_ = 0;
  double real_ = 0;
};

/// math.fsum: the correctly rounded sum, whatever the order. Holds the exact
/// sum in pieces of 32 bits of weight (Neal, "Fast exact summation using small
/// and large superaccumulators", 2015).
class ExactSum {
 public:
  void add(double value);
  /// None where a sum of finite values leaves the range of a double, for which
  /// fsum raises.
  std::optional<double> value() const;

 private:
  static constexpr std::size_t kPieces = 67;  // 2048 exponents, and what they carry over
  static constexpr std::uint32_t kCarryAfter = 1U << 30;  // each adds less than 2^32
  void carry();

  std::array<std::int64_t, kPieces> pieces_{};
  std::uint32_t until_carry_ = kCarryAfter;
  double special_ = 0;  // infinities and NaN
};

/// x ** 2 of Python: libm's pow, which differs from x * x in about one case of
/// a thousand.
double python_square(double x);

/// sorted() of CPython 3.11, also in the order it leaves where a NaN makes `<`
/// inconsistent.
void python_sort(std::vector<PythonNumber>& numbers);

}  // namespace deem::score
