#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "record/row.h"
#include "record/run.h"
#include "report/power_plot.h"
#include "report/report.h"
#include "report/section.h"
#include "score/evidence.h"

namespace deem::report {

/// A run as its run.json tells it.
struct Receipt {
  std::string path = {};
  record::RunRecord run = {};
};

/// What an answer was asked by: the text, or why it is not shown.
struct Prompt {
  std::string text = {}, missing = {};
};

/// A row's index and the reading of it.
using PromptKey = std::pair<std::size_t, std::string>;

/// Everything the page holds. Rows are borrowed by the functions below, in the order `scores` and
/// `evidence` were made of.
struct FullReport {
  Heading heading = {};
  score::Scores scores = {};
  score::Evidence evidence = {};
  std::vector<Receipt> receipts = {};
  std::vector<Section> sections = {};  // after our own, in this order
  std::map<PromptKey, Prompt> prompts = {};
  std::vector<PowerPlot> power = {};  // of heading.energy's runs
  std::string version = {};           // of deem
};

/// The prompts that the page has room for, each once.
std::vector<PromptKey> wanted_prompts(const score::Evidence& evidence);

/// One self-contained page: nothing is fetched, all plots are there without scripts.
std::string as_html(const FullReport& report, std::span<const record::Row> rows);
/// The verdict, then what as_markdown of report.h gives, then the sections.
std::string as_markdown(const FullReport& report);
/// Schema "deem.report/1"; docs/formats/report.md.
std::string as_json(const FullReport& report, std::span<const record::Row> rows);

/// Whether these bytes begin like something one of the above, or the CSV, wrote.
bool is_report(std::string_view bytes);

}  // namespace deem::report
