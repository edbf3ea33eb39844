#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/rows_file.h"

namespace deem::record {

/// A board (or a CPU's package) as a power file names it.
struct PowerBoard {
  std::string id = {};               // what it is known by: "GPU-…" (UUID), "amdgpu:0000:03:00.0",
                                     // "rapl:package-0", "rapl:dram-0"
  std::string name = {};             // for people
  std::string pci = {};              // "00000000:06:00.0"; "" where it has none
  std::string source = {};           // nvml, nvidia-smi, amdgpu, rapl, scripted
  std::optional<double> cap_w = {};  // enforced when the file was begun
  std::optional<double> reading_period_s = {};  // how often the board makes a new power reading,
                                                // where known: finer than that says nothing
  bool has_counter = false;                     // it counts its energy
  bool operator==(const PowerBoard&) const = default;
};

/// What one board told at one moment; absent: not told.
struct PowerReading {
  std::optional<double> watts;
  std::optional<double> energy_j;  // total-energy counter since the driver's load: only its
                                   // differences mean anything
  std::optional<double> memory_mib, utilisation_percent, temperature_c, sm_mhz;
  std::optional<std::uint64_t> clock_reasons;  // NVML's clocks-event-reasons bits
  std::optional<std::int64_t> processes;       // compute processes on the board
  bool operator==(const PowerReading&) const = default;
};

/// All boards at one tick of the grid.
struct PowerSample {
  double mono_s = 0;                 // steady clock (CLOCK_MONOTONIC) of this boot
  double wall_s = 0;                 // Unix time
  std::vector<PowerReading> boards;  // as PowerSegment::boards
};

/// What was going on: begin and end of a window, on the steady clock.
struct PowerMark {
  enum class Kind { IdleBefore, IdleAfter, Load, Block };
  Kind kind = Kind::Block;
  bool begin = true;
  double mono_s = 0;
  std::string arm, task;           // of a block; idle and load windows: the arms' seat, or ""
  std::string probe;               // "" plain, else the probes of the block ("order", "noise" …)
  std::int64_t rows = 0;           // end of a block: decisions that were answered in it
  std::int64_t prompt_tokens = 0;  // end of a block: of those, where the seat told all
  bool has_prompt_tokens = false;
};

/// Something the sampler saw that breaks a series.
struct PowerEvent {
  std::string what;   // driver_reload, counter_reset, board_lost, board_back, missed, process
  std::string board;  // id; "" for all
  double mono_s = 0;
  std::int64_t count = 0;  // missed: how many ticks of the grid
  std::string detail;
};

/// From one heading to the next: one sitting of a run, or one start of a logger.
struct PowerSegment {
  std::string boot_id;  // /proc/sys/kernel/random/boot_id; "" where unreadable
  double period_s = 0;  // of the grid
  std::vector<PowerBoard> boards;
  std::vector<PowerSample> samples;
  std::vector<PowerMark> marks;
  std::vector<PowerEvent> events;
};

struct PowerFile {
  std::vector<PowerSegment> segments;
  std::vector<LineProblem> problems;  // every unreadable line but a torn last one
  bool torn_tail = false;
};

// power.jsonl (schema deem.power/1, docs/formats/power.md): a heading, then samples, marks and
// events, one JSON object a line, without newline here.
std::string format_power_heading(const PowerSegment& segment);
std::string format_power_sample(const PowerSample& sample, std::string_view boot_id);
std::string format_power_mark(const PowerMark& mark);
std::string format_power_event(const PowerEvent& event);

/// Never fails: what can not be read is a problem with its line, and what a killed writer left at
/// the end is `torn_tail`.
PowerFile parse_power(std::string_view bytes);

/// The reference bench's watts.csv and idle.csv (uuid, local time stamp, W, MiB, % a line): one
/// segment, boards in first-seen order, no counter. Stamps are taken as UTC. Lines that can not be
/// read are problems. Errors: Corrupt when no line is one of its samples.
Result<PowerFile> parse_reference_watts(std::string_view bytes);

/// power.jsonl or the reference's csv, told apart by the first byte. Errors: as read_file, Corrupt.
Result<PowerFile> load_power(const std::string& path);

}  // namespace deem::record
