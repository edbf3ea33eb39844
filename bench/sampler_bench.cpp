// What watching costs: a sampler reads 8 boards ten times a second, by the stand-in for NVIDIA's
// library, into a power log on disk. The CPU time of the whole process (sampler, log and stand-in)
// over the time that passed is its share of one core; the limit is 0.5 %. A driver's own calls take
// longer than the stand-in's: this is our part.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "board/board.h"
#include "board/power_log.h"
#include "board/sampler.h"
#include "record/power.h"

namespace deem {
namespace {

namespace fs = std::filesystem;

constexpr int kBoards = 8;
constexpr double kPeriod = 0.1;
constexpr double kRound = 6;  // seconds
constexpr int kRounds = 3;
constexpr double kLimit = 0.005;

/// Boards that tell all that an H200 tells, each with a seat on it.
std::string script() {
  std::string out = "driver 550.54.15\ncuda 12040\n";
  for (int i = 0; i < kBoards; ++i) {
    out += fmt::format(
        "board GPU-{0}\nname NVIDIA H200\npci 0 {0} 0\nmemory 143771 600 90000\ncompute 9 0\n"
        "power sine 450 200 7\nenergy 1000\nlimits 700 700 700 200 700\nlink 5 5 16 16\n"
        "clocks 1980 2619\ntemperature 61\nutilisation 87\nreasons 0x4\necc 1\npersistence 1\n"
        "process compute {0}77 89000\n",
        i + 1);
  }
  return out;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Round {
  double cpu_s = 0, wall_s = 0;
  board::Sampler::Counts counts;
  double share() const { return cpu_s / wall_s; }
};

Result<Round> sample(board::Boards& boards, const std::vector<board::BoardInfo>& which,
                     board::PowerLog& log) {
  Round out;
  const TimePoint begin = Clock::now();
  const double before = cpu_seconds();
  auto sampler = board::Sampler::start(boards, which, kPeriod, log);
  if (!sampler) return fail(sampler.error());
  (void)(*sampler)->wait(begin + std::chrono::milliseconds(static_cast<int>(kRound * 1000)), {});
  if (const Result<void> stopped = (*sampler)->stop(); !stopped) return fail(stopped.error());
  out.cpu_s = cpu_seconds() - before;
  out.wall_s = Seconds(Clock::now() - begin).count();
  out.counts = (*sampler)->counts();
  return out;
}

/// Whether the log holds every sample, each with every board's watts and joules.
bool is_whole(const fs::path& path, std::uint64_t samples) {
  const auto file = record::load_power(path.string());
  if (!file || !file->problems.empty() || file->segments.size() != 1) return false;
  return file->segments[0].samples.size() == samples &&
         std::ranges::all_of(file->segments[0].samples, [](const record::PowerSample& sample) {
           return sample.boards.size() == kBoards &&
                  std::ranges::all_of(sample.boards, [](const record::PowerReading& board) {
                    return board.watts && board.energy_j && board.processes == 1;
                  });
         });
}

Result<int> bench(const fs::path& folder) {
  std::ofstream(folder / "nvml") << script();
  ::setenv("DEEM_FAKE_NVML", (folder / "nvml").c_str(), 1);
  const auto boards = board::open_boards({.nvml_library = DEEM_FAKE_NVML_PATH,
                                          .sysfs = (folder / "sys").string(),
                                          .proc = (folder / "proc").string()});
  if (!boards) return fail(boards.error());
  const std::vector<board::BoardInfo> which = (*boards)->list();
  if (which.size() != kBoards) return fail(Error::Code::Unavailable, "the stand-in has no boards");
  const fs::path path = folder / "power.jsonl";
  std::vector<Round> rounds;
  std::uint64_t samples = 0;
  {
    auto log = board::PowerLog::open(path.string(), board::make_heading(which, kPeriod));
    if (!log) return fail(log.error());
    for (int i = 0; i < kRounds; ++i) {
      const auto round = sample(**boards, which, **log);
      if (!round) return fail(round.error());
      samples += round->counts.samples;
      rounds.push_back(*round);
    }
  }
  if (!is_whole(path, samples)) return fail(Error::Code::Corrupt, "the log is not whole");
  std::ranges::sort(rounds, {}, &Round::share);
  const Round& median = rounds[kRounds / 2];
  const bool held = median.share() <= kLimit;
  fmt::print(
      "{} boards every {:.0f} ms: {} samples in {:.1f} s, {} missed, {:.0f} us of CPU each\n",
      kBoards, kPeriod * 1e3, median.counts.samples, median.wall_s, median.counts.missed,
      median.cpu_s / static_cast<double>(median.counts.samples) * 1e6);
  fmt::print("share of one core {:.3f} % (median of {}; limit {:.1f} %, {})\n",
             median.share() * 100, kRounds, kLimit * 100, held ? "held" : "MISSED");
  return held ? 0 : 1;
}

int run() {
  const fs::path folder =
      fs::temp_directory_path() / fmt::format("deem-sampler-bench-{}", getpid());
  fs::create_directories(folder);
  const Result<int> status = bench(folder);
  fs::remove_all(folder);
  if (!status) fmt::print("{}\n", status.error().message);
  return status.value_or(1);
}

}  // namespace
}  // namespace deem

int main() { return deem::run(); }
