// Random runs: the constants and figures of deem calibrate and deem choose must be what
// tools/recompute_fit.py computes. DEEM_ORACLE_SEED=n makes other runs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>

#include "base/file.h"
#include "base/process.h"
#include "decision/readout.h"
#include "record/row.h"
#include "record/run.h"

namespace deem {
namespace {

using record::ReadingRecord;
using record::Row;

struct TaskPlan {
  std::string name;
  decision::QuestionType type;
  std::size_t items, states, least_options, most_options;
};

/// Rows whose readings know something of the label: a little, much, or the wrong way, by task and
/// reading. Some are void, unparsed, refused, without a label, or with one that is no option.
class RunMaker {
 public:
  explicit RunMaker(unsigned seed) : engine_(seed) {}

  std::string rows(const std::vector<TaskPlan>& plans) {
    std::string out;
    for (const TaskPlan& plan : plans) {
      for (std::size_t i = 0; i < plan.items; ++i) {
        const Row row = item(plan, i);
        add_arms(row, out);
        if (!odd(40)) continue;
        Row again = row;
        again.repeat = 1;
        add_arms(again, out);
      }
    }
    return out;
  }

 private:
  Row item(const TaskPlan& plan, std::size_t i) {
    Row row;
    row.task = plan.name;
    row.id = std::to_string(i);
    row.type = plan.type;
    (odd(2) ? row.state_sha256 : row.state_id) = "state" + std::to_string(below(plan.states));
    std::size_t options = plan.least_options + below(plan.most_options - plan.least_options + 1);
    if (plan.least_options != plan.most_options && odd(50)) options = 1;
    for (std::size_t k = 0; k < options; ++k) row.keys.push_back("k" + std::to_string(k));
    gold_ = below(options);
    if (!odd(30)) row.label = odd(30) ? "none of them" : row.keys[gold_];
    row.overlap_choice = static_cast<int>(below(options + 1)) - 1;
    row.mode = "readout";
    row.stamp = "2026-12-02T00:00:00Z";
    return row;
  }

  /// One item asked of every arm: a line each, two where the first failed and was asked again.
  void add_arms(const Row& item, std::string& out) {
    Row row = item;
    row.arm = "readout";
    row.readings["letters"] = letters(row, "letters");
    add(row, out);
    if (item.task == "long") return;
    row.readings.clear();
    row.arm = "other";  // of another model
    row.readings["letters"] = letters(row, "letters of another");
    add(row, out);
    row.readings.clear();
    row.arm = "texts";
    row.readings["cloze"] = texts(row, "cloze", row.keys.size());
    if (row.type == decision::QuestionType::Noul) row.readings["gain"] = texts(row, "gain", 1);
    if (odd(2)) row.readings["sparse"] = texts(row, "sparse", row.keys.size());
    add(row, out);
    row.readings.clear();
    row.arm = "generate";
    row.mode = "generate";
    row.readings["written"] = written(row);
    add(row, out);
    row.readings.clear();
    row.arm = "decides";
    row.mode = "readout";
    row.readings["native"] = native(row);
    add(row, out);
  }

  void add(Row row, std::string& out) {
    if (odd(60)) {
      row.status = Row::Status::Refused;
      row.reason = "overlong";
      row.readings.clear();
    } else if (odd(60)) {
      Row first = row;
      first.status = Row::Status::Error;
      first.reason = "HTTP 500";
      for (auto& [name, reading] : first.readings) reading.error = "HTTP 500";
      out += record::format_row(first) + "\n";
    }
    out += record::format_row(row) + "\n";
  }

  ReadingRecord letters(const Row& row, const std::string& name) {
    ReadingRecord out = cost(row);
    const auto groups = decision::tournament_groups(row.keys.size());
    std::vector<std::size_t> winners;
    for (const auto& group : groups) {
      std::vector<std::size_t> some;
      for (std::size_t k = group.first; k < group.last; ++k) some.push_back(k);
      out.rounds.push_back(round(some, strength(row, name)));
      const auto& seen = out.rounds.back().letters.logprobs;
      winners.push_back(
          some[static_cast<std::size_t>(std::ranges::max_element(seen) - seen.begin())]);
    }
    if (groups.size() > 1) out.rounds.push_back(round(winners, strength(row, name)));
    // Not asked of a long task, so that its reading has no variant by prior.
    if (groups.size() == 1 && row.task != "long" && !odd(20))
      out.prior_rounds = {round(out.rounds.front().options, 0)};
    spoil(out);
    return out;
  }

