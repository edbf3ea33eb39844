#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json.h"
#include "record/row.h"

namespace deem::record {

/// Reads required members of one JSON object and keeps the first thing that was wrong.
class Fields {
 public:
  /// `json` must outlive this.
  explicit Fields(const codec::Json& json) : json_(json) {}

  std::string text(std::string_view key);
  std::int64_t integer(std::string_view key);
  double number(std::string_view key);
  const std::vector<codec::Json>& list(std::string_view key);

  /// A string member read by `parse`, which gives an optional; the type's first value if wrong.
  template <class Parse>
  auto named(std::string_view key, Parse parse) {
    auto value = parse(text(key));
    if (!value) note(std::string(key) + " has an unknown value");
    return value.value_or(typename decltype(value)::value_type{});
  }

  void note(std::string what);
  const std::optional<std::string>& problem() const { return problem_; }

 private:
  const codec::Json& json_;
  std::optional<std::string> problem_;
};

/// A number, or null where it is not finite: rows are strict JSON.
inline codec::Json finite(double value) {
  return std::isfinite(value) ? codec::Json(value) : codec::Json();
}

/// `bytes` as it is when well-formed, else with every bad byte as U+FFFD: servers cut characters.
std::string lossy_utf8(std::string_view bytes);

template <class T>
void set_optional(codec::Json& object, std::string_view key, const std::optional<T>& value) {
  if (value) object.set(key, codec::Json(*value));
}

codec::Json to_json(const ReadingRecord& reading);
Result<ReadingRecord> parse_reading(const codec::Json& json);

}  // namespace deem::record
