#include "score/python_value.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/check.h"

namespace deem::score {
namespace {

using codec::Json;

bool is_numeric(const Json& value) { return value.is_number() || value.is_bool(); }

/// The integer a finite double stands for, in decimal; empty when it has a fraction.
std::string whole_digits(double value) {
  if (!std::isfinite(value) || std::trunc(value) != value) return {};
  std::array<char, 320> text{};
  const int n = std::snprintf(text.data(), text.size(), "%.0f", value);
  return std::string(text.data(), static_cast<std::size_t>(n));
}

bool equal_numbers(const Json& a, const Json& b) {
  const bool big_a = a.kind() == Json::Kind::BigInt;
  const bool big_b = b.kind() == Json::Kind::BigInt;
  if (big_a && big_b) return a.digits() == b.digits();
  if (big_a || big_b) {
    const Json& other = big_a ? b : a;
    return other.kind() == Json::Kind::Double &&
           whole_digits(other.as_double()) == (big_a ? a : b).digits();
  }
  return compare(*to_number(a), *to_number(b)) == 0;
}

bool equal_items(const Json& a, const Json& b) {
  const auto is_nan = [](const Json& v) {
    return v.kind() == Json::Kind::Double && std::isnan(v.as_double());
  };
  return (is_nan(a) && is_nan(b)) || equal(a, b);
}

}  // namespace

bool is_true(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::Null:
      return false;
    case Json::Kind::Bool:
      return value.as_bool();
    case Json::Kind::Int:
      return value.as_int() != 0;
    case Json::Kind::BigInt:
      return true;
    case Json::Kind::Double:
      return value.as_double() != 0;  // NaN is true
    case Json::Kind::String:
      return !value.as_string().empty();
    case Json::Kind::Array:
      return !value.items().empty();
    case Json::Kind::Object:
      return !value.members().empty();
  }
  return false;
}

bool equal(const Json& a, const Json& b) {
  if (is_numeric(a) && is_numeric(b)) return equal_numbers(a, b);
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Json::Kind::String:
      return a.as_string() == b.as_string();
    case Json::Kind::Array:
      return std::ranges::equal(a.items(), b.items(), equal_items);
    case Json::Kind::Object:
      return a.members().size() == b.members().size() &&
             std::ranges::all_of(a.members(), [&b](const Json::Member& member) {
               const Json* other = b.find(member.first);
               return other != nullptr && equal_items(member.second, *other);
             });
    default:
      return true;  // null and null
  }
}

bool same_key(const Json& a, const Json& b) { return equal_items(a, b); }

std::optional<PythonNumber> to_number(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::Bool:
      return PythonNumber::of_bool(value.as_bool());
    case Json::Kind::Int:
      return PythonNumber::of_int(value.as_int());
    case Json::Kind::Double:
      return PythonNumber::of_float(value.as_double());
    default:
      return std::nullopt;
  }
}

void PythonCounter::add(const Json& key) {
  std::size_t at = 0;
  if (key.is_string()) {
    at = strings_.try_emplace(key.as_string(), entries_.size()).first->second;
  } else {
    const auto found = std::ranges::find_if(
        entries_, [&key](const Entry& entry) { return same_key(entry.key, key); });
    at = static_cast<std::size_t>(found - entries_.begin());
  }
  if (at == entries_.size()) entries_.push_back({key, 0});
  ++entries_[at].count;
}

void append_key(std::string& out, const Json& key) {
  codec::append_json_string(out, key.is_string() ? key.as_string() : codec::dump_json(key));
}

}  // namespace deem::score
