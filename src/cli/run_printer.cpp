#include "cli/run_printer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "base/text.h"

namespace deem::cli {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

bool is_live_terminal() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && std::getenv("CI") == nullptr &&
         (term == nullptr || std::string_view(term) != "dumb");
}

}  // namespace

std::string human_duration(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

RunPrinter::RunPrinter(bool quiet) : quiet_(quiet), terminal_(is_live_terminal()) {}

RunPrinter::~RunPrinter() { finish(); }

void RunPrinter::clear_line() {
  if (line_open_) std::fputs("\r\033[K", stderr);
  line_open_ = false;
}

void RunPrinter::finish() {
  const std::scoped_lock lock(mutex_);
  clear_line();
}

void RunPrinter::stage(const std::string& what) {
  if (quiet_) return;
  const std::scoped_lock lock(mutex_);
  clear_line();
  fmt::print(stderr, "  {}\n", printable(what, 2'000));
}

void RunPrinter::announce(const bench::Announcement& a) {
  if (quiet_) return;
  const std::scoped_lock lock(mutex_);
  clear_line();
  std::string expect =
      a.expected_minutes
          ? fmt::format("about {} by earlier runs", human_duration(*a.expected_minutes * 60))
          : std::string("not known yet, no earlier run of these arms");
  fmt::print(stderr,
             "start {}  box {}  joules {}\n"
             "  arms {}  tasks {}\n  rows {}{}  expected time {}\n  into {}\n",
             a.started, a.host, a.energy.empty() ? "not measured" : printable(a.energy, 2'000),
             joined(a.arms), joined(a.tasks), a.rows,
             a.done_before > 0 ? fmt::format(" ({} there already)", a.done_before) : "", expect,
             a.folder);
}

void RunPrinter::row(const record::Row& row, const bench::Progress& p) {
  if (quiet_) return;
  const std::scoped_lock lock(mutex_);
  const TimePoint now = Clock::now();
  const Seconds since = now - last_;
  const bool end = p.done == p.total;
  if (!end && since < (terminal_ ? Seconds(0.1) : Seconds(30))) return;
  if (!terminal_ && last_ == TimePoint{} && !end) {
    last_ = now;  // the first quiet line comes half a minute in
    return;
  }
  last_ = now;
  const double elapsed = p.elapsed.count();
  const double rate = elapsed > 0 ? static_cast<double>(p.asked_now) / elapsed : 0;
  const double left = rate > 0 ? static_cast<double>(p.total - p.done) / rate : 0;
  const std::string line =
      fmt::format("{}/{} rows  {:.1f}/s  {} left  {} {}", p.done, p.total, rate,
                  human_duration(left), row.arm, printable(row.task + " " + row.id, 40));
  if (terminal_) {
    fmt::print(stderr, "\r\033[K{}", line);
    std::fflush(stderr);
    line_open_ = true;
  } else {
    fmt::print(stderr, "  {}\n", line);
  }
}

void RunPrinter::note(const std::string& what) {
  const std::scoped_lock lock(mutex_);
  clear_line();
  fmt::print(stderr, "note: {}\n", printable(what, 2'000));
}

}  // namespace deem::cli
