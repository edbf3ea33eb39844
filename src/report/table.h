#pragma once

// Private to report: tables of texts, for terminals and Markdown.

#include <cstddef>
#include <string>
#include <vector>

#include "report/section.h"

namespace deem::report {

/// A head of names: the first `left` columns hold texts, the others numbers.
std::vector<Table::Head> head_of(std::vector<std::string> names, std::size_t left);

/// Each line indented by two; a column is as wide as its widest cell.
std::string as_text(const Table& table, bool colour);
std::string as_markdown(const Table& table);

/// `text` broken at spaces to `width`, each line indented, the first behind a dash.
std::string bullet(const std::string& text, std::size_t width);
std::string bold(const std::string& text, bool colour);

/// "+.125", "-.020": `decimals` of them, the sign always.
std::string signed_number(double value, int decimals);

}  // namespace deem::report
