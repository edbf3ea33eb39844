#include <fmt/format.h>

#include "report/energy_parts.h"
#include "report/format.h"
#include "report/probes.h"
#include "report/report.h"

namespace deem::report {
namespace {

using score::Figures;

std::string tokens(std::optional<std::int64_t> n) { return n ? fmt::format("{}", *n) : "not told"; }

void reliability(std::string& out, const score::Column& column) {
  const Figures& f = column.all;
  if (f.uncalibrated || f.accuracy.n == 0) return;
  out += fmt::format(
      "\n{}\n\n| largest probability | n | mean | right |\n| --- | ---: | ---: | ---: |\n",
      cell(column.name()));
  for (const auto& bin : f.reliability) {
    if (bin.n == 0) continue;
    const auto n = static_cast<double>(bin.n);
    out += fmt::format("| {:.1f}–{:.1f} | {} | {} | {} |\n", bin.low, bin.high, bin.n,
                       share(bin.sum_p / n), share(static_cast<double>(bin.correct) / n));
  }
}

}  // namespace

std::string as_markdown(const score::Scores& scores, const Heading& heading) {
  std::string out = "# Decisions\n\n| | |\n| --- | --- |\n";
  for (const auto& [key, value] : heading.lines)
    out += fmt::format("| {} | {} |\n", cell(key), cell(value));
  for (const std::string& task : scores.tasks) {
    const Figures* base = baselines(scores, task);
    if (base == nullptr) continue;
    out += fmt::format(
        "\n## {}\n\n| arm | reading | variant | accuracy [95 %] | n | Brier | ECE | AUROC | "
        "letters' "
        "mass | median | p95 | "
        "median from the real send | J/decision | void | unparsed | refused | errors |\n"
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | "
        "---: | "
        "---: | "
        "---: | ---: |\n",
        cell(task));
    for (const auto& column : scores.columns) {
      for (const Figures& f : column.tasks) {
        if (f.task != task) continue;
        out += fmt::format(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} "
            "|\n",
            cell(column.arm), cell(column.reading), column.variant,
            f.uncalibrated ? "uncalibrated" : with_interval(f.accuracy),
            f.uncalibrated ? f.auroc_n : f.accuracy.n, number(f.brier, 3), share(ece_of(f)),
            share(f.auroc), share(f.median_mass), duration(f.median_s), duration(f.p95_s),
            duration(f.median_sent_s), net_cell(energy_on(heading, column.arm, f.task)), f.voids,
            f.unparsed, f.refused, f.errors);
      }
    }
    out += fmt::format("| baseline | uniform | | {} | {} | {} | | | | | | | | | | | |\n",
                       share(base->uniform.value), base->uniform.n, number(base->uniform_brier, 3));
    out +=
        fmt::format("| baseline | prior | | {} | {} | {} | | | | | | | | | | | |\n",
                    with_interval(base->majority), base->majority.n, number(base->prior_brier, 3));
    out += fmt::format("| baseline | keyword overlap | | {} | {} | | | | | | | | | | | | |\n",
                       with_interval(base->overlap), base->overlap.n);
    for (const auto& [name, way] : reversed_baselines(scores, task)) {
      out += fmt::format("| baseline | {} | | {} | {} | {} | | | | | | | | | | | |\n", cell(name),
                         with_interval(way.accuracy), way.accuracy.n, number(way.brier, 3));
    }
  }
  out += tables_as_markdown(probe_tables(scores.probes));
  const std::vector<ProbeTable> energy = energy_tables(heading);
  const std::vector<std::string> joules_notes = energy_remarks(scores, heading);
  out += tables_as_markdown(energy);
  if (!joules_notes.empty()) out += energy.empty() ? "\n## Energy\n\n" : "\n";
  for (const std::string& note : joules_notes) out += "- " + cell(note) + "\n";
  std::vector<std::string> notes = heading.notes;
  for (std::string& remark : remarks(scores)) notes.push_back(std::move(remark));
  for (std::string& note : noise_notes(scores.probes)) notes.push_back(std::move(note));
  if (!notes.empty()) out += "\n## To know\n\n";
  for (const std::string& note : notes) out += "- " + note + "\n";
  out +=
      "\n## Tokens\n\n| arm | reading | prompt | of them cached | output | rows without a count "
      "|\n| --- | --- | ---: | ---: | ---: | ---: |\n";
  std::string last;
  for (const auto& column : scores.columns) {
    const std::string who = column.arm + "\n" + column.reading;
    if (who == last) continue;
    last = who;
    out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", cell(column.arm), cell(column.reading),
                       tokens(column.all.prompt_tokens), tokens(column.all.cached_tokens),
                       tokens(column.all.output_tokens), column.all.tokens_unknown);
  }
  out += "\n## Reliability, all tasks\n";
  for (const auto& column : scores.columns) reliability(out, column);
  return out;
}

}  // namespace deem::report
