#include "kit/json_scan.h"

#include <algorithm>
#include <set>
#include <utility>

namespace deem::kit {
namespace {

struct Frame {
  bool object = false;
  bool matches = false;  // this container lies on the pattern's path
  bool wants_key = false;
  std::string_view key;
  std::set<std::string_view> keys;
};

std::size_t string_end(std::string_view text, std::size_t open) {
  for (std::size_t i = open + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i;
    }
  }
  return text.size();
}

}  // namespace

JsonScan scan_json(std::string_view text, std::span<const std::string_view> pattern) {
  JsonScan scan;
  std::vector<Frame> stack;
  std::size_t line = 1;
  const auto begin_value = [&] {
    const std::size_t depth = stack.size();
    bool matches = depth <= pattern.size();
    if (matches && depth > 0) {
      const std::string_view step = pattern[depth - 1];
      const Frame& parent = stack.back();
      matches = parent.matches && (step == "*" || (parent.object && step == parent.key));
    }
    if (matches && depth == pattern.size()) scan.lines.push_back(line);
    return matches;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '\n':
        ++line;
        break;
      case ' ':
      case '\t':
      case '\r':
      case ':':
        break;
      case '{':
      case '[': {
        const bool object = text[i] == '{';
        const bool matches = begin_value();
        stack.push_back(
            {.object = object, .matches = matches, .wants_key = object, .key = {}, .keys = {}});
        break;
      }
      case '}':
      case ']':
        if (!stack.empty()) stack.pop_back();
        break;
      case ',':
        if (!stack.empty()) stack.back().wants_key = stack.back().object;
        break;
      case '"': {
        const std::size_t end = string_end(text, i);
        if (!stack.empty() && stack.back().wants_key) {
          Frame& frame = stack.back();
          frame.wants_key = false;
          frame.key = text.substr(i + 1, end - i - 1);
          if (!frame.keys.insert(frame.key).second) {
            scan.duplicates.push_back({std::string(frame.key), line});
          }
        } else {
          begin_value();
        }
        i = end;
        break;
      }
      default:
        begin_value();
        i = std::min(text.find_first_of(" \t\r\n,]}", i), text.size()) - 1;
        break;
    }
  }
  return scan;
}

}  // namespace deem::kit
