#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/text.h"
#include "kit/fields.h"

namespace deem::kit {

/// Calls `use(Origin, object)` for every line of a JSONL file that holds an object. Lines that are
/// no UTF-8, no JSON or no object are refused; lines of white space are passed over.
template <class Use>
void for_each_object(Draft& draft, std::size_t file, std::string_view bytes, Use use) {
  std::size_t line = 1;
  for (std::size_t at = 0; at < bytes.size(); ++line) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    const std::string_view text = trim(bytes.substr(at, end - at));
    at = end + 1;
    if (text.empty()) continue;
    if (!is_utf8(text)) {
      draft.refuse({file, line}, "not UTF-8");
      continue;
    }
    const auto json = parse_checked(draft, file, text, line);
    if (!json) continue;
    if (!json->is_object()) {
      draft.refuse({file, line}, "must be one JSON object a line");
      continue;
    }
    use(Origin{file, line}, *json);
  }
}

}  // namespace deem::kit
