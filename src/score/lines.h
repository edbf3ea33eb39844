#pragma once

#include <cstddef>
#include <string_view>

namespace deem::score {

/// Where the line at `at` ends: the offset of its "\n" or "\r", or the text's
/// size. These end a line in Python's text files; U+2028 and the like do not.
std::size_t find_line_end(std::string_view text, std::size_t at);

/// Where the line after the one that ends at `end` begins: "\r\n" is one line
/// end.
std::size_t next_line(std::string_view text, std::size_t end);

}  // namespace deem::score
