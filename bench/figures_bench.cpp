// All figures of a million rows, bootstrap included; and beside them what numpy takes for five of
// them, where the environment of tools/oracle-python is there (DEEM_ORACLE_PYTHON).
//
// The rows are in memory (what deem score holds after reading); one column of letters with 200,000
// states. The limit is 10 seconds for a million rows. numpy starts from probabilities as arrays,
// and so do the same five figures here.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "decision/baseline.h"
#include "score/answer.h"
#include "score/calibration.h"
#include "score/resample.h"
#include "score/score_rows.h"
#include "score/selective.h"

namespace deem {
namespace {

constexpr std::size_t kRows = 1'000'000, kOptions = 4, kOfState = 5;
constexpr double kLimit = 10;  // seconds

std::vector<record::Row> make_rows() {
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<double> unit;
  std::vector<record::Row> rows(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    record::Row& row = rows[i];
    row.arm = "readout";
    row.task = "pick";
    row.id = std::to_string(i);
    row.state_sha256 = std::to_string(i / kOfState);
    row.keys = {"a", "b", "c", "d"};
    row.label = row.keys[engine() % kOptions];
    record::ReadingRecord reading;
    record::ReadingRecord::Round round;
    round.options = {0, 1, 2, 3};
    for (std::size_t k = 0; k < kOptions; ++k)
      round.letters.logprobs.emplace_back(-5 * unit(engine));
    round.letters.mass_letters = unit(engine);
    reading.rounds = {std::move(round)};
    reading.planned_to_done_s = reading.sent_to_done_s = unit(engine);
    row.readings["letters"] = std::move(reading);
  }
  return rows;
}

score::Judged judge(const std::vector<record::Row>& rows) {
  score::Judged judged;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto answer = score::answer_of(rows[i], rows[i].readings.at("letters"), "raw");
    judged.add(answer->probs, answer->choice, *score::label_index(rows[i]), i / kOfState);
  }
  return judged;
}

/// Accuracy, Brier score, ECE, AURC, lower end of accuracy's interval by state.
std::vector<double> five_figures(const score::Judged& judged) {
  std::vector<score::ClusterSums> clusters;
  score::ClusterSums all;
  for (const score::Judged::Item& item : judged.items()) {
    if (item.cluster >= clusters.size()) clusters.resize(item.cluster + 1);
    const double right = item.correct() ? 1 : 0;
    const double brier = decision::brier(judged.probs(item), item.label);
    for (score::ClusterSums* sums : {&clusters[item.cluster], &all}) {
      ++sums->n;
      sums->a += right;
      sums->b += brier;
    }
  }
  const auto bins = score::equal_width_bins(judged, score::CalibrationError::kBins);
  return {all.a / all.n, all.b / all.n, score::ece_of(bins), *score::RiskCoverage(judged).area(),
          score::bootstrap_means(clusters, score::kScoreSeed)->a.low};
}

/// What bench/figures_numpy.py prints: seconds and the five figures. Empty, and said, where it can
/// not run.
std::vector<double> ask_numpy(const score::Judged& judged) {
  const char* python = std::getenv("DEEM_ORACLE_PYTHON");
  if (python == nullptr || *python == '\0') {
    fmt::print("numpy: not measured (DEEM_ORACLE_PYTHON is not set; make bench sets it)\n");
    return {};
  }
  std::vector<double> values;
  for (const auto& item : judged.items()) {
    const auto probs = judged.probs(item);
    values.insert(values.end(), probs.begin(), probs.end());
  }
  for (const auto& item : judged.items()) values.push_back(item.label);
  for (const auto& item : judged.items()) values.push_back(item.cluster);
  std::string bytes(values.size() * sizeof(double), '\0');
  std::copy_n(reinterpret_cast<const char*>(values.data()), bytes.size(), bytes.data());
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("deem-figures-{}", ::getpid()))
          .string();
  std::vector<double> out;
  if (write_file_atomically(path, bytes)) {
    const auto done = run_process({.argv = {python, DEEM_SOURCE_DIR "/bench/figures_numpy.py", path,
                                            std::to_string(kRows), std::to_string(kOptions)},
                                   .environment = own_environment()},
                                  Seconds(600));
    std::istringstream lines(done ? done->output : "");
    for (double value = 0; lines >> value;) out.push_back(value);
    if (out.size() != 6) {
      fmt::print("numpy: not measured ({})\n", done ? done->errors : done.error().message);
      out.clear();
    }
  }
  std::filesystem::remove(path);
  return out;
}

/// Five figures from arrays of probabilities, here and by numpy; false where they are not the same.
bool beside_numpy(const score::Judged& judged) {
  double best = 1e9;
  std::vector<double> mine;
  for (int round = 0; round < 3; ++round) {
    const TimePoint start = Clock::now();
    mine = five_figures(judged);
    best = std::min(best, Seconds(Clock::now() - start).count());
  }
  fmt::print("accuracy, Brier, ECE, AURC, 1,000 resamples by state of {} answers: {:.2f} s\n",
             kRows, best);
  const std::vector<double> theirs = ask_numpy(judged);
  if (theirs.empty()) return true;
  fmt::print("numpy, the same five: {:.2f} s; ratio {:.1f}\n", theirs[0], theirs[0] / best);
  bool same = true;
  for (std::size_t k = 0; k < mine.size(); ++k) {
    // The interval's end is of other random numbers.
    const double off = std::abs(mine[k] - theirs[k + 1]);
    if (off <= (k + 1 < mine.size() ? 1e-9 : 1e-3)) continue;
    fmt::print("figure {}: {} here, {} by numpy\n", k, mine[k], theirs[k + 1]);
    same = false;
  }
  return same;
}

int bench() {
  const std::vector<record::Row> rows = make_rows();
  double best = 1e9;
  for (int round = 0; round < 3; ++round) {
    const TimePoint start = Clock::now();
    const score::Scores scores = score::score_rows(rows);
    best = std::min(best, Seconds(Clock::now() - start).count());
    if (scores.columns.size() != 1 || scores.columns[0].all.detail.n != kRows) return 1;
  }
  fmt::print(
      "all figures of {} rows, by task and together: {:.2f} s, least of 3 (limit {:.0f}, {})\n",
      kRows, best, kLimit, best <= kLimit ? "held" : "MISSED");
  const bool same = beside_numpy(judge(rows));
  return best <= kLimit && same ? 0 : 1;
}

}  // namespace
}  // namespace deem

int main() { return deem::bench(); }
