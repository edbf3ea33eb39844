#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/energy_parts.h"
#include "report/format.h"
#include "report/probes.h"
#include "report/report.h"
#include "report/table.h"

namespace deem::report {
namespace {

using score::Column;
using score::Figures;

constexpr std::size_t kName = 28;

std::string line(const std::string& name, const std::vector<std::string>& cells) {
  static constexpr std::size_t kWidths[] = {17, 4, 5, 5, 5, 5, 7, 7, 6};
  std::string out = "  " + pad(printable(name, kName), kName, false);
  for (std::size_t i = 0; i < cells.size(); ++i) out += " " + pad(cells[i], kWidths[i], true);
  while (out.ends_with(' ')) out.pop_back();
  return out + "\n";
}

/// `joules`: with the column of joules, which a run without any does not get.
std::string figures_line(const Column& column, const Figures& f, const Heading& heading,
                         bool joules) {
  const std::string accuracy = f.uncalibrated ? "uncalibrated" : with_interval(f.accuracy);
  std::vector<std::string> cells = {accuracy,
                                    fmt::format("{}", f.uncalibrated ? f.auroc_n : f.accuracy.n),
                                    number(f.brier, 3),
                                    share(ece_of(f)),
                                    share(f.auroc),
                                    share(f.median_mass),
                                    duration(f.median_s),
                                    duration(f.p95_s)};
  if (joules) cells.push_back(net_cell(energy_on(heading, column.arm, f.task)));
  return line(column.name(), cells);
}

class Style {
 public:
  explicit Style(bool colour) : colour_(colour) {}
  std::string bold(const std::string& text) const {
    return colour_ ? "\033[1m" + text + "\033[0m" : text;
  }
  std::string dim(const std::string& text) const {
    return colour_ ? "\033[2m" + text + "\033[0m" : text;
  }

 private:
  bool colour_;
};

}  // namespace

std::string as_text(const score::Scores& scores, const Heading& heading, std::size_t width,
                    bool colour) {
  const Style style(colour);
  const std::vector<ProbeTable> energy = energy_tables(heading);
  std::string out;
  std::size_t key_width = 0;
  for (const auto& [key, _] : heading.lines) key_width = std::max(key_width, key.size());
  for (const auto& [key, value] : heading.lines)
    out += pad(key, key_width + 2, false) + value + "\n";
  for (const std::string& task : scores.tasks) {
    const Figures* base = baselines(scores, task);
    if (base == nullptr) continue;
    out += "\n" + style.bold(task) + "\n";
    out += style.dim(
        line("arm reading:variant", {"accuracy [95 %]", "n", "Brier", "ECE", "AUROC", "mass",
                                     "median", "p95", energy.empty() ? "" : "J/dec."}));
    for (const Column& column : scores.columns) {
      for (const Figures& f : column.tasks) {
        if (f.task == task) out += figures_line(column, f, heading, !energy.empty());
      }
    }
    const auto baseline = [&](const char* name, const std::string& accuracy, std::size_t n,
                              std::optional<double> brier) {
      out += style.dim(line(name, {accuracy, fmt::format("{}", n), number(brier, 3)}));
    };
    baseline("baseline: uniform", share(base->uniform.value), base->uniform.n, base->uniform_brier);
    baseline("baseline: prior (commonest)", with_interval(base->majority), base->majority.n,
             base->prior_brier);
    baseline("baseline: keyword overlap", with_interval(base->overlap), base->overlap.n,
             std::nullopt);
    for (const auto& [name, way] : reversed_baselines(scores, task)) {
      baseline(name.c_str(), with_interval(way.accuracy), way.accuracy.n, way.brier);
    }
  }
  out += tables_as_text(probe_tables(scores.probes), width, colour);
  const std::vector<std::string> joules_notes = energy_remarks(scores, heading);
  if (energy.empty() && !joules_notes.empty()) out += "\n" + style.bold("Energy") + "\n";
  out += tables_as_text(energy, width, colour);
  if (!energy.empty() && !joules_notes.empty()) out += "\n";
  for (const std::string& note : joules_notes) out += bullet(note, width);
  std::vector<std::string> notes = heading.notes;
  std::ranges::move(remarks(scores), std::back_inserter(notes));
  std::ranges::move(noise_notes(scores.probes), std::back_inserter(notes));
  if (!notes.empty()) out += "\n" + style.bold("To know") + "\n";
  for (const std::string& note : notes) out += bullet(note, width);
  return out;
}

}  // namespace deem::report
