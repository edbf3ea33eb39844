#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/interrupt.h"
#include "base/text.h"
#include "board/pin_seat.h"
#include "cli/flag_ranges.h"
#include "cli/show_diagnosis.h"
#include "cli/verbs.h"
#include "seat/doctor/doctor.h"

namespace deem::cli {
namespace {

struct DoctorFlags {
  std::string seat, model, key_env, key_file;
  std::string against, against_model, against_key_env;
  bool json = false, quick = false;
  double timeout = 30;
  std::int64_t context = 0;
  int threads = 0;
};

void add_flags(CLI::App& app, DoctorFlags& flags) {
  app.add_option("SEAT", flags.seat, seat::seat_forms())->required();
  app.add_option("--model", flags.model, "served name; the server's only one when absent");
  app.add_option("--context", flags.context, "context to ask the seat for, tokens");
  app.add_option("--threads", flags.threads, "of a local seat")->check(thread_count());
  app.add_option("--timeout", flags.timeout, "seconds a request may take (default 30)")
      ->check(number_within(0.1, 3600));
  app.add_option("--key-env", flags.key_env, "environment variable that holds the bearer key");
  app.add_option("--key-file", flags.key_file, "file that holds the bearer key");
  auto* against = app.add_option(
      "--against", flags.against,
      "of a decision endpoint: a plain seat whose letters are asked the same questions");
  app.add_option("--against-model", flags.against_model, "served name there")->needs(against);
  app.add_option("--against-key-env", flags.against_key_env,
                 "environment variable that holds the bearer key there")
      ->needs(against);
  app.add_flag("--quick", flags.quick, "only the probes that deem run asks first: a dozen requests")
      ->excludes(against);
  app.add_flag("--json", flags.json, "the diagnosis as data (docs/formats/doctor.md)");
}

Result<seat::SeatSpec> make_spec(const DoctorFlags& flags) {
  Result<seat::SeatSpec> spec = seat::parse_seat(flags.seat);
  if (!spec) return spec;
  spec->model = flags.model;
  spec->context = flags.context;
  spec->threads = flags.threads;
  spec->timeout_s = flags.timeout;
  spec->key_env = flags.key_env;
  spec->key_file = flags.key_file;
  return spec;
}

/// The plain seat of --against; null when there is none. Errors: BadInput where one of the two is
/// of the wrong kind; as the adapter's.
Result<std::unique_ptr<seat::Seat>> make_against(const DoctorFlags& flags,
                                                 const seat::SeatSpec& native) {
  if (flags.against.empty()) return nullptr;
  Result<seat::SeatSpec> spec = seat::parse_seat(flags.against);
  if (!spec) return fail("--against", spec.error());
  if (!seat::is_native_kind(native.kind)) {
    return fail(Error::Code::BadInput,
                "--against: " + native.kind +
                    " is no decision endpoint (systemone:, decisions:) to hold against a seat");
  }
  if (seat::is_native_kind(spec->kind)) {
    return fail(Error::Code::BadInput,
                "--against: " + spec->kind + " has no letters to read; give a plain seat");
  }
  spec->model = flags.against_model;
  spec->context = flags.context;
  spec->threads = flags.threads;
  spec->timeout_s = flags.timeout;
  spec->key_env = flags.against_key_env;
  return seat::make_seat(*spec);
}

/// MiB that the processes behind `spec` hold on the boards of this box.
Result<double> held_mib(const seat::SeatSpec& spec) {
  const auto boards = board::open_boards(board::options_from_environment());
  if (!boards) return fail(boards.error());
  return board::held_by_seat(**boards, spec.kind == "local" ? "" : spec.address);
}

std::vector<std::string> quick_probes(const seat::SeatSpec& spec) {
  if (seat::is_native_kind(spec.kind))
    return {std::begin(seat::kQuickNativeProbes), std::end(seat::kQuickNativeProbes)};
  return {std::begin(seat::kQuickProbes), std::end(seat::kQuickProbes)};
}

int code_of(const seat::Diagnosis& diagnosis) {
  using Verdict = seat::ProbeResult::Verdict;
  if (diagnosis.count(Verdict::Finding) > 0) return kFound;
  return diagnosis.count(Verdict::Ok) > 0 ? kDone : kNotMeasured;
}

}  // namespace

int run_doctor(const Args& args) {
  CLI::App app(
      "What a seat's readings can be trusted for: some 220 short requests and one over-long "
      "prompt\n(--quick: a dozen). "
      "Each probe ends ok, finding or not measured; exit 1 when there is a finding.\n\n"
      "  deem doctor local:model.gguf\n"
      "  deem doctor vllm:http://127.0.0.1:8000\n"
      "  deem doctor openai:https://api.example.com --model small --key-env API_KEY --json\n",
      "deem doctor");
  DoctorFlags flags;
  add_flags(app, flags);
  if (const auto code = parse(app, args)) return *code;
  const Result<seat::SeatSpec> spec = make_spec(flags);
  if (!spec) return report_error(spec.error());
  const Interrupt interrupt;
  const Result<std::unique_ptr<seat::Seat>> seat = seat::make_seat(*spec);
  if (!seat) return report_error(seat.error());
  const Result<std::unique_ptr<seat::Seat>> against = make_against(flags, *spec);
  if (!against) return report_error(against.error());
  if (*against) {
    if (const auto who = (*against)->identify(); !who) {
      report_error(Error{who.error().code, "--against: " + who.error().message});
      return interrupt.token().stop_requested() ? kInterrupted : kOutsideFailed;
    }
  }
  seat::DoctorOptions options;
  options.against = against->get();
  options.patience_s = flags.timeout;
  if (flags.quick) options.probes = quick_probes(*spec);
  options.held_mib = [&] { return held_mib(*spec); };
  const bool live = ::isatty(STDERR_FILENO) == 1;
  const auto progress = [live](std::string_view probe) {
    if (live) fmt::print(stderr, "\r\033[K{} …", probe);
  };
  const Result<seat::Diagnosis> diagnosis =
      seat::examine(**seat, options, progress, interrupt.token());
  if (live) fmt::print(stderr, "\r\033[K");
  if (!diagnosis) {
    report_error(diagnosis.error());
    return interrupt.token().stop_requested() ? kInterrupted : kOutsideFailed;
  }
  const std::string text = flags.json
                               ? codec::dump_json(seat::to_json(*diagnosis), {.indent = 1}) + "\n"
                               : diagnosis_text(*diagnosis);
  std::fputs(text.c_str(), stdout);
  return interrupt.token().stop_requested() ? kInterrupted : code_of(*diagnosis);
}

}  // namespace deem::cli
