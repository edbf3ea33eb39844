// Random rows of every kind: what deem prints of them must be what tools/recompute.py computes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <random>

#include "base/file.h"
#include "base/process.h"
#include "decision/readout.h"
#include "record/row.h"

namespace deem {
namespace {

using record::ReadingRecord;
using record::Row;

/// Makes rows as servers of every quality would: letters missing, bounds, priors, tournaments,
/// voids, errors, refusals, labels that are no option, ties, several items on one state.
class RowMaker {
 public:
  explicit RowMaker(unsigned seed) : engine_(seed) {}

  Row next(int n) {
    Row row;
    row.task = std::array{"noul", "pick", "level", "many"}[static_cast<std::size_t>(n) % 4];
    row.id = row.task + "-" + std::to_string(n / 4);
    row.state_sha256 = "state" + std::to_string(below(30));
    if (below(4) > 0)
      row.state_chars = static_cast<std::int64_t>(below(3) == 0 ? below(900) : below(60'000));
    if (below(3) > 0) row.language = below(2) == 0 ? "en" : "de";
    row.kind = odd(3) ? "" : std::array{"near", "far", "plain"}[below(3)];
    const bool noul = row.task == "noul", level = row.task == "level";
    row.type = noul    ? decision::QuestionType::Noul
               : level ? decision::QuestionType::Score
                       : decision::QuestionType::Choice;
    const std::size_t options = noul                 ? 2
                                : level              ? 5
                                : row.task == "many" ? 53 + below(60)
                                                     : 2 + below(9);
    for (std::size_t i = 0; i < options; ++i) row.keys.push_back("k" + std::to_string(i));
    if (!odd(15)) row.label = odd(25) ? "none of them" : row.keys[below(options)];
    row.overlap_choice = static_cast<int>(below(options));
    row.mode = "readout";
    row.stamp = "2026-12-02T00:00:00Z";
    return row;
  }

  ReadingRecord letters(const Row& row, bool with_prior) {
    ReadingRecord reading = cost();
    const auto groups = decision::tournament_groups(row.keys.size());
    std::vector<std::size_t> all(row.keys.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    std::vector<std::size_t> winners;
    for (const auto& group : groups) {
      std::vector<std::size_t> some(all.begin() + static_cast<std::ptrdiff_t>(group.first),
                                    all.begin() + static_cast<std::ptrdiff_t>(group.last));
      reading.rounds.push_back(round(some));
      winners.push_back(some[below(some.size())]);
    }
    if (groups.size() > 1) reading.rounds.push_back(round(winners));
    if (with_prior && groups.size() == 1 && !odd(5)) {
      reading.prior_rounds = {round(all)};
      if (odd(9)) reading.prior_rounds->front().letters.cause = decision::VoidCause::LowLabelMass;
    }
    spoil(reading);
    return reading;
  }

  ReadingRecord texts(const Row& row, bool one) {
    ReadingRecord reading = cost();
    reading.kind = ReadingRecord::Kind::Texts;
    for (std::size_t i = 0; i < (one ? 1 : row.keys.size()); ++i) {
      const std::size_t tokens = 1 + below(20);
      reading.texts.push_back(
          {-3.0 * static_cast<double>(tokens) * unit() - .1, tokens, tokens * 4});
      reading.priors.emplace_back(decision::TextScore{
          -4.0 * static_cast<double>(tokens) * unit() - .1, tokens, tokens * 4});
    }
    spoil(reading);
    return reading;
  }

  ReadingRecord written(const Row& row) {
    ReadingRecord reading = cost();
    reading.kind = ReadingRecord::Kind::Written;
    reading.reply = "reply";
    if (!odd(6)) reading.answer.option = below(row.keys.size());
    return reading;
  }

  /// As endpoints print them: in full or to two decimals, the choice picked before.
  ReadingRecord native(const Row& row) {
    ReadingRecord reading = cost();
    reading.kind = ReadingRecord::Kind::Native;
    std::vector<double> p;
    for (std::size_t i = 0; i < row.keys.size(); ++i) p.push_back(std::exp(4 * unit()));
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    const bool rounded = odd(2), noul = row.type == decision::QuestionType::Noul && odd(2);
    auto& given = reading.native;
    for (double& value : p) {
      value /= sum;
      given.probs.emplace_back(rounded ? std::round(value * 100) / 100 : value);
    }
    if (noul) given.probs.resize(1);
    if (!noul && odd(2)) given.choice = decision::argmax(p);
    if (odd(2)) given.label_mass = .1 + .9 * unit();
    given.present = true;
    reading.cause = decision::judge_native(given, row.type, row.keys.size(), 0);
    spoil(reading);
    return reading;
  }

  void shuffle(std::vector<std::string>& keys) { std::ranges::shuffle(keys, engine_); }

  /// Refused, or with the readings of the arm.
  void answer(Row& row) {
    row.readings.clear();
    if (odd(30)) {
      row.status = Row::Status::Refused;
      row.reason = "overlong";
    } else if (row.arm == "readout") {
      row.readings["letters"] = letters(row, true);
    } else if (row.arm == "texts") {
      row.readings["cloze"] = texts(row, false);
      if (row.type == decision::QuestionType::Noul) row.readings["gain"] = texts(row, true);
    } else if (row.arm == "native") {
      row.readings["native"] = native(row);
    } else {
      row.mode = "generate";
      row.readings["written"] = written(row);
    }
  }

  /// Rows of every probe of `plain`, or of some.
  std::vector<Row> probes(const Row& plain) {
    static constexpr const char* kNames[] = {
        "order:reverse", "order:1",        "order:2",     "law:negation", "law:choice",
        "law:rename",    "law:whitespace", "law:alone",   "law:beside",   "law:batch",
        "noise:again",   "noise:alone",    "noise:crowd", "noise:cold",   "sustained"};
    std::vector<Row> out;
    for (const std::string name : kNames) {
      const bool noul = plain.type == decision::QuestionType::Noul;
      if (odd(4) || (!noul && (name == "law:negation" || name == "law:choice"))) continue;
      Row row = plain;
      row.status = Row::Status::Asked;
      row.probe = name;
      if (name == "sustained") row.repeat = 1;
      if (name == "law:choice") row.type = decision::QuestionType::Choice;
      if (name == "order:reverse") {
        std::ranges::reverse(row.keys);
      } else if (name.starts_with("order:") && !noul) {
        shuffle(row.keys);
      }
      if (name == "law:negation" && row.label) row.label = row.keys[below(2)];
      char stamp[32];
      std::snprintf(stamp, sizeof stamp, "2026-12-02T00:%02zu:%02zuZ", below(5), below(60));
      row.stamp = stamp;
      answer(row);
      out.push_back(std::move(row));
    }
    return out;
  }

  bool odd(std::size_t one_in) { return below(one_in) == 0; }
  std::size_t below(std::size_t n) { return engine_() % n; }

 private:
  double unit() { return std::uniform_real_distribution<double>()(engine_); }

  ReadingRecord cost() {
    ReadingRecord reading;
    reading.planned_to_done_s = .01 + unit();
    reading.sent_to_done_s = reading.planned_to_done_s - .001;
    reading.prompt_tokens = static_cast<std::int64_t>(below(1'000));
    if (!odd(3)) reading.cached_tokens = odd(3) ? 0 : static_cast<std::int64_t>(below(1'000));
    return reading;
  }

  ReadingRecord::Round round(const std::vector<std::size_t>& options) {
    ReadingRecord::Round out;
    out.options = options;
    bool any = false;
    for (std::size_t i = 0; i < options.size(); ++i) {
      const bool missing = odd(4) && (any || i + 1 < options.size());
      any = any || !missing;
      // In halves, so that there are ties.
      out.letters.logprobs.push_back(
          missing ? std::nullopt : std::optional(-.5 * static_cast<double>(1 + below(16))));
    }
    out.letters.mass_letters = unit();
    if (odd(2)) out.letters.bound = -5 - 5 * unit();
    return out;
  }

  void spoil(ReadingRecord& reading) {
    if (odd(20)) {
      reading.error = "HTTP 500";
    } else if (odd(12)) {
      reading.cause = decision::VoidCause::NoLetterSeen;
    }
  }

  std::mt19937_64 engine_;
};

/// Scores `bytes` and has every figure computed again.
void expect_recomputed(const std::string& bytes) {
  const char* python = std::getenv("DEEM_ORACLE_PYTHON");
  if (python == nullptr || *python == '\0')
    GTEST_SKIP() << "DEEM_ORACLE_PYTHON is not set; make test sets it";
  std::string folder = (std::filesystem::temp_directory_path() / "deem-oracle-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string rows = join_path(folder, "rows.jsonl"),
                    scores = join_path(folder, "score.json");
  ASSERT_TRUE(write_file_atomically(rows, bytes));
  const auto scored = run_process(
      {.argv = {DEEM_PROGRAM, "score", rows, "--format", "json"}, .environment = own_environment()},
      Seconds(60));
  ASSERT_TRUE(scored && scored->ending.succeeded()) << (scored ? scored->errors : "");
  ASSERT_TRUE(write_file_atomically(scores, scored->output));
  const auto checked = run_process(
      {.argv = {python, "-W", "ignore", DEEM_SOURCE_DIR "/tools/recompute.py", rows, scores},
       .environment = own_environment()},
      Seconds(300));
  ASSERT_TRUE(checked);
  EXPECT_TRUE(checked->ending.succeeded()) << checked->output << checked->errors;
  std::printf("%s", checked->output.c_str());
  std::filesystem::remove_all(folder);
}

TEST(Oracle, RecomputesEveryFigureOfRandomRows) {
  RowMaker maker(20261202);
  std::string bytes;
  for (const std::string arm : {"readout", "texts", "generate", "native"}) {
    for (int n = 0; n < 240; ++n) {
      Row row = maker.next(n);
      row.arm = arm;
      maker.answer(row);
      bytes += record::format_row(row) + "\n";
    }
  }
  expect_recomputed(bytes);
}

TEST(Oracle, RecomputesEveryFigureOfRandomProbes) {
  RowMaker maker(20261204);
  std::string bytes;
  for (const std::string arm : {"readout", "texts", "generate", "native"}) {
    for (int n = 0; n < 80; ++n) {
      Row row = maker.next(n);
      row.arm = arm;
      row.constants.noul_bias = .3;
      maker.answer(row);
      bytes += record::format_row(row) + "\n";
      for (const Row& probe : maker.probes(row)) bytes += record::format_row(probe) + "\n";
    }
  }
  expect_recomputed(bytes);
}

}  // namespace
}  // namespace deem
