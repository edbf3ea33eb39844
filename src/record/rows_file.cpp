#include "record/rows_file.h"

#include <map>
#include <tuple>

#include "base/file.h"

namespace deem::record {

RowsFile parse_rows(std::string_view bytes) {
  RowsFile out;
  std::map<std::tuple<std::string, std::string, std::string, int>, std::size_t> seen;
  std::size_t line = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    ++line;
    const std::size_t end = bytes.find('\n', at);
    const bool last = end == std::string_view::npos || end + 1 == bytes.size();
    const std::string_view text =
        bytes.substr(at, end == std::string_view::npos ? std::string_view::npos : end - at);
    const std::size_t next = end == std::string_view::npos ? bytes.size() : end + 1;
    Result<Row> row = parse_row(text);
    if (end == std::string_view::npos || (last && !row)) {
      out.torn_tail = true;
      return out;
    }
    at = next;
    out.good_bytes = next;
    if (!row) {
      out.problems.push_back({line, row.error().message});
      continue;
    }
    const auto [place, fresh] =
        seen.try_emplace({row->arm, row->task, row->id, row->repeat}, out.rows.size());
    if (fresh) {
      out.rows.push_back(std::move(*row));
    } else {
      out.rows[place->second] = std::move(*row);
    }
  }
  return out;
}

Result<RowsFile> load_rows(const std::string& path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) return fail(file.error());
  return parse_rows(file->bytes());
}

}  // namespace deem::record
