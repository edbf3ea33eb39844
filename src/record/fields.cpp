#include "record/fields.h"

#include "base/text.h"

namespace deem::record {

std::string Fields::text(std::string_view key) {
  auto value = json_.get_string(key);
  if (!value) note(std::string(key) + " is missing or no string");
  return std::move(value).value_or("");
}

std::int64_t Fields::integer(std::string_view key) {
  const auto value = json_.get_int(key);
  if (!value) note(std::string(key) + " is missing or no integer");
  return value.value_or(0);
}

double Fields::number(std::string_view key) {
  const auto value = json_.get_double(key);
  if (!value) note(std::string(key) + " is missing or no number");
  return value.value_or(0);
}

const std::vector<codec::Json>& Fields::list(std::string_view key) {
  static const std::vector<codec::Json> kEmpty;
  const codec::Json* value = json_.find(key);
  if (value != nullptr && value->is_array()) return value->items();
  note(std::string(key) + " is missing or no list");
  return kEmpty;
}

void Fields::note(std::string what) {
  if (!problem_) problem_ = std::move(what);
}

std::string lossy_utf8(std::string_view bytes) {
  if (is_utf8(bytes)) return std::string(bytes);
  std::string out;
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t length = 1;
    while (length < 4 && at + length < bytes.size() && !is_utf8(bytes.substr(at, length))) ++length;
    if (at + length <= bytes.size() && is_utf8(bytes.substr(at, length))) {
      out += bytes.substr(at, length);
      at += length;
    } else {
      out += "\xEF\xBF\xBD";
      ++at;
    }
  }
  return out;
}

}  // namespace deem::record
