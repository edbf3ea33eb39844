#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace deem::codec {

/// Where the text [at, end) first holds a byte that a JSON string can not carry as it is: a quote,
/// a backslash, a byte below 0x20 and, for `ascii`, any from 0x7f (CPython escapes DEL); `end` if
/// none.
template <bool ascii>
inline const char* find_special(const char* at, const char* end) {
  // Eight bytes at a time: (x - 1) & ~x has the high bit set for a zero byte, and only for it up to
  // the lowest one found, which is all that is asked.
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = 0x8080808080808080;
  static_assert(std::endian::native == std::endian::little);
  for (; end - at >= 8; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    const std::uint64_t quote = word ^ (kOnes * '"');
    const std::uint64_t backslash = word ^ (kOnes * '\\');
    std::uint64_t found = ((quote - kOnes) & ~quote) | ((backslash - kOnes) & ~backslash) |
                          ((word - kOnes * 0x20) & ~word);
    if constexpr (ascii) found |= word | (word + kOnes);
    found &= kHighs;
    if (found != 0) return at + std::countr_zero(found) / 8;
  }
  for (; at != end; ++at) {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte == '"' || byte == '\\' || byte < 0x20 || (ascii && byte >= 0x7f)) return at;
  }
  return end;
}

}  // namespace deem::codec
