#include "score/json_text.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <system_error>

#include "base/text.h"
#include "score/decimal.h"

namespace deem::score {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// From a backslash to after its escape.
const char* skip_escape(const char* at) {
  if (at[1] == 'u') return std::all_of(at + 2, at + 6, is_hex) ? at + 6 : nullptr;
  constexpr std::string_view kEscapes = "\"\\/bfnrt";
  return kEscapes.find(at[1]) != std::string_view::npos ? at + 2 : nullptr;
}

/// A number and where its digits lie.
struct NumberText {
  const char* end = nullptr;  // nullptr: no number, or an integer of more than 18 digits
  bool is_int = false;
  std::uint32_t whole_digits = 0, fraction_digits = 0;
  const char* exponent = nullptr;  // its sign or first digit; nullptr: none
};

const char* skip_digits(const char* at, std::uint32_t& count) {
  const char* const first = at;
  while (is_digit(*at)) ++at;
  count = static_cast<std::uint32_t>(at - first);
  return at;
}

NumberText split_number(const char* at) {
  NumberText text;
  if (*at == '-') ++at;
  const bool leading_zero = *at == '0';
  at = skip_digits(at, text.whole_digits);
  if (text.whole_digits == 0 || (text.whole_digits > 1 && leading_zero)) return text;
  if (*at == '.') {
    at = skip_digits(at + 1, text.fraction_digits);
    if (text.fraction_digits == 0) return text;
  }
  if (*at == 'e' || *at == 'E') {
    text.exponent = at + 1;
    at += at[1] == '+' || at[1] == '-' ? 2 : 1;
    std::uint32_t digits = 0;
    at = skip_digits(at, digits);
    if (digits == 0) return text;
  }
  text.is_int = text.fraction_digits == 0 && text.exponent == nullptr;
  if (!text.is_int || text.whole_digits <= 18) text.end = at;
  return text;
}

/// By way of std::from_chars where the digits or the exponent are out of the
/// usual.
bool read_float(const char* at, const NumberText& text, double& value) {
  if (text.whole_digits + text.fraction_digits <= kMaxDigits && text.exponent != nullptr) {
    const char* const whole_end = at + (*at == '-' ? 1 : 0) + text.whole_digits;
    const char* const fraction_end =
        whole_end + (text.fraction_digits > 0 ? 1 + text.fraction_digits : 0);
    int exponent = 0;
    const char* const first = text.exponent + (*text.exponent == '+' ? 1 : 0);
    const bool read = std::from_chars(first, text.end, exponent).ec == std::errc();
    if (read && exponent >= -100 && exponent <= 100) {
      const Decimal decimal{
          read_digits(whole_end, text.whole_digits) * decimal_tables::kTens[text.fraction_digits] +
              read_digits(fraction_end, text.fraction_digits),
          exponent - static_cast<int>(text.fraction_digits), *at == '-'};
      if (round_decimal(decimal, value)) return true;
    }
  }
  return std::from_chars(at, text.end, value).ec == std::errc();
}

}  // namespace

const char* skip_any_string(const char* at, bool& escaped) {
  const char* const first = at;
  bool high = false;
  escaped = false;
  while (*at != '"') {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte < 0x20) return nullptr;
    high |= byte >= 0x80;
    if (*at == '\\') {
      escaped = true;
      at = skip_escape(at);
      if (at == nullptr) return nullptr;
    } else {
      ++at;
    }
  }
  if (high && !is_utf8({first, static_cast<std::size_t>(at - first)})) return nullptr;
  return at;
}

const char* skip_any_number(const char* at) { return split_number(at).end; }

const char* read_any_number(const char* at, PythonNumber& number) {
  number = {};
  if (*at == 'n') return std::memcmp(at, "null", 4) == 0 ? at + 4 : nullptr;
  const NumberText text = split_number(at);
  if (text.end == nullptr) return nullptr;
  if (text.is_int) {
    number = PythonNumber::of_int(0);
    std::from_chars(at, text.end, number.whole);
    return text.end;
  }
  number = PythonNumber::of_float(0);
  return read_float(at, text, number.real) ? text.end : nullptr;
}

}  // namespace deem::score
