#include "kit/toml_text.h"

#include <fmt/format.h>

namespace deem::kit {

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

void append_toml(std::string& out, std::string_view key, std::string_view value) {
  out += key;
  out += " = " + toml_string(value) + "\n";
}

void append_toml(std::string& out, std::string_view key,
                 std::span<const decision::Option> options) {
  out += key;
  out += " = [\n";
  for (const decision::Option& option : options) {
    out += "  [" + toml_string(option.key) + ", " + toml_string(option.description);
    if (!option.text.empty()) out += ", " + toml_string(option.text);
    out += "],\n";
  }
  out += "]\n";
}

std::string escape_template(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '{' || c == '}') out += c;
  }
  return out;
}

}  // namespace deem::kit
