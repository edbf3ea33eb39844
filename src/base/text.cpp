#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace deem {
namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080;

unsigned byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

bool is_continuation(std::string_view bytes, std::size_t at) {
  return at < bytes.size() && (byte_at(bytes, at) & 0xc0) == 0x80;
}

// Length of the well-formed sequence that starts at `at` (Unicode table 3-7), 0 when there is none.
std::size_t sequence_length(std::string_view bytes, std::size_t at) {
  const unsigned lead = byte_at(bytes, at);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4 || !is_continuation(bytes, at + 1)) return 0;
  const unsigned second = byte_at(bytes, at + 1);
  if (lead < 0xe0) return 2;
  if (!is_continuation(bytes, at + 2)) return 0;
  if (lead < 0xf0) {
    const bool overlong = lead == 0xe0 && second < 0xa0;
    const bool surrogate = lead == 0xed && second >= 0xa0;
    return overlong || surrogate ? 0 : 3;
  }
  const bool overlong = lead == 0xf0 && second < 0x90;
  const bool too_high = lead == 0xf4 && second >= 0x90;
  return overlong || too_high || !is_continuation(bytes, at + 3) ? 0 : 4;
}

// The code point of a sequence that sequence_length() accepted.
std::uint32_t decode(std::string_view bytes, std::size_t at, std::size_t length) {
  if (length == 1) return byte_at(bytes, at);
  std::uint32_t point = byte_at(bytes, at) & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) point = point << 6 | (byte_at(bytes, at + i) & 0x3f);
  return point;
}

bool is_white_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

// What a terminal would obey rather than show, or show by nothing: C0, DEL, C1, line separators,
// the marks that turn the direction of writing, characters without width, annotations and tags.
bool is_unsafe(std::uint32_t point) {
  const auto within = [point](std::uint32_t first, std::uint32_t last) {
    return point >= first && point <= last;
  };
  return point < 0x20 || within(0x7f, 0x9f) || point == 0x061c || within(0x200b, 0x200f) ||
         within(0x2028, 0x202e) || within(0x2060, 0x206f) || point == 0xfeff ||
         within(0xfff9, 0xfffb) || within(0xe0000, 0xe007f);
}

std::string hex(std::string_view prefix, std::uint32_t value, int digits) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text(prefix);
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) text += kHex[(value >> shift) & 15];
  return text;
}

std::string escape(std::uint32_t point) {
  switch (point) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      if (point < 0x80) return hex("\\x", point, 2);
      return point < 0x10000 ? hex("\\u", point, 4) : hex("\\U", point, 8);
  }
}

}  // namespace

bool is_utf8(std::string_view bytes) { return find_invalid_utf8(bytes) == std::string_view::npos; }

std::size_t find_invalid_utf8(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (bytes.size() - at >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, sizeof word);
      if ((word & kHighBits) == 0) {
        at += 8;
        continue;
      }
    }
    const std::size_t length = sequence_length(bytes, at);
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

std::size_t count_code_points(std::string_view utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(
      utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_white_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_white_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string printable(std::string_view bytes, std::size_t limit) {
  std::string shown;
  std::size_t count = 0;            // code points in `shown`
  std::size_t before_ellipsis = 0;  // bytes of `shown` that leave room for "…"
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = sequence_length(bytes, at);
    std::string piece;
    if (length == 0) {
      piece = hex("\\x", byte_at(bytes, at), 2);
    } else if (const std::uint32_t point = decode(bytes, at, length); is_unsafe(point)) {
      piece = escape(point);
    } else {
      piece = bytes.substr(at, length);
    }
    count += count_code_points(piece);
    if (count > limit) {
      shown.resize(before_ellipsis);
      return limit == 0 ? "" : shown + "…";
    }
    shown += piece;
    if (count < limit) before_ellipsis = shown.size();
    at += std::max<std::size_t>(length, 1);
  }
  return shown;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Optimal string alignment: rows i-2, i-1 and i of the table.
  std::array<std::vector<std::size_t>, 3> rows;
  rows.fill(std::vector<std::size_t>(b.size() + 1));
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    const std::vector<std::size_t>& above = rows[(i - 1) % 3];
    std::vector<std::size_t>& row = rows[i % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], rows[(i + 1) % 3][j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

}  // namespace deem
