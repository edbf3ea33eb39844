#include "bench/run.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>
#include <thread>

#include "base/file.h"
#include "bench/journal.h"
#include "bench/test_run.h"
#include "record/rows_file.h"

namespace deem::bench {
namespace {

TEST_F(Running, WritesARowForEveryItemOfEveryArm) {
  const auto outcome = go();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->end, Outcome::End::Done);
  EXPECT_EQ(outcome->rows, 12U);
  expect_complete();
  EXPECT_EQ(listener.announced.rows, 12U);
  const auto record = record::load_run(config.out);
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_FALSE(record->ended.empty());
  EXPECT_EQ(record->arms.size(), 2U);
}

TEST_F(Running, RefusesAFolderThatHoldsARunAlready) {
  ASSERT_TRUE(go());
  const auto again = go();
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("deem resume"), std::string::npos) << again.error().message;
}

TEST_F(Running, StopsBetweenRowsAndResumesWithWhatIsMissingOnly) {
  listener.stop_after = 5;
  const auto first = go();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->end, Outcome::End::Interrupted);
  const int asked = calls.positions + calls.writes;
  listener.stop = {};
  listener.stop_after = 0;
  const auto second = go({.resume = true});
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->end, Outcome::End::Done);
  expect_complete();
  EXPECT_EQ(calls.positions + calls.writes, 12);
  EXPECT_EQ(second->asked_now, 12U - static_cast<std::size_t>(asked));
}

TEST_F(Running, AStopWhileASeatHangsBeforeTheFirstRowLeavesNothing) {
  script.hangs_on_identity = true;
  script.before_identity = [&] {
    EXPECT_TRUE(is_folder(config.out));
    listener.stop.request_stop();  // before the seat hangs, as well as while
  };
  const auto outcome = go();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->end, Outcome::End::Interrupted);
  EXPECT_FALSE(outcome->began);
  EXPECT_EQ(outcome->rows, 0u);
  EXPECT_FALSE(is_folder(config.out));

  script.before_identity = nullptr;
  listener.stop = std::stop_source();
  const std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    listener.stop.request_stop();
  });
  const auto hung = go();
  ASSERT_TRUE(hung) << hung.error().message;
  EXPECT_FALSE(hung->began);
  EXPECT_FALSE(is_folder(config.out));
}

TEST_F(Running, ASeatThatCanNotBeOpenedLeavesNothingOfANewRun) {
  config.arms[0].seat.address = "elsewhere";
  const SeatFactory none = [](const seat::SeatSpec&) -> Result<std::unique_ptr<seat::Seat>> {
    return fail(Error::Code::Unavailable, "nobody there");
  };
  EXPECT_FALSE(run(config, {}, none, listener, {}));
  EXPECT_FALSE(is_folder(config.out));
  ASSERT_TRUE(make_folders(config.out));  // the user's own stays
  EXPECT_FALSE(run(config, {}, none, listener, {}));
  EXPECT_TRUE(is_folder(config.out));
}

TEST_F(Running, AStopBeforeResumingKeepsWhatIsThere) {
  listener.stop_after = 3;
  ASSERT_TRUE(go());
  script.before_identity = [&] { listener.stop.request_stop(); };
  listener.stop = std::stop_source();
  const auto outcome = go({.resume = true});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_FALSE(outcome->began);
  EXPECT_EQ(outcome->rows, rows().size());
  script.before_identity = nullptr;
  listener.stop = std::stop_source();
  listener.stop_after = 0;
  ASSERT_TRUE(go({.resume = true}));
  expect_complete();
}

TEST_F(Running, RefusesToResumeWhenTheSeatIsAnother) {
  listener.stop_after = 3;
  ASSERT_TRUE(go());
  listener.stop = {};
  script.build = "scripted 2";
  const auto second = go({.resume = true});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Error::Code::BadInput);
  EXPECT_NE(second.error().message.find("scripted 2"), std::string::npos) << second.error().message;
}

