#include "score/json_skip.h"

namespace deem::score::json {

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
