#pragma once

// Private to report: parts of the page, each a piece of HTML.

#include <span>
#include <string>
#include <vector>

#include "record/row.h"
#include "report/full_report.h"
#include "report/plots.h"
#include "report/verdict.h"

namespace deem::report {

/// What the parts share.
struct PageContext {
  const FullReport& report;
  std::span<const record::Row> rows;
  std::vector<ColumnStyle> styles;
  std::vector<Verdict> verdicts;
  std::vector<PlotGroup> groups;

  std::size_t arm_index(const std::string& arm) const;
  std::size_t reading_index(const std::string& reading) const;
  std::size_t task_index(const std::string& task) const;
};

/// " data-col=… data-arm=… data-reading=…": what the page's filters go by.
std::string column_data(const PageContext& page, std::size_t column);
std::string task_data(const PageContext& page, const std::string& task);

/// A swatch and a name.
std::string column_name(const PageContext& page, std::size_t column);

/// A table that scrolls sideways by itself. `body` is made of <tr>.
std::string scrolling_table(const std::string& caption, const std::string& head,
                            const std::string& body);

/// <section> with a heading and a sentence on how to read it.
std::string section(const std::string& id, const std::string& title, const std::string& explanation,
                    const std::string& body);

std::string verdict_part(const PageContext& page);
std::string figures_part(const PageContext& page);  // columns by task, all together first
std::string plots_part(const PageContext& page);
std::string energy_part(const PageContext& page);      // joules, power traces, blocks
std::string thresholds_part(const PageContext& page);  // act above
std::string slices_part(const PageContext& page);      // where the leads are weak
std::string contests_part(const PageContext& page);
std::string mistakes_part(const PageContext& page);
std::string counts_part(const PageContext& page);  // census, refusals, voids
std::string added_part(const PageContext& page);   // sections of callers
std::string receipts_part(const PageContext& page);

}  // namespace deem::report
