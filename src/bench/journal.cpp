#include "bench/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace deem::bench {
namespace {

std::string system_words() { return std::strerror(errno); }

/// Writes all of `bytes`; an interrupted write goes on.
bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

Journal::Journal(std::string path, FileLock lock, Fd fd, record::RowsFile found, bool made_folder)
    : path_(std::move(path)),
      lock_(std::move(lock)),
      made_folder_(made_folder),
      found_(std::move(found)),
      fd_(std::move(fd)),
      size_(found_.good_bytes) {}

Result<std::unique_ptr<Journal>> Journal::open(const std::string& folder) {
  const bool new_folder = !is_folder(folder);
  if (Result<void> made = make_folders(folder); !made) return fail(made.error());
  Result<FileLock> lock = FileLock::acquire(join_path(folder, "lock"));
  if (!lock) {
    const bool held = lock.error().message.find("held by") != std::string::npos;
    return fail(held ? folder + ": in use by another run" : folder + ": can not be written",
                lock.error());
  }
  const std::string path = join_path(folder, "rows.jsonl");
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd) return fail(Error::Code::Unavailable, path + ": " + system_words());
  Result<record::RowsFile> found = record::load_rows(path);
  if (!found) return fail(found.error());
  const auto end = static_cast<off_t>(found->good_bytes);
  if (::ftruncate(fd.get(), end) != 0 || ::lseek(fd.get(), end, SEEK_SET) != end) {
    return fail(Error::Code::Unavailable, path + ": " + system_words());
  }
  return std::unique_ptr<Journal>(
      new Journal(path, std::move(*lock), std::move(fd), std::move(*found), new_folder));
}

void Journal::discard(std::unique_ptr<Journal> journal) {
  if (journal->size_ > 0) return;
  const std::string rows = journal->path_;
  const std::string folder = rows.substr(0, rows.rfind('/'));
  ::unlink(rows.c_str());
  ::unlink(join_path(folder, "lock").c_str());
  if (journal->made_folder_) ::rmdir(folder.c_str());
}

Journal::~Journal() { ::fdatasync(fd_.get()); }

Result<void> Journal::append(const record::Row& row) {
  std::string line = record::format_row(row);
  line += '\n';
  const std::scoped_lock lock(mutex_);
  if (broken_) return fail(*broken_);
  if (!write_all(fd_.get(), line)) {
    broken_ = Error{Error::Code::Unavailable, path_ + ": " + system_words()};
    const auto end = static_cast<off_t>(size_);
    if (::ftruncate(fd_.get(), end) != 0) broken_->message += "; its last line is torn";
    return fail(*broken_);
  }
  size_ += line.size();
  if (const TimePoint now = Clock::now(); now - synced_ > std::chrono::seconds(1)) {
    ::fdatasync(fd_.get());
    synced_ = now;
  }
  return {};
}

}  // namespace deem::bench
