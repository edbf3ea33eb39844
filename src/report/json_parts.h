#pragma once

// Private to report: pieces of its JSON.

#include <cstdint>
#include <optional>

#include "codec/json.h"
#include "record/fit.h"
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

inline codec::Json held_out_json(const record::FitFigures& f) {
  return codec::Json::object({{"n", f.n},
                              {"accuracy", f.accuracy},
                              {"accuracy_low", known(f.accuracy_low)},
                              {"accuracy_high", known(f.accuracy_high)},
                              {"brier", f.brier},
                              {"brier_low", known(f.brier_low)},
                              {"brier_high", known(f.brier_high)},
                              {"log_loss", f.log_loss},
                              {"ece", f.ece}});
}

/// What as_json of report.h prints.
codec::Json score_document(const score::Scores& scores, const Heading& heading);

}  // namespace deem::report
