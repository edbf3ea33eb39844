#pragma once

// A stand-in for libnvidia-ml.so.1, loaded by dlopen as the real one is. It is built three times:
// as of now, as of old drivers (DEEM_FAKE_OLD: no _v2 and _v3 functions, no MIG, no counter) and as
// of the branch whose lists have entries of 32 bytes (DEEM_FAKE_WIDE).
//
// nvmlInit reads the script that the environment's DEEM_FAKE_NVML names. A line is a word and its
// values; what a script does not tell of a board is not supported by it:
//
//   driver 550.54.15            cuda 12040               fail SYMBOL CODE      (of every board)
//   board GPU-1                 the lines below are of this board
//   name NVIDIA H200            pci 0 6 0                nohandle CODE
//   memory TOTAL RESERVED USED  (MiB)                    compute MAJOR MINOR
//   power WATTS | power sine MEAN AMPLITUDE PERIOD_S | power steps 0:100 5:300
//   energy START_J              reset T …                lost FROM UNTIL       (seconds)
//   limits REQUESTED ENFORCED DEFAULT MIN MAX  (W)       source N
//   link GEN GEN_MAX WIDTH WIDTH_MAX                     clocks SM MEMORY
//   temperature C               utilisation PERCENT      reasons 0x80
//   ecc N                       persistence N            mig_mode N
//   process compute|graphics|mps PID MIB|-               grow N
//   mig UUID GI CI TOTAL USED   mig_process UUID PID MIB
//
// `grow N`: N more processes appear each time a list is asked for with room, three times.

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "board/wave.h"

namespace deem::fake {

constexpr unsigned kNone = ~0U;

struct Process {
  unsigned pid = 0;
  unsigned long long used = ~0ULL;  // bytes
  unsigned gpu_instance = kNone, compute_instance = kNone;
};

struct Board;

struct Mig {
  Board* parent = nullptr;
  std::string uuid;
  unsigned gi = 0, ci = 0;
  double total_mib = 0, used_mib = 0;
  std::vector<Process> processes;
};

struct Board {
  std::string uuid, name;
  std::array<unsigned, 3> pci{};
  std::optional<int> nohandle;
  std::optional<std::array<double, 3>> memory_mib;  // total, reserved, used
  std::optional<std::pair<int, int>> compute;
  std::optional<board::Wave> power;
  std::optional<double> energy_j;
  std::vector<double> resets_s;
  std::optional<std::pair<double, double>> lost_s;
  std::optional<std::array<double, 5>> limits_w;
  std::optional<std::array<unsigned, 4>> link;
  std::optional<std::pair<unsigned, unsigned>> clocks;
  std::optional<unsigned> temperature, utilisation, ecc, persistence, source, mig_mode;
  std::optional<unsigned long long> reasons;
  std::map<std::string, std::vector<Process>> processes;  // by kind
  unsigned grow = 0, grown = 0;
  std::vector<std::unique_ptr<Mig>> migs;
  std::map<std::string, int> fails;
};

struct Script {
  std::string driver;
  int cuda = 0;
  std::map<std::string, int> fails;
  std::vector<std::unique_ptr<Board>> boards;
};

/// Aborts on a line that is none.
Script load_script(const char* path);

}  // namespace deem::fake
