#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codec/json.h"
#include "report/report.h"
#include "report/section.h"
#include "score/score_rows.h"

namespace deem::report {

/// A table as any output can show it. The first `names` cells of a row are names, the others
/// figures.
struct ProbeTable {
  std::string title = {};
  std::string says = {};  // one sentence: what the figures are
  std::vector<std::string> header = {};
  std::vector<std::vector<std::string>> rows = {};
  std::size_t names = 1;
};

/// Order of options, averaged readings, laws, company, noise, sustained load, prefixes and label
/// priors; each only where it was asked. None when there are no probe rows.
std::vector<ProbeTable> probe_tables(const score::ProbeFigures& probes);

/// The noise floor as sentences, one for each arm and reading that has one.
std::vector<std::string> noise_notes(const score::ProbeFigures& probes);

/// What answers in reverse order are worth on a task, as lines of its baselines: name, figures.
std::vector<std::pair<std::string, score::WayToAnswer>> reversed_baselines(
    const score::Scores& scores, const std::string& task);

/// Member `probes` of deem.score/1 (docs/formats/score.md).
codec::Json probes_json(const score::ProbeFigures& probes, const std::vector<ArmCost>& costs);

/// "load 0.91 s, ready 1.20 s, first answer 2.10 s; peak memory 612 MiB (…)"; "" for nothing known.
std::string cost_text(const ArmCost& cost);

/// The tables as one part of a report; none without tables.
std::optional<Section> probes_section(const score::ProbeFigures& probes);

/// For a terminal of `width` columns.
std::string tables_as_text(const std::vector<ProbeTable>& tables, std::size_t width, bool colour);
std::string tables_as_markdown(const std::vector<ProbeTable>& tables);

}  // namespace deem::report
