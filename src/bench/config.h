#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/arm.h"
#include "kit/kit.h"

namespace deem::bench {

/// state: items that share a state together (prefixes are shared); item: the kit's order;
/// shuffle: by `seed`; block: as state, but each arm takes a task as a whole, so that its energy
/// can be told; automatic ("auto"): block where energy is measured, else state.
enum class Order { Automatic, State, Item, Shuffle, Block };
std::string_view to_string(Order order);
std::optional<Order> parse_order(std::string_view name);

/// `--permute all`.
inline constexpr int kAllOrders = -1;

/// What is asked beside the plain items (bench/probe.h, docs/measuring.md "Probes").
struct Probes {
  int permute = 0;         // further option orders of each item; kAllOrders: every one
  bool laws = false;       // coherence
  int noise = 0;           // items of each task asked again
  double sustained_s = 0;  // go on for so long, on each seat
  bool operator==(const Probes&) const = default;
};

/// Reads "3" or "all"; "10m", "90s", "1h" or seconds. Errors: BadInput naming what is wanted.
Result<int> parse_permute(std::string_view text);
Result<double> parse_duration_s(std::string_view text);

/// How boards are read while seats are asked (docs/measuring.md "Energy"). Changes no row.
struct PowerOptions {
  bool off = false;
  double period_s = 0.1;     // of the grid of readings
  double idle_s = 10;        // read before and after a seat is asked
  bool require_pin = false;  // ask nothing unless every seat is proved to sit on its named boards
  bool operator==(const PowerOptions&) const = default;
};

/// Whether a run asks first what its seats can be trusted for (docs/formats/doctor.md).
enum class Doctor {
  Off,
  Quick,    // by a dozen short requests; findings are told and kept
  Require,  // the same, and nothing is asked of an arm that a finding speaks against
};
std::string_view to_string(Doctor doctor);
std::optional<Doctor> parse_doctor(std::string_view name);

/// What `deem run` was asked to do, from flags or deem.toml.
struct Config {
  std::string kit;
  kit::LoadOptions kit_options;
  std::vector<Arm> arms;
  std::string out;                 // run folder
  std::vector<std::string> tasks;  // empty: all
  Order order = Order::Automatic;
  std::uint64_t seed = 1;
  int concurrency = 1;
  int repeat = 1;
  Probes probes;
  PowerOptions power;
  Doctor doctor = Doctor::Quick;
  std::int64_t limit = 0;       // items per task asked; 0: all. Limits the calls
  std::int64_t max_errors = 0;  // stop after so many error rows; 0: go on
};

/// The settings resume compares: everything that changes what is asked, not how fast.
codec::Json settings_json(const Config& config);

/// Adds one [[reading]]: task, name, given, score, chat, empty. Errors: BadInput.
Result<void> add_reading(Config& config, const codec::Json& json, std::string* at = nullptr);

/// Reads settings_json's output into `config`. Errors: Corrupt.
Result<void> read_settings(const codec::Json& settings, Config& config);

/// Checks what a run needs before any work: a kit, arms with different names, sensible numbers.
/// Errors: BadInput.
Result<void> check_config(const Config& config);

/// Reads deem.toml (docs/formats/deem-toml.md): kit, out, order, seed, repeat, limit, concurrency,
/// max-errors, tasks, permute, laws, noise, sustained, power, power-period, idle, require-pin,
/// doctor,
/// [[arm]], [[reading]] (task, name, given, score, chat, empty). Relative paths are taken from
/// the file's folder. Errors: BadInput "deem.toml:LINE: what".
Result<Config> load_config(const std::string& path);

}  // namespace deem::bench
