#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/side_by_side.h"
#include "record/power.h"
#include "record/row.h"
#include "record/run.h"
#include "report/report.h"
#include "score/fitted.h"

namespace deem::cli {

/// Rows of several runs side by side, and what is said about them.
struct Gathered {
  std::vector<record::Row> rows;
  report::Heading heading;
  std::vector<record::PowerFile> power = {};  // of each of heading.energy
  score::Fits fits = {};                      // by arm, as the runs were made with
  // By arm, where a run.json tells.
  std::map<std::string, record::FitModel> models = {};
  std::map<std::string, std::string> kit_digests = {};
  std::vector<NamedRun> runs = {};  // of the paths so far
  bool unreadable = false;          // a file or a line of one, named on stderr
};

/// The rows file of a run folder, or the file itself.
std::string rows_of(const std::string& path);

/// Errors: BadInput when two paths mean the same rows.
Result<void> check_distinct(const std::vector<std::string>& paths);

/// Adds the rows of a run folder or a rows file. With several paths arms get the path in front.
void gather(const std::string& path, bool several, Gathered& out);

/// Adds a note where a fit was made on answers to the kit of that digest.
void note_same_items(const record::Fit& fit, const std::string& kit_digest,
                     report::Heading& heading);

/// The columns a terminal has on stdout, 100 where it is none.
std::size_t terminal_width();
bool wants_colour();

}  // namespace deem::cli
