#pragma once

#include <string>
#include <vector>

#include "record/row.h"
#include "record/run.h"
#include "report/report.h"

namespace deem::cli {

/// Rows of several runs side by side, and what is said about them.
struct Gathered {
  std::vector<record::Row> rows;
  report::Heading heading;
  bool unreadable = false;  // a file or a line of one, named on stderr
};

/// The rows file of a run folder, or the file itself.
std::string rows_of(const std::string& path);

/// Errors: BadInput when two paths mean the same rows.
Result<void> check_distinct(const std::vector<std::string>& paths);

/// Adds the rows of a run folder or a rows file. With several paths arms get the path in front.
void gather(const std::string& path, bool several, Gathered& out);

/// The columns a terminal has on stdout, 100 where it is none.
std::size_t terminal_width();
bool wants_colour();

}  // namespace deem::cli
