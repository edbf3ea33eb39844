#include "kit/source.h"

#include <filesystem>
#include <system_error>

#include "base/file.h"
#include "base/text.h"

namespace deem::kit {
namespace fs = std::filesystem;
namespace {

Result<std::string> read_checked(const std::string& path, const fs::file_status& status) {
  std::error_code error;
  if (status.type() == fs::file_type::not_found) {
    return fail(Error::Code::NotFound, "no such file");
  }
  if (status.type() == fs::file_type::symlink) {
    return fail(Error::Code::BadInput, "is a symbolic link; a kit holds plain files only");
  }
  if (status.type() != fs::file_type::regular) {
    return fail(Error::Code::BadInput, "is no plain file");
  }
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error && size > kMostFileBytes) {
    return fail(Error::Code::BadInput, "is over 1 GiB (" + std::to_string(size) + " bytes)");
  }
  auto bytes = read_file(path);
  if (!bytes) return fail(bytes.error());
  return std::move(*bytes);
}

}  // namespace

bool is_inside_path(std::string_view relative) {
  if (relative.find('\0') != std::string_view::npos ||
      relative.find('\\') != std::string_view::npos) {
    return false;
  }
  for (const std::string_view part : split(relative, '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

Result<std::string> read_inside(const std::string& folder, std::string_view relative) {
  if (!is_inside_path(relative)) {
    return fail(Error::Code::BadInput, "path leads out of the kit's folder");
  }
  std::string path = folder;
  std::error_code error;
  const auto parts = split(relative, '/');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    path = join_path(path, parts[i]);
    const fs::file_status status = fs::symlink_status(path, error);
    if (i + 1 == parts.size()) return read_checked(path, status);
    if (status.type() == fs::file_type::symlink) {
      return fail(Error::Code::BadInput,
                  "its folder is a symbolic link; a kit holds its own files");
    }
  }
  return fail(Error::Code::BadInput, "path is empty");
}

Result<std::string> read_plain(const std::string& path) {
  std::error_code error;
  return read_checked(path, fs::status(path, error));
}

std::optional<std::size_t> bad_utf8_line(std::string_view bytes) {
  if (is_utf8(bytes)) return std::nullopt;
  std::size_t line = 1;
  while (true) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos || !is_utf8(bytes.substr(0, end))) return line;
    bytes.remove_prefix(end + 1);
    ++line;
  }
}

std::string base_name(std::string_view path, bool stem) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const fs::path name = fs::path(path).filename();
  return stem ? name.stem().string() : name.string();
}

}  // namespace deem::kit
