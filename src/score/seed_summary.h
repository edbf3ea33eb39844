#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "score/python_number.h"
#include "score/python_value.h"
#include "score/seconds_column.h"
#include "score/seed_row.h"

namespace deem::score {

/// What run.py's summarise() gives for one file of rows.
struct SeedSummary {
  struct Bin {
    std::int64_t n = 0;
    double sum_p = 0;  // added up one row at a time, in file order
    std::int64_t correct = 0;
  };
  std::int64_t n = 0, n_reached = 0, n_labelled = 0, correct = 0, errors = 0, unparsed = 0;
  std::int64_t floored_rows = 0, letters_floored = 0;
  PythonCounter refused;
  std::optional<double> brier;
  std::array<Bin, kSeedBins> reliability{};
  PythonNumber median_seconds, p95_seconds;  // None without any
  PythonSum prompt_tokens, eval_tokens;
};

/// Adds rows up in file order. Keeps eight bytes a row: its seconds, for the
/// median and the p95.
class SeedFold {
 public:
  void add(const SeedRows& rows);
  /// The summary, and an empty fold again. Errors: Corrupt where fsum leaves
  /// the range of a double, as in run.py.
  Result<SeedSummary> finish();
  std::size_t kept_bytes() const { return seconds_.kept_bytes(); }

 private:
  SeedSummary summary_;
  ExactSum brier_;
  std::int64_t brier_n_ = 0;
  SecondsColumn seconds_;
};

/// The summary as json.dumps prints it.
std::string format_seed_summary(const SeedSummary& summary);

/// Scores the bytes of one .jsonl file of the reference bench. Pure. Errors:
/// Corrupt "LINE: what" for the first line that run.py could not score.
Result<SeedSummary> summarise_seed_rows(std::string_view bytes);

}  // namespace deem::score
