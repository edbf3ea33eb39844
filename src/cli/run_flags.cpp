#include "cli/run_flags.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "cli/flag_ranges.h"

namespace deem::cli {
namespace {

/// Flags that describe the arms made of --seat and nothing else.
constexpr const char* kArmFlags[] = {"--model",    "--mode",       "--reading",     "--policy",
                                     "--group",    "--top-k",      "--max-tokens",  "--context",
                                     "--threads",  "--gpu-layers", "--timeout",     "--key-env",
                                     "--key-file", "--ca-file",    "--calibration", "--board"};

/// A path that means the same from any folder, so that a run can be resumed from another.
std::string absolute(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path full = std::filesystem::absolute(path, ignored);
  return ignored ? path : full.lexically_normal().string();
}

/// The readings a seat is asked by: native of those that answer decisions themselves, the rest of
/// all others.
std::vector<std::string> readings_of(const seat::SeatSpec& seat,
                                     const std::vector<std::string>& named) {
  std::vector<std::string> out;
  for (const std::string& name : named) {
    const bool native = name == bench::kNativeReading;
    if (name == "all" || native == seat::is_native_kind(seat.kind)) out.push_back(name);
  }
  return out;
}

/// Arms out of --seat/--model/--mode/--reading: every seat in every mode it has.
Result<std::vector<bench::Arm>> arms_from_flags(const CLI::App& app, const RunFlags& flags) {
  std::vector<bench::Arm> arms;
  std::set<std::string_view> used;  // settings some seat takes
  std::set<std::string> read;       // readings some seat is asked by
  if (!flags.models.empty() && flags.models.size() != flags.seats.size()) {
    return fail(Error::Code::BadInput, "--model: give one for each --seat, or none");
  }
  bool chosen = false;  // the fit says how to read
  if (!flags.calibration.empty()) {
    const Result<record::Fit> fit = record::load_fit(flags.calibration);
    if (!fit) return fail("--calibration", fit.error());
    chosen = fit->by == "choose";
  }
  std::vector<std::string> modes = flags.modes;
  if (modes.empty()) modes = {"readout"};
  for (std::size_t s = 0; s < flags.seats.size(); ++s) {
    for (const std::string& mode : modes) {
      bench::Arm arm;
      const std::string suffix = flags.seats.size() > 1 ? "-" + std::to_string(s + 1) : "";
      arm.name = mode + suffix;
      const auto set = [&](std::string_view key, codec::Json value) {
        return bench::set_arm_member(arm, key, value);
      };
      if (Result<void> done = set("seat", flags.seats[s]); !done) return fail(done.error());
      // One mode alone is tried, so that it says what it can not.
      if (bench::is_native(arm) && mode == "generate" && modes.size() > 1) continue;
      std::vector<std::pair<std::string_view, codec::Json>> members = {
          {"mode", mode},
          {"group", flags.group},
          {"top-k", flags.top_k},
          {"threads", flags.threads},
          {"gpu-layers", flags.gpu_layers},
          {"max-tokens", flags.max_tokens},
          {"context", flags.context},
          {"timeout", flags.timeout},
          {"key-env", flags.key_env},
          {"key-file", flags.key_file},
          {"ca-file", flags.ca_file}};
      if (!flags.models.empty()) members.emplace_back("model", flags.models[s]);
      if (!flags.boards.empty()) {
        codec::Json boards = codec::Json::array();
        for (const std::string& board : flags.boards) boards.push(board);
        members.emplace_back("boards", std::move(boards));
      }
      if (!flags.policy.empty()) members.emplace_back("policy", flags.policy);
      if (!flags.calibration.empty())
        members.emplace_back("calibration", absolute(flags.calibration));
      if (chosen && mode == "readout" && flags.readings.empty())
        members.emplace_back("readings", std::string(bench::kChosenReading));
      // A seat that takes none of the names is asked by what it has, where another takes them.
      const auto readings = readings_of(arm.seat, flags.readings);
      if (mode == "readout" && !flags.readings.empty()) {
        read.insert(readings.begin(), readings.end());
        codec::Json names = codec::Json::array();
        for (const std::string& reading : readings) names.push(reading);
        if (!readings.empty()) members.emplace_back("readings", std::move(names));
      }
      for (auto& [key, value] : members) {
        if (!bench::suits(arm.seat, key)) continue;
        if (Result<void> done = set(key, value); !done) return fail(done.error());
        used.insert(key);
      }
      arms.push_back(std::move(arm));
    }
  }
  if (flags.seats.empty()) return arms;
  for (const std::string_view key :
       {"key-env", "key-file", "ca-file", "threads", "gpu-layers", "context"}) {
    const std::string flag = "--" + std::string(key);
    if (app.count(flag) > 0 && !used.contains(key)) {
      return fail(Error::Code::BadInput, flag + ": none of the seats has a use for it");
    }
  }
  if (std::ranges::find(modes, "readout") == modes.end()) return arms;
  for (const std::string& reading : flags.readings) {
    if (read.contains(reading)) continue;
    return fail(
        Error::Code::BadInput,
        "--reading " + reading +
            (reading == bench::kNativeReading
                 ? ": wants a seat that answers decisions itself, systemone:URL or decisions:URL"
                 : ": the seats named answer decisions themselves, by the reading native"));
  }
  return arms;
}

}  // namespace

void add_power_flags(CLI::App& app, RunFlags& flags) {
  app.add_flag("--require-pin", flags.require_pin,
               "ask nothing unless every model is proved to be on its boards and on no other");
  app.add_flag("--no-power", flags.no_power, "do not read what the boards draw");
  app.add_option("--idle", flags.idle,
                 "read the boards at rest for so long before and after (10s; 0: do not)");
  app.add_option("--power-period", flags.power_period, "between readings, 0.1s (default) to 60s");
}

void add_doctor_flag(CLI::App& app, RunFlags& flags) {
  app.add_option(
      "--doctor", flags.doctor,
      "quick (default): probe each seat by a dozen short requests first, ask it again at the "
      "end, keep what is found; require: ask nothing of an arm that a finding speaks against; off");
}

Result<void> set_doctor(const CLI::App& app, const RunFlags& flags, bench::Config& config) {
  if (app.count("--doctor") == 0) return {};
  const auto doctor = bench::parse_doctor(flags.doctor);
  if (!doctor)
    return fail(Error::Code::BadInput, "--doctor " + flags.doctor + ": quick, require or off");
  config.doctor = *doctor;
  return {};
}

Result<void> set_power(const CLI::App& app, const RunFlags& flags, bench::PowerOptions& power) {
  if (app.count("--no-power") > 0) power.off = flags.no_power;
  if (app.count("--require-pin") > 0) power.require_pin = flags.require_pin;
  struct Duration {
    const char* flag;
    const std::string& text;
    double& target;
  };
  for (const Duration& one : {Duration{"--idle", flags.idle, power.idle_s},
                              {"--power-period", flags.power_period, power.period_s}}) {
    if (app.count(one.flag) == 0) continue;
    const Result<double> seconds = bench::parse_duration_s(one.text);
    if (!seconds) {
      return fail(Error::Code::BadInput,
                  std::string(one.flag) + " " + one.text + ": " + seconds.error().message);
    }
    one.target = *seconds;
  }
  return {};
}

void add_run_flags(CLI::App& app, RunFlags& flags) {
  app.add_option(
      "--config", flags.config,
      "a deem.toml with kit, arms and settings; --arm and --seat stand in place of its arms");
  app.add_option("--kit", flags.kit, "kit folder or file (any format kit import reads)");
  app.add_option("--kit-format", flags.format,
                 "deem, reference, jsonl, squad, csv or tsv; guessed when absent");
  app.add_option("--column", flags.columns, "csv/tsv: field=column, repeatable");
  app.add_option("--arm", flags.arms,
                 "name=a,seat=local:model.gguf,readings=letters+cloze+prior,… (repeatable)");
  app.add_option("--seat", flags.seats, seat::seat_forms() + " (repeatable)");
  app.add_option("--model", flags.models, "served name; the server's only one when absent");
  app.add_option("--mode", flags.modes, "readout (default) or generate; both make two arms");
  app.add_option(
      "--reading", flags.readings,
      "letters, words, words-unlisted, a reading of the kit, all, or reference; NAME+prior "
      "takes its prior too; native of a decision endpoint, which has no other (repeatable)");
  app.add_option("--calibration", flags.calibration,
                 "a fit file of calibrate or choose, for this model; without --reading one by "
                 "choose picks the readings");
  app.add_option("--policy", flags.policy, "letters: exact (default), sum-exact, fold, reference");
  app.add_option("--task", flags.tasks, "only this task (repeatable)");
  app.add_option("--out", flags.out, "run folder; runs/TIME-KIT when absent");
  app.add_option("--order", flags.order,
                 "auto (default: block where energy is measured, else state), state, item, "
                 "shuffle or block");
  app.add_option("--seed", flags.seed, "of the shuffle");
  app.add_option("--limit", flags.limit, "only the first N items of each task (0: all)");
  app.add_option("--repeat", flags.repeat, "ask everything N times");
  app.add_option(
      "--permute", flags.permute,
      "ask each item under K other option orders too, the reverse first; all: every one (24 of "
      "an item with more than five options)");
  app.add_flag(
      "--laws", flags.laws,
      "probe coherence: negation, two-way choice, order, renamed ids, white space, company");
  app.add_option("--noise", flags.noise,
                 "ask N items of each task again: at once, alone, in a crowd, cold");
  app.add_option("--sustained", flags.sustained, "go on asking for so long (10m) on each seat");
  app.add_option("--concurrency", flags.concurrency, "requests in flight (1: latency is honest)");
  app.add_option("--group", flags.group,
                 "items evaluated together where the seat can (1: latency is honest)");
  app.add_option("--top-k", flags.top_k, "entries to ask for where a seat has no exact ids");
  app.add_option("--max-tokens", flags.max_tokens, "of a written answer");
  app.add_option("--max-errors", flags.max_errors, "stop after N rows with errors (0: go on)");
  app.add_option("--context", flags.context, "context to ask the seat for, tokens");
  app.add_option("--threads", flags.threads, "of a local seat")->check(thread_count());
  app.add_option("--gpu-layers", flags.gpu_layers, "of a local seat built with a GPU backend");
  app.add_option("--timeout", flags.timeout, "seconds one request may take")
      ->check(seconds_of_a_request());
  app.add_option("--key-env", flags.key_env, "environment variable that holds the bearer key");
  app.add_option("--key-file", flags.key_file, "file that holds the bearer key");
  app.add_option("--ca-file", flags.ca_file, "extra trust roots, PEM");
  app.add_option("--board", flags.boards,
                 "the model must be on this board: UUID or PCI address (repeatable)");
  add_doctor_flag(app, flags);
  add_power_flags(app, flags);
  app.add_flag("--open-labels", flags.open_labels,
               "keep labels that are no option (wrong whatever is answered)");
  app.add_flag("--dry-run", flags.dry_run, "print the plan, ask nothing");
  app.add_flag("--quiet", flags.quiet, "no progress");
  app.add_option("--format", flags.format_out, "of the table: text, md, csv or json");
}

Result<bench::Config> make_config(const CLI::App& app, const RunFlags& flags) {
  bench::Config config;
  const auto typed = [&](const char* name) { return app.count(name) > 0; };
  const bool bare = flags.kit.empty() && flags.seats.empty() && flags.arms.empty();
  if (!flags.config.empty() || (bare && file_exists("deem.toml"))) {
    Result<bench::Config> loaded =
        bench::load_config(flags.config.empty() ? "deem.toml" : flags.config);
    if (!loaded) return loaded;
    config = std::move(*loaded);
  }
  if (typed("--kit")) config.kit = flags.kit;
  if (typed("--kit-format")) config.kit_options.format = flags.format;
  for (const std::string& column : flags.columns) {
    const std::size_t equals = column.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(Error::Code::BadInput, "--column " + column + ": wants field=column");
    }
    config.kit_options.columns[column.substr(0, equals)] = column.substr(equals + 1);
  }
  if (typed("--format") && flags.format_out == "seed-lines") {
    return fail(Error::Code::BadInput,
                "--format seed-lines: is for rows of the reference bench; text, md, csv or json");
  }
  if (flags.open_labels) config.kit_options.open_labels = true;
  if (typed("--out")) config.out = flags.out;
  if (typed("--task")) config.tasks = flags.tasks;
  if (typed("--seed")) config.seed = flags.seed;
  if (typed("--limit")) config.limit = flags.limit;
  if (typed("--repeat")) config.repeat = flags.repeat;
  if (typed("--concurrency")) config.concurrency = flags.concurrency;
  if (typed("--max-errors")) config.max_errors = flags.max_errors;
  if (typed("--laws")) config.probes.laws = flags.laws;
  if (typed("--noise")) config.probes.noise = flags.noise;
  if (typed("--permute")) {
    const Result<int> orders = bench::parse_permute(flags.permute);
    if (!orders) {
      return fail(Error::Code::BadInput,
                  "--permute " + flags.permute + ": " + orders.error().message);
    }
    config.probes.permute = *orders;
  }
  if (typed("--sustained")) {
    const Result<double> seconds = bench::parse_duration_s(flags.sustained);
    if (!seconds) {
      return fail(Error::Code::BadInput,
                  "--sustained " + flags.sustained + ": " + seconds.error().message);
    }
    config.probes.sustained_s = *seconds;
  }
  if (typed("--order")) {
    const auto order = bench::parse_order(flags.order);
    if (!order)
      return fail(Error::Code::BadInput,
                  "--order " + flags.order + ": auto, state, item, shuffle or block");
    config.order = *order;
  }
  if (Result<void> set = set_power(app, flags, config.power); !set) return fail(set.error());
  if (Result<void> set = set_doctor(app, flags, config); !set) return fail(set.error());
  if (flags.seats.empty()) {
    for (const char* flag : kArmFlags) {
      if (!typed(flag)) continue;
      return fail(Error::Code::BadInput,
                  std::string(flag) +
                      " describes the arms made of --seat, and there is none; say it in " +
                      (flags.arms.empty() ? "an [[arm]] of deem.toml" : "--arm"));
    }
  }
  if (!flags.arms.empty() || !flags.seats.empty()) config.arms.clear();
  for (const std::string& text : flags.arms) {
    Result<bench::Arm> arm = bench::parse_arm_flag(text);
    if (!arm) return fail(arm.error());
    config.arms.push_back(std::move(*arm));
  }
  Result<std::vector<bench::Arm>> more = arms_from_flags(app, flags);
  if (!more) return fail(more.error());
  std::ranges::move(*more, std::back_inserter(config.arms));
  // A deem.toml may name its paths from its own folder, itself named from here.
  if (!config.kit.empty()) config.kit = absolute(config.kit);
  for (bench::Arm& arm : config.arms) {
    if (arm.seat.kind == "local") arm.seat.address = absolute(arm.seat.address);
    if (!arm.calibration.empty()) arm.calibration = absolute(arm.calibration);
  }
  return config;
}

std::string new_run_folder(const std::string& parent, const std::string& name) {
  std::string stamp = utc_stamp();
  std::erase(stamp, ':');
  if (stamp.ends_with('Z')) stamp.pop_back();
  std::string clean;
  for (const char c : name) {
    clean += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.'
                 ? c
                 : '-';
  }
  const std::string base = join_path(parent, stamp + "-" + (clean.empty() ? "run" : clean));
  std::string path = base;
  for (int i = 2; is_folder(path); ++i) path = base + "-" + std::to_string(i);
  return path;
}

}  // namespace deem::cli
