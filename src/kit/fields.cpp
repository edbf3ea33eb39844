#include "kit/fields.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "kit/json_scan.h"

namespace deem::kit {
namespace {

const char* kind_name(const codec::Json& value) {
  switch (value.kind()) {
    case codec::Json::Kind::Null:
      return "null";
    case codec::Json::Kind::Bool:
      return "a truth value";
    case codec::Json::Kind::Int:
    case codec::Json::Kind::BigInt:
    case codec::Json::Kind::Double:
      return "a number";
    case codec::Json::Kind::String:
      return "text";
    case codec::Json::Kind::Array:
      return "a list";
    case codec::Json::Kind::Object:
      return "an object";
  }
  return "?";
}

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::pair<std::size_t, std::string> split_position(std::string_view message) {
  constexpr std::string_view kLine = "line";
  const std::size_t at = message.find(kLine);
  const std::size_t digits = at + kLine.size() + 1;  // after "line " or "line:"
  if (at == std::string_view::npos || digits >= message.size()) return {0, std::string(message)};
  std::size_t line = 0;
  const char* first = message.data() + digits;
  const auto [end, error] = std::from_chars(first, message.data() + message.size(), line);
  if (error != std::errc{}) return {0, std::string(message)};
  const std::size_t colon = message.find(": ", at);
  return {line, std::string(colon == std::string_view::npos ? message : message.substr(colon + 2))};
}

std::optional<codec::Json> parse_checked(Draft& draft, std::size_t file, std::string_view text,
                                         std::size_t first_line) {
  auto json = codec::parse_json(text);
  if (!json) {
    const auto [line, what] = split_position(json.error().message);
    draft.refuse({file, first_line + (line > 0 ? line - 1 : 0)}, "not JSON: " + what);
    return std::nullopt;
  }
  for (const auto& twice : scan_json(text).duplicates) {
    draft.refuse({file, first_line + twice.line - 1},
                 "member " + in_quotes(twice.key) + " stands twice in one object");
  }
  return std::move(*json);
}

std::string in_quotes(std::string_view name) { return "\"" + printable(name, 60) + "\""; }

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  constexpr std::size_t kLongest = 64;  // the distance is quadratic, and the text may be hostile
  constexpr std::size_t kMostNames = 1'000;
  if (name.size() > kLongest || known.size() > kMostNames) return "";
  std::string_view best;
  std::size_t nearest = 3;  // two slips at most, and fewer than half the word
  for (const std::string_view candidate : known) {
    if (candidate.size() > kLongest) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < nearest && 2 * distance < std::max(name.size(), candidate.size())) {
      nearest = distance;
      best = candidate;
    }
  }
  return best.empty() ? "" : ", did you mean \"" + std::string(best) + "\"?";
}

std::optional<std::string> Fields::text(std::string_view key) const {
  const codec::Json* value = object_.find(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (value->is_string()) return value->as_string();
  refuse(std::string(key) + " must be text, it is " + kind_name(*value));
  return std::nullopt;
}

std::optional<std::string> Fields::needed_text(std::string_view key) const {
  const codec::Json* value = object_.find(key);
  if (value == nullptr || value->is_null()) {
    refuse("no " + std::string(key));
    return std::nullopt;
  }
  return text(key);
}

std::optional<std::string> Fields::scalar(std::string_view key) const {
  const codec::Json* value = object_.find(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  std::optional<std::string> printed = print_scalar(*value);
  if (!printed) {
    refuse(std::string(key) + " must be text or a number, it is " + kind_name(*value));
  }
  return printed;
}

void Fields::refuse_unknown(std::span<const std::string_view> known) const {
  if (!object_.is_object()) return;
  for (const auto& [key, value] : object_.members()) {
    if (contains(known, key)) continue;
    refuse("unknown member " + in_quotes(key) + did_you_mean(key, known));
  }
}

codec::Json Fields::take_rest(std::span<const std::string_view> known) const {
  codec::Json rest;
  if (!object_.is_object()) return rest;
  std::vector<std::string_view> absent;
  for (const std::string_view name : known) {
    if (object_.find(name) == nullptr) absent.push_back(name);
  }
  for (const auto& [key, value] : object_.members()) {
    if (contains(known, key)) continue;
    if (const std::string hint = did_you_mean(key, absent); !hint.empty()) {
      refuse("unknown member " + in_quotes(key) + hint);
    } else {
      rest.set(key, value);
    }
  }
  return rest;
}

void Fields::refuse(const std::string& message) const {
  draft_.refuse(at_, what_ + ": " + message);
}

void Fields::warn(const std::string& message) const { draft_.warn(at_, what_ + ": " + message); }

std::optional<std::string> print_scalar(const codec::Json& value) {
  if (value.is_string()) return value.as_string();
  if (value.is_number() || value.is_bool()) return codec::dump_json(value);
  return std::nullopt;
}

void set_meta(Item& item, codec::Json value) {
  if (value.is_object()) {
    for (const auto& [key, entry] : value.members()) {
      if (auto printed = print_scalar(entry)) item.meta[key] = std::move(*printed);
    }
  }
  item.raw_meta = std::move(value);
}

std::optional<decision::Option> read_option(const Fields& fields, const codec::Json& entry) {
  if (entry.is_array()) {
    const auto& parts = entry.items();
    const bool shaped = (parts.size() == 2 || parts.size() == 3) &&
                        std::ranges::all_of(parts, [](const auto& p) { return p.is_string(); });
    if (!shaped) {
      fields.refuse("an option list entry must be [\"key\", \"description\"]");
      return std::nullopt;
    }
    return decision::Option{.key = parts[0].as_string(),
                            .description = parts[1].as_string(),
                            .text = parts.size() == 3 ? parts[2].as_string() : ""};
  }
  if (!entry.is_object()) {
    fields.refuse(std::string("an option must be a key, a pair or an object, it is ") +
                  kind_name(entry));
    return std::nullopt;
  }
  static constexpr std::string_view kKnown[] = {"key", "description", "text"};
  const Fields nested = fields.inside(entry, "option");
  nested.refuse_unknown(kKnown);
  auto key = nested.needed_text("key");
  if (!key) return std::nullopt;
  return decision::Option{.key = std::move(*key),
                          .description = nested.text("description").value_or(""),
                          .text = nested.text("text").value_or("")};
}

decision::Option option_from_key(std::string_view key) {
  decision::Option option{.key = std::string(key), .description = std::string(key), .text = {}};
  std::ranges::replace(option.description, '_', ' ');
  return option;
}

}  // namespace deem::kit
