#pragma once

#include <string>
#include <vector>

#include "report/report.h"
#include "score/evidence.h"
#include "score/score_rows.h"

namespace deem::report {

/// What can be trusted on one task, in words.
struct Verdict {
  enum class Level {
    Better,       // the whole 95 % interval lies above the best baseline
    Unclear,      // the best baseline lies inside the interval
    Worse,        // the whole interval lies under it
    NotMeasured,  // no labelled answer with probabilities
  };
  std::string task = {};
  Level level = Level::NotMeasured;
  std::string badge = {};                  // a few words
  std::string headline = {};               // one sentence with figure, interval, n and baseline
  std::vector<std::string> points = {};    // what else is good to know
  std::vector<std::string> warnings = {};  // what a reader must not miss
  bool in_doubt = false;                   // a probe of the seat speaks against the best column
  const score::Lead* lead = nullptr;       // none when not measured; borrowed from the evidence
};

std::string to_string(Verdict::Level level);  // "better", "unclear", "worse", "not measured"

/// One for each task, in the order of `scores.tasks`. `doubts`: of Heading.
std::vector<Verdict> find_verdicts(const score::Scores& scores, const score::Evidence& evidence,
                                   const std::vector<Doubt>& doubts = {});

/// The verdicts in one sentence.
std::string summary(const std::vector<Verdict>& verdicts);

}  // namespace deem::report