TEST_F(Running, RefusesToResumeWhenKitOrSettingsChanged) {
  listener.stop_after = 3;
  ASSERT_TRUE(go());
  listener.stop = {};
  config.arms[0].min_mass = 0.5;
  const auto settings = go({.resume = true});
  ASSERT_FALSE(settings);
  EXPECT_NE(settings.error().message.find("min-mass"), std::string::npos)
      << settings.error().message;
  config.arms[0].min_mass = 0.05;
  const std::string other = join_path(folder.path(), "other");
  kit::Kit kit = small_kit();
  kit.tasks[0].items[0].question.instructions = "Which of them?";
  ASSERT_TRUE(kit::freeze_kit(kit, other));
  config.kit = other;
  const auto kit_changed = go({.resume = true});
  ASSERT_FALSE(kit_changed);
  EXPECT_NE(kit_changed.error().message.find("kit"), std::string::npos);
}

TEST_F(Running, GoesOnAfterAnErrorAndAsksItAgainOnlyWhenTold) {
  script.fails = [](const std::string& prompt) -> std::optional<Error> {
    if (prompt.find("south") == std::string::npos) return std::nullopt;
    return Error{Error::Code::Unavailable, "HTTP 503: busy"};
  };
  const auto first = go();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->errors, 6U);
  EXPECT_EQ(first->rows, 12U);
  script.fails = nullptr;
  const auto idle = go({.resume = true});
  ASSERT_TRUE(idle);
  EXPECT_EQ(idle->asked_now, 0U);
  const auto retried = go({.resume = true, .retry_errors = true});
  ASSERT_TRUE(retried) << retried.error().message;
  EXPECT_EQ(retried->asked_now, 6U);
  const auto file = record::load_rows(join_path(config.out, "rows.jsonl"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->rows.size(), 12U);
  for (const auto& row : file->rows) EXPECT_EQ(row.status, record::Row::Status::Asked);
}

TEST_F(Running, StopsAtTheLimitOfErrors) {
  script.fails = [](const std::string&) { return Error{Error::Code::Unavailable, "down"}; };
  config.max_errors = 2;
  const auto outcome = go();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->end, Outcome::End::TooManyErrors);
  EXPECT_EQ(outcome->errors, 2U);
}

TEST_F(Running, RefusesWhatDoesNotFitBeforeAskingAnything) {
  script.context = 10;
  const auto outcome = go();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->refused, 12U);
  EXPECT_EQ(calls.positions + calls.writes + calls.likelihoods, 0);
  const auto file = record::load_rows(join_path(config.out, "rows.jsonl"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->rows[0].reason, "overlong");
  EXPECT_GT(file->rows[0].reason_number.value_or(0), 10);
}

TEST_F(Running, SaysWhenThereIsNoCensus) {
  script.census = false;
  ASSERT_TRUE(go());
  ASSERT_FALSE(listener.notes.empty());
  EXPECT_NE(listener.notes[0].find("census not measured"), std::string::npos);
}

TEST_F(Running, LimitLimitsTheCalls) {
  config.limit = 1;
  config.arms = {small_arm("read", {{"letters", false}})};
  ASSERT_TRUE(go());
  EXPECT_EQ(calls.positions, 2);  // one item of each of two tasks
}

TEST_F(Running, ManyWorkersWriteEveryRowOnce) {
  config.concurrency = 8;
  config.repeat = 1;
  const auto outcome = go();
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_complete();
}

TEST_F(Running, KillAtFiftyMomentsLosesNoRowAndDoublesNone) {
  std::mt19937 random(20261201);
  script.before_reply = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  for (int i = 0; i < 50; ++i) {
    config.out = join_path(folder.path(), "run" + std::to_string(i));
    const pid_t child = ::fork();
    if (child == 0) {
      (void)go();
      ::_exit(0);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 25'000));
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    const bool began = file_exists(join_path(config.out, "run.json"));
    const std::size_t before =
        began ? record::load_rows(join_path(config.out, "rows.jsonl"))->rows.size() : 0;
    const auto outcome = go({.resume = began});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->asked_now, 12U - before);
    expect_complete();
  }
}

}  // namespace
}  // namespace deem::bench
