#include "bench/run.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <random>
#include <thread>

#include "base/file.h"
#include "bench/calibration.h"
#include "bench/journal.h"
#include "bench/scripted_seat.h"
#include "bench/test_folder.h"
#include "bench/test_kit.h"
#include "record/rows_file.h"

namespace deem::bench {
namespace {

class Listener : public Observer {
 public:
  void stage(const std::string&) override {}
  void announce(const Announcement& a) override { announced = a; }
  void row(const record::Row&, const Progress& p) override {
    last = p;
    if (stop_after > 0 && p.asked_now >= stop_after) stop.request_stop();
  }
  void note(const std::string& what) override { notes.push_back(what); }

  Announcement announced;
  Progress last;
  std::vector<std::string> notes;
  std::size_t stop_after = 0;
  std::stop_source stop;
};

class Running : public testing::Test {
 protected:
  void SetUp() override {
    kit_path = join_path(folder.path(), "kit");
    ASSERT_TRUE(kit::freeze_kit(small_kit(), kit_path));
    config.kit = kit_path;
    config.out = join_path(folder.path(), "run");
    config.arms = {small_arm("read", {{"letters", false}, {"cloze", true}}),
                   small_arm("write", {{"written", false}})};
  }

  Result<Outcome> go(RunOptions options = {}) {
    const SeatFactory factory = [&](const seat::SeatSpec&) -> Result<std::unique_ptr<seat::Seat>> {
      return std::unique_ptr<seat::Seat>(std::make_unique<ScriptedSeat>(script, calls));
    };
    return run(config, options, factory, listener, listener.stop.get_token());
  }

  /// How often each row stands in the file; a row that stands twice shows as 2.
  std::map<std::string, int> rows() {
    std::map<std::string, int> out;
    const std::string bytes = read_file(join_path(config.out, "rows.jsonl")).value_or("");
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t end = bytes.find('\n', at);
      const auto row = record::parse_row(std::string_view(bytes).substr(at, end - at));
      EXPECT_TRUE(row);
      if (row) ++out[row->arm + "/" + row->task + "/" + row->id];
      at = end + 1;
    }
    return out;
  }
  void expect_complete() {
    const auto found = rows();
    EXPECT_EQ(found.size(), 12U);
    for (const auto& [name, n] : found) EXPECT_EQ(n, 1) << name;
  }

  TestFolder folder;
  std::string kit_path;
  Config config;
  ScriptedSeat::Script script;
  ScriptedSeat::Calls calls;
  Listener listener;
};

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

/// A fit by choose for the scripted seat: pick by its cloze less the prior, open by its gain.
record::Fit small_fit() {
  record::Fit fit{.name = "f",
                  .deem = "0",
                  .made = "",
                  .by = "choose",
                  .model = {.kind = "scripted"},
                  .sources = {},
                  .entries = {}};
  fit.entries.push_back({.task = "pick",
                         .type = decision::QuestionType::Choice,
                         .mode = "readout",
                         .reading = "cloze",
                         .variant = "prior-sum",
                         .calibrator = {.method = decision::Calibrator::Method::Temperature,
                                        .temperatures = {{0, 2.0}}}});
  fit.entries.push_back({.task = "open",
                         .type = decision::QuestionType::Noul,
                         .mode = "readout",
                         .reading = "gain",
                         .variant = "raw-sum",
                         .calibrator = {.method = decision::Calibrator::Method::Platt}});
  return fit;
}

class RunningByAFit : public Running {
 protected:
  void SetUp() override {
    Running::SetUp();
    path = join_path(folder.path(), "fit.json");
    config.arms = {small_arm("read", {{std::string(kChosenReading), false}})};
    config.arms[0].calibration = path;
  }
  void save(const record::Fit& fit) {
    ASSERT_TRUE(write_file_atomically(path, record::format_fit(fit)));
  }
  std::string refusal() {
    const auto outcome = go();
    EXPECT_FALSE(outcome);
    EXPECT_FALSE(file_exists(join_path(config.out, "run.json")));
    if (outcome) return "";
    EXPECT_EQ(outcome.error().code, Error::Code::BadInput);
    return outcome.error().message;
  }
  std::string path;
};

TEST_F(RunningByAFit, AsksEachTaskByWhatWasChosenForIt) {
  save(small_fit());
  ASSERT_TRUE(go());
  const auto found = record::load_rows(join_path(config.out, "rows.jsonl"));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->rows.size(), 6U);
  for (const record::Row& row : found->rows) {
    ASSERT_EQ(row.readings.size(), 1U);
    EXPECT_EQ(row.readings.begin()->first, row.task == "pick" ? "cloze" : "gain");
  }
  EXPECT_EQ(calls.positions, 0);
  const auto run = record::load_run(config.out);
  ASSERT_TRUE(run);
  const codec::Json* fit = run->arms[0].calibration.find("fit");
  ASSERT_NE(fit, nullptr);
  EXPECT_EQ(*record::parse_fit(*fit), small_fit());
}

