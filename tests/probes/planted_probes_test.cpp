// A seat is given a fault of a known size; the figures must say exactly that.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "base/file.h"
#include "bench/run.h"
#include "bench/scripted_seat.h"
#include "bench/test_folder.h"
#include "bench/test_kit.h"
#include "record/rows_file.h"
#include "score/score_rows.h"

namespace deem {
namespace {

using bench::ScriptedSeat;

class Listener : public bench::Observer {
 public:
  void stage(const std::string&) override {}
  void announce(const bench::Announcement&) override {}
  void row(const record::Row&, const bench::Progress& p) override {
    if (stop_after > 0 && p.asked_now >= stop_after) stop.request_stop();
  }
  void note(const std::string& what) override { notes.push_back(what); }
  std::vector<std::string> notes;
  std::size_t stop_after = 0;
  std::stop_source stop;
};

/// Letters with these probabilities.
decision::FirstPosition position_of(const std::vector<double>& p) {
  decision::FirstPosition out;
  for (const double x : p) out.exact.emplace_back(std::log(x));
  out.logprobs_present = true;
  out.sampled = decision::TokenScore{"A", 32, out.exact[0]};
  out.top = {*out.sampled};
  return out;
}

class Planted : public testing::Test {
 protected:
  void SetUp() override {
    kit::Kit kit = bench::small_kit();
    kit.tasks[0].items[0].question.options[2].description = "gamma";
    kit_path = join_path(folder.path(), "kit");
    ASSERT_TRUE(kit::freeze_kit(kit, kit_path));
    config.kit = kit_path;
    config.doctor = bench::Doctor::Off;
    config.out = join_path(folder.path(), "run");
    config.arms = {bench::small_arm("read", {{"letters", false}})};
    config.arms[0].constants = {.temperature = 1, .noul_slope = 1, .noul_bias = 0};
    config.tasks = {"pick"};
  }

  Result<bench::Outcome> go(bench::RunOptions options = {}) {
    const bench::SeatFactory factory =
        [&](const seat::SeatSpec&) -> Result<std::unique_ptr<seat::Seat>> {
      return std::unique_ptr<seat::Seat>(std::make_unique<ScriptedSeat>(script, calls));
    };
    return bench::run(config, options, factory, listener, listener.stop.get_token());
  }

  std::vector<record::Row> rows() {
    return record::load_rows(join_path(config.out, "rows.jsonl"))->rows;
  }
  score::Scores scored() {
    const auto outcome = go();
    EXPECT_TRUE(outcome) << outcome.error().message;
    return score::score_rows(rows());
  }

