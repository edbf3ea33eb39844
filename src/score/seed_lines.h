#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace deem::score {

/// What `deem score --format seed-lines DIR` prints.
struct SeedReport {
  /// One line a readable *.jsonl file, byte for byte run.py's `--score DIR`,
  /// without its "\n"; by name. A file with a line that can not be scored has
  /// none: its figures would be of other rows than those in it.
  std::vector<std::string> lines;
  /// For stderr: "PATH:LINE: what" per unreadable line (the first ten of a
  /// file, then how many more) and "PATH: what" per unreadable file. Any: exit
  /// status 3.
  std::vector<std::string> problems;
  std::size_t rows = 0;
  std::size_t peak_kept_bytes = 0;  // of rows, at the largest file
};

struct SeedOptions {
  std::size_t threads = 0;               // 0: one a core
  std::size_t block_bytes = 512 * 1024;  // how much of a file one thread takes at a time
};

/// Scores every *.jsonl in `folder`, hidden ones too, one level deep. Files are
/// read in blocks and never held; the result does not depend on the number of
/// threads. Errors: NotFound, Unavailable for the folder itself.
Result<SeedReport> score_seed_folder(const std::string& folder, const SeedOptions& options = {});

}  // namespace deem::score
