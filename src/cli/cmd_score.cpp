#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "cli/show_score.h"
#include "cli/verbs.h"
#include "record/rows_file.h"
#include "record/run.h"
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

/// Rows of several runs side by side, and what is said about them.
struct Gathered {
  std::vector<record::Row> rows;
  report::Heading heading;
  bool unreadable = false;
};

std::string told(const codec::Json& identity, std::string_view key) {
  if (const auto text = identity.get_string(key)) return printable(*text, 200);
  const auto number = identity.get_int(key);
  return number ? std::to_string(*number) : std::string();
}

void describe_run(const record::RunRecord& run, const std::string& folder,
                  report::Heading& heading) {
  heading.lines.emplace_back("run", fmt::format("{}  {}{}", folder, run.started,
                                                run.ended.empty() ? "  not finished" : ""));
  heading.lines.emplace_back("kit", fmt::format("{} {}  digest {}", printable(run.kit_name, 80),
                                                printable(run.kit_version, 40),
                                                printable(run.kit_digest.substr(0, 16), 40)));
  heading.lines.emplace_back("box", fmt::format("{}  {}  {} cores", printable(run.host, 80),
                                                printable(run.cpu, 80), run.cores));
  for (const record::ArmRecord& arm : run.arms) {
    std::string seat = told(arm.identity, "kind");
    for (const std::string_view key : {"detail", "model", "root", "build"}) {
      if (const std::string value = told(arm.identity, key); !value.empty()) seat += "  " + value;
    }
    if (const std::string context = told(arm.identity, "context"); !context.empty())
      seat += "  context " + context;
    heading.lines.emplace_back("arm " + printable(arm.name, 60), seat);
  }
  if (run.ended.empty())
    heading.notes.push_back(folder + ": the run is not finished; deem resume " + folder);
}

std::string rows_of(const std::string& path) {
  return is_folder(path) ? join_path(path, "rows.jsonl") : path;
}

/// Adds the rows of a run folder or a rows file. With several paths arms get the path in front.
void gather(const std::string& path, bool several, Gathered& out) {
  const std::string file = rows_of(path);
  if (is_folder(path)) {
    Result<record::RunRecord> run = record::load_run(path);
    if (run)
      describe_run(*run, path, out.heading);
    else if (run.error().code != Error::Code::NotFound)
      out.heading.notes.push_back(run.error().message);
  }
  Result<record::RowsFile> rows = record::load_rows(file);
  if (!rows) {
    fmt::print(stderr, "deem: {}\n", rows.error().message);
    out.unreadable = true;
    return;
  }
  for (const record::LineProblem& problem : rows->problems) {
    fmt::print(stderr, "deem: {}:{}: {}\n", file, problem.line, problem.message);
    out.unreadable = true;
  }
  if (rows->torn_tail)
    out.heading.notes.push_back(file + ": its last line is torn; deem resume asks it again");
  for (record::Row& row : rows->rows) {
    row.arm = printable(row.arm, 60);
    if (several) row.arm = printable(path, 200) + " " + row.arm;
    out.rows.push_back(std::move(row));
  }
}

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) return size.ws_col;
  return 100;
}

bool wants_colour() { return ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr; }

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
  std::set<std::string> files;
  for (const std::string& path : paths) {
    std::error_code ignored;
    const auto file = std::filesystem::weakly_canonical(rows_of(path), ignored);
    if (!ignored && !files.insert(file.string()).second) {
      return report_error({Error::Code::BadInput, path + ": its rows are given twice"});
    }
  }
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
