#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/file.h"
#include "cli/document.h"
#include "cli/fit_rows.h"
#include "cli/show_choice.h"
#include "cli/verbs.h"
#include "report/fit_report.h"

namespace deem::cli {

Result<Chosen> choose_reading(const std::string& path, const ChooseFlags& flags) {
  Chosen out;
  score::ChooseOptions options{.cheapest = flags.cheapest};
  const auto by = score::parse_criterion(flags.by);
  if (!by) return fail(Error::Code::BadInput, "--by " + flags.by + ": brier, log-loss or accuracy");
  Result<FitRows> from = open_fit_rows(path, flags.arms);
  if (!from) return fail(from.error());
  options.by = *by;
  out.unreadable = from->unreadable;
  out.report = {.run = path,
                .by = *by,
                .choices = score::choose(from->rows, options),
                .notes = from->notes,
                .fit_path = {},
                .shown = flags.all ? std::size_t{0} : std::size_t{8}};
  record::Fit fit = start_fit(*from, "choose", flags.name);
  for (const score::Choice& choice : out.report.choices) {
    if (choice.refused.empty()) fit.entries.push_back(choice.entry);
  }
  out.chosen = !fit.entries.empty();
  if (!out.chosen || flags.no_fit) return out;
  out.report.fit_path = flags.out.empty() ? join_path(path, "chosen.json") : flags.out;
  out.saved = save_fit(out.report.fit_path, fit);
  if (!out.saved) out.report.fit_path.clear();
  return out;
}

int run_choose(const Args& args) {
  CLI::App app(
      "Which reading to trust: every reading of a run's rows, raw and calibrated, side by side for "
      "each\n"
      "task, each figure held out by state; writes a fit file that run and ask apply.\n\n"
      "  deem choose runs/monday\n"
      "  deem run --kit kits/demo --seat local:model.gguf --calibration runs/monday/chosen.json\n",
      "deem choose");
  ChooseFlags flags;
  std::string path, format_name = "text";
  app.add_option("RUN", path, "a run folder")->required();
  app.add_option("--by", flags.by, "what is best: brier (default), log-loss or accuracy");
  app.add_flag("--cheapest", flags.cheapest,
               "take the fastest of those within the noise of the best");
  app.add_option("--arm", flags.arms, "only these arms (repeatable); all of one model when absent");
  app.add_option("--out", flags.out, "the fit file; RUN/chosen.json when absent");
  app.add_option("--name", flags.name, "the fit's name");
  app.add_flag("--no-fit", flags.no_fit, "write no fit file");
  app.add_flag("--all", flags.all, "show every candidate, not the first eight");
  app.add_option("--format", format_name, "text, md or json");
  if (const auto code = parse(app, args)) return *code;
  const auto format = parse_document_format(format_name);
  if (!format) return report_error(format.error());
  const Result<Chosen> chosen = choose_reading(path, flags);
  if (!chosen) return report_error(chosen.error());
  const report::ChooseReport& report = chosen->report;
  if (Result<void> printed = print_document(report, *format); !printed)
    return report_error(printed.error());
  if (!chosen->saved) return report_error(chosen->saved.error());
  if (!chosen->chosen) fmt::print(stderr, "deem: nothing chosen; what is printed says why\n");
  return chosen->chosen && !chosen->unreadable ? kDone : kNotMeasured;
}

}  // namespace deem::cli
