#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deem::kit {

/// What the JSON reader does not say: on which lines values begin, and which members came twice.
struct JsonScan {
  struct Duplicate {
    std::string key;  // as written, escapes and all
    std::size_t line = 0;
  };
  std::vector<std::size_t> lines;  // of each value at the pattern, in file order, 1-based
  std::vector<Duplicate> duplicates;
};

/// One pass over JSON that a parser has accepted. `pattern` is a path of member names and "*" for
/// every element or member: {"data", "*", "paragraphs"}. Safe on any bytes; meaningless on bytes
/// that are no JSON. Keys are compared as written.
JsonScan scan_json(std::string_view text, std::span<const std::string_view> pattern = {});

}  // namespace deem::kit
