#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "record/row.h"
#include "report/full_report.h"

namespace deem::cli {

/// Rows of one path among all that were gathered: [first, last).
struct RowRange {
  std::string path = {};
  std::size_t first = 0, last = 0;
};

/// Renders the prompts again from the kit that each run names. A prompt is given only when its
/// digest is the row's; else why it is not: no run.json, a kit that is gone, differs or has other
/// items. Never fails: a report without prompts is still one.
std::map<report::PromptKey, report::Prompt> find_prompts(
    std::span<const record::Row> rows, const std::vector<RowRange>& ranges,
    const std::vector<report::PromptKey>& wanted);

}  // namespace deem::cli
