#include "codec/json.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/check.h"

namespace deem::codec {
namespace {

template <class T, class Variant>
auto& held_as(Variant& value) {
  auto* held = std::get_if<T>(&value);
  DEEM_CHECK(held != nullptr);
  return *held;
}

double to_double(const std::string& digits) {
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc()) return value;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return digits.starts_with('-') ? -kInfinity : kInfinity;
}

}  // namespace

Json::Json(Integer, std::uint64_t value) {
  if (value <= std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    value_ = static_cast<std::int64_t>(value);
  } else {
    value_ = BigInt{std::to_string(value)};
  }
}

Json Json::array(std::vector<Json> items) {
  Json json;
  json.value_ = std::move(items);
  return json;
}

Json Json::object(std::vector<Member> members) {
  Json json;
  json.value_ = std::move(members);
  return json;
}

Json Json::big_int(std::string_view digits) {
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  DEEM_CHECK(!digits.empty() &&
             std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; }));
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size() - 1));
  std::string text = (negative ? "-" : "") + std::string(digits);
  std::int64_t small = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), small).ec == std::errc())
    return small;
  Json json;
  json.value_ = BigInt{std::move(text)};
  return json;
}

bool Json::as_bool() const { return held_as<bool>(value_); }
std::int64_t Json::as_int() const { return held_as<std::int64_t>(value_); }
double Json::as_double() const {
  if (is_int()) return static_cast<double>(as_int());
  if (kind() == Kind::BigInt) return to_double(digits());
  return held_as<double>(value_);
}
const std::string& Json::as_string() const { return held_as<std::string>(value_); }
const std::string& Json::digits() const { return held_as<BigInt>(value_).digits; }
const std::vector<Json>& Json::items() const { return held_as<std::vector<Json>>(value_); }
std::vector<Json>& Json::items() { return held_as<std::vector<Json>>(value_); }
const std::vector<Json::Member>& Json::members() const {
  return held_as<std::vector<Member>>(value_);
}
std::vector<Json::Member>& Json::members() { return held_as<std::vector<Member>>(value_); }

const Json* Json::find(std::string_view key) const {
  if (!is_object()) return nullptr;
  for (const Member& member : members()) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

Json& Json::set(std::string_view key, Json value) {
  if (is_null()) value_ = std::vector<Member>();
  if (const Json* old = find(key); old != nullptr) {
    *const_cast<Json*>(old) = std::move(value);
  } else {
    members().emplace_back(key, std::move(value));
  }
  return *this;
}

void Json::push(Json value) {
  if (is_null()) value_ = std::vector<Json>();
  items().push_back(std::move(value));
}

std::optional<std::string> Json::get_string(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return value->as_string();
}

std::optional<double> Json::get_double(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->as_double();
}

std::optional<std::int64_t> Json::get_int(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr || !value->is_int()) return std::nullopt;
  return value->as_int();
}

std::optional<bool> Json::get_bool(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr || !value->is_bool()) return std::nullopt;
  return value->as_bool();
}

}  // namespace deem::codec
