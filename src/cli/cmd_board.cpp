#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/interrupt.h"
#include "base/text.h"
#include "bench/config.h"
#include "bench/run_boards.h"
#include "board/pin_seat.h"
#include "board/power_log.h"
#include "board/sampler.h"
#include "cli/show_boards.h"
#include "cli/verbs.h"
#include "seat/seat.h"

namespace deem::cli {
namespace {

using board::Check;

/// What a board verb ends with where boards are looked at.
int code_of(const board::Inventory& inventory) {
  if (!inventory.measurable()) return kNotMeasured;
  return inventory.found() ? kFound : kDone;
}

Result<double> parse_period(const std::string& typed) {
  const Result<double> seconds = bench::parse_duration_s(typed);
  if (!seconds) return fail("--period " + typed, seconds.error());
  return *seconds;
}

/// "100MB", "2GB", a number of bytes. Errors: BadInput.
Result<std::uint64_t> parse_bytes(const std::string& typed) {
  double n = -1;
  const char* last = typed.data() + typed.size();
  const auto [end, problem] = std::from_chars(typed.data(), last, n);
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  const double factor = unit.empty() || unit == "B" ? 1
                        : unit == "kB"              ? 1e3
                        : unit == "MB"              ? 1e6
                        : unit == "GB"              ? 1e9
                                                    : -1;
  if (problem != std::errc() || !(n >= 0) || factor < 0 || n * factor > 1e15) {
    return fail(Error::Code::BadInput, "--rotate " + typed + ": wants a size such as 100MB");
  }
  return static_cast<std::uint64_t>(std::llround(n * factor));
}

/// Says now and then how far a log is, until it is stopped.
Result<void> follow(board::Sampler& sampler, double for_s, bool quiet,
                    const std::stop_token& stop) {
  const TimePoint began = Clock::now();
  const TimePoint end = for_s > 0
                            ? began + std::chrono::duration_cast<Clock::duration>(Seconds(for_s))
                            : TimePoint::max();
  const bool live = !quiet && ::isatty(STDERR_FILENO) == 1;
  while (Clock::now() < end && !stop.stop_requested()) {
    const TimePoint next = std::min(end, Clock::now() + std::chrono::seconds(1));
    if (!sampler.wait(next, stop)) break;
    if (!live) continue;
    const board::Sampler::Counts counts = sampler.counts();
    fmt::print(stderr, "\r\033[K{} samples, {} grid points missed, {:.0f} s", counts.samples,
               counts.missed, Seconds(Clock::now() - began).count());
    std::fflush(stderr);
  }
  if (live) fmt::print(stderr, "\r\033[K");
  return sampler.stop();
}

}  // namespace

int run_board_list(const Args& args) {
  CLI::App app(
      "The boards of this box by their UUID: memory, power and its limits, link as it is now, "
      "driver,\n"
      "processes with their container or unit; findings under them.\n\n"
      "  deem board list\n"
      "  deem board list --json\n",
      "deem board list");
  bool json = false;
  app.add_flag("--json", json, "as data");
  if (const auto code = parse(app, args)) return *code;
  Result<std::unique_ptr<board::Boards>> boards =
      board::open_boards(board::options_from_environment());
  if (!boards) return report_error(boards.error());
  const board::Inventory inventory = (*boards)->inventory();
  const std::string text = json ? boards_json(inventory) : boards_text(inventory);
  std::fputs(text.c_str(), stdout);
  if (!inventory.measurable()) fmt::print(stderr, "deem: no board can be read here\n");
  return code_of(inventory);
}

int run_board_log(const Args& args) {
  CLI::App app(
      "Log what the boards draw, append-only, for days (docs/formats/power.md). Ctrl-C ends it.\n\n"
      "  deem board log power.jsonl --period 1s\n"
      "  deem board log power.jsonl --board GPU-46890836-d8f7-e868-1977-c1ce28db0d7a --for 10m\n",
      "deem board log");
  std::string path, period = "1s", for_text = "0", rotate = "0";
  std::vector<std::string> typed;
  bool quiet = false;
  app.add_option("FILE", path, "the log; its lines are kept when it is there")->required();
  app.add_option("--board", typed, "only this board: its UUID or PCI address (repeatable)");
  app.add_option("--period", period, "of the grid, 0.1s to 60s (default 1s)");
  app.add_option("--for", for_text, "end after so long (10m); 0: until Ctrl-C");
  app.add_option("--rotate", rotate, "put the file aside at this size (100MB); 0: never");
  app.add_flag("--quiet", quiet, "no progress");
  if (const auto code = parse(app, args)) return *code;
  const Result<double> period_s = parse_period(period);
  if (!period_s) return report_error(period_s.error());
  const Result<double> for_s = bench::parse_duration_s(for_text);
  if (!for_s) return report_error({Error::Code::BadInput, "--for: " + for_s.error().message});
  const Result<std::uint64_t> bytes = parse_bytes(rotate);
  if (!bytes) return report_error(bytes.error());
  Result<std::unique_ptr<board::Boards>> boards =
      board::open_boards(board::options_from_environment());
  if (!boards) return report_error(boards.error());
  const Result<std::vector<board::BoardInfo>> chosen =
      board::choose_boards((*boards)->list(), typed);
  if (!chosen) return report_error(chosen.error());
  if (chosen->empty()) {
    fmt::print(stderr, "deem: there is no board to log; deem board list says why\n");
    return kNotMeasured;
  }
  const Interrupt interrupt;
  auto log = board::PowerLog::open(path, board::make_heading(*chosen, *period_s),
                                   {.rotate_bytes = *bytes});
  if (!log) return report_error(log.error());
  auto sampler = board::Sampler::start(**boards, *chosen, *period_s, **log);
  if (!sampler) return report_error(sampler.error());
  const Result<void> logged = follow(**sampler, *for_s, quiet, interrupt.token());
  if (!logged) return report_error(logged.error());
  if (const Result<void> synced = (*log)->sync(); !synced) return report_error(synced.error());
  const board::Sampler::Counts counts = (*sampler)->counts();
  if (!quiet) {
    fmt::print(stderr, "{}: {} samples of {} {}, {} grid points missed, {} events\n", path,
               counts.samples, chosen->size(), chosen->size() == 1 ? "board" : "boards",
               counts.missed, counts.events);
  }
  return interrupt.token().stop_requested() && *for_s > 0 ? kInterrupted : kDone;
}

int run_board_pin(const Args& args) {
  CLI::App app(
      "Prove from outside that a seat's model is on the named boards and on no other: by growth of "
      "their\n"
      "memory for a model loaded here, by the server's own processes for one that runs.\n\n"
      "  deem board pin --seat vllm:http://127.0.0.1:8000 --board GPU-46890836-d8f7-e868-1977-"
      "c1ce28db0d7a\n",
      "deem board pin");
  std::string seat_text, model;
  std::vector<std::string> typed;
  int gpu_layers = 0;
  bool json = false;
  app.add_option("--seat", seat_text, "local:FILE.gguf, vllm:URL, ollama:URL, llama-server:URL …")
      ->required();
  app.add_option("--board", typed, "a board the model must be on: UUID or PCI address (repeatable)")
      ->required();
  app.add_option("--model", model, "served name; the server's only one when absent");
  app.add_option("--gpu-layers", gpu_layers, "of a local seat built with a GPU backend");
  app.add_flag("--json", json, "as data");
  if (const auto code = parse(app, args)) return *code;
  Result<seat::SeatSpec> spec = seat::parse_seat(seat_text);
  if (!spec) return report_error(spec.error());
  spec->model = model;
  spec->gpu_layers = gpu_layers;
  Result<std::unique_ptr<board::Boards>> boards =
      board::open_boards(board::options_from_environment());
  if (!boards) return report_error(boards.error());
  const Result<std::vector<board::BoardInfo>> named =
      board::choose_boards((*boards)->list(), typed);
  if (!named) return report_error(named.error());
  board::PinEvidence evidence;
  for (const board::BoardInfo& one : *named) evidence.named.push_back(one.id);
  if (spec->kind == "local") evidence.before = board::memory_of((*boards)->list());
  Result<std::unique_ptr<seat::Seat>> seat = seat::make_seat(*spec);
  if (!seat) return report_error(seat.error());
  evidence.claim = bench::claim_of(**seat);
  board::read_after(**boards, spec->kind == "local" ? "" : spec->address, evidence);
  const board::PinVerdict verdict = board::check_pin(evidence);
  if (json) {
    fmt::print("{}\n", codec::dump_json(board::to_json(verdict), {.ascii = false, .indent = 1}));
  } else {
    fmt::print("{}\n", printable(board::describe(verdict), 2'000));
    for (const std::string& note : verdict.notes) fmt::print("note: {}\n", printable(note, 400));
    if (!verdict.claim.text.empty())
      fmt::print("the server says: {}\n", printable(verdict.claim.text, 400));
  }
  using State = board::PinVerdict::State;
  return verdict.state == State::Ok        ? kDone
         : verdict.state == State::Finding ? kFound
                                           : kNotMeasured;
}

}  // namespace deem::cli
