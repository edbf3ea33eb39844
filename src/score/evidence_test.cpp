#include "score/evidence.h"

#include <gtest/gtest.h>

#include <cmath>

#include "score/curves.h"

namespace deem::score {
namespace {

using record::ReadingRecord;
using record::Row;

/// A row read by its letters a, b with these log-probabilities.
Row letters_row(const std::string& arm, int id, const std::string& label, double a, double b) {
  Row row;
  row.arm = arm;
  row.task = "t";
  row.id = std::to_string(id);
  row.keys = {"a", "b"};
  row.label = label;
  row.constants.temperature = 1;
  ReadingRecord reading;
  reading.kind = ReadingRecord::Kind::Letters;
  ReadingRecord::Round round;
  round.options = {0, 1};
  round.letters.logprobs = {a, b};
  round.letters.mass_letters = 1;
  reading.rounds.push_back(round);
  reading.planned_to_done_s = id + 1;
  row.readings["letters"] = reading;
  return row;
}

const double kP90 = std::log(0.9), kP10 = std::log(0.1);
const double kP70 = std::log(0.7), kP30 = std::log(0.3);

TEST(Curves, RiskIsTheShareWrongAmongTheMostConfident) {
  Judged judged;
  // Confidences .9 right, .8 wrong, .8 right, .6 wrong.
  judged.add(std::vector{0.9, 0.1}, 0, 0, 0);
  judged.add(std::vector{0.8, 0.2}, 0, 1, 0);
  judged.add(std::vector{0.2, 0.8}, 1, 1, 0);
  judged.add(std::vector{0.6, 0.4}, 0, 1, 0);
  const auto points = risk_coverage_points(RiskCoverage(judged));
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0], (CurvePoint{0.25, 0, 0.9}));
  EXPECT_EQ(points[1], (CurvePoint{0.75, 1.0 / 3, 0.8}));  // two of equal confidence come together
  EXPECT_EQ(points[2], (CurvePoint{1, 0.5, 0.6}));
}

TEST(Curves, EcdfRisesAtEachDistinctValue) {
  const auto points = ecdf_points({3, 1, 2, 1});
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0], (CurvePoint{1, 0.5, 0}));
  EXPECT_EQ(points[1], (CurvePoint{2, 0.75, 0}));
  EXPECT_EQ(points[2], (CurvePoint{3, 1, 0}));
}

TEST(Curves, NothingGivesNoPoints) {
  EXPECT_TRUE(ecdf_points({}).empty());
  EXPECT_TRUE(risk_coverage_points(RiskCoverage(Judged())).empty());
}

TEST(Curves, ThinningKeepsTheEndsAndOnlyTruePoints) {
  std::vector<CurvePoint> points;
  for (int i = 0; i < 10; ++i) points.push_back({static_cast<double>(i), 0, 0});
  const auto few = thinned(points, 4);
  ASSERT_EQ(few.size(), 4U);
  EXPECT_EQ(few[0].x, 0);
  EXPECT_EQ(few[1].x, 3);
  EXPECT_EQ(few[2].x, 6);
  EXPECT_EQ(few[3].x, 9);
  EXPECT_EQ(thinned(points, 10), points);
}

TEST(Leads, TheMoreAccurateColumnLeadsAndTheNextReadingIsItsRival) {
  std::vector<Row> rows;
  for (int i = 0; i < 4; ++i) rows.push_back(letters_row("good", i, "a", kP90, kP10));
  for (int i = 0; i < 4; ++i) {
    rows.push_back(letters_row("poor", i, "a", i == 0 ? kP30 : kP70, i == 0 ? kP70 : kP30));
  }
  const Scores scores = score_rows(rows);
  const auto leads = find_leads(scores);
  ASSERT_EQ(leads.size(), 1U);
  EXPECT_EQ(scores.columns[leads[0].column].arm, "good");
  ASSERT_TRUE(leads[0].rival.has_value());
  EXPECT_EQ(scores.columns[*leads[0].rival].arm, "poor");
}

TEST(Leads, AColumnThatAnsweredAFewOnlyDoesNotLead) {
  std::vector<Row> rows = {letters_row("few", 0, "a", kP90, kP10)};
  for (int i = 0; i < 4; ++i) {
    rows.push_back(letters_row("most", i, "a", i == 0 ? kP30 : kP70, i == 0 ? kP70 : kP30));
  }
  const Scores scores = score_rows(rows);
  const auto leads = find_leads(scores);
  EXPECT_EQ(scores.columns[leads.at(0).column].arm, "most");
  EXPECT_FALSE(leads[0].rival.has_value()) << "nor is it worth a contest";
}

