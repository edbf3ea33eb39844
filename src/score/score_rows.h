#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record/row.h"
#include "score/detail.h"
#include "score/fitted.h"
#include "score/probes.h"
#include "score/statistics.h"

namespace deem::score {

struct Bin {
  double low = 0, high = 0;
  std::size_t n = 0, correct = 0;
  double sum_p = 0;
};

/// Figures of one column on one task ("" : all tasks). Every figure has its own n.
struct Figures {
  std::string task = {};
  std::size_t rows = 0;  // all of the arm on this task, refused ones included
  std::size_t asked = 0, refused = 0, errors = 0, unsupported = 0, voids = 0, unparsed = 0;
  std::map<std::string, std::size_t> void_causes = {};
  std::size_t answered = 0, labelled = 0;  // labelled: answered with a label
  Rate accuracy = {};
  std::optional<double> brier = {};  // multi-class; none for a bare score
  std::size_t brier_n = 0;
  std::optional<double> auroc = {};  // noul: P(score of a yes > of a no), ties half
  std::size_t auroc_n = 0;
  bool uncalibrated = false;                                  // a bare score: no accuracy, no Brier
  std::vector<Bin> reliability = {};                          // ten bins of the largest probability
  std::optional<double> median_mass = {};                     // letters' mass
  std::optional<double> median_s = {}, p95_s = {};            // from the planned send, nearest rank
  std::optional<double> median_sent_s = {}, p95_sent_s = {};  // from the real send
  std::optional<double> p90_s = {}, p99_s = {};
  std::size_t seconds_n = 0;
  std::optional<std::int64_t> prompt_tokens = {}, cached_tokens = {}, output_tokens = {};
  std::size_t tokens_unknown = 0;  // rows without a prompt count
  std::size_t cached_whole = 0;    // prompts that the server had in its cache but for ≤ 16 tokens
  int group = 1;                   // largest group evaluated together: times are shares
  std::optional<std::size_t> stuck_position =
      {};  // option position given in ≥ 90 % of ≥ 10 answers
  double stuck_share = 0;
  // Baselines on the same labelled items.
  Rate uniform = {};   // value: mean of 1/n options; hits unused
  Rate majority = {};  // the commonest label (or gold position where keys vary)
  Rate overlap = {};   // a program without a model
  std::optional<double> uniform_brier = {}, prior_brier = {};
  Detail detail = {};
};

/// One column: an arm, a reading and a variant of it.
struct Column {
  std::string arm = {}, reading = {}, variant = {}, mode = {};
  bool calibrated = false;          // by a fit for its model; else by constants fitted elsewhere
  std::vector<Figures> tasks = {};  // in the order the rows bring them
  Figures all = {};
  std::string name() const { return arm + " " + reading + ":" + variant; }
};

struct Scores {
  std::vector<Column> columns = {};  // arms in row order; readings and variants in theirs
  std::vector<std::string> tasks = {};
  std::size_t rows = 0;  // plain ones
  ProbeFigures probes = {};
};

/// Rows with a probe are in `probes` and in nothing else. Pure: the order of `rows` changes only
/// the order of columns and tasks. A fit adds a column for each one it has constants for (variant
/// "…-fit"); one by choose, the column chosen:fit.
Scores score_rows(std::span<const record::Row> rows, const Fits& fits = {});

}  // namespace deem::score
