#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace deem::codec {

/// A table with named columns; each row has as many fields as there are names.
struct CsvTable {
  struct Row {
    std::vector<std::string> fields = {};
    std::size_t line = 0;  // where it begins, from 1
  };
  std::vector<std::string> names = {};
  std::vector<Row> rows = {};
  bool had_bom = false;  // a byte order mark stood before the first name; it is not part of it

  std::optional<std::size_t> column(std::string_view name) const;
};

/// Reads RFC 4180 CSV, or TSV with '\t'; the first row holds the names. Rows end with "\n", "\r\n"
/// or a lone "\r"; blank lines are skipped; a field in quotes keeps its line breaks as they are.
/// A quote inside an unquoted field is refused in CSV and is plain text in TSV.
/// Errors: Corrupt "line L: what" (no names, a name twice or empty, a row of another width, quotes
/// that do not match, invalid UTF-8).
Result<CsvTable> parse_csv(std::string_view text, char separator = ',');

}  // namespace deem::codec
