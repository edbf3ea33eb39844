// The reference bench's energy fields, digit by digit: from its own csv beside its own reports, and
// from random csv against run.py itself. Skipped where it is not beside the source.
#include "score/seed_energy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

namespace deem::score {
namespace {

namespace fs = std::filesystem;
const fs::path kReference = fs::path(DEEM_SOURCE_DIR) / "../shared/reference";

class SeedEnergyFolder : public testing::Test {
 protected:
  SeedEnergyFolder() { fs::create_directories(folder_); }
  ~SeedEnergyFolder() override { fs::remove_all(folder_); }
  void put(const std::string& name, std::string_view bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  SeedEnergyReport score() { return seed_energy_folder(folder_.string()).value(); }

  const fs::path folder_ =
      fs::temp_directory_path() / ("deem-seed-energy-" + std::to_string(getpid()));
};

codec::Json field(const codec::Json& json, std::string_view key) {
  const codec::Json* value = json.find(key);
  return value == nullptr ? codec::Json() : *value;
}

std::string dumped(const codec::Json& json) { return codec::dump_json(json, {.sort_keys = true}); }

TEST(SeedEnergyReference, GivesTheFieldsOfItsReports) {
  if (!fs::exists(kReference)) GTEST_SKIP() << "no reference bench beside the source";
  const fs::path rows = kReference / "rows";
  const SeedEnergyReport report = seed_energy_folder(rows.string()).value();
  EXPECT_TRUE(report.problems.empty());
  std::map<std::string, codec::Json> lines;
  for (const std::string& line : report.lines) {
    const std::size_t space = line.find(' ');
    lines[line.substr(0, space)] = codec::parse_json(line.substr(space + 1)).value();
  }
  std::size_t compared = 0;
  for (const auto& [name, line] : lines) {
    const std::string path = (rows / (name + ".report.json")).string();
    const codec::Json want = codec::parse_json(read_file(path).value()).value();
    codec::Json energy = field(want, "energy"), idle = field(want, "idle");
    if (field(line, "idle").is_null()) {  // its csv is not among the fixtures
      std::erase_if(energy.members(),
                    [](const auto& member) { return member.first == "net_joules_per_decision"; });
    } else {
      EXPECT_EQ(dumped(field(line, "idle")), dumped(idle)) << name;
    }
    EXPECT_EQ(dumped(field(line, "energy")), dumped(energy)) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 2U);
}

TEST_F(SeedEnergyFolder, LabelsTheDefectsOfItsFigures) {
  put("x.a.watts.csv",
      "A, 2026/12/01 00:00:00.000, 100, 1, 1\nB, 2026/12/01 00:00:00.000, 40, 1, 1\n"
      "A, 2026/12/01 00:00:02.000, 200, 1, 1\nB, 2026/12/01 00:00:02.000, 60, 1, 1\n"
      "C, 2026/12/01 00:00:02.000, 60, 1, 1\n");
  const SeedEnergyReport report = score();
  ASSERT_EQ(report.lines.size(), 1U);
  // A: 150 W · 2 s, B: 50 W · 2 s.
  EXPECT_EQ(report.lines[0],
            R"(x.a {"energy": {"cards": ["A", "B", "C"], "joules": 400.0, "mean_watts": 200.0, )"
            R"("peak_watts": 200.0, "per_card": {"A": {"joules": 300.0, "mean_watts": 150.0, )"
            R"("min_watts": 100.0, "peak_watts": 200.0, "samples": 2, "seconds": 2.0}, )"
            R"("B": {"joules": 100.0, "mean_watts": 50.0, "min_watts": 40.0, "peak_watts": 60.0, )"
            R"("samples": 2, "seconds": 2.0}, "C": {"joules": null, "samples": 1}}, )"
            R"("samples": 5, "seconds": 2.0}, "idle": null})");
  ASSERT_EQ(report.labels.size(), 1U);
  EXPECT_EQ(
      report.labels[0],
      "x.a: as run.py counts it: energy covers first to last sample (2 s), not the run; "
      "peak_watts (200) is of one board, mean_watts (200) of the sum; C has under two samples "
      "and adds nothing; stamps are local time: wrong by what the clocks were changed; no "
      "idle.csv: no net joules; no rows: no joules per decision");
}

TEST_F(SeedEnergyFolder, LabelsWhatNoMeterSays) {
  put("x.a.watts.csv",
      "A, 2026/12/01 00:00:00.000, 100\nA, 2026/12/01 00:00:02.000, -5\n"
      "A, 2026/12/01 00:00:01.000, nan\nA, 2026/12/01 00:00:04.000, 10");
  put("x.a.idle.csv", "B, 2026/12/01 00:00:00.000, 1\nB, 2026/12/01 00:00:02.000, 1\n");
  const SeedEnergyReport report = score();
  ASSERT_EQ(report.labels.size(), 1U);
  for (const char* words :
       {"watts.csv has 2 negative, infinite or missing watts",
        "watts.csv goes back in time 1 times", "watts.csv ends inside a line, which may be cut",
        "idle.csv is of other boards"}) {
    EXPECT_NE(report.labels[0].find(words), std::string::npos) << report.labels[0];
  }
  EXPECT_EQ(report.labels[0].find("idle.csv has"), std::string::npos);
}

TEST_F(SeedEnergyFolder, WhatEndsRunPyIsAProblem) {
  put("a.watts.csv", "A, 2026/12/01 00:00:00.000, 1\nA, 2026/12/01 00:00:00.000, 1\n");
  put("b.watts.csv", "A, 2026/12/01 00:00:00.000, 1\n");
  put("b.jsonl", R"({"label": "yes", "choice": "yes", "probs": {"yes": 1.0}, "seconds": 1})");
  put("c.watts.csv", "A\xff, 2026/12/01 00:00:00.000, 1\n");
  const SeedEnergyReport report = score();
  EXPECT_TRUE(report.lines.empty());
  ASSERT_EQ(report.problems.size(), 3U);
  EXPECT_NE(report.problems[0].find("ZeroDivisionError"), std::string::npos);
  EXPECT_NE(report.problems[1].find("TypeError"), std::string::npos);
  EXPECT_NE(report.problems[2].find("UnicodeDecodeError"), std::string::npos);
}

// Boards.integrate, and the end of run_arm (lines "reached = …" on) word for word.
constexpr std::string_view kDriver = R"(
import importlib.util, json, os, sys
spec = importlib.util.spec_from_file_location("run", sys.argv[1])
run = importlib.util.module_from_spec(spec)
sys.modules["run"] = run
spec.loader.exec_module(run)
for name in sorted(os.listdir(sys.argv[2])):
    if not name.endswith(".watts.csv"):
        continue
    base = os.path.join(sys.argv[2], name[:-len(".watts.csv")])
    try:
        energy, idle = run.Boards.integrate(base + ".watts.csv"), None
        if os.path.exists(base + ".idle.csv"):
            idle = run.Boards.integrate(base + ".idle.csv")
            idle["what"] = ("the draw of these cards immediately before the arm, with the "
                            "model resident and no work in flight")
        if os.path.exists(base + ".jsonl"):
            rows = [json.loads(line) for line in open(base + ".jsonl", encoding="utf-8")]
            reached = run.summarise(rows)["n_reached"]
            if energy.get("joules") is not None and reached:
                energy["seconds"] + 0.0
                if idle is not None:
                    net = energy["joules"] - (idle.get("mean_watts") or 0) * energy["seconds"]
                    energy["net_joules_per_decision"] = net / reached
                energy["joules_per_decision"] = energy["joules"] / reached
                energy["decisions"] = reached
    except (ArithmeticError, TypeError, ValueError) as error:
        continue
    print(os.path.basename(base), json.dumps({"energy": energy, "idle": idle}, sort_keys=True))
)";

/// A csv as nvidia-smi under all sorts of mishaps might leave it.
std::string random_csv(std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  static constexpr const char* kWattsOf[] = {"[N/A]", "nan", "inf",  "-inf", "0",     "0.0",
                                             "-0.0",  "1_0", "1__0", "1e3",  "1e400", "5e-324",
                                             "+7",    ".5",  "5.",   "0x10", "",      "Infinity"};
  static constexpr const char* kStamps[] = {
      "2026/1/2 3:4:5.6",      "2026/02/30 00:00:00.0",  "N/A",
      "2026/12/ 1 05:12:49.3", "2026/12/01\t05:12:49.3", "2026/12/01 05:12:60.0",
      "0000/01/01 00:00:00.0"};
  static constexpr const char* kEnds[] = {"\n", "\r\n", "\r", "\n\n", " \n"};
  const std::size_t boards = 1 + below(3), lines = below(4) == 0 ? below(4) : below(60);
  const bool odd = below(2) == 0;
  std::string out;
  std::size_t ms = below(40'000);
  for (std::size_t i = 0; i < lines; ++i) {
    for (std::size_t board = 0; board < boards; ++board) {
      char stamp[64], watts[64];
      std::snprintf(stamp, sizeof stamp, "2026/12/01 05:%02zu:%02zu.%03zu", ms / 60'000 % 60,
                    ms / 1'000 % 60, ms % 1'000);
      std::snprintf(watts, sizeof watts, "%zu.%02zu", below(400), below(100));
      const bool bad_watts = odd && below(25) == 0, bad_stamp = odd && below(40) == 0;
      out += (board == 0 ? "GPU-b" : board == 1 ? " GPU-a " : "GPU-\xc3\xa9\xc2\xa0");
      out += std::string(", ") + (bad_stamp ? kStamps[below(std::size(kStamps))] : stamp) + ", " +
             (bad_watts ? kWattsOf[below(std::size(kWattsOf))] : watts);
      if (below(9) > 0) out += ", 22310, 7";
      out += odd ? kEnds[below(std::size(kEnds))] : "\n";
      if (odd && below(30) == 0) out += "torn line\n";
      ms += below(30);
    }
    ms += 900 + below(200);
  }
  return out;
}

TEST_F(SeedEnergyFolder, PrintsWhatRunPyComputesFromRandomCsv) {
  if (!fs::exists(kReference)) GTEST_SKIP() << "no reference bench beside the source";
  const std::string python = find_program("python3.11");
  if (python.empty()) GTEST_SKIP() << "no python3.11";
  std::mt19937_64 random(20261202);
  for (int i = 0; i < 400; ++i) {
    char base[16];
    std::snprintf(base, sizeof base, "r%03d", i);
    put(base + std::string(".watts.csv"), random_csv(random));
    if (random() % 4 > 0) put(base + std::string(".idle.csv"), random_csv(random));
    if (random() % 4 == 0) continue;
    std::string rows;
    for (std::size_t n = random() % 5; n > 0; --n) {
      rows += R"({"label": "yes", "choice": "yes", "probs": {"yes": 1.0}, "seconds": 1})"
              "\n";
    }
    put(base + std::string(".jsonl"), rows);
  }
  std::vector<std::string> environment = own_environment();
  std::erase_if(environment, [](const std::string& entry) { return entry.starts_with("TZ="); });
  environment.emplace_back("TZ=UTC");
  const auto done = run_process({.argv = {python, "-c", std::string(kDriver),
                                          (kReference / "run.py").string(), folder_.string()},
                                 .environment = environment},
                                Seconds(60));
  ASSERT_TRUE(done && done->ending.succeeded()) << (done ? done->errors : "");
  std::vector<std::string> want;
  for (const std::string_view line : split(done->output, '\n')) {
    if (!line.empty()) want.emplace_back(line);
  }
  EXPECT_GT(want.size(), 200U);
  EXPECT_LT(want.size(), 400U);
  const SeedEnergyReport report = score();
  EXPECT_EQ(report.lines.size() + report.problems.size(), 400U);
  ASSERT_EQ(report.lines.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_EQ(report.lines[i], want[i]);
}

}  // namespace
}  // namespace deem::score
