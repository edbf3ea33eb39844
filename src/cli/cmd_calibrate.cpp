#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/file.h"
#include "cli/document.h"
#include "cli/fit_rows.h"
#include "cli/verbs.h"
#include "report/fit_report.h"
#include "score/fit_sample.h"

namespace deem::cli {
namespace {

struct CalibrateFlags {
  std::string path, method = "auto", out, name, format = "text";
  std::vector<std::string> arms, columns;
  bool no_fit = false;
};

Result<std::vector<score::ColumnName>> pick_columns(const FitRows& from,
                                                    const std::vector<std::string>& typed) {
  const std::vector<score::ColumnName> known = score::columns_of(from.rows);
  std::vector<score::ColumnName> out;
  for (const std::string& text : typed) {
    bool found = false;
    for (const score::ColumnName& name : known) {
      if (text != name.text() && text != name.reading + ":" + name.variant &&
          text != name.reading) {
        continue;
      }
      out.push_back(name);
      found = true;
    }
    if (found) continue;
    std::string listed;
    for (const score::ColumnName& name : known)
      listed += (listed.empty() ? " " : ", ") + name.text();
    return fail(Error::Code::BadInput, "--reading " + text + ": there is none; there are" + listed);
  }
  return out;
}

}  // namespace

int run_calibrate(const Args& args) {
  CLI::App app(
      "Fit calibration constants on a run's rows, no seat needed: temperature, label prior, Platt "
      "or\n"
      "isotonic for each reading and task; figures are of items held out by state.\n\n"
      "  deem calibrate runs/monday --reading letters\n"
      "  deem run --kit kits/demo --seat local:model.gguf --calibration "
      "runs/monday/calibration.json\n",
      "deem calibrate");
  CalibrateFlags flags;
  app.add_option("RUN", flags.path, "a run folder")->required();
  app.add_option("--reading", flags.columns,
                 "only this: NAME, NAME:VARIANT or ARM NAME:VARIANT (repeatable)");
  app.add_option("--arm", flags.arms, "only these arms (repeatable); all of one model when absent");
  app.add_option("--method", flags.method,
                 "auto (default: the best on held-out items), temperature, label-prior, platt, "
                 "isotonic");
  app.add_option("--out", flags.out, "the fit file; RUN/calibration.json when absent");
  app.add_option("--name", flags.name, "the fit's name");
  app.add_flag("--no-fit", flags.no_fit, "write no fit file");
  app.add_option("--format", flags.format, "text, md or json");
  if (const auto code = parse(app, args)) return *code;
  const auto format = parse_document_format(flags.format);
  if (!format) return report_error(format.error());
  score::CalibrateOptions options;
  if (flags.method != "auto") {
    options.method = decision::parse_method(flags.method);
    if (!options.method || *options.method == decision::Calibrator::Method::None) {
      return report_error(
          {Error::Code::BadInput,
           "--method " + flags.method + ": auto, temperature, label-prior, platt or isotonic"});
    }
  }
  Result<FitRows> from = open_fit_rows(flags.path, flags.arms);
  if (!from) return report_error(from.error());
  Result<std::vector<score::ColumnName>> columns = pick_columns(*from, flags.columns);
  if (!columns) return report_error(columns.error());
  options.columns = std::move(*columns);
  report::CalibrateReport report{.run = flags.path,
                                 .fits = score::calibrate(from->rows, options),
                                 .notes = from->notes,
                                 .fit_path = {}};
  record::Fit fit = start_fit(*from, "calibrate", flags.name);
  std::vector<const score::Calibrated*> written;  // as fit.entries
  for (const score::Calibrated& one : report.fits) {
    if (!one.refused.empty()) continue;
    if (const auto twin = record::find_same_key(fit.entries, one.entry)) {
      report.notes.push_back(one.column.text() + ": not in the fit file, which has " +
                             written[*twin]->column.text() +
                             " for the same answers; --arm picks the other");
      continue;
    }
    fit.entries.push_back(one.entry);
    written.push_back(&one);
  }
  Result<void> saved;
  if (!fit.entries.empty() && !flags.no_fit) {
    report.fit_path = flags.out.empty() ? join_path(flags.path, "calibration.json") : flags.out;
    saved = save_fit(report.fit_path, fit);
    if (!saved) report.fit_path.clear();
  }
  if (Result<void> printed = print_document(report, *format); !printed)
    return report_error(printed.error());
  if (!saved) return report_error(saved.error());
  if (fit.entries.empty()) fmt::print(stderr, "deem: nothing fitted; what is printed says why\n");
  return fit.entries.empty() || from->unreadable ? kNotMeasured : kDone;
}

}  // namespace deem::cli
