#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace deem::score {

/// A file of lines, read in blocks by offset: any thread may read any block.
struct LineFile {
  std::string path;
  Fd fd;
  std::uint64_t size = 0;  // when it was opened; what is appended later is not read

  /// Errors: NotFound, Unavailable (also for a folder or a pipe).
  static Result<LineFile> open(const std::string& path);
};

/// One thread's buffer for blocks of lines.
class LineBlock {
 public:
  /// Reads the lines that begin in [begin, end), whole, also past `end`. The
  /// text has kSeedPadding readable bytes on both sides, zeros after the file's
  /// end, and is valid until the next read. Lines end as in Python's text
  /// files: "\n", "\r\n" or "\r". Errors: Unavailable.
  Result<std::string_view> read(const LineFile& file, std::uint64_t begin, std::uint64_t end);

 private:
  Result<void> fill(const LineFile& file, std::uint64_t from, std::uint64_t to);

  std::vector<char> buffer_;
  std::size_t filled_ = 0;
};

}  // namespace deem::score
