#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/gather_rows.h"
#include "report/full_report.h"

namespace deem::cli {

/// Rows and everything that is said about them.
struct MadeReport {
  Gathered gathered = {};
  report::FullReport report = {};
  bool answered = false;  // some row has an answer
};

/// Gathers, scores, and renders prompts again where `prompts`. Errors: NotFound when a path has no
/// rows file; BadInput when two paths mean the same rows.
Result<MadeReport> make_report(const std::vector<std::string>& paths, bool prompts,
                               const report::EnergyPrice& price = {});

/// Writes `bytes` unless something that is no report of ours lies there. Errors: BadInput,
/// Unavailable.
Result<void> write_report(const std::string& path, std::string_view bytes, bool force);

}  // namespace deem::cli
