#include "report/table.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/format.h"

namespace deem::report {

std::string as_text(const Table& table, bool colour) {
  std::vector<std::size_t> widths;
  for (const std::string& name : table.head) widths.push_back(count_code_points(name));
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], count_code_points(row[i]));
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string out = " ";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      out += (i > 1 ? "  " : " ") + pad(cells[i], widths[i], i >= table.left);
    }
    while (out.ends_with(' ')) out.pop_back();
    return out;
  };
  std::string out = line(table.head);
  out = (colour ? "\033[2m" + out + "\033[0m" : out) + "\n";
  for (const auto& row : table.rows) out += line(row) + "\n";
  return out;
}

std::string as_markdown(const Table& table) {
  std::string out = "|";
  for (const std::string& name : table.head) out += " " + cell(name) + " |";
  out += "\n|";
  for (std::size_t i = 0; i < table.head.size(); ++i) out += i < table.left ? " --- |" : " ---: |";
  out += "\n";
  for (const auto& row : table.rows) {
    out += "|";
    for (const std::string& text : row) out += " " + cell(text) + " |";
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