  bench::TestFolder folder;
  std::string kit_path;
  bench::Config config;
  ScriptedSeat::Script script;
  ScriptedSeat::Calls calls;
  Listener listener;
};

TEST_F(Planted, ASeatThatSaysTheFirstLetterIsFoundOut) {
  script.position = [](const seat::PositionRequest&) { return position_of({.7, .2, .1}); };
  config.probes.permute = bench::kAllOrders;
  const score::Scores scores = scored();
  ASSERT_EQ(scores.probes.position.size(), 1U);
  const score::PositionFigures& f = scores.probes.position[0].all;
  EXPECT_EQ(f.n, 4U);
  EXPECT_EQ(f.complete, 4U);
  EXPECT_EQ(f.orders, 20U);
  EXPECT_EQ(f.flipped_items.hits, 4U);
  EXPECT_EQ(f.flipped_orders.hits, 16U) << "two of six orders begin with the same option";
  EXPECT_EQ(f.reverse_flips.hits, 4U);
  EXPECT_NEAR(*f.max_change, .6, 1e-12) << "from first to last: .7 to .1";
  EXPECT_NEAR(*f.median_change, .6, 1e-12);
  ASSERT_EQ(f.by_gold.size(), 3U);
  for (const auto& rate : f.by_gold) EXPECT_EQ(rate.n, 8U) << "each position holds it as often";
  EXPECT_EQ(f.by_gold[0].hits, 8U);
  EXPECT_EQ(f.by_gold[1].hits + f.by_gold[2].hits, 0U);
  ASSERT_EQ(f.said_at.size(), 1U);
  EXPECT_EQ(f.said_at[0].hits, 24U);
  // Averaged over all orders every option has 1/3: Brier 4/9 + 2/9. As asked p0 and p3 are right.
  EXPECT_NEAR(*f.averaged.brier, 2. / 3, 1e-12);
  EXPECT_NEAR(*f.averaged_logprobs.brier, 2. / 3, 1e-12);
  EXPECT_EQ(f.plain.accuracy.hits, 2U);
  EXPECT_NEAR(*f.plain.brier, (.3 * .3 + .2 * .2 + .1 * .1 + .7 * .7 + .8 * .8 + .1 * .1) / 2,
              1e-12);
  EXPECT_EQ(f.reversed.accuracy.hits, 0U);
  EXPECT_EQ(scores.rows, 4U) << "probe rows are in no plain count";
  EXPECT_EQ(scores.columns[0].all.rows, 4U);
}

/// The options' keys in the order a prompt lists them.
std::vector<std::string> listed(const std::string& prompt) {
  std::vector<std::string> out;
  for (std::size_t at = prompt.find("\n["); at != std::string::npos;
       at = prompt.find("\n[", at + 1)) {
    out.push_back(prompt.substr(at + 5, prompt.find(':', at) - at - 5));
  }
  return out;
}

TEST_F(Planted, AnAnswerThatHangsOnTheOptionsAloneShowsNothing) {
  script.position = [](const seat::PositionRequest& request) {
    std::vector<double> p;
    for (const std::string& key : listed(request.prompt)) {
      p.push_back(key == "a" ? .5 : key == "b" ? .25 : .125);
    }
    return position_of(p);
  };
  config.probes = {.permute = bench::kAllOrders, .laws = true, .noise = 4};
  const score::ProbeFigures probes = scored().probes;
  const score::PositionFigures& f = probes.position.at(0).all;
  EXPECT_EQ(f.flipped_items.hits + f.flipped_orders.hits + f.reverse_flips.hits, 0U);
  EXPECT_LE(*f.max_change, 1e-15);
  EXPECT_NEAR(*f.averaged.brier, *f.plain.brier, 1e-15);
  ASSERT_FALSE(probes.noise.empty());
  for (const auto& noise : probes.noise) {
    EXPECT_EQ(noise.max_logprob, 0.0);
    EXPECT_EQ(noise.flips.hits, 0U);
  }
  for (const auto& law : probes.laws) {
    if (law.law == "whitespace") {
      EXPECT_EQ(law.max, 0.0);
    } else if (law.law == "order") {
      EXPECT_LE(*law.max, 1e-15);
    }
  }
}

const score::LawFigures* find_law(const score::ProbeFigures& probes, const std::string& law) {
  for (const auto& f : probes.laws) {
    if (f.law == law && f.task.empty()) return &f;
  }
  return nullptr;
}

TEST_F(Planted, AStatementAndItsNegationThatAreBothLikelyBreakTheLaw) {
  config.tasks = {"open"};
  config.probes.laws = true;
  script.position = [](const seat::PositionRequest& request) {
    const bool two_way = request.prompt.find("Which of the two") != std::string::npos;
    return position_of(two_way ? std::vector{.4, .6} : std::vector{.8, .2});
  };
  const score::ProbeFigures probes = scored().probes;
  const auto *negation = find_law(probes, "negation"), *choice = find_law(probes, "choice");
  ASSERT_NE(negation, nullptr);
  ASSERT_NE(choice, nullptr);
  EXPECT_EQ(negation->n, 2U);
  EXPECT_NEAR(*negation->mean, .6, 1e-12) << ".8 + .8 − 1";
  EXPECT_NEAR(*negation->max, .6, 1e-12);
  EXPECT_EQ(negation->changes.hits, 2U) << "yes to both";
  EXPECT_EQ(negation->plain_accuracy.hits, 1U);
  EXPECT_EQ(negation->probe_accuracy.hits, 1U) << "the negation's label is the other one";
  EXPECT_NEAR(*negation->uniform_accuracy, .5, 1e-15);
  EXPECT_NEAR(*choice->mean, .4, 1e-12) << "yes .8 and .4";
  EXPECT_EQ(choice->changes.hits, 2U);
}

TEST_F(Planted, ACoherentNegationKeepsTheLaw) {
  config.tasks = {"open"};
  config.probes.laws = true;
  script.position = [](const seat::PositionRequest& request) {
    const bool negated = request.prompt.find("Is \"no\" the right answer") != std::string::npos;
    return position_of(negated ? std::vector{.2, .8} : std::vector{.8, .2});
  };
  const auto probes = scored().probes;
  const auto* negation = find_law(probes, "negation");
  ASSERT_NE(negation, nullptr);
  EXPECT_NEAR(*negation->max, 0, 1e-12);
  EXPECT_EQ(negation->changes.hits, 0U);
}

TEST_F(Planted, AYesIsCalibratedInReverseOrderToo) {
  config.tasks = {"open"};
  config.arms[0].constants = {.temperature = 1, .noul_slope = 2, .noul_bias = 1};
  config.probes.permute = 1;
  script.position = [](const seat::PositionRequest& request) {
    return position_of(listed(request.prompt)[0] == "yes" ? std::vector{.8, .2}
                                                          : std::vector{.2, .8});
  };
  EXPECT_NEAR(*scored().probes.position.at(0).all.max_change, 0, 1e-12);
}

TEST_F(Planted, NoiseIsWhatTheSecondAnswerDiffersBy) {
  std::mutex mutex;
  std::map<std::string, int> seen;
  script.position = [&](const seat::PositionRequest& request) {
    const std::scoped_lock lock(mutex);
    const bool again = seen[request.prompt]++ > 0;
    auto out = position_of({.5, .3, .1});
    if (again) *out.exact[1] += .25;  // .385: no flip
    return out;
  };
  config.probes.noise = 2;
  const auto probes = scored().probes;
  ASSERT_FALSE(probes.noise.empty());
  EXPECT_EQ(probes.noise[0].kind, "again");
  EXPECT_EQ(probes.noise[0].n, 2U);
  EXPECT_EQ(probes.noise[0].values, 6U);
  EXPECT_NEAR(*probes.noise[0].max_logprob, .25, 1e-12);
  EXPECT_EQ(probes.noise[0].flips.hits, 0U);
}

TEST_F(Planted, ProbesLeaveEveryPlainFigureAsItIs) {
  const score::Scores plain = scored();
  config.out = join_path(folder.path(), "probed");
  config.probes = {.permute = 3, .laws = true, .noise = 2};
  const score::Scores probed = scored();
  EXPECT_EQ(plain.probes.rows, 0U);
  EXPECT_GT(probed.probes.rows, 0U);
  const auto &a = plain.columns.at(0).all, &b = probed.columns.at(0).all;
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.accuracy.hits, b.accuracy.hits);
  EXPECT_EQ(a.brier, b.brier);
  EXPECT_EQ(a.prompt_tokens, b.prompt_tokens);
  EXPECT_EQ(a.seconds_n, b.seconds_n);
}

TEST_F(Planted, KilledProbesAreResumedWithoutLossOrDouble) {
  std::mt19937 random(20261202);
  script.before_reply = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  config.probes = {.permute = bench::kAllOrders, .laws = true, .noise = 4};
  for (int i = 0; i < 12; ++i) {
    config.out = join_path(folder.path(), "run" + std::to_string(i));
    const pid_t child = ::fork();
    if (child == 0) {
      (void)go();
      ::_exit(0);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    const bool began = file_exists(join_path(config.out, "run.json"));
    const auto outcome = go({.resume = began});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->end, bench::Outcome::End::Done);
    std::map<std::string, int> found;
    for (const auto& row : rows()) ++found[row.probe + "/" + row.id];
    // Plain, 5 orders, white space, again, crowd of four items; renamed: the one with descriptions.
    EXPECT_EQ(found.size(), 4U * 9 + 1);
    const std::string bytes = *read_file(join_path(config.out, "rows.jsonl"));
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(bytes, '\n')), found.size());
  }
}

