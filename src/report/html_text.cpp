#include "report/html_text.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/digest.h"
#include "base/text.h"

namespace deem::report {
namespace {

/// Marks that are invisible or turn the text around them. Joiners (U+200C, U+200D) stay: scripts
/// and emoji need them.
bool is_hidden(std::uint32_t c) {
  return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c <= 0x9f) || c == 0xad ||
         c == 0x61c || c == 0x200b || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
         (c >= 0xe0000 && c <= 0xe007f);
}

std::size_t sequence_length(unsigned char lead) {
  return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

std::uint32_t decode(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 1) return byte(0);
  std::uint32_t c = byte(0) & (0xffU >> (sequence.size() + 1));
  for (std::size_t i = 1; i < sequence.size(); ++i) c = c << 6 | (byte(i) & 0x3fU);
  return c;
}

void append_valid(std::string& out, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(static_cast<unsigned char>(text[at]));
    const std::string_view sequence = text.substr(at, length);
    const std::uint32_t c = decode(sequence);
    if (is_hidden(c)) {
      out += fmt::format("[U+{:04X}]", c);
    } else {
      out += sequence;
    }
    at += length;
  }
}

}  // namespace

std::string visible(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bad = std::min(find_invalid_utf8(text), text.size());
    append_valid(out, text.substr(0, bad));
    if (bad == text.size()) break;
    out += fmt::format("[x{:02X}]", static_cast<unsigned char>(text[bad]));
    text.remove_prefix(bad + 1);
  }
  return out;
}

std::string html(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  for (const char c : visible(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string script_json(const codec::Json& value) {
  std::string out;
  for (const char c : codec::dump_json(value, {.ascii = true, .compact = true})) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string csp_hash(std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string hex = sha256_hex(bytes);
  std::string out = "'sha256-";
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : hex) {  // four bits a digit, six a letter
    bits = bits << 4 | static_cast<std::uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    held += 4;
    if (held < 6) continue;
    held -= 6;
    out += kDigits[bits >> held & 0x3f];
    bits &= (1U << held) - 1;
  }
  if (held > 0) out += kDigits[bits << (6 - held) & 0x3f];
  out += "='";  // 256 bits are 42 letters and 4 bits: one letter more and one sign of filling
  return out;
}

std::string slug(std::string_view text) {
  std::string out;
  for (const char c : to_lower(text)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain) {
      out += c;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (out.ends_with('-')) out.pop_back();
  return out;
}

}  // namespace deem::report
