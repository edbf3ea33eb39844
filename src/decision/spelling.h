#pragma once

#include <cstddef>
#include <string_view>

namespace deem::decision {

/// `text` without leading and trailing white space as Python's str.strip() knows it: ASCII,
/// U+001C–U+001F, U+0085, U+00A0, U+1680, U+2000–U+200A, U+2028, U+2029, U+202F, U+205F, U+3000.
std::string_view strip_python(std::string_view text);

/// The same, and the marks by which tokenizers print a space or a line break: U+2581, U+0120,
/// U+010A, U+0109.
std::string_view strip_look_alike(std::string_view text);

/// Whether a token is a thinking channel's mark, opening or closing: "<think>", "<|channel>",
/// "[THINK]"…; also a first piece of one ("<th", "<think"). White space and case do not matter.
bool is_thinking_mark(std::string_view token);

}  // namespace deem::decision
