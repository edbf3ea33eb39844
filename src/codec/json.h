#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace deem::codec {

/// A JSON value that keeps what Python's json keeps: key order, int apart from float, integers
/// of any size, and (in Python mode) NaN, ±Infinity and lone surrogates (as their 3-byte WTF-8
/// form). Small and copyable; for hot paths read with simdjson instead.
class Json {
 public:
  enum class Kind : std::uint8_t { Null, Bool, Int, BigInt, Double, String, Array, Object };
  using Member = std::pair<std::string, Json>;

  Json() = default;  // null
  Json(std::nullptr_t) {}
  template <std::same_as<bool> T>  // no pointer or number turns into a bool by itself
  Json(T value) : value_(value) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Json(T value) : Json(Integer{}, value) {}  // BigInt above 2^63−1
  Json(char) = delete;
  Json(double value) : value_(value) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(const char* value) : value_(std::string(value)) {}
  static Json array(std::vector<Json> items = {});
  static Json object(std::vector<Member> members = {});
  /// `digits` is "-?[0-9]+"; kept as text without leading zeros, Int when it fits.
  static Json big_int(std::string_view digits);
  /// Null when absent.
  template <class T>
  static Json from(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
  }

  Kind kind() const { return static_cast<Kind>(value_.index()); }
  bool is_null() const { return kind() == Kind::Null; }
  bool is_bool() const { return kind() == Kind::Bool; }
  bool is_int() const { return kind() == Kind::Int; }  // fits 64 bits
  bool is_number() const {                             // Int, BigInt or Double
    return kind() == Kind::Int || kind() == Kind::BigInt || kind() == Kind::Double;
  }
  bool is_string() const { return kind() == Kind::String; }
  bool is_array() const { return kind() == Kind::Array; }
  bool is_object() const { return kind() == Kind::Object; }

  // Requires the kind named (DEEM_CHECK).
  bool as_bool() const;
  std::int64_t as_int() const;
  double as_double() const;  // Int and BigInt convert
  const std::string& as_string() const;
  const std::string& digits() const;  // BigInt's text
  const std::vector<Json>& items() const;
  std::vector<Json>& items();
  const std::vector<Member>& members() const;
  std::vector<Member>& members();

  /// The member named `key`, or nullptr (also when this is no object).
  const Json* find(std::string_view key) const;
  /// Sets or replaces a member (at its old place); makes an object out of null. Returns *this.
  /// Looks at every key there is, so build objects of many thousands with object().
  Json& set(std::string_view key, Json value);
  /// Makes an array out of null.
  void push(Json value);

  // Convenience for reading foreign objects: none when absent or of another kind.
  std::optional<std::string> get_string(std::string_view key) const;
  std::optional<double> get_double(std::string_view key) const;
  std::optional<std::int64_t> get_int(std::string_view key) const;
  std::optional<bool> get_bool(std::string_view key) const;

  /// Structural, members in order; Int 1 ≠ Double 1.0 and NaN ≠ NaN.
  bool operator==(const Json&) const = default;

 private:
  struct Integer {};
  Json(Integer, std::signed_integral auto value) : value_(std::int64_t{value}) {}
  Json(Integer, std::unsigned_integral auto value) : Json(Integer{}, std::uint64_t{value}) {}
  Json(Integer, std::uint64_t value);

  struct BigInt {
    std::string digits = {};
    bool operator==(const BigInt&) const = default;
  };
  // In the order of Kind.
  std::variant<std::monostate, bool, std::int64_t, BigInt, double, std::string, std::vector<Json>,
               std::vector<Member>>
      value_;
};

enum class JsonMode {
  Strict,  // RFC 8259; lone surrogate escapes and numbers past a double's range are refused
  Python,  // what json.loads takes: NaN, Infinity, -Infinity, 1e400, lone surrogates
};

/// Of equal keys the last value wins, at the place of the first. A BOM, invalid UTF-8, a depth over
/// 512 and integers of more than 4,300 digits (CPython's limit) are refused in both modes.
/// Errors: Corrupt "line L column C: what", the column in code points from 1.
Result<Json> parse_json(std::string_view text, JsonMode mode = JsonMode::Strict);

/// How a value is printed. The defaults are json.dumps(value)'s: ", " and ": ", ASCII only.
struct JsonStyle {
  bool ascii = true;       // ensure_ascii
  bool compact = false;    // "," and ":" instead
  int indent = -1;         // ≥ 0: one member a line, as json.dumps(indent=N)
  bool sort_keys = false;  // by code point
};
/// Byte for byte what CPython 3.11's json.dumps prints for the same value and style: floats as
/// shortest round-trip repr (1e-05, 1e+16, 5e-324), NaN and Infinity bare.
std::string dump_json(const Json& value, const JsonStyle& style = {});

/// repr(float) of CPython: "0.1", "1e-05", "1e+16", "inf" is "Infinity" and nan "NaN" as in json.
void append_python_float(std::string& out, double value);
/// A JSON string literal, quotes included. A lone surrogate is written as its escape even when not
/// `ascii` (CPython can not write it at all then); any other invalid byte becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text, bool ascii = true);

}  // namespace deem::codec
