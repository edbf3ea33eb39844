#include "cli/gather_rows.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "cli/run_joules.h"
#include "cli/seat_doubts.h"
#include "record/rows_file.h"
#include "report/probes.h"

namespace deem::cli {
namespace {

std::string told(const codec::Json& identity, std::string_view key) {
  if (const auto text = identity.get_string(key)) return printable(*text, 200);
  const auto number = identity.get_int(key);
  return number ? std::to_string(*number) : std::string();
}

/// Whole, for names that tell columns apart: two that begin alike stay two.
std::string escaped(std::string_view text) {
  return printable(text, std::numeric_limits<std::size_t>::max());
}

report::ArmCost cost_of(const record::ArmRecord& arm) {
  report::ArmCost out{.arm = escaped(arm.name)};
  out.load_s = arm.startup.get_double("load_s");
  out.ready_s = arm.startup.get_double("ready_s");
  out.first_answer_s = arm.startup.get_double("first_answer_s");
  out.peak_bytes = arm.memory.get_int("peak_bytes");
  const auto status = arm.memory.get_string("status");
  out.memory = out.peak_bytes ? arm.memory.get_string("what").value_or("") : status.value_or("");
  return out;
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
  bool any_fit = false;
  for (const record::ArmRecord& arm : run.arms) {
    std::string seat = told(arm.identity, "kind");
    for (const std::string_view key : {"detail", "model", "root", "build"}) {
      if (const std::string value = told(arm.identity, key); !value.empty()) seat += "  " + value;
    }
    if (const std::string context = told(arm.identity, "context"); !context.empty())
      seat += "  context " + context;
    const std::string fit =
        arm.calibration.find("fit") == nullptr ? "" : told(*arm.calibration.find("fit"), "name");
    if (!fit.empty()) {
      seat += "  calibrated: " + fit;
      any_fit = true;
    }
    heading.lines.emplace_back("arm " + printable(arm.name, 60), seat);
    report::ArmCost cost = cost_of(arm);
    if (const std::string text = report::cost_text(cost); !text.empty()) {
      heading.lines.emplace_back("", text);
    }
    heading.costs.push_back(std::move(cost));
    if (!arm.pin.is_null()) {
      heading.lines.emplace_back("pin " + printable(arm.name, 60),
                                 report::pin_text(pin_of(arm, arm.name)));
    }
  }
  if (!any_fit) heading.lines.emplace_back("calibrated", "false");
  if (run.ended.empty())
    heading.notes.push_back(folder + ": the run is not finished; deem resume " + folder);
}

}  // namespace

void note_same_items(const record::Fit& fit, const std::string& kit_digest,
                     report::Heading& heading) {
  const bool same = std::ranges::any_of(fit.sources, [&](const record::FitSource& source) {
    return !source.kit_digest.empty() && source.kit_digest == kit_digest;
  });
  const std::string note = "calibration " + printable(fit.name, 80) +
                           " was fitted on answers to this very kit: figures through it flatter; "
                           "those of items held out are in the fit file";
  if (same && std::ranges::find(heading.notes, note) == heading.notes.end())
    heading.notes.push_back(note);
}

namespace {

/// What each arm serves, and the fits the run was made with.
void gather_models(const record::RunRecord& run, const std::string& prefix, const std::string& path,
                   Gathered& out) {
  for (const record::ArmRecord& arm : run.arms) {
    const std::string name = prefix + escaped(arm.name);
    out.models[name] = record::fit_model(arm.identity);
    out.kit_digests[name] = run.kit_digest;
    const codec::Json* fit = arm.calibration.find("fit");
    if (fit == nullptr) continue;
    Result<record::Fit> parsed = record::parse_fit(*fit);
    if (parsed) {
      note_same_items(*parsed, run.kit_digest, out.heading);
      out.fits[name] = std::move(*parsed);
    } else {
      out.heading.notes.push_back(path + ": arm " + name +
                                  ": its calibration can not be read: " + parsed.error().message);
    }
  }
}

/// Figures that stand in one table although they do not belong there.
void note_other_runs(const NamedRun& run, Gathered& out) {
  out.runs.push_back(run);
  for (const Hindrance& found : side_by_side(out.runs.front(), run)) {
    if (out.runs.size() > 1) {
      out.heading.notes.push_back(found.text + ": not to be held against each other as they stand");
    }
  }
}

}  // namespace

std::string rows_of(const std::string& path) {
  return is_folder(path) ? join_path(path, "rows.jsonl") : path;
}

void gather(const std::string& path, bool several, Gathered& out) {
  const std::string file = rows_of(path), prefix = several ? escaped(path) + " " : "";
  std::optional<record::RunRecord> run;
  if (is_folder(path)) {
    Result<record::RunRecord> loaded = record::load_run(path);
    if (loaded) {
      run = std::move(*loaded);
      describe_run(*run, path, out.heading);
      tell_doctor(*run, [&](const std::string& arm) { return prefix + escaped(arm); }, out.heading);
      gather_models(*run, prefix, path, out);
      note_other_runs({path, run}, out);
    } else if (loaded.error().code != Error::Code::NotFound)
      out.heading.notes.push_back(loaded.error().message);
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
  const std::size_t first = out.rows.size();
  for (record::Row& row : rows->rows) {
    row.arm = prefix + escaped(row.arm);
    out.rows.push_back(std::move(row));
  }
  if (!run) return;
  LoadedJoules joules = load_joules(path, *run, std::span(out.rows).subspan(first),
                                    [&](const std::string& arm) { return prefix + escaped(arm); });
  out.heading.energy.push_back(std::move(joules.joules));
  out.power.push_back(std::move(joules.power));
}

Result<void> check_distinct(const std::vector<std::string>& paths) {
  std::set<std::string> files;
  for (const std::string& path : paths) {
    std::error_code ignored;
    const auto file = std::filesystem::weakly_canonical(rows_of(path), ignored);
    if (!ignored && !files.insert(file.string()).second) {
      return fail(Error::Code::BadInput, path + ": its rows are given twice");
    }
  }
  return {};
}

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) return size.ws_col;
  return 100;
}

bool wants_colour() { return ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr; }

}  // namespace deem::cli
