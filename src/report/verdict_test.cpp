#include "report/verdict.h"

#include <gtest/gtest.h>

#include "report/test_rows.h"

namespace deem::report {
namespace {

std::vector<Verdict> verdicts_of(const std::vector<record::Row>& rows, score::Evidence& evidence) {
  const score::Scores scores = score::score_rows(rows);
  evidence = score::find_evidence(rows, scores);
  return find_verdicts(scores, evidence);
}

bool says(const std::vector<std::string>& list, const std::string& part) {
  for (const std::string& text : list) {
    if (text.find(part) != std::string::npos) return true;
  }
  return false;
}

// Labels are "no" and "yes" by turns, so of 40 items uniform, prior and overlap are .5. Wilson's
// interval of 36 of 40 is [.769, .960], of 22 of 40 [.398, .693], of 5 of 40 [.055, .261].
TEST(Verdict, IsBetterWhenTheWholeIntervalLiesAboveTheBaselines) {
  std::vector<record::Row> rows;
  add_rows(rows, "a", "t", 40, 36, 0.9);
  score::Evidence evidence;
  const auto verdicts = verdicts_of(rows, evidence);
  ASSERT_EQ(verdicts.size(), 1U);
  EXPECT_EQ(verdicts[0].level, Verdict::Level::Better);
  EXPECT_NE(verdicts[0].headline.find("a letters:raw is right in .900 [.77, .96] of 40"),
            std::string::npos)
      << verdicts[0].headline;
  EXPECT_TRUE(says(verdicts[0].warnings, "Few items: 40"));
  EXPECT_EQ(summary(verdicts), "The best column is better than every baseline.");
}

/// A finding about the seat is told first, of the reading it spoils alone.
TEST(Verdict, IsInDoubtWhereAProbeOfTheSeatSpeaksAgainstTheBestColumn) {
  std::vector<record::Row> rows;
  add_rows(rows, "a", "t", 40, 36, 0.9);
  const score::Scores scores = score::score_rows(rows);
  const score::Evidence evidence = score::find_evidence(rows, scores);
  const auto judged = [&](const char* arm, const char* reading) {
    return find_verdicts(scores, evidence,
                         {{.arm = arm, .reading = reading, .why = "logprobs: processed"}});
  };
  const auto doubted = judged("a", "letters");
  EXPECT_EQ(doubted[0].badge, judged("b", "letters")[0].badge + ", in doubt");
  EXPECT_NE(doubted[0].warnings.at(0).find("logprobs: processed"), std::string::npos);
  EXPECT_EQ(summary(doubted),
            "The best column is better than every baseline. But a probe of its seat speaks against "
            "it.");
  for (const char* other : {"likelihood", "written", "native"})
    EXPECT_FALSE(judged("a", other)[0].in_doubt) << other;
}

/// Every reading that is none of the named ones is by likelihood; a chosen one may be any.
TEST(Doubt, IsAboutTheColumnsOfItsReading) {
  const auto about = [](const char* doubted, const char* column) {
    const std::vector<Doubt> doubts = {{.arm = "a", .reading = doubted}};
    score::Column of;
    of.arm = "a";
    of.reading = column;
    return doubt_about(doubts, of) != nullptr;
  };
  EXPECT_TRUE(about("likelihood", "cloze"));
  EXPECT_TRUE(about("likelihood", "words"));
  EXPECT_FALSE(about("likelihood", "letters"));
  EXPECT_FALSE(about("letters", "cloze"));
  EXPECT_TRUE(about("native", "native"));
  EXPECT_TRUE(about("letters", "chosen"));
}

TEST(Verdict, IsUnclearWhenTheBaselineLiesInsideAndWorseWhenItLiesAbove) {
  std::vector<record::Row> rows;
  add_rows(rows, "a", "even", 40, 22, 0.6);
  add_rows(rows, "a", "bad", 40, 5, 0.9);
  score::Evidence evidence;
  const auto verdicts = verdicts_of(rows, evidence);
  ASSERT_EQ(verdicts.size(), 2U);
  EXPECT_EQ(verdicts[0].level, Verdict::Level::Unclear);
  EXPECT_EQ(verdicts[1].level, Verdict::Level::Worse);
  EXPECT_TRUE(says(verdicts[1].warnings, "overconfident"));
  EXPECT_EQ(summary(verdicts),
            "On no task is the best column better than every baseline; on 2 it is not shown "
            "to be (even, bad).");
}

TEST(Verdict, NamesTheFasterColumnInsideTheInterval) {
  std::vector<record::Row> rows;
  add_rows(rows, "slow", "t", 40, 36, 0.9, 1.0);
  add_rows(rows, "fast", "t", 40, 35, 0.9, 0.1);
  score::Evidence evidence;
  const auto verdicts = verdicts_of(rows, evidence);
  EXPECT_TRUE(says(verdicts[0].points, "Faster within its interval: fast letters:raw"));
  EXPECT_TRUE(says(verdicts[0].points, "best of 2 columns"));
}

TEST(Verdict, SaysVoidsRefusalsAndStuckColumns) {
  std::vector<record::Row> rows;
  add_rows(rows, "a", "t", 40, 36, 0.9);
  for (int i = 0; i < 40; ++i) {  // always the second option
    rows.push_back(letters_row("stuck", "t", "item-" + std::to_string(i), {"no", "yes"},
                               i % 2 == 0 ? "no" : "yes", {0.3, 0.7}));
  }
  rows[0].readings["letters"].cause = decision::VoidCause::LowLabelMass;
  rows[1].status = record::Row::Status::Refused;
  score::Evidence evidence;
  const auto verdicts = verdicts_of(rows, evidence);
  EXPECT_TRUE(says(verdicts[0].warnings, "of 40 rows 1 void, 1 refused before asking"));
  EXPECT_TRUE(says(verdicts[0].warnings, "Stuck on one position, whatever the item says: stuck"));
}

TEST(Verdict, WithoutLabelsOrAnswersNothingIsMeasured) {
  std::vector<record::Row> rows;
  add_rows(rows, "a", "t", 3, 3, 0.9);
  for (record::Row& row : rows) row.readings["letters"].error = "HTTP 500";
  score::Evidence evidence;
  const auto verdicts = verdicts_of(rows, evidence);
  ASSERT_EQ(verdicts.size(), 1U);
  EXPECT_EQ(verdicts[0].level, Verdict::Level::NotMeasured);
  EXPECT_EQ(verdicts[0].lead, nullptr);
  EXPECT_EQ(summary(verdicts), "Nothing was measured.");
  EXPECT_EQ(summary({}), "Nothing was measured: there are no rows.");
}

}  // namespace
}  // namespace deem::report
