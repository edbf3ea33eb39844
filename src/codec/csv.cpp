#include "codec/csv.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "base/text.h"

namespace deem::codec {
namespace {

std::string count_of(std::size_t n, std::string_view noun) {
  return std::to_string(n) + " " + std::string(noun) + (n == 1 ? "" : "s");
}

std::unexpected<Error> refuse(std::size_t line, std::string_view what) {
  return fail(Error::Code::Corrupt, "line " + std::to_string(line) + ": " + std::string(what));
}

class Reader {
 public:
  Reader(std::string_view text, char separator) : left_(text), separator_(separator) {}

  // The next row that is not blank; none at the end.
  Result<std::optional<CsvTable::Row>> next() {
    while (!left_.empty() && end_row()) {
    }
    if (left_.empty()) return std::nullopt;
    CsvTable::Row row{.line = line_};
    while (true) {
      auto field = left_.starts_with('"') ? quoted_field() : plain_field();
      if (!field) return fail(field.error());
      row.fields.push_back(std::move(*field));
      if (left_.empty() || end_row()) return row;
      left_.remove_prefix(1);  // the separator
    }
  }

 private:
  // Takes a line's end, if that is what comes next.
  bool end_row() {
    if (left_.empty() || (left_.front() != '\n' && left_.front() != '\r')) return false;
    left_.remove_prefix(left_.starts_with("\r\n") ? 2 : 1);
    ++line_;
    return true;
  }

  Result<std::string> plain_field() {
    const char stops[] = {separator_, '\r', '\n', '"'};
    const std::size_t count = separator_ == '\t' ? 3 : 4;  // in TSV a quote here is plain text
    const std::size_t size = std::min(left_.find_first_of(stops, 0, count), left_.size());
    if (size < left_.size() && left_[size] == '"') {
      return refuse(line_,
                    "a quote inside an unquoted field (quote the whole field and double it)");
    }
    std::string field(left_.substr(0, size));
    left_.remove_prefix(size);
    return field;
  }

  Result<std::string> quoted_field() {
    const std::size_t first_line = line_;
    std::string field;
    left_.remove_prefix(1);
    while (true) {
      const std::size_t quote = left_.find('"');
      if (quote == std::string_view::npos) {
        return refuse(first_line, "a quoted field without its closing quote");
      }
      field += left_.substr(0, quote);
      left_.remove_prefix(quote + 1);
      if (!left_.starts_with('"')) break;
      field += '"';
      left_.remove_prefix(1);
    }
    for (std::size_t i = 0; i < field.size(); ++i) {
      const bool pair = field[i] == '\r' && i + 1 < field.size() && field[i + 1] == '\n';
      if (field[i] == '\n' || (field[i] == '\r' && !pair)) ++line_;
    }
    const bool ended = left_.empty() || left_.front() == separator_ || left_.front() == '\n' ||
                       left_.front() == '\r';
    if (!ended)
      return refuse(line_, "something follows a closing quote (double the quotes inside)");
    return field;
  }

  std::string_view left_;
  char separator_;
  std::size_t line_ = 1;
};

Result<void> check_names(const CsvTable::Row& row) {
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    const std::string& name = row.fields[i];
    if (name.empty()) return refuse(row.line, "column " + std::to_string(i + 1) + " has no name");
    if (!seen.insert(name).second) {
      return refuse(row.line, "column name '" + printable(name, 60) + "' twice");
    }
  }
  return {};
}

std::size_t line_at(std::string_view text, std::size_t offset) {
  std::size_t line = 1;
  for (std::size_t i = 0; i < offset; ++i) {
    if (text[i] == '\n' || (text[i] == '\r' && text[i + 1] != '\n')) ++line;
  }
  return line;
}

}  // namespace

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

Result<CsvTable> parse_csv(std::string_view text, char separator) {
  if (const std::size_t bad = find_invalid_utf8(text); bad != std::string_view::npos) {
    return refuse(line_at(text, bad), "invalid UTF-8 (save the file as UTF-8)");
  }
  CsvTable table;
  constexpr std::string_view kBom = "\xef\xbb\xbf";
  table.had_bom = text.starts_with(kBom);
  if (table.had_bom) text.remove_prefix(kBom.size());
  Reader reader(text, separator);
  auto header = reader.next();
  if (!header) return fail(header.error());
  if (!*header) return refuse(1, "no row of column names");
  if (const auto checked = check_names(**header); !checked) return fail(checked.error());
  table.names = std::move((*header)->fields);
  while (true) {
    auto row = reader.next();
    if (!row) return fail(row.error());
    if (!*row) return table;
    const std::size_t width = (*row)->fields.size();
    if (width != table.names.size()) {
      return refuse((*row)->line, count_of(width, "field") + " where the header has " +
                                      std::to_string(table.names.size()));
    }
    table.rows.push_back(std::move(**row));
  }
}

}  // namespace deem::codec