TEST_F(Planted, ASustainedRunGoesOnForItsTimeAndCountsOnePassAsPlain) {
  script.before_reply = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  config.probes.sustained_s = .15;
  const auto outcome = go();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->end, bench::Outcome::End::Done);
  const auto all = rows();
  EXPECT_GT(all.size(), 12U);
  const score::Scores scores = score::score_rows(all);
  EXPECT_EQ(scores.rows, 4U);
  ASSERT_EQ(scores.probes.sustained.size(), 1U);
  EXPECT_EQ(scores.probes.sustained[0].answered, all.size());
  const auto record = record::load_run(config.out);
  ASSERT_TRUE(record);
  EXPECT_FALSE(record->ended.empty());
  const auto again = go({.resume = true});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->asked_now, 0U) << "its time is over";
}

TEST_F(Planted, AStoppedSustainedRunIsNotDone) {
  config.probes.sustained_s = 600;
  listener.stop_after = 30;
  const auto outcome = go();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->end, bench::Outcome::End::Interrupted);
  listener.stop = {};
  listener.stop_after = 5;
  const auto more = go({.resume = true});
  ASSERT_TRUE(more) << more.error().message;
  EXPECT_GE(more->asked_now, 5U);
  std::set<std::string> found;
  for (const auto& row : rows()) found.insert(row.probe + std::to_string(row.repeat) + row.id);
  EXPECT_EQ(found.size(), rows().size());
}

TEST_F(Planted, ASustainedRunOnADeadSeatEndsEarly) {
  script.fails = [](const std::string&) { return Error{Error::Code::Unavailable, "down"}; };
  config.probes.sustained_s = 600;
  const auto outcome = go();
  ASSERT_TRUE(outcome);
  EXPECT_LE(outcome->rows, 8U);
  ASSERT_FALSE(listener.notes.empty());
  EXPECT_NE(listener.notes.front().find("ends early"), std::string::npos);
}

}  // namespace
}  // namespace deem
