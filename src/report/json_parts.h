#pragma once

// Private to report: pieces of its JSON.

#include <cstdint>
#include <optional>

#include "codec/json.h"
#include "report/report.h"
#include "score/resample.h"

namespace deem::report {

inline codec::Json count(std::size_t n) { return static_cast<std::uint64_t>(n); }

/// Null for none.
template <class T>
codec::Json known(const std::optional<T>& value) {
  return value ? codec::Json(*value) : codec::Json();
}

inline codec::Json interval(const std::optional<score::Interval>& value) {
  if (!value) return {};
  return codec::Json::object({{"low", value->low}, {"high", value->high}});
}

/// What as_json of report.h prints.
codec::Json score_document(const score::Scores& scores, const Heading& heading);

}  // namespace deem::report
