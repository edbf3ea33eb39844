#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace deem {

/// Whether `bytes` is well-formed UTF-8 (no surrogates, no overlong forms).
bool is_utf8(std::string_view bytes);

/// Where the first ill-formed sequence begins; npos when all is well-formed.
std::size_t find_invalid_utf8(std::string_view bytes);

/// Code points in well-formed UTF-8; what Python's len(str) gives.
std::size_t count_code_points(std::string_view utf8);

/// `text` without leading and trailing ASCII white space.
std::string_view trim(std::string_view text);

/// ASCII lower case; other bytes stay.
std::string to_lower(std::string_view text);

/// "0.1" → parts by every `separator`; an empty text gives one empty part.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Bytes fit for one terminal line: control characters and invalid UTF-8 shown as escapes, cut to
/// `limit` code points, the last of them "…" then.
std::string printable(std::string_view bytes, std::size_t limit);

/// Edit distance for "did you mean", in bytes; two neighbours swapped count once ("hlep", "help").
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace deem