TEST_F(RunningByAFit, ATaskItChoseNothingForIsAskedByLetters) {
  record::Fit fit = small_fit();
  fit.entries.pop_back();
  save(fit);
  ASSERT_TRUE(go());
  EXPECT_EQ(calls.positions, 2);
}

TEST_F(RunningByAFit, ResumesWithTheFitItBeganWith) {
  save(small_fit());
  listener.stop_after = 2;
  ASSERT_TRUE(go());
  record::Fit other = small_fit();
  other.entries.pop_back();
  save(other);  // changed meanwhile; the run keeps its own
  listener.stop_after = 0;
  listener.stop = std::stop_source();
  const auto begun = record::load_run(config.out);
  ASSERT_TRUE(begun);
  ASSERT_TRUE(read_calibration(begun->arms[0].calibration, config.arms[0]));
  ASSERT_TRUE(go({.resume = true}));
  const auto found = record::load_rows(join_path(config.out, "rows.jsonl"));
  ASSERT_EQ(found->rows.size(), 6U);
  for (const record::Row& row : found->rows) EXPECT_FALSE(row.readings.contains("letters"));
}

TEST_F(RunningByAFit, IsRefusedForAnotherModelByName) {
  record::Fit fit = small_fit();
  fit.model.digest = "sha256:abc";
  save(fit);
  EXPECT_NE(refusal().find("calibration f (" + path +
                           ") is not for this arm: weights sha256:abc "
                           "there, not told here"),
            std::string::npos);
}

TEST_F(RunningByAFit, IsRefusedForOtherTextsPolicyOrType) {
  record::Fit fit = small_fit();
  fit.entries[0].prompt_digest = "other";
  save(fit);
  EXPECT_NE(refusal().find("reading cloze of task pick has other texts"), std::string::npos);
  fit = small_fit();
  fit.entries[0].policy = "fold";
  save(fit);
  EXPECT_NE(refusal().find("letters by policy fold there, exact here"), std::string::npos);
  fit = small_fit();
  fit.entries[1].type = decision::QuestionType::Choice;
  save(fit);
  EXPECT_NE(refusal().find("task open is of another type"), std::string::npos);
  fit = small_fit();
  fit.entries[0].reading = "clothes";
  save(fit);
  EXPECT_NE(refusal().find("reading clothes of task pick is not in this kit"), std::string::npos);
}

TEST_F(RunningByAFit, ChosenWantsAFitThatChooses) {
  record::Fit fit = small_fit();
  fit.by = "calibrate";
  save(fit);
  EXPECT_NE(refusal().find("wants a fit file by deem choose"), std::string::npos);
  config.arms[0].calibration.clear();
  EXPECT_NE(refusal().find("name one by --calibration"), std::string::npos);
}

}  // namespace
}  // namespace deem::bench
