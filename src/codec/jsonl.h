#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>

namespace deem::codec {

/// One line of a text. `text` points into the bytes that were given to Lines.
struct Line {
  std::size_t number = 0;      // from 1
  std::size_t offset = 0;      // bytes from the start of the text
  std::string_view text = {};  // without its end
  bool ended = true;           // false for a last line without line end: it may be torn
};

/// The lines of a text as Python's universal newlines see them: "\n", "\r\n" and a lone "\r" end a
/// line, U+2028 and U+0085 do not. Empty lines are given too. `bytes` must outlive this.
///
///   for (Lines lines(bytes); const auto line = lines.next();) …
class Lines {
 public:
  explicit Lines(std::string_view bytes) : bytes_(bytes), newline_(find('\n', 0, bytes.size())) {}

  std::optional<Line> next() {
    if (at_ == bytes_.size()) return std::nullopt;
    if (newline_ < at_) newline_ = find('\n', at_, bytes_.size());
    const std::size_t end = find('\r', at_, newline_);
    const Line line{.number = ++number_,
                    .offset = at_,
                    .text = bytes_.substr(at_, end - at_),
                    .ended = end < bytes_.size()};
    const bool pair = end < newline_ && end + 1 == newline_ && newline_ < bytes_.size();
    at_ = line.ended ? end + (pair ? 2 : 1) : end;
    return line;
  }

 private:
  // The first `c` in [from, to), or `to`.
  std::size_t find(char c, std::size_t from, std::size_t to) const {
    if (from == to) return to;
    const void* found = std::memchr(bytes_.data() + from, c, to - from);
    return found == nullptr
               ? to
               : static_cast<std::size_t>(static_cast<const char*>(found) - bytes_.data());
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::size_t newline_;  // the next "\n", found once however many "\r" come before it
  std::size_t number_ = 0;
};

}  // namespace deem::codec
