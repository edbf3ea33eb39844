#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/config.h"

namespace deem::cli {

/// The flags of `deem run` as typed.
struct RunFlags {
  std::string config, kit, format, out, order = "auto";
  std::vector<std::string> arms, seats, models, modes, readings, tasks, columns;
  std::string policy, calibration, key_env, key_file, ca_file;
  std::uint64_t seed = 1;
  int concurrency = 1, repeat = 1, group = 1, top_k = 20, threads = 0, gpu_layers = 0,
      max_tokens = 8;
  std::string permute, sustained;
  bool laws = false;
  int noise = 0;
  std::int64_t limit = 0, max_errors = 0, context = 0;
  double timeout = 120;
  std::vector<std::string> boards;
  std::string idle, power_period;
  std::string doctor = "quick";
  bool no_power = false, require_pin = false;
  bool dry_run = false, quiet = false, open_labels = false;
  std::string format_out = "text";
};

void add_run_flags(CLI::App& app, RunFlags& flags);

/// --no-power, --idle, --power-period and --require-pin, where typed. Errors: BadInput.
Result<void> set_power(const CLI::App& app, const RunFlags& flags, bench::PowerOptions& power);
/// Adds those flags.
void add_power_flags(CLI::App& app, RunFlags& flags);

/// --doctor, where typed. Errors: BadInput.
Result<void> set_doctor(const CLI::App& app, const RunFlags& flags, bench::Config& config);
/// Adds it.
void add_doctor_flag(CLI::App& app, RunFlags& flags);

/// deem.toml (named, or the one in this folder when no kit and no seat are given) with the typed
/// flags over it. `app` tells which were typed. Errors: BadInput.
Result<bench::Config> make_config(const CLI::App& app, const RunFlags& flags);

/// "runs/2026-12-01T051123-NAME", the first such name that is free.
std::string new_run_folder(const std::string& parent, const std::string& name);

}  // namespace deem::cli
