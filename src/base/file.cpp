#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <memory>

#include "base/file_kind.h"
#include "base/system_error.h"
#include "base/text.h"

namespace deem {
namespace {

// Retries EINTR and short writes. Gives errno's value, 0 when all is written.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return 0;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// A name no other writer uses, in this process or another.
std::string part_name(const std::string& path) {
  static std::atomic<unsigned> count{0};
  return path + "." + std::to_string(getpid()) + "." + std::to_string(count++) + ".part";
}

// Writes, fsyncs and closes `part`. Gives errno's value, 0 when it is all on disk.
int write_part(const std::string& part, std::string_view bytes) {
  const Fd file(open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) return errno;
  if (const int number = write_all(file.get(), bytes); number != 0) return number;
  return fsync(file.get()) == 0 ? 0 : errno;
}

}  // namespace

Fd::Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) close(fd_);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

Fd::~Fd() {
  if (fd_ >= 0) close(fd_);
}

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  if (is_named_pipe(path)) return fail(Error::Code::BadInput, path + ": is a pipe, not a file");
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return fail(system_error(path, errno));
  struct stat status{};
  if (fstat(file.get(), &status) != 0) return fail(system_error(path, errno));
  // A pipe or a file under /proc says size 0, so the size is only where to begin.
  constexpr std::size_t kStep = 65'536;
  const auto too_long = [&] {
    return fail(Error::Code::BadInput,
                path + ": over the limit of " + std::to_string(limit) + " bytes");
  };
  if (S_ISREG(status.st_mode) && static_cast<std::size_t>(status.st_size) > limit)
    return too_long();
  std::string bytes;
  std::size_t used = 0;
  bytes.resize(S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) + 1 : kStep);
  while (true) {
    if (used == bytes.size()) bytes.resize(bytes.size() + std::max(kStep, bytes.size() / 2));
    const ssize_t got = read(file.get(), bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(system_error(path, errno));
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    if (used > limit) return too_long();
  }
  bytes.resize(used);
  return bytes;
}

Result<void> write_file_atomically(const std::string& path, std::string_view bytes) {
  const std::string part = part_name(path);
  int number = write_part(part, bytes);
  if (number == 0 && rename(part.c_str(), path.c_str()) != 0) number = errno;
  if (number != 0) {
    unlink(part.c_str());
    return fail(Error::Code::Unavailable, path + ": " + system_words(number));
  }
  // The new name lives in the folder; some file systems refuse to fsync one, and lose nothing.
  const Fd folder(open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) fsync(folder.get());
  return {};
}

Result<MappedFile> MappedFile::open(const std::string& path) {
  if (is_named_pipe(path)) return fail(Error::Code::BadInput, path + ": is a pipe, not a file");
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return fail(system_error(path, errno));
  struct stat status{};
  if (fstat(file.get(), &status) != 0) return fail(system_error(path, errno));
  if (S_ISDIR(status.st_mode)) return fail(system_error(path, EISDIR));
  if (!S_ISREG(status.st_mode)) {
    return fail(Error::Code::Unavailable, path + ": not a regular file");
  }
  MappedFile mapped;
  if (status.st_size == 0) return mapped;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) return fail(system_error(path, errno));
  mapped.data_ = static_cast<const char*>(data);
  mapped.size_ = size;
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

Result<std::vector<std::string>> list_folder(const std::string& path) {
  struct Closer {
    void operator()(DIR* folder) const { closedir(folder); }
  };
  const std::unique_ptr<DIR, Closer> folder(opendir(path.c_str()));
  if (!folder) return fail(system_error(path, errno));
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = readdir(folder.get());
    if (entry == nullptr && errno != 0) return fail(system_error(path, errno));
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

Result<void> make_folders(const std::string& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) return fail(Error::Code::Unavailable, path + ": " + system_words(code.value()));
  return {};
}

bool is_folder(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool is_regular_file(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool is_named_pipe(const std::string& path) {
  struct stat status{};
  struct statfs system{};
  // Pipes without a name, which a path under /dev/fd leads to, have a file system of their own.
  return stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode) &&
         statfs(path.c_str(), &system) == 0 && system.f_type != PIPEFS_MAGIC;
}

bool file_exists(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0;
}

std::string join_path(std::string_view folder, std::string_view name) {
  if (folder.empty() || name.starts_with('/')) return std::string(name);
  std::string path(folder);
  if (!path.ends_with('/')) path += '/';
  return path.append(name);
}

namespace {

/// Whether `path` still names the open file: whoever held the lock before may have removed it.
bool still_names(const std::string& path, const Fd& file) {
  struct stat opened{}, named{};
  return fstat(file.get(), &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace

Result<FileLock> FileLock::acquire(const std::string& path) {
  Fd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file) return fail(Error::Code::Unavailable, path + ": " + system_words(errno));
  while (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return fail(system_error(path, errno));
    std::array<char, 32> owner{};
    const ssize_t got = pread(file.get(), owner.data(), owner.size(), 0);
    const std::string_view pid =
        trim(std::string_view(owner.data(), got > 0 ? static_cast<std::size_t>(got) : 0));
    const bool known =
        !pid.empty() && std::ranges::all_of(pid, [](char c) { return c >= '0' && c <= '9'; });
    return fail(Error::Code::Unavailable,
                path + ": held by " + (known ? "process " + std::string(pid) : "another process"));
  }
  if (!still_names(path, file)) return acquire(path);
  // The pid only serves the other's message, so a full disk does not refuse the lock.
  if (ftruncate(file.get(), 0) == 0) write_all(file.get(), std::to_string(getpid()) + "\n");
  return FileLock(std::move(file));
}

}  // namespace deem
