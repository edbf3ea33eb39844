#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace deem::kit {

/// The largest file a kit may have: 1 GiB.
inline constexpr std::size_t kMostFileBytes = std::size_t{1} << 30;

/// "states/a.txt" and the like: relative, no "..", ".", empty parts, back-slashes or NUL.
bool is_inside_path(std::string_view relative);

/// A kit file's bytes. The file must be plain and lie in `folder` without passing a symbolic
/// link, so that a kit from elsewhere can not show files of this machine.
/// Errors: BadInput for such a path or an oversized file, NotFound, Unavailable; messages do not
/// repeat the path.
Result<std::string> read_inside(const std::string& folder, std::string_view relative);

/// A file named by the user: links are followed, but it must be plain and at most the limit.
/// Errors: as above.
Result<std::string> read_plain(const std::string& path);

/// The 1-based line with the first bytes that are no UTF-8, or none.
std::optional<std::size_t> bad_utf8_line(std::string_view bytes);

/// The last part of a path, without its extension when `stem`.
std::string base_name(std::string_view path, bool stem);

}  // namespace deem::kit
