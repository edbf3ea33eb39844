#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/row.h"

namespace deem::record {

/// A line of a rows file that could not be read.
struct LineProblem {
  std::size_t line = 0;  // 1-based
  std::string message;
};

struct RowsFile {
  std::vector<Row> rows;
  std::vector<LineProblem> problems;  // every unreadable line but a torn last one
  bool torn_tail = false;             // the last line has no newline or no valid checksum
  std::uint64_t good_bytes = 0;       // up to and including the last newline before the torn tail
};

/// Reads rows.jsonl bytes. Never fails: what can not be read is a problem with its line, and what
/// a killed writer left at the end is `torn_tail`. A later row for the same arm, task, id,
/// repeat and probe replaces an earlier one (a retried error).
RowsFile parse_rows(std::string_view bytes);

/// Errors: as read_file.
Result<RowsFile> load_rows(const std::string& path);

}  // namespace deem::record
