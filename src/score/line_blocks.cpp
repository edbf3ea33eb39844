#include "score/line_blocks.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/system_error.h"
#include "score/lines.h"
#include "score/seed_row.h"

namespace deem::score {

Result<LineFile> LineFile::open(const std::string& path) {
  LineFile file{path, Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)), 0};
  if (!file.fd) return fail(system_error(path, errno));
  struct stat status{};
  if (fstat(file.fd.get(), &status) != 0) return fail(system_error(path, errno));
  if (!S_ISREG(status.st_mode)) {
    return fail(Error::Code::Unavailable, path + ": not a regular file");
  }
  file.size = static_cast<std::uint64_t>(status.st_size);
  return file;
}

Result<void> LineBlock::fill(const LineFile& file, std::uint64_t from, std::uint64_t to) {
  const auto want = static_cast<std::size_t>(to - from);
  if (buffer_.size() < want + 2 * kSeedPadding) buffer_.resize(want + 2 * kSeedPadding);
  while (filled_ < want) {
    const ssize_t n = pread(file.fd.get(), buffer_.data() + kSeedPadding + filled_, want - filled_,
                            static_cast<off_t>(from + filled_));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(system_error(file.path, errno));
    if (n == 0) return fail(Error::Code::Unavailable, file.path + ": became shorter while read");
    filled_ += static_cast<std::size_t>(n);
  }
  std::memset(buffer_.data() + kSeedPadding + filled_, 0, kSeedPadding);
  return {};
}

Result<std::string_view> LineBlock::read(const LineFile& file, std::uint64_t begin,
                                         std::uint64_t end) {
  // One byte before the block tells whether a line begins with it; the tail
  // usually holds the rest of its last line.
  const std::uint64_t from = begin > 0 ? begin - 1 : 0;
  const std::size_t inside = static_cast<std::size_t>(end - from);
  filled_ = 0;
  for (std::uint64_t tail = 4096;; tail *= 4) {
    const std::uint64_t to = file.size - end > tail ? end + tail : file.size;
    const Result<void> done = fill(file, from, to);
    if (!done) return fail(done.error());
    const std::string_view bytes(buffer_.data() + kSeedPadding, filled_);
    const std::size_t first = begin > 0 ? next_line(bytes, find_line_end(bytes, 0)) : 0;
    if (begin > 0 && first >= inside) return std::string_view();
    const std::size_t last = inside > 0 ? next_line(bytes, find_line_end(bytes, inside - 1)) : 0;
    // At the edge of what is read, a line or a "\r\n" may go on.
    if (last < filled_ || to == file.size) return bytes.substr(first, last - first);
  }
}

}  // namespace deem::score
