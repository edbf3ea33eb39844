#include "score/json_skip.h"

#include <algorithm>

#include "base/text.h"

namespace deem::score::json {
namespace {

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// From a backslash to after its escape.
const char* skip_escape(const char* at) {
  if (at[1] != 'u') {
    constexpr std::string_view kEscapes = "\"\\/bfnrt";
    return kEscapes.find(at[1]) != std::string_view::npos ? at + 2 : nullptr;
  }
  for (int i = 2; i < 6; ++i) {
    if (!is_hex(at[i])) return nullptr;
  }
  return at + 6;
}

}  // namespace

const char* skip_odd_string(const char* at, bool& escaped) {
  const char* const first = at;
  bool high = false;
  escaped = false;
  for (;;) {
    const StringMasks masks = string_masks(at);
    const int step = std::min(std::countr_zero(masks.stops), static_cast<int>(kChunk));
    high |= (masks.high & ((1U << step) - 1)) != 0;
    at += step;
    if (masks.stops == 0) continue;
    if (*at == '"') break;
    if (*at != '\\') return nullptr;
    escaped = true;
    at = skip_escape(at);
    if (at == nullptr) return nullptr;
  }
  if (high && !is_utf8({first, static_cast<std::size_t>(at - first)})) return nullptr;
  return at;
}

const char* skip_container(const char* at, int depth, std::size_t& count) {
  if (depth == 0) return nullptr;
  const bool is_object = *at == '{';
  const char close = is_object ? '}' : ']';
  count = 0;
  at = skip_blanks(at + 1);
  if (*at == close) return at + 1;
  for (;;) {
    if (is_object) {
      bool escaped = false;
      if (*at != '"') return nullptr;
      at = skip_string(at + 1, escaped);
      if (at == nullptr) return nullptr;
      at = skip_blanks(at + 1);
      if (*at != ':') return nullptr;
      at = skip_blanks(at + 1);
    }
    at = skip_value(at, depth - 1);
    if (at == nullptr) return nullptr;
    ++count;
    at = skip_blanks(at);
    if (*at == close) return at + 1;
    if (*at != ',') return nullptr;
    at = skip_blanks(at + 1);
  }
}

const char* skip_value(const char* at, int depth) {
  switch (*at) {
    case '"': {
      bool escaped = false;
      const char* close = skip_string(at + 1, escaped);
      return close != nullptr ? close + 1 : nullptr;
    }
    case 'n':
      return skip_word(at, "null");
    case 't':
      return skip_word(at, "true");
    case 'f':
      return skip_word(at, "false");
    case '[':
    case '{': {
      std::size_t count = 0;
      return skip_container(at, depth, count);
    }
    default:
      return skip_number(at).end;
  }
}

}  // namespace deem::score::json
