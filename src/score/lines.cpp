#include "score/lines.h"

#include <algorithm>

namespace deem::score {

std::size_t find_line_end(std::string_view text, std::size_t at) {
  const std::size_t feed = std::min(text.find('\n', at), text.size());
  return at + std::min(text.substr(at, feed - at).find('\r'), feed - at);
}

std::size_t next_line(std::string_view text, std::size_t end) {
  if (end < text.size()) ++end;
  if (end < text.size() && text[end - 1] == '\r' && text[end] == '\n') ++end;
  return end;
}

}  // namespace deem::score
