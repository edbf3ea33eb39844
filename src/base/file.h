#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace deem {

/// Owner of a file descriptor. Moves, never copies.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept;
  Fd& operator=(Fd&& other) noexcept;
  ~Fd();
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// A file's bytes, or an open pipe's (/dev/stdin). Errors: NotFound when there is none, Unavailable
/// when it can not be read (a folder, permissions), BadInput for a pipe with a name and more than
/// `limit` bytes (an endless device); messages name the path and the system's words.
Result<std::string> read_file(const std::string& path, std::size_t limit = std::size_t{1} << 30);

/// Writes `bytes` beside `path`, fsyncs, and renames over it: a reader sees the old file or the
/// new one, never a part. Errors: Unavailable ("PATH: no space left on device").
Result<void> write_file_atomically(const std::string& path, std::string_view bytes);

/// Read-only map of a whole regular file; empty for an empty file. Errors: as read_file.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();
  std::string_view bytes() const { return {data_, size_}; }

 private:
  MappedFile() = default;
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Names in a folder, without "." and "..", sorted by byte. Errors: NotFound, Unavailable.
Result<std::vector<std::string>> list_folder(const std::string& path);

/// Makes a folder and its parents. Errors: Unavailable.
Result<void> make_folders(const std::string& path);

bool is_folder(const std::string& path);
bool file_exists(const std::string& path);

/// "a/b" from "a" and "b"; an absolute second part wins.
std::string join_path(std::string_view folder, std::string_view name);

/// An advisory exclusive lock (flock) on `path`, made if absent, held until destroyed or the
/// process ends, kill -9 included. The file holds the owner's pid for messages.
class FileLock {
 public:
  /// Errors: Unavailable "PATH: held by process N" when another holds it.
  static Result<FileLock> acquire(const std::string& path);

 private:
  explicit FileLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace deem
