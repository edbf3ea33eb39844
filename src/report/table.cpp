#include "report/table.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/format.h"

namespace deem::report {

std::vector<Table::Head> head_of(std::vector<std::string> names, std::size_t left) {
  std::vector<Table::Head> out;
  for (std::string& name : names) out.push_back({std::move(name), out.size() >= left});
  return out;
}

std::string as_text(const Table& table, bool colour) {
  std::vector<std::size_t> widths;
  std::vector<std::string> names;
  for (const Table::Head& head : table.head) {
    names.push_back(head.name);
    widths.push_back(count_code_points(head.name));
  }
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], count_code_points(row[i]));
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string out = " ";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      out += (i > 1 ? "  " : " ") + pad(cells[i], widths[i], table.head[i].number);
    }
    while (out.ends_with(' ')) out.pop_back();
    return out;
  };
  std::string out = line(names);
  out = (colour ? "\033[2m" + out + "\033[0m" : out) + "\n";
  for (const auto& row : table.rows) out += line(row) + "\n";
  return out;
}

std::string as_markdown(const Table& table) {
  std::string out = "|";
  for (const Table::Head& head : table.head) out += " " + cell(head.name) + " |";
  out += "\n|";
  for (const Table::Head& head : table.head) out += head.number ? " ---: |" : " --- |";
  out += "\n";
  for (const auto& row : table.rows) {
    out += "|";
    for (std::size_t i = 0; i < table.head.size(); ++i)
      out += " " + (i < row.size() ? cell(row[i]) : std::string()) + " |";
    out += "\n";
  }
  return out;
}

std::string bullet(const std::string& text, std::size_t width) {
  std::string out = "  - ";
  std::size_t used = 4;
  for (const std::string_view word : split(text, ' ')) {
    const std::size_t length = count_code_points(word) + 1;
    if (used + length > width && used > 4) {
      while (out.ends_with(' ')) out.pop_back();
      out += "\n    ";
      used = 4;
    }
    out += std::string(word) + " ";
    used += length;
  }
  while (out.ends_with(' ')) out.pop_back();
  return out + "\n";
}

std::string bold(const std::string& text, bool colour) {
  return colour ? "\033[1m" + text + "\033[0m" : text;
}

std::string signed_number(double value, int decimals) {
  std::string text = number(std::abs(value), decimals);
  if (text.starts_with("0.")) text.erase(0, 1);
  return (value < 0 ? "-" : "+") + text;
}

}  // namespace deem::report
