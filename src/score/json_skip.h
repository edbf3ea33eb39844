#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

// Steps over JSON in a buffer with at least 64 readable bytes after its end. Every step stops at
// a control character, so a line end or a zero byte ends a scan; nullptr means "not valid, or not
// plain": the caller then asks a full parser.
namespace deem::score::json {

inline constexpr std::size_t kChunk = 16;

#ifdef __SSE2__
inline __m128i load(const char* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}
inline std::uint32_t mask_of(__m128i bytes) {
  return static_cast<std::uint32_t>(_mm_movemask_epi8(bytes));
}
#endif

/// Which of the next 16 bytes end a plain stretch of a string, and which are not ASCII.
struct StringMasks {
  std::uint32_t stops, high;
};
inline StringMasks string_masks(const char* at) {
#ifdef __SSE2__
  const __m128i bytes = load(at);
  const __m128i last_control = _mm_set1_epi8(0x1f);
  const __m128i stops = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                                  _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))),
                                     _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes));
  return {mask_of(stops), mask_of(bytes)};
#else
  StringMasks masks{0, 0};
  for (std::size_t i = 0; i < kChunk; ++i) {
    const auto byte = static_cast<unsigned char>(at[i]);
    if (byte == '"' || byte == '\\' || byte < 0x20) masks.stops |= 1U << i;
    if (byte >= 0x80) masks.high |= 1U << i;
  }
  return masks;
#endif
}

/// How many digits stand at `at`.
inline std::size_t count_digits(const char* at) {
  const char* const first = at;
  for (;;) {
#ifdef __SSE2__
    const __m128i offsets = _mm_sub_epi8(load(at), _mm_set1_epi8('0'));
    const __m128i digits = _mm_cmpeq_epi8(_mm_min_epu8(offsets, _mm_set1_epi8(9)), offsets);
    const std::uint32_t mask = mask_of(digits);
#else
    std::uint32_t mask = 0;
    for (std::size_t i = 0; i < kChunk; ++i) mask |= (at[i] >= '0' && at[i] <= '9' ? 1U : 0U) << i;
#endif
    const auto run = static_cast<std::size_t>(std::countr_one(mask));
    at += run;
    if (run < kChunk) return static_cast<std::size_t>(at - first);
  }
}

/// skip_string for any string: escapes, other alphabets, control characters.
const char* skip_odd_string(const char* at, bool& escaped);

/// From after a string's opening quote to its closing one. `escaped` tells whether it holds a
/// backslash.
inline const char* skip_string(const char* at, bool& escaped) {
  const char* const first = at;
  escaped = false;
  for (;; at += kChunk) {
    const StringMasks masks = string_masks(at);
    if (masks.stops == 0) {
      if (masks.high != 0) return skip_odd_string(first, escaped);
      continue;
    }
    const int step = std::countr_zero(masks.stops);
    at += step;
    if (*at != '"' || (masks.high & ((1U << step) - 1)) != 0) {
      return skip_odd_string(first, escaped);
    }
    return at;
  }
}

/// A number and where its digits lie. Integers of more than 18 digits are left to the full parser.
struct NumberSpan {
  const char* end = nullptr;  // nullptr: no plain number
  bool is_int = false;
  bool has_exponent = false;
  std::size_t whole_digits = 0, fraction_digits = 0;
};
inline NumberSpan skip_number(const char* at) {
  NumberSpan span;
  if (*at == '-') ++at;
  span.whole_digits = count_digits(at);
  if (span.whole_digits == 0 || (span.whole_digits > 1 && *at == '0')) return span;
  at += span.whole_digits;
  if (*at == '.') {
    span.fraction_digits = count_digits(++at);
    if (span.fraction_digits == 0) return span;
    at += span.fraction_digits;
  }
  if (*at == 'e' || *at == 'E') {
    ++at;
    if (*at == '+' || *at == '-') ++at;
    const std::size_t exponent = count_digits(at);
    if (exponent == 0) return span;
    at += exponent;
    span.has_exponent = true;
  }
  span.is_int = span.fraction_digits == 0 && !span.has_exponent;
  if (!span.is_int || span.whole_digits <= 18) span.end = at;
  return span;
}

inline const char* skip_word(const char* at, std::string_view word) {
  return std::memcmp(at, word.data(), word.size()) == 0 ? at + word.size() : nullptr;
}

inline const char* skip_blanks(const char* at) {
  while (*at == ' ' || *at == '\t') ++at;
  return at;
}

/// A whole value of any kind, nested at most `depth` deep.
const char* skip_value(const char* at, int depth = 32);

/// The items of an array, or the members of an object, from its opening bracket to after its
/// closing one; `count` is how many there are (equal keys counted apart).
const char* skip_container(const char* at, int depth, std::size_t& count);

}  // namespace deem::score::json