  ReadingRecord::Round round(const std::vector<std::size_t>& options, double strength) {
    ReadingRecord::Round out;
    out.options = options;
    double sum = 0;
    for (const std::size_t option : options) {
      const double z = 1.5 * normal() + (option == gold_ ? strength : 0);
      out.letters.logprobs.emplace_back(z);
      sum += std::exp(z);
    }
    out.letters.mass_letters = .5 + .5 * unit();
    for (auto& logprob : out.letters.logprobs) *logprob += std::log(out.letters.mass_letters / sum);
    const double top = **std::ranges::max_element(out.letters.logprobs);
    for (auto& logprob : out.letters.logprobs) {
      if (*logprob < top - 2 && odd(3)) logprob.reset();
    }
    if (odd(2)) out.letters.bound = top - 2 - unit();
    return out;
  }

  ReadingRecord texts(const Row& row, const std::string& name, std::size_t n) {
    ReadingRecord out = cost(row);
    out.kind = ReadingRecord::Kind::Texts;
    out.prompt_sha256 = "templates of " + row.task;
    const double knows = strength(row, name);
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t tokens = 1 + below(12);
      const double prior = -2 * static_cast<double>(tokens) * (.2 + unit());
      const double gain = normal() + (k == gold_ ? knows : 0);
      out.texts.push_back({prior + gain, tokens, tokens * 2 + below(20)});
      out.priors.emplace_back(decision::TextScore{prior, tokens, tokens * 2});
    }
    spoil(out);
    if (row.task == "level" && name == "sparse") out.cause = decision::VoidCause::NoLogprobs;
    return out;
  }

  ReadingRecord written(const Row& row) {
    ReadingRecord out = cost(row);
    out.kind = ReadingRecord::Kind::Written;
    out.reply = "reply";
    if (!odd(8)) out.answer.option = odd(2) ? gold_ : below(row.keys.size());
    spoil(out);
    return out;
  }

  /// As endpoints print them: in full or to two decimals, the choice picked before.
  ReadingRecord native(const Row& row) {
    ReadingRecord out = cost(row);
    out.kind = ReadingRecord::Kind::Native;
    std::vector<double> p;
    double sum = 0;
    for (std::size_t k = 0; k < row.keys.size(); ++k) {
      p.push_back(std::exp(normal() + (k == gold_ ? strength(row, "native") : 0)));
      sum += p.back();
    }
    const bool rounded = odd(2);
    for (double& value : p) {
      value /= sum;
      out.native.probs.emplace_back(rounded ? std::round(value * 100) / 100 : value);
    }
    const auto most = std::ranges::max_element(p) - p.begin();
    if (row.type == decision::QuestionType::Noul && p.size() == 2) {
      out.native.probs.resize(1);
    } else if (odd(2)) {
      out.native.choice = static_cast<std::size_t>(most);
    }
    out.native.present = true;
    out.cause = decision::judge_native(out.native, row.type, row.keys.size(), 0);
    spoil(out);
    return out;
  }

