#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/check.h"
#include "base/text.h"
#include "codec/json.h"
#include "codec/scan.h"

namespace deem::codec {
namespace {

void append_escape(std::string& out, std::uint32_t unit) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(unit >> shift) & 15];
}

struct Decoded {
  std::uint32_t point = 0xfffd;  // may be a surrogate
  std::size_t length = 1;        // bytes; 1 for an invalid byte
};

// The code point at the start of `text`, whose first byte is 0x80 or above. WTF-8: surrogates too.
Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const std::uint32_t lead = byte(0);
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) return {};
  std::uint32_t point = lead & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    point = point << 6 | (byte(i) & 0x3f);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  if (point < kSmallest[length] || point > 0x10ffff) return {};
  return {point, length};
}

void append_control(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    default:
      append_escape(out, static_cast<unsigned char>(c));
  }
}

// One code point from 0x80 up. Returns its length in bytes.
std::size_t append_high(std::string& out, std::string_view text, bool ascii) {
  const auto [point, length] = decode(text);
  const bool surrogate = point >= 0xd800 && point < 0xe000;
  if (!ascii && !surrogate) {
    if (length == 1) {
      out += "\ufffd";
    } else {
      out += text.substr(0, length);
    }
  } else if (point < 0x10000) {
    append_escape(out, point);
  } else {
    append_escape(out, 0xd800 + ((point - 0x10000) >> 10));
    append_escape(out, 0xdc00 + ((point - 0x10000) & 0x3ff));
  }
  return length;
}

class Writer {
 public:
  Writer(const JsonStyle& style, std::string& out) : style_(style), out_(out) {}

  void write(const Json& value, int depth) {
    switch (value.kind()) {
      case Json::Kind::Null:
        out_ += "null";
        break;
      case Json::Kind::Bool:
        out_ += value.as_bool() ? "true" : "false";
        break;
      case Json::Kind::Int:
        write_int(value.as_int());
        break;
      case Json::Kind::BigInt:
        out_ += value.digits();
        break;
      case Json::Kind::Double:
        append_python_float(out_, value.as_double());
        break;
      case Json::Kind::String:
        append_json_string(out_, value.as_string(), style_.ascii);
        break;
      case Json::Kind::Array:
        write_array(value.items(), depth);
        break;
      case Json::Kind::Object:
        write_object(value.members(), depth);
        break;
    }
  }

 private:
  void write_int(std::int64_t value) {
    std::array<char, 24> digits;
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    out_.append(digits.data(), end);
  }

  void write_array(const std::vector<Json>& items, int depth) {
    out_ += '[';
    bool first = true;
    for (const Json& item : items) {
      separate(first, depth + 1);
      write(item, depth + 1);
    }
    close(']', items.empty(), depth);
  }

  void write_object(const std::vector<Json::Member>& members, int depth) {
    out_ += '{';
    bool first = true;
    const auto write_member = [&](const Json::Member& member) {
      separate(first, depth + 1);
      append_json_string(out_, member.first, style_.ascii);
      out_ += style_.compact ? ":" : ": ";
      write(member.second, depth + 1);
    };
    if (style_.sort_keys) {
      // Bytes of UTF-8 and of WTF-8 sort as their code points do.
      std::vector<const Json::Member*> sorted;
      for (const Json::Member& member : members) sorted.push_back(&member);
      std::ranges::stable_sort(
          sorted, {}, [](const Json::Member* m) -> const std::string& { return m->first; });
      for (const Json::Member* member : sorted) write_member(*member);
    } else {
      std::ranges::for_each(members, write_member);
    }
    close('}', members.empty(), depth);
  }

  void separate(bool& first, int depth) {
    if (!first) out_ += style_.compact || style_.indent >= 0 ? "," : ", ";
    first = false;
    break_line(depth);
  }

  void close(char bracket, bool empty, int depth) {
    if (!empty) break_line(depth);
    out_ += bracket;
  }

  void break_line(int depth) {
    if (style_.indent < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(depth) * static_cast<std::size_t>(style_.indent), ' ');
  }

  const JsonStyle& style_;
  std::string& out_;
};

}  // namespace

void append_json_string(std::string& out, std::string_view text, bool ascii) {
  out += '"';
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool keep_high = !ascii && is_utf8(text);
  while (true) {
    const char* const stop = keep_high ? find_special<false>(at, end) : find_special<true>(at, end);
    out.append(at, stop);
    if (stop == end) break;
    at = stop;
    const auto byte = static_cast<unsigned char>(*at);
    if (byte >= 0x80) {
      at += append_high(out, {at, static_cast<std::size_t>(end - at)}, ascii);
    } else if (byte == 0x7f && !ascii) {
      out += *at++;
    } else {
      append_control(out, *at++);
    }
  }
  out += '"';
}

void append_python_float(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  // "d.ddde±XX", the shortest that reads back; repr() has the same digits in another shape.
  std::array<char, 32> text;
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific);
  DEEM_CHECK(error == std::errc());
  std::string_view number(text.data(), static_cast<std::size_t>(end - text.data()));
  if (number.starts_with('-')) {
    out += '-';
    number.remove_prefix(1);
  }
  const std::size_t e = number.find('e');
  const std::string_view mantissa = number.substr(0, e);
  const char* const digits = number.data() + e + (number[e + 1] == '+' ? 2 : 1);
  int exponent = 0;
  std::from_chars(digits, end, exponent);
  if (exponent < -4 || exponent >= 16) {
    out += number;  // to_chars writes two exponent digits at least, as repr() does
    return;
  }
  const std::string_view fraction = mantissa.size() > 2 ? mantissa.substr(2) : "";
  if (exponent < 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-exponent - 1), '0');
    out += mantissa[0];
    out += fraction;
    return;
  }
  const auto before_point = static_cast<std::size_t>(exponent);
  out += mantissa[0];
  out += fraction.substr(0, before_point);
  if (fraction.size() <= before_point) {
    out.append(before_point - fraction.size(), '0');
    out += ".0";
  } else {
    out += '.';
    out += fraction.substr(before_point);
  }
}

std::string dump_json(const Json& value, const JsonStyle& style) {
  std::string out;
  Writer(style, out).write(value, 0);
  return out;
}

}  // namespace deem::codec
