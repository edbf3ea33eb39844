#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "base/file.h"
#include "base/text.h"
#include "cli/gather_rows.h"
#include "cli/show_score.h"
#include "cli/verbs.h"
#include "report/report.h"
#include "score/answer.h"
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

int show_score(const std::vector<std::string>& paths, OutputFormat format, bool save) {
  if (format == OutputFormat::SeedLines) return show_seed_lines(paths);
  if (Result<void> distinct = check_distinct(paths); !distinct)
    return report_error(distinct.error());
  Gathered gathered;
  for (const std::string& path : paths) gather(path, paths.size() > 1, gathered);
  if (gathered.rows.empty() && gathered.unreadable) return kNotMeasured;
  const score::Scores scores = score::score_rows(gathered.rows);
  const report::Heading& heading = gathered.heading;
  std::string text;
  switch (format) {
    case OutputFormat::Markdown:
      text = report::as_markdown(scores, heading);
      break;
    case OutputFormat::Csv:
      text = report::as_csv(scores);
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
      "  deem score --format seed-lines rows/     # what the reference bench's --score prints\n",
      "deem score");
  std::vector<std::string> paths;
  std::string format_name = "text";
  app.add_option("PATH", paths,
                 "run folders or rows files (seed-lines: folders of the reference bench's rows)")
      ->required();
  app.add_option("--format", format_name, "text, md, csv, json or seed-lines");
  if (const auto code = parse(app, args)) return *code;
  const auto format = parse_output_format(format_name);
  if (!format) return report_error(format.error());
  return show_score(paths, *format, false);
}

int answers_code(const record::Row& row) {
  int code = kDone;
  for (const auto& [name, reading] : row.readings) {
    if (reading.error && !reading.unsupported) return kOutsideFailed;
    for (const std::string& variant : score::variants_of(reading)) {
      if (!score::answer_of(row, reading, variant)) code = kNotMeasured;
    }
    if (reading.unsupported || reading.cause != decision::VoidCause::None) code = kNotMeasured;
  }
  return code;
}

int print_answers(const record::Row& row) {
  for (const auto& [name, reading] : row.readings) {
    if (reading.error) {
      fmt::print(stderr, "deem: {}: {}\n", name, printable(*reading.error, 1'000));
      continue;
    }
    if (reading.cause != decision::VoidCause::None) {
      fmt::print(stderr, "deem: {}: void: {}\n", name, decision::to_string(reading.cause));
      continue;
    }
    if (reading.kind == record::ReadingRecord::Kind::Written)
      fmt::print("reply  {}\n", printable(reading.reply, 1'000));
    for (const std::string& variant : score::variants_of(reading)) {
      const auto answer = score::answer_of(row, reading, variant);
      if (!answer) {
        fmt::print("{}:{}  no answer{}\n", name, variant,
                   reading.kind == record::ReadingRecord::Kind::Written ? " (unparsed)" : "");
        continue;
      }
      if (answer->probs.empty()) {
        fmt::print("{}:{}  {:.6g} (uncalibrated)\n", name, variant, answer->score.value_or(0));
        continue;
      }
      fmt::print("{}:{}  {}\n", name, variant, printable(row.keys[answer->choice], 80));
      for (std::size_t i = 0; i < answer->probs.size(); ++i) {
        fmt::print("    {:.4f}  {}\n", answer->probs[i], printable(row.keys[i], 80));
      }
    }
    fmt::print("{:.0f} ms", reading.planned_to_done_s * 1e3);
    if (reading.prompt_tokens) fmt::print(", {} prompt tokens", *reading.prompt_tokens);
    fmt::print("\n");
  }
  return answers_code(row);
}

}  // namespace deem::cli
