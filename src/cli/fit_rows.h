#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "record/fit.h"
#include "record/row.h"

namespace deem::cli {

/// Rows of one model out of a run, for fitting.
struct FitRows {
  std::string path = {};
  std::string kit = {};  // its name
  std::vector<record::Row> rows = {};
  record::FitModel model = {};
  record::FitSource source = {};
  std::vector<std::string> notes = {};
  bool unreadable = false;  // some line was; said on stderr
};

/// The rows of run folder `path`: of the arms named, or of all that serve what the first one does
/// (others are noted and left out). Errors: NotFound (no run, no rows, no such arm), BadInput when
/// the arms named serve different models.
Result<FitRows> open_fit_rows(const std::string& path, const std::vector<std::string>& arms);

/// A fit without entries, for rows of a run.
record::Fit start_fit(const FitRows& from, const std::string& by, const std::string& name);

/// Writes a fit file; one that holds anything but a fit already is left alone. Errors: BadInput,
/// Unavailable.
Result<void> save_fit(const std::string& path, const record::Fit& fit);

}  // namespace deem::cli
