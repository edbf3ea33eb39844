#pragma once

#include <span>
#include <string>
#include <string_view>

#include "decision/question.h"

namespace deem::kit {

/// `text` as a TOML basic string: one line, every control character escaped.
std::string toml_string(std::string_view text);

/// Appends `key = "value"` and a newline.
void append_toml(std::string& out, std::string_view key, std::string_view value);
/// Appends `key = [["key", "description"], …]`, one option a line, and a newline.
void append_toml(std::string& out, std::string_view key, std::span<const decision::Option> options);

/// `text` as a template that gives it back: braces doubled.
std::string escape_template(std::string_view text);

}  // namespace deem::kit
