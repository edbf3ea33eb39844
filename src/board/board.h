#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/power.h"

namespace deem::board {

/// A part of a board that NVIDIA's MIG made: memory and processes of its own, power of the board.
struct Instance {
  std::string id;  // "MIG-…"
  std::string name;
  std::optional<std::int64_t> gpu_instance, compute_instance;
  std::optional<double> memory_total_mib, memory_used_mib;
  bool operator==(const Instance&) const = default;
};

/// One accelerator, or a CPU's package, as it is now. Absent: not told; never 0 for it.
struct BoardInfo {
  // "GPU-…" (its UUID), "amdgpu:0000:03:00.0", "rapl:package-0", "rapl:dram-0"; never an index.
  std::string id;
  std::string name;
  std::string pci;     // "00000000:06:00.0" as its driver writes it; "" where it has none
  std::string source;  // nvml, nvidia-smi, amdgpu, rapl, scripted
  std::string error;  // why nothing can be read of it now ("GPU is lost (NVML 15)"); "" when it can

  std::optional<double> memory_total_mib;
  std::optional<double> memory_used_mib;      // without what the driver reserves, where it tells
  std::optional<double> memory_reserved_mib;  // known: then used is without it
  // Enforced: the least of all limiters; requested: what was set last.
  std::optional<double> limit_enforced_w, limit_default_w, limit_min_w, limit_max_w,
      limit_requested_w;
  std::optional<double> sm_mhz, memory_mhz, temperature_c, utilisation_percent;
  std::optional<std::uint64_t> clock_reasons;  // NVML's clocks-event-reasons bits
  // As they are now: an idle link trains down. Max: what board and slot can do together.
  std::optional<std::int64_t> link_generation, link_generation_max, link_width, link_width_max;
  std::string driver;              // "550.54.15"
  std::string cuda;                // the newest CUDA this driver serves, "12.4"
  std::string compute_capability;  // "9.0"
  std::optional<bool> ecc, persistence;
  std::string power_source;  // ac, battery
  std::optional<bool> mig;
  std::vector<Instance> instances;

  // How often the board makes a new power reading, or over how long it averages one, in seconds.
  std::optional<double> reading_period_s;
  bool has_counter = false;  // it counts its energy
};

/// A CPU's package or its memory: it draws power and holds no model.
inline bool is_cpu(const BoardInfo& board) { return board.id.starts_with("rapl:"); }

/// The heading of a power file, of this board.
record::PowerBoard to_power_board(const BoardInfo& board);

/// A process that has memory on a board.
struct BoardProcess {
  enum class Kind { Compute, Graphics, Mps };
  std::string board;     // id
  std::string instance;  // id of the MIG instance, "" without one
  std::int64_t pid = 0;  // of the host's namespace
  Kind kind = Kind::Compute;
  std::optional<double> used_mib;
  std::string command;     // its name, "" where unreadable
  std::string container;   // 64 hex digits (or the runtime's name); "" where it runs in none
  std::string unit;        // "llama.service", "session-3.scope"; "" without one
  std::string owner_note;  // why neither is known; "" when one is
};
std::string_view to_string(BoardProcess::Kind kind);

/// How one check ended.
struct Check {
  enum class Verdict { Ok, Finding, NotMeasured };
  std::string name;   // driver, count, reach, memory, power, limit, permission, script
  std::string board;  // id, "" for the whole box
  Verdict verdict = Verdict::Ok;
  std::string says;  // the numbers, or why it could not be measured
};
std::string_view to_string(Check::Verdict verdict);

/// One reading of some boards, in the order they were asked for.
struct Readings {
  std::vector<record::PowerReading> boards;
  std::vector<std::string> errors;  // as boards: why nothing can be read of one; "" when it can
};

/// One way to reach boards. The boards it knows are fixed when it is opened. Any thread may call
/// any member.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::string_view kind() const = 0;
  /// Every board of the source, as it is now; one that can not be reached has its `error`.
  virtual std::vector<BoardInfo> list() = 0;
  /// Readings of boards by id, in order. Cheap: a sampler's thread calls it ten times a second.
  virtual Readings read(std::span<const std::string> ids) = 0;
  /// Processes on boards by id; none where the source can not tell, and then a check says so.
  virtual std::vector<BoardProcess> processes(std::span<const std::string> ids) = 0;
  /// What opening it and its last list() and processes() found.
  virtual std::vector<Check> checks() = 0;
  /// Reading it more often than this, in seconds, costs more than it tells.
  virtual double least_period_s() const { return 0; }
};

/// Where to look. Every "" is the system's own place.
struct BoardOptions {
  std::string nvml_library = {};  // libnvidia-ml.so.1
  std::string nvidia_smi = {};    // nvidia-smi, looked up in PATH
  std::string sysfs = {};         // /sys
  std::string proc = {};          // /proc
  std::string script = {};        // docs/formats/boards-script.md: these boards and no others
};

/// From DEEM_NVML_LIBRARY, DEEM_NVIDIA_SMI, DEEM_SYSFS, DEEM_PROC and DEEM_BOARDS.
BoardOptions options_from_environment();

/// All there is to say about the boards of a box at one moment.
struct Inventory {
  std::vector<BoardInfo> boards;
  std::vector<BoardProcess> processes;
  std::vector<Check> checks;
  bool found() const;       // a check found something
  bool measurable() const;  // there is a board that can be read
};

/// The boards of this box by every source that is there. Any thread may call any member; a sampler
/// thread may read while another takes an inventory.
class Boards {
 public:
  explicit Boards(std::vector<std::unique_ptr<Source>> sources, std::vector<Check> checks = {});

  /// Boards, processes with their owners, and every check.
  Inventory inventory();
  std::vector<BoardInfo> list();
  /// Boards by id, in order. An id that no source knows has an error.
  Readings read(std::span<const std::string> ids);
  std::vector<BoardProcess> processes(std::span<const std::string> ids);
  /// The longest of its sources' least periods for these boards, in seconds.
  double least_period_s(std::span<const std::string> ids) const;

  /// Where owners and PCI devices are looked up; set by open_boards.
  void set_roots(std::string sysfs, std::string proc, bool count_pci);

 private:
  struct Known {
    std::string id;
    std::size_t source;
  };
  const Known* find(std::string_view id) const;

  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<Known> known_;
  std::vector<Check> checks_;
  std::string sysfs_, proc_;
  bool count_pci_ = false;
};

/// Opens every source: NVML, or nvidia-smi where its library can not be loaded; amdgpu; RAPL. With
/// a script: its boards alone. What could not be opened is a check.
/// Errors: as read_file and Corrupt, of the script only.
Result<std::unique_ptr<Boards>> open_boards(const BoardOptions& options);

/// The boards that were named, by id or PCI address, in the order typed; all that are no CPU's
/// when none is named. Errors: BadInput for an index or a name that is unknown or fits several.
Result<std::vector<BoardInfo>> choose_boards(std::vector<BoardInfo> boards,
                                             std::span<const std::string> typed);

}  // namespace deem::board
