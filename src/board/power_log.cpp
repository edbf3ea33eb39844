#include "board/power_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>

#include "base/check.h"
#include "base/clock.h"
#include "base/system_error.h"
#include "record/power_limits.h"

namespace deem::board {
namespace {

constexpr std::string_view kSchema = "deem.power/1\"";

/// Gives errno's value, 0 when all of `bytes` is written. An interrupted write goes on.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

/// Bytes up to and including the last newline.
std::uint64_t whole_lines(int fd, std::uint64_t size) {
  std::string piece(1 << 16, '\0');
  while (size > 0) {
    const std::uint64_t from = size > piece.size() ? size - piece.size() : 0;
    const ssize_t got =
        ::pread(fd, piece.data(), static_cast<std::size_t>(size - from), static_cast<off_t>(from));
    if (got <= 0) return 0;
    const std::size_t newline =
        std::string_view(piece).substr(0, static_cast<std::size_t>(got)).rfind('\n');
    if (newline != std::string_view::npos) return from + newline + 1;
    size = from;
  }
  return 0;
}

/// Whether a file begins as `heading` does, as far as its schema's name: a killed writer may have
/// left only a part of that.
bool begins_alike(int fd, std::uint64_t size, const std::string& heading) {
  const std::size_t marker = heading.find(kSchema);
  DEEM_CHECK(marker != std::string::npos);
  const std::size_t n = std::min<std::uint64_t>(size, marker + kSchema.size());
  std::string head(n, '\0');
  return ::pread(fd, head.data(), n, 0) == static_cast<ssize_t>(n) &&
         heading.compare(0, n, head) == 0;
}

std::string numbered(const std::string& path, int n) { return path + "." + std::to_string(n); }

bool exists(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

constexpr int kFlags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC;

}  // namespace

Result<std::unique_ptr<PowerLog>> PowerLog::open(const std::string& path,
                                                 record::PowerSegment heading,
                                                 PowerLogOptions options) {
  if (is_folder(path)) return fail(Error::Code::BadInput, path + ": is a folder; name a file");
  Result<FileLock> lock = FileLock::acquire(path + ".lock");
  if (!lock) {
    const bool held = lock.error().message.find("held by") != std::string::npos;
    return fail(path + (held ? ": another logger writes to it" : ": can not be written"),
                lock.error());
  }
  const auto give_up = [&](Error::Code code, const std::string& why) {
    ::unlink((path + ".lock").c_str());
    return fail(code, path + ": " + why);
  };
  Fd fd(::open(path.c_str(), kFlags, 0644));
  struct stat status{};
  if (!fd || ::fstat(fd.get(), &status) != 0) {
    return give_up(Error::Code::Unavailable, system_words(errno));
  }
  // By another name of the same file the lock beside it is another.
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    return give_up(Error::Code::Unavailable, "another logger writes to it, by another name");
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  std::string first = record::format_power_heading(heading) + "\n";
  if (heading.boards.size() > record::kMaxBoards || first.size() > record::kMaxPowerLine) {
    return give_up(Error::Code::BadInput, "has room for " + std::to_string(record::kMaxBoards) +
                                              " boards and 1 MiB of heading; --board names fewer");
  }
  if (!S_ISREG(status.st_mode) || !begins_alike(fd.get(), size, first)) {
    return give_up(Error::Code::BadInput, "is no power log; name a new file");
  }
  const std::uint64_t end = whole_lines(fd.get(), size);
  if (::ftruncate(fd.get(), static_cast<off_t>(end)) != 0) {
    return give_up(Error::Code::Unavailable, system_words(errno));
  }
  std::unique_ptr<PowerLog> log(new PowerLog(path, std::move(first), std::move(heading.boot_id),
                                             options, std::move(*lock), std::move(fd), end));
  {
    const std::scoped_lock guard(log->mutex_);
    if (Result<void> written = log->write_line(log->heading_); !written) {
      return fail(written.error());
    }
  }
  log->thread_ = std::jthread(
      [self = log.get()](const std::stop_token& stop) { self->sync_now_and_then(stop); });
  return log;
}

PowerLog::PowerLog(std::string path, std::string heading, std::string boot_id,
                   PowerLogOptions options, FileLock lock, Fd fd, std::uint64_t size)
    : path_(std::move(path)),
      heading_(std::move(heading)),
      boot_id_(std::move(boot_id)),
      options_(options),
      lock_(std::move(lock)),
      fd_(std::move(fd)),
      size_(size) {}

PowerLog::~PowerLog() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  (void)sync();
  ::unlink((path_ + ".lock").c_str());  // still held, so none but we can have it open
}

Result<void> PowerLog::sample(const record::PowerSample& sample) {
  return append(record::format_power_sample(sample, boot_id_));
}

Result<void> PowerLog::event(const record::PowerEvent& event) {
  return append(record::format_power_event(event));
}

Result<void> PowerLog::mark(const record::PowerMark& mark) {
  return append(record::format_power_mark(mark));
}

Result<void> PowerLog::append(std::string line) {
  line += '\n';
  const std::scoped_lock lock(mutex_);
  if (broken_) return fail(*broken_);
  if (Result<void> written = write_line(line); !written) return written;
  if (options_.rotate_bytes > 0 && size_ >= options_.rotate_bytes) return rotate();
  return {};
}

Result<void> PowerLog::write_line(std::string_view line) {
  if (const int number = write_all(fd_.get(), line); number != 0) return fail_with(number);
  size_ += line.size();
  ++lines_;
  dirty_ = true;
  return {};
}

Result<void> PowerLog::fail_with(int number) {
  broken_ = Error{Error::Code::Unavailable, path_ + ": " + system_words(number)};
  const bool cut = ::ftruncate(fd_.get(), static_cast<off_t>(size_)) == 0;
  broken_->message += cut ? "; the log ends with its last whole line" : "; its last line is torn";
  return fail(*broken_);
}

Result<void> PowerLog::rotate() {
  ::fdatasync(fd_.get());
  // FILE.1 is the newest. A number that is free ends the shift, so that a crash within it leaves a
  // hole that the next one fills, and nothing is written over.
  int free = 1;
  while (exists(numbered(path_, free))) ++free;
  for (int n = free; n > 0; --n) {
    const std::string from = n == 1 ? path_ : numbered(path_, n - 1);
    if (::rename(from.c_str(), numbered(path_, n).c_str()) != 0) return fail_with(errno);
  }
  Fd next(::open(path_.c_str(), kFlags | O_EXCL, 0644));
  if (!next || ::flock(next.get(), LOCK_EX | LOCK_NB) != 0) return fail_with(errno);
  fd_ = std::move(next);
  size_ = 0;
  return write_line(heading_);
}

Result<void> PowerLog::sync() {
  Fd copy;
  {
    const std::scoped_lock lock(mutex_);
    if (broken_) return fail(*broken_);
    if (!dirty_) return {};
    dirty_ = false;
    copy = Fd(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
  }
  // Without the lock: a slow disk must not hold up a sample.
  std::string why;
  if (!copy || ::fdatasync(copy.get()) != 0) why = system_words(errno);
  const std::scoped_lock lock(mutex_);
  if (why.empty()) why = what_others_did();
  if (why.empty()) return {};
  if (!broken_) broken_ = Error{Error::Code::Unavailable, path_ + ": " + why};
  return fail(*broken_);
}

std::string PowerLog::what_others_did() const {
  struct stat status{};
  if (!fd_ || ::fstat(fd_.get(), &status) != 0) return system_words(errno);
  if (status.st_nlink == 0) return "was deleted while it was written";
  if (static_cast<std::uint64_t>(status.st_size) < size_) {
    return "was cut short by another program while it was written";
  }
  return "";
}

std::uint64_t PowerLog::lines() const {
  const std::scoped_lock lock(mutex_);
  return lines_;
}

void PowerLog::sync_now_and_then(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stop, Seconds(options_.sync_s), [] { return false; });
    }
    if (!sync()) return;  // the next append tells
  }
}

}  // namespace deem::board
