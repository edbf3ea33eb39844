#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "base/file.h"
#include "base/text.h"
#include "cli/gather_rows.h"
#include "cli/price_flags.h"
#include "cli/show_score.h"
#include "cli/verbs.h"
#include "report/report.h"
#include "score/answer.h"
#include "score/seed_energy.h"
#include "score/seed_lines.h"

namespace deem::cli {
namespace {

int show_seed_lines(const std::vector<std::string>& paths) {
  int code = kDone;
  for (const std::string& path : paths) {
    const Result<score::SeedReport> report = score::score_seed_folder(path);
    if (!report) {
      code = report_error(report.error());
      continue;
    }
    for (const std::string& line : report->lines) fmt::print("{}\n", line);
    std::fflush(stdout);
    for (const std::string& problem : report->problems) fmt::print(stderr, "deem: {}\n", problem);
    if (!report->problems.empty()) code = kNotMeasured;
  }
  return code;
}

int show_seed_energy(const std::vector<std::string>& paths) {
  int code = kDone;
  for (const std::string& path : paths) {
    const Result<score::SeedEnergyReport> report = score::seed_energy_folder(path);
    if (!report) {
      code = report_error(report.error());
      continue;
    }
    for (const std::string& line : report->lines) fmt::print("{}\n", line);
    std::fflush(stdout);
    for (const std::string& label : report->labels) fmt::print(stderr, "deem: {}\n", label);
    for (const std::string& problem : report->problems) fmt::print(stderr, "deem: {}\n", problem);
    if (report->lines.empty() && report->problems.empty()) {
      fmt::print(stderr, "deem: {}: holds no *.watts.csv\n", path);
      code = kNotMeasured;
    }
    if (!report->problems.empty()) code = kNotMeasured;
  }
  return code;
}

/// Puts the fit of file `path` in the place of what the runs were made with.
Result<void> apply_fit(const std::string& path, Gathered& gathered) {
  if (path.empty()) return {};
  Result<record::Fit> fit = record::load_fit(path);
  if (!fit) return fail("--calibration", fit.error());
  for (const record::Row& row : gathered.rows) {
    if (gathered.fits.contains(row.arm) && gathered.fits[row.arm] == *fit) continue;
    const auto model = gathered.models.find(row.arm);
    if (model == gathered.models.end()) {
      return fail(Error::Code::BadInput,
                  "--calibration: no run.json tells which model arm " + row.arm + " is");
    }
    if (const auto differs = record::difference(fit->model, model->second)) {
      return fail(Error::Code::BadInput, "--calibration " + path + ": fit " + fit->name +
                                             " is not for arm " + row.arm + ": " + *differs);
    }
    gathered.fits[row.arm] = *fit;
    note_same_items(*fit, gathered.kit_digests[row.arm], gathered.heading);
    for (auto& [key, value] : gathered.heading.lines) {
      if (key == "calibrated") value = printable(fit->name, 80);
    }
  }
  return {};
}

}  // namespace

Result<OutputFormat> parse_output_format(std::string_view name) {
  if (name == "text") return OutputFormat::Text;
  if (name == "md") return OutputFormat::Markdown;
  if (name == "csv") return OutputFormat::Csv;
  if (name == "json") return OutputFormat::Json;
  if (name == "seed-lines") return OutputFormat::SeedLines;
  return fail(Error::Code::BadInput,
              "--format " + std::string(name) + ": text, md, csv, json or seed-lines");
}

int show_score(const std::vector<std::string>& paths, OutputFormat format, bool save,
               const std::string& calibration, const report::EnergyPrice& price) {
  if (format == OutputFormat::SeedLines) return show_seed_lines(paths);
  if (Result<void> distinct = check_distinct(paths); !distinct)
    return report_error(distinct.error());
  Gathered gathered;
  for (const std::string& path : paths) gather(path, paths.size() > 1, gathered);
  if (gathered.rows.empty() && gathered.unreadable) return kNotMeasured;
  gathered.heading.price = price;
  if (Result<void> applied = apply_fit(calibration, gathered); !applied)
    return report_error(applied.error());
  const score::Scores scores = score::score_rows(gathered.rows, gathered.fits);
  for (const auto& [arm, fit] : gathered.fits) {
    const bool used = std::ranges::any_of(scores.columns, [&](const score::Column& column) {
      return column.arm == arm && column.calibrated && column.all.answered > 0;
    });
    if (used) continue;
    gathered.heading.notes.push_back("calibration " + printable(fit.name, 80) +
                                     " suits none of the answers of arm " + arm +
                                     ": they stay uncalibrated");
  }
  const report::Heading& heading = gathered.heading;
  std::string text;
  switch (format) {
    case OutputFormat::Markdown:
      text = report::as_markdown(scores, heading);
      break;
    case OutputFormat::Csv:
      text = report::as_csv(scores, heading);
      break;
    case OutputFormat::Json:
      text = report::as_json(scores, heading);
      break;
    default:
      text = report::as_text(scores, heading, terminal_width(), wants_colour());
  }
  if (save) {
    for (const auto& [name, bytes] : {std::pair("report.md", report::as_markdown(scores, heading)),
                                      {"score.json", report::as_json(scores, heading)}}) {
      const auto saved = write_file_atomically(join_path(paths.front(), name), bytes);
      if (!saved) return report_error(saved.error());
    }
  }
  std::fputs(text.c_str(), stdout);
  if (std::fflush(stdout) != 0)
    return report_error({Error::Code::Unavailable, "stdout: can not write"});
  const bool answered = std::ranges::any_of(
      scores.columns, [](const score::Column& column) { return column.all.answered > 0; });
  if (!answered) fmt::print(stderr, "deem: nothing was measured: no row has an answer\n");
  return gathered.unreadable || !answered ? kNotMeasured : kDone;
}

int run_score(const Args& args) {
  CLI::App app(
      "Figures from rows on disk; no seat is asked.\n\n"
      "  deem score runs/2026-12-01T051123-demo\n"
      "  deem score run-a run-b --format md\n"
      "  deem score --format seed-lines rows/     # what the reference bench's --score prints\n"
      "  deem score --format seed-energy rows/    # the energy of its reports, from its "
      "watts.csv\n",
      "deem score");
  std::vector<std::string> paths;
  std::string format_name = "text", calibration;
  app.add_option("PATH", paths,
                 "run folders or rows files (seed-lines, seed-energy: folders of the reference "
                 "bench's rows)")
      ->required();
  app.add_option("--format", format_name, "text, md, csv, json, seed-lines or seed-energy");
  app.add_option("--calibration", calibration,
                 "a fit file of calibrate or choose, for the model the rows are of");
  PriceFlags prices;
  add_price_flags(app, prices);
  if (const auto code = parse(app, args)) return *code;
  const Result<report::EnergyPrice> price = parse_prices(prices);
  if (!price) return report_error(price.error());
  const bool seed_energy = format_name == "seed-energy";
  const auto format =
      seed_energy ? Result<OutputFormat>(OutputFormat::Text) : parse_output_format(format_name);
  if (!format) {
    return report_error(
        {Error::Code::BadInput, format.error().message + ", here also seed-energy"});
  }
  const bool seed = seed_energy || *format == OutputFormat::SeedLines;
  for (const auto& [flag, typed] : {std::pair("--calibration", !calibration.empty()),
                                    {"--price", !prices.price.empty()},
                                    {"--co2", !prices.co2.empty()}}) {
    if (!seed || !typed) continue;
    return report_error(
        {Error::Code::BadInput, std::string(flag) + ": " + format_name + " takes none"});
  }
  if (seed_energy) return show_seed_energy(paths);
  return show_score(paths, *format, false, calibration, *price);
}

}  // namespace deem::cli
