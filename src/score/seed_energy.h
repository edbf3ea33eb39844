#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json.h"

namespace deem::score {

/// What `deem score --format seed-energy DIR` prints: the energy fields of the reference bench's
/// reports, from its own csv.
struct SeedEnergyReport {
  /// One a NAME.watts.csv, by name: 'NAME {"energy": {…}, "idle": {…}}', as
  /// json.dumps(…, sort_keys=True) prints what run.py puts into NAME.report.json. Decisions are
  /// those of NAME.jsonl, idle is NAME.idle.csv; null, and no net joules, where it is not there.
  std::vector<std::string> lines;
  /// Of each line, in its order: which of the reference bench's defects are in its figures.
  std::vector<std::string> labels;
  /// "PATH: what" where run.py would have ended with an exception, and files that can not be read.
  std::vector<std::string> problems;
};

/// Errors: NotFound, Unavailable for the folder itself.
Result<SeedEnergyReport> seed_energy_folder(const std::string& folder);

/// run.py's Boards.integrate of a csv's bytes: the same sums in the same order, members as in its
/// dict. Stamps are taken without a time zone, so differences are wrong (there as here: by an hour)
/// only where the clocks were changed between two samples. Errors: Corrupt with the exception it
/// raises.
Result<codec::Json> integrate_seed_watts(std::string_view bytes);

}  // namespace deem::score
