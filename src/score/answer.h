#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/row.h"

namespace deem::score {

/// What one reading says under one variant.
struct Answer {
  std::vector<double> probs = {};    // by option; empty for a bare score
  std::size_t choice = 0;            // index of the likeliest option, the first among equals
  std::optional<double> score = {};  // noul by one text: its likelihood, or gain with a prior; its
                                     // zero means nothing until it is calibrated
};

/// Variants of a reading that its raw numbers allow: letters "raw" and, with prior rounds, "prior";
/// texts "raw-sum", "raw-mean", "raw-bytes" and, with priors, "prior-sum", "prior-mean",
/// "prior-bytes"; written and native "raw". The first is the default.
std::vector<std::string> variants_of(const record::ReadingRecord& reading);

/// The index of the right option: row.keys.size() when the label is none of them; none without one.
std::optional<std::size_t> label_index(const record::Row& row);

/// What the row's item was judged on, by digest where it is known: items on one state share it.
const std::string& state_of(const record::Row& row);

/// What calibration takes: natural log-likelihoods or differences of such, one an option, before
/// any constant; one alone for a bare score; for a written answer 1 at the option stated, 0
/// elsewhere; for a native one the logs of its probabilities. None where there is no answer.
/// softmax(scores / T) of letters is the answer's probabilities before the noul slope, tournaments
/// too (to rounding).
std::optional<std::vector<double>> scores_of(const record::Row& row,
                                             const record::ReadingRecord& reading,
                                             std::string_view variant);

/// The answer, or none: a void, failed or unparsed reading, or a variant it does not have.
/// Letters: softmax(logprobs / T) with what was missing at its bound, tournaments combined, and for
/// noul the slope and bias; texts: softmax of the scores at T = 1; written: all on the parsed
/// option; native: the endpoint's own, made to sum to 1.
std::optional<Answer> answer_of(const record::Row& row, const record::ReadingRecord& reading,
                                std::string_view variant);

}  // namespace deem::score
