#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/json.h"

namespace deem::codec {

/// A TOML document as JSON: members in the order of the file, dates and times as their TOML text.
/// A path is the keys and indices from the root joined by "/": "task/answered/reading/0/given"; the
/// root's is "".
struct TomlDoc {
  struct Place {
    std::size_t line = 0;    // from 1
    std::size_t column = 0;  // from 1, in code points
  };
  std::string name = {};  // the file's, for messages
  Json root = Json::object();
  std::map<std::string, Place, std::less<>> places = {};  // of each key and array item

  /// The line of a path, 0 when it is not in the file.
  std::size_t line(std::string_view path) const;
  /// "FILE:LINE:COLUMN" of a path, or of the nearest table around it that the file has; "FILE" when
  /// there is none.
  std::string where(std::string_view path) const;
};

/// `name` is the file's, for messages. Brackets over 64 deep and keys of over 32 parts are refused,
/// as toml++ would use the stack for them without limit.
/// Errors: BadInput "FILE:LINE:COLUMN: what".
Result<TomlDoc> parse_toml(std::string_view text, std::string_view name);

}  // namespace deem::codec
