// Re-scoring 200,000 rows of the reference bench (about 200 MB) with `--format seed-lines`.
//
// Beside it, on the same rows, in alternating rounds: run.py's own --score when it is there, the
// bare reading of the file, and one simdjson pass over it on one core. Two figures for memory: the
// bytes kept of a row as counted, and the growth of the peak resident set from 20,000 rows to
// 200,000. The least of the rounds stands for each, so a loaded machine spoils little.
#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "codec/json.h"
#include "score/seed_lines.h"

namespace deem {
namespace {

namespace fs = std::filesystem;
using codec::Json;

constexpr std::size_t kRows = 200'000;
constexpr std::size_t kFewRows = 20'000;
constexpr int kRounds = 12;
constexpr int kReferenceRounds = 2;
constexpr int kMemoryRounds = 5;
constexpr double kRatioLimit = 80;
constexpr double kBytesLimit = 16;

/// Rows as run.py writes them for the readout arms: three tasks in turn, every number its own.
class RowMaker {
 public:
  std::string next() {
    ++made_;
    const std::size_t task = made_ % 3;
    const std::size_t options = task == 0 ? 2 : 3 + below(6);
    Json logprobs = Json::array(), floored = Json::array(), probs = Json::object();
    std::vector<double> weights;
    double total = 0;
    for (std::size_t i = 0; i < options; ++i) {
      const bool missing = below(4) == 0;
      logprobs.push(missing ? Json() : Json(-9 * unit()));
      if (missing) floored.push(Json(static_cast<std::int64_t>(i)));
      weights.push_back(unit() * unit() * unit() + 1e-12);
      total += weights.back();
    }
    for (std::size_t i = 0; i < options; ++i) probs.set(key(task, i), weights[i] / total);
    const auto best = static_cast<std::size_t>(std::ranges::max_element(weights) - weights.begin());

    Json row = Json::object();
    row.set("prompt_sha256", digest());
    row.set("prompt_chars", whole(6000));
    row.set("n_options", static_cast<std::int64_t>(options));
    row.set("mode", "readout");
    row.set("letter_logprobs", logprobs);
    row.set("floored", floored);
    row.set("top0_token", below(9) == 0 ? "答" : below(9) == 0 ? "\n" : " B");
    row.set("top0_logprob", -unit());
    row.set("letters_in_topk", static_cast<std::int64_t>(options - floored.items().size()));
    row.set("top_logprobs_asked", 20);
    if (task == 0) row.set("noul_raw_p_yes", unit());
    row.set("choice", key(task, best));
    row.set("probs", probs);
    row.set("confidence", unit());
    row.set("seconds", 0.05 + unit() / 20);
    row.set("prompt_tokens", below(40) == 0 ? Json() : whole(9000));
    row.set("eval_tokens", 1);
    row.set("prompt_eval_ms", 600 * unit());
    row.set("total_ms", 700 * unit());
    row.set("done_reason", "length");
    row.set("id", fmt::format("{}-{:06}-allotment-almanac", "abc"[task], made_));
    row.set("task", std::string(1, "abc"[task]));
    row.set("slug", "allotment-almanac");
    row.set("label", below(40) == 0 ? Json() : Json(key(task, below(options))));
    row.set("kind", "near_miss");
    row.set("state_sha256", digest());
    row.set("arm", "jev-readout");
    row.set("model", "hf.co/mradermacher/jevify-gemma4-26b-a4b-GGUF:Q4_K_M");
    row.set("quant", "Q4_K_M");
    row.set("card_uuid", "GPU-46890836-d8f7-e868-1977-c1ce28db0d7a");
    row.set("num_ctx", 131072);
    row.set("power_cap_w", 250);
    row.set("seed", 20260921);
    row.set("stamp", fmt::format("2026-12-01T{:02}:{:02}:{:02}Z", below(24), below(60), below(60)));
    return codec::dump_json(row, {.ascii = false});
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  Json whole(std::size_t n) { return Json(static_cast<std::int64_t>(below(n))); }
  std::string digest() {
    std::string out;
    for (int i = 0; i < 4; ++i) out += fmt::format("{:016x}", engine_());
    return out;
  }
  static std::string key(std::size_t task, std::size_t i) {
    if (task == 0) return i == 0 ? "yes" : "no";
    return (task == 1 ? "section-" : "speaker") + std::to_string(i);
  }

  std::mt19937_64 engine_{20261202};
  std::size_t made_ = 0;
};

void write_rows(const fs::path& folder, std::size_t n) {
  fs::create_directories(folder);
  std::ofstream out(folder / "jev-readout.jsonl", std::ios::binary);
  RowMaker maker;
  for (std::size_t i = 0; i < n; ++i) out << maker.next() << '\n';
}

template <class Work>
double seconds_of(Work work) {
  const TimePoint start = Clock::now();
  work();
  return Seconds(Clock::now() - start).count();
}

/// Reads the file in pieces on `threads`, as scoring does, and looks at nothing.
void read_only(const fs::path& file, std::size_t threads) {
  constexpr std::size_t kPiece = 512 * 1024;
  const Fd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  const std::size_t pieces = fs::file_size(file) / kPiece + 1;
  const auto work = [&](std::size_t first) {
    std::vector<char> buffer(kPiece);
    for (std::size_t i = first; i < pieces; i += threads) {
      if (pread(fd.get(), buffer.data(), kPiece, static_cast<off_t>(i * kPiece)) <= 0) break;
    }
  };
  std::vector<std::jthread> helpers;
  for (std::size_t i = 1; i < threads; ++i) helpers.emplace_back(work, i);
  work(0);
}

/// Loads the file and finds one number in each row; nothing is scored and what is passed over is
/// not checked. False when a row can not be read.
bool simdjson_pass(const fs::path& file) {
  simdjson::padded_string text;
  if (simdjson::padded_string::load(file.string()).get(text) != simdjson::SUCCESS) return false;
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document_stream rows;
  if (parser.iterate_many(text).get(rows) != simdjson::SUCCESS) return false;
  std::size_t n = 0;
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    double seconds = 0;
    auto document = *row;
    if (document["seconds"].get(seconds) == simdjson::SUCCESS) ++n;
  }
  return n == kRows;
}

/// Peak resident set of a child that scores `folder`, in bytes.
double peak_of_scoring(const fs::path& folder) {
  const pid_t child = fork();
  if (child == 0) {
    const auto report = score::score_seed_folder(folder.string());
    _exit(report && report->problems.empty() ? 0 : 1);
  }
  rusage usage{};
  int status = 0;
  wait4(child, &status, 0, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

/// What `run.py --score` prints and how long it takes; none when it can not be run.
std::optional<std::string> run_reference(const fs::path& run_py, const fs::path& folder,
                                         double& seconds) {
  Result<Process> process =
      Process::spawn({.argv = {"python3.11", run_py.string(), "--score", folder.string()},
                      .environment = own_environment()});
  if (!process) return std::nullopt;
  bool succeeded = false;
  seconds = seconds_of([&] {
    const Result<Ending> ending = process->wait(Seconds(300));
    succeeded = ending && ending->succeeded();
  });
  if (!succeeded) return std::nullopt;
  return process->output();
}

int bench() {
  const fs::path root = fs::temp_directory_path() / fmt::format("deem-score-bench-{}", getpid());
  const fs::path all = root / "all", few = root / "few";
  write_rows(few, kFewRows);
  write_rows(all, kRows);
  const fs::path file = all / "jev-readout.jsonl";
  const double megabytes = static_cast<double>(fs::file_size(file)) / 1e6;
  const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  // How many blocks are in work at once varies with the machine's load: the least is what is kept.
  double all_peak = peak_of_scoring(all), few_peak = peak_of_scoring(few);
  for (int i = 1; i < kMemoryRounds; ++i) {
    all_peak = std::min(all_peak, peak_of_scoring(all));
    few_peak = std::min(few_peak, peak_of_scoring(few));
  }
  const double grown = std::max(0.0, all_peak - few_peak) / (kRows - kFewRows);

  constexpr double kNever = std::numeric_limits<double>::infinity();
  double ours = kNever, reading = kNever, pass = kNever, reference = kNever;
  score::SeedReport report;
  std::string printed;
  bool same = true;
  const fs::path run_py = fs::path(DEEM_SOURCE_DIR) / "../shared/reference/run.py";
  for (int round = 0; round < kRounds; ++round) {
    if (round < kReferenceRounds && fs::exists(run_py)) {
      double seconds = 0;
      if (const std::optional<std::string> output = run_reference(run_py, all, seconds)) {
        reference = std::min(reference, seconds);
        printed = *output;
      }
    }
    ours = std::min(ours,
                    seconds_of([&] { report = score::score_seed_folder(all.string()).value(); }));
    reading = std::min(reading, seconds_of([&] { read_only(file, threads); }));
    bool passed = false;
    pass = std::min(pass, seconds_of([&] { passed = simdjson_pass(file); }));
    same &= passed && report.problems.empty() && report.rows == kRows;
  }
  fs::remove_all(root);
  if (!same) {
    fmt::print("the rows could not all be read\n");
    return 1;
  }

  int status = 0;
  const auto verdict = [&status](bool held) {
    if (!held) status = 1;
    return held ? "held" : "MISSED";
  };
  fmt::print("{} rows, {:.0f} MB, {} threads, least of {} rounds\n", kRows, megabytes, threads,
             kRounds);
  fmt::print("scored        {:7.1f} ms  {:5.2f} GB/s\n", ours * 1e3, megabytes / ours / 1e3);
  if (reference < kNever) {
    const bool equal = report.lines.size() == 1 && printed == report.lines[0] + "\n";
    fmt::print("run.py        {:7.1f} ms  ratio {:.0f} (limit {:.0f}, {}), output {}\n",
               reference * 1e3, reference / ours, kRatioLimit,
               verdict(reference / ours >= kRatioLimit), equal ? "the same" : "DIFFERENT");
    if (!equal) status = 1;
  } else {
    fmt::print(
        "run.py        not measured (no reference bench beside the source, or no python3.11)\n");
  }
  fmt::print("reading only  {:7.1f} ms  scoring takes {:.1f} times as long\n", reading * 1e3,
             ours / reading);
  fmt::print(
      "simdjson pass {:7.1f} ms  on one core, one number a row: scoring takes {:.2f} times as "
      "long\n",
      pass * 1e3, ours / pass);
  const double kept = static_cast<double>(report.peak_kept_bytes) / kRows;
  fmt::print("kept of a row {:7.1f} bytes (limit {:.0f}, {}); resident set grows by {:.1f} a row\n",
             kept, kBytesLimit, verdict(kept <= kBytesLimit && grown <= kBytesLimit), grown);
  return status;
}

}  // namespace
}  // namespace deem

int main() { return deem::bench(); }