  ReadingRecord cost(const Row& row) {
    ReadingRecord out;
    out.prompt_sha256 = "turn " + row.id;
    out.planned_to_done_s = .01 + unit();
    out.sent_to_done_s = out.planned_to_done_s;
    out.prior_s = odd(2) ? unit() : 0;
    if (!odd(10)) out.prompt_tokens = static_cast<std::int64_t>(below(1'000));
    if (odd(2)) out.output_tokens = static_cast<std::int64_t>(below(20));
    return out;
  }

  void spoil(ReadingRecord& reading) {
    if (odd(25)) {
      reading.error = "HTTP 500";
    } else if (odd(25)) {
      reading.cause = decision::VoidCause::NoLetterSeen;
    }
  }

  /// How much a reading knows of a task; below zero it points the wrong way.
  double strength(const Row& row, const std::string& reading) {
    const auto [found, fresh] = strengths_.try_emplace({row.task, reading}, 0.0);
    if (fresh) found->second = std::array{-.8, .1, .7, 1.5, 3.0}[below(5)];
    return found->second;
  }

  bool odd(std::size_t one_in) { return below(one_in) == 0; }
  std::size_t below(std::size_t n) { return engine_() % n; }
  double unit() { return std::uniform_real_distribution<double>()(engine_); }
  double normal() { return std::sqrt(-2 * std::log(1 - unit())) * std::cos(6.283185307 * unit()); }

  std::mt19937_64 engine_;
  std::size_t gold_ = 0;
  std::map<std::pair<std::string, std::string>, double> strengths_;
};

record::RunRecord run_record() {
  record::RunRecord run;
  run.deem = "0";
  run.kit_name = "random";
  run.kit_digest = "d";
  run.started = "then";
  run.ended = "now";
  run.settings = codec::Json::object();
  for (const std::string name : {"readout", "texts", "generate", "decides", "other"}) {
    record::ArmRecord arm;
    arm.name = name;
    arm.mode = name == "generate" ? name : "readout";
    arm.identity = codec::Json::object({{"kind", name == "texts" ? "local" : "llama-server"},
                                        {"model", "m"},
                                        {"digest", name == "other" ? "sha256:2" : "sha256:1"},
                                        {"template_sha256", "t"}});
    run.arms.push_back(arm);
  }
  return run;
}

struct Case {
  const char* name;
  unsigned seed;
  std::vector<TaskPlan> plans;
  std::vector<std::string> calibrate, choose, check;  // flags
};

class FitOracle : public testing::TestWithParam<Case> {};

TEST_P(FitOracle, RecomputesEveryConstantAndFigure) {
  const char* python = std::getenv("DEEM_ORACLE_PYTHON");
  if (python == nullptr || *python == '\0')
    GTEST_SKIP() << "DEEM_ORACLE_PYTHON is not set; make test sets it";
  std::string folder = (std::filesystem::temp_directory_path() / "deem-oracle-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string rows = join_path(folder, "rows.jsonl");
  const char* more = std::getenv("DEEM_ORACLE_SEED");
  const unsigned seed =
      GetParam().seed + (more == nullptr ? 0U : static_cast<unsigned>(std::atoi(more)));
  ASSERT_TRUE(write_file_atomically(rows, RunMaker(seed).rows(GetParam().plans)));
  ASSERT_TRUE(
      write_file_atomically(join_path(folder, "run.json"), record::format_run(run_record())));
  std::vector<std::string> check = {python, "-W", "ignore",
                                    DEEM_SOURCE_DIR "/tools/recompute_fit.py", rows};
  for (const std::string verb : {"calibrate", "choose"}) {
    const std::string fit = join_path(folder, verb + "-fit.json"),
                      report = join_path(folder, verb + ".json");
    std::vector<std::string> argv = {DEEM_PROGRAM, verb, folder, "--format", "json", "--out", fit};
    const auto& flags = verb == "choose" ? GetParam().choose : GetParam().calibrate;
    argv.insert(argv.end(), flags.begin(), flags.end());
    const auto made = run_process({.argv = argv, .environment = own_environment()}, Seconds(60));
    ASSERT_TRUE(made && made->ending.succeeded()) << (made ? made->errors : "");
    ASSERT_TRUE(write_file_atomically(report, made->output));
    check.insert(check.end(), {fit, report});
  }
  check.insert(check.end(), GetParam().check.begin(), GetParam().check.end());
  const auto checked = run_process({.argv = check, .environment = own_environment()}, Seconds(300));
  ASSERT_TRUE(checked);
  EXPECT_TRUE(checked->ending.succeeded()) << checked->output << checked->errors;
  std::printf("%s", checked->output.c_str());
  std::filesystem::remove_all(folder);
}

constexpr auto kNoul = decision::QuestionType::Noul;
constexpr auto kChoice = decision::QuestionType::Choice;
constexpr auto kScore = decision::QuestionType::Score;

INSTANTIATE_TEST_SUITE_P(Runs, FitOracle,
                         testing::Values(Case{"ByBrier",
                                              1,
                                              {{"claim", kNoul, 240, 60, 2, 2},
                                               {"doubt", kNoul, 60, 40, 2, 2},
                                               {"pick", kChoice, 260, 70, 2, 4},
                                               {"few", kChoice, 20, 20, 3, 3},
                                               {"narrow", kChoice, 50, 4, 3, 3}},
                                              {},
                                              {},
                                              {}},
                                         Case{"ByLogLoss",
                                              2,
                                              {{"four", kChoice, 260, 90, 4, 4},
                                               {"four too", kChoice, 50, 90, 4, 4},
                                               {"eleven", kChoice, 260, 60, 11, 11},
                                               {"four again", kChoice, 40, 20, 4, 4},
                                               {"level", kScore, 50, 30, 5, 5}},
                                              {},
                                              {"--by", "log-loss"},
                                              {}},
                                         Case{"ByAccuracyTheCheapest",
                                              3,
                                              {{"long", kChoice, 2'300, 400, 4, 4},
                                               {"many", kChoice, 45, 30, 53, 60},
                                               {"wide", kChoice, 120, 12, 2, 9}},
                                              {"--method", "temperature"},
                                              {"--by", "accuracy", "--cheapest"},
                                              {"--method", "temperature", "--cheapest"}}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace deem
