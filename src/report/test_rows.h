#pragma once

// Rows made by hand, for tests of reports.

#include <cmath>
#include <string>
#include <vector>

#include "record/row.h"
#include "report/full_report.h"
#include "score/evidence.h"
#include "score/score_rows.h"

namespace deem::report {

/// A row read by its letters, with these probabilities of its options.
inline record::Row letters_row(const std::string& arm, const std::string& task,
                               const std::string& id, std::vector<std::string> keys,
                               const std::string& label, const std::vector<double>& probs,
                               double seconds = 0.1) {
  record::Row row;
  row.arm = arm;
  row.task = task;
  row.id = id;
  row.mode = "readout";
  row.keys = std::move(keys);
  row.label = label;
  row.state_id = id;
  row.constants.temperature = 1;
  row.overlap_choice = 0;
  record::ReadingRecord reading;
  reading.kind = record::ReadingRecord::Kind::Letters;
  record::ReadingRecord::Round round;
  for (std::size_t i = 0; i < probs.size(); ++i) {
    round.options.push_back(i);
    round.letters.logprobs.emplace_back(std::log(probs[i]));
  }
  round.letters.mass_letters = 1;
  reading.rounds.push_back(std::move(round));
  reading.planned_to_done_s = seconds;
  reading.sent_to_done_s = seconds;
  reading.prompt_tokens = 100;
  row.readings["letters"] = std::move(reading);
  return row;
}

/// `n` items of two options, the first `right` of them answered right with probability p.
inline void add_rows(std::vector<record::Row>& rows, const std::string& arm,
                     const std::string& task, int n, int right, double p, double seconds = 0.1) {
  for (int i = 0; i < n; ++i) {
    // The right option stands first and second by turns.
    const bool first = i % 2 == 0;
    const bool says_first = (i < right) == first;
    rows.push_back(
        letters_row(arm, task, "item-" + std::to_string(i), {"no", "yes"}, first ? "no" : "yes",
                    {says_first ? p : 1 - p, says_first ? 1 - p : p}, seconds * (1 + 0.01 * i)));
  }
}

inline FullReport make_full(const std::vector<record::Row>& rows) {
  FullReport out;
  out.version = "0.0.0";
  out.heading.lines = {{"kit", "hand made  digest 0"}};
  out.scores = score::score_rows(rows);
  out.evidence = score::find_evidence(rows, out.scores);
  for (const PromptKey& key : wanted_prompts(out.evidence)) {
    out.prompts[key].missing = "there is no kit";
  }
  return out;
}

}  // namespace deem::report
