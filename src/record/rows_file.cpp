#include "record/rows_file.h"

#include <map>
#include <tuple>

#include "base/file.h"

namespace deem::record {

RowsFile parse_rows(std::string_view bytes) {
  RowsFile out;
  std::map<std::tuple<std::string, std::string, std::string, int, std::string>, std::size_t> seen;
  std::size_t line = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    ++line;
    const std::size_t end = bytes.find('\n', at);
    if (end == std::string_view::npos) {
      out.torn_tail = true;
      return out;
    }
    const std::size_t next = end + 1;
    Result<Row> row = parse_row(bytes.substr(at, end - at));
    at = next;
    out.good_bytes = next;
    if (!row) {
      out.problems.push_back({line, row.error().message});
      continue;
    }
    const auto [place, fresh] =
        seen.try_emplace({row->arm, row->task, row->id, row->repeat, row->probe}, out.rows.size());
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
