#include <gtest/gtest.h>

#include "base/file.h"
#include "bench/calibration.h"
#include "bench/test_run.h"
#include "record/rows_file.h"

namespace deem::bench {
namespace {

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
