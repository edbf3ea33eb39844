#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "report/fit_report.h"

namespace deem::cli {

struct ChooseFlags {
  std::string by = "brier", out = {}, name = {};
  std::vector<std::string> arms = {};
  bool cheapest = false, all = false, no_fit = false;
};

/// What choosing on a run gave; the fit file is written unless nothing was chosen. What was found
/// is there to be printed even where the file could not be written.
struct Chosen {
  report::ChooseReport report = {};
  bool chosen = false;      // of some task
  bool unreadable = false;  // a line of the rows
  Result<void> saved = {};  // how writing the fit file went
};
Result<Chosen> choose_reading(const std::string& path, const ChooseFlags& flags);

}  // namespace deem::cli
