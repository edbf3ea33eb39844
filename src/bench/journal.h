#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "record/row.h"
#include "record/rows_file.h"

namespace deem::bench {

/// The rows file of one run folder, open for appending by exactly one process.
/// Each row is one write(2) and so survives kill -9 once append returns; the disk is told
/// (fdatasync) at most once a second and at close, which is what a power cut can cost.
/// Threads: append may be called from any.
class Journal {
 public:
  /// Makes the folder if needed and locks it; an existing rows.jsonl keeps its rows, and a torn
  /// tail is cut off. Errors: Unavailable when another process runs in this folder.
  static Result<std::unique_ptr<Journal>> open(const std::string& folder);
  ~Journal();

  /// Takes back what `open` made, for a run that never began: an empty rows file, the lock and the
  /// folder, as far as nothing else lies there.
  static void discard(std::unique_ptr<Journal> journal);

  /// What was there when the journal was opened.
  const record::RowsFile& found() const { return found_; }
  std::vector<record::Row> take_found_rows() { return std::move(found_.rows); }

  /// Errors: Unavailable (disk full…): the file is cut back to its last whole row, and every
  /// later append fails the same way.
  Result<void> append(const record::Row& row);

 private:
  Journal(std::string path, FileLock lock, Fd fd, record::RowsFile found, bool made_folder);

  const std::string path_;
  const FileLock lock_;
  const bool made_folder_;
  record::RowsFile found_;
  std::mutex mutex_;  // guards all below
  Fd fd_;
  std::uint64_t size_ = 0;  // bytes of whole rows
  TimePoint synced_{};
  std::optional<Error> broken_;
};

}  // namespace deem::bench