TEST(Leads, TheBestBaselineIsTheMostAccurate) {
  Figures figures;
  EXPECT_FALSE(best_baseline(figures).has_value());
  figures.uniform.value = 0.5;
  figures.majority = rate(6, 10);
  figures.overlap = rate(5, 10);
  EXPECT_EQ(best_baseline(figures)->name, "prior");
}

TEST(Evidence, NothingGivesNothing) {
  const Evidence evidence = find_evidence({}, score_rows({}));
  EXPECT_TRUE(evidence.leads.empty());
  EXPECT_TRUE(evidence.mistakes.empty());
  EXPECT_TRUE(evidence.contests.empty());
}

TEST(Evidence, MistakesComeWorstFirstAndAreCountedBeyondTheLimit) {
  const std::vector<Row> rows = {letters_row("x", 0, "b", kP70, kP30),
                                 letters_row("x", 1, "b", kP90, kP10),
                                 letters_row("x", 2, "a", kP90, kP10)};
  const Evidence evidence =
      find_evidence(rows, score_rows(rows), {}, EvidenceLimits{.points = 400, .shown = 1});
  EXPECT_EQ(evidence.wrong, 2U);
  ASSERT_EQ(evidence.mistakes.size(), 1U);
  EXPECT_EQ(evidence.mistakes[0].row, 1U);
  EXPECT_EQ(evidence.mistakes[0].said, "a");
  EXPECT_EQ(evidence.mistakes[0].label, "b");
  EXPECT_NEAR(evidence.mistakes[0].p, 0.9, 1e-12);
  EXPECT_NEAR(evidence.mistakes[0].p_label, 0.1, 1e-12);
}

TEST(Evidence, ContestCountsWhoAloneIsRight) {
  std::vector<Row> rows;
  for (int i = 0; i < 3; ++i) rows.push_back(letters_row("a", i, "a", kP90, kP10));
  rows.push_back(letters_row("b", 0, "a", kP90, kP10));
  rows.push_back(letters_row("b", 1, "a", kP10, kP90));
  rows.push_back(letters_row("b", 2, "a", kP30, kP70));
  const Evidence evidence = find_evidence(rows, score_rows(rows));
  ASSERT_EQ(evidence.contests.size(), 1U);
  const Contest& contest = evidence.contests[0];
  EXPECT_EQ(contest.n, 3U);
  EXPECT_EQ(contest.differ, 2U);
  EXPECT_EQ(contest.right_a, 2U);
  EXPECT_EQ(contest.right_b, 0U);
  EXPECT_DOUBLE_EQ(contest.p, 0.5);  // two of two: 2 · ¼
  ASSERT_EQ(contest.shown.size(), 2U);
  EXPECT_EQ(contest.shown[0].row_a, 1U);  // both sure: .9 against .9
  EXPECT_EQ(contest.shown[0].said_b, "b");
}

TEST(Evidence, CurvesHaveAllTasksThenEach) {
  const std::vector<Row> rows = {letters_row("x", 0, "a", kP70, kP30),
                                 letters_row("x", 1, "b", kP90, kP10)};
  const Evidence evidence = find_evidence(rows, score_rows(rows));
  ASSERT_EQ(evidence.curves.size(), 1U);
  ASSERT_EQ(evidence.curves[0].tasks.size(), 2U);
  EXPECT_EQ(evidence.curves[0].tasks[0].task, "");
  EXPECT_EQ(evidence.curves[0].tasks[1].task, "t");
  EXPECT_EQ(evidence.curves[0].tasks[1].latency, (std::vector<CurvePoint>{{1, 0.5, 0}, {2, 1, 0}}));
  const auto& risk = evidence.curves[0].tasks[1].risk_coverage;  // .9 wrong, then .7 right
  ASSERT_EQ(risk.size(), 2U);
  EXPECT_EQ(risk[0].x, 0.5);
  EXPECT_EQ(risk[0].y, 1);
  EXPECT_NEAR(risk[0].at, 0.9, 1e-12);
  EXPECT_EQ(risk[1].y, 0.5);
}

}  // namespace
}  // namespace deem::score
