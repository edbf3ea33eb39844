#include "score/score_rows.h"

#include <gtest/gtest.h>

#include "score/statistics.h"

namespace deem::score {
namespace {

using record::ReadingRecord;
using record::Row;

Row written_row(int id, std::string label, std::optional<std::size_t> option) {
  Row row;
  row.arm = "w";
  row.task = "t";
  row.id = std::to_string(id);
  row.mode = "generate";
  row.keys = {"a", "b"};
  row.label = std::move(label);
  row.overlap_choice = 0;
  ReadingRecord reading;
  reading.kind = ReadingRecord::Kind::Written;
  reading.answer.option = option;
  reading.planned_to_done_s = id + 1;
  reading.sent_to_done_s = id + 0.5;
  row.readings["written"] = reading;
  return row;
}

TEST(ScoreRows, KeepsEachCountApart) {
  std::vector<Row> rows = {written_row(0, "a", 0), written_row(1, "b", 0), written_row(2, "a", 0),
                           written_row(3, "b", std::nullopt)};
  Row refused = written_row(4, "a", 0);
  refused.status = Row::Status::Refused;
  refused.readings.clear();
  rows.push_back(refused);
  Row failed = written_row(5, "a", 0);
  failed.readings["written"].error = "HTTP 500";
  rows.push_back(failed);
  const Scores scores = score_rows(rows);
  ASSERT_EQ(scores.columns.size(), 1U);
  const Figures& f = scores.columns[0].tasks.at(0);
  EXPECT_EQ(f.rows, 6U);
  EXPECT_EQ(f.asked, 5U);
  EXPECT_EQ(f.refused, 1U);
  EXPECT_EQ(f.errors, 1U);
  EXPECT_EQ(f.unparsed, 1U);
  EXPECT_EQ(f.answered, 3U);
  EXPECT_EQ(f.accuracy.hits, 2U);
  EXPECT_EQ(f.accuracy.n, 3U);
  EXPECT_DOUBLE_EQ(*f.brier, 2.0 / 3);  // one wrong sure answer scores 2
  EXPECT_DOUBLE_EQ(*f.uniform.value, 0.5);
  EXPECT_DOUBLE_EQ(*f.uniform_brier, 0.5);
  EXPECT_EQ(f.overlap.hits, 2U);
  EXPECT_EQ(f.seconds_n, 4U);
  EXPECT_DOUBLE_EQ(*f.median_s, 2);  // nearest rank: the 2nd of 1, 2, 3, 4
  EXPECT_DOUBLE_EQ(*f.p95_s, 4);
}

TEST(ScoreRows, SaysWhenAReadingIsStuckOnAPosition) {
  std::vector<Row> rows;
  for (int i = 0; i < 20; ++i)
    rows.push_back(written_row(i, i % 2 == 0 ? "a" : "b", i == 0 ? 1 : 0));
  const Scores scores = score_rows(rows);
  const Figures& f = scores.columns[0].tasks.at(0);
  EXPECT_EQ(f.stuck_position, 0U);
  EXPECT_DOUBLE_EQ(f.stuck_share, 0.95);
}

/// 100 tokens of a prompt, 84 of them cached, is all but a block of 16; one fewer is not.
TEST(ScoreRows, CountsPromptsThatWereInTheCache) {
  const auto cached_whole = [](std::optional<std::int64_t> cached) {
    Row row = written_row(0, "a", 0);
    row.readings["written"].prompt_tokens = 100;
    row.readings["written"].cached_tokens = cached;
    return score_rows(std::vector<Row>{row}).columns[0].all.cached_whole;
  };
  EXPECT_EQ(cached_whole(99), 1U);
  EXPECT_EQ(cached_whole(84), 1U);
  EXPECT_EQ(cached_whole(83), 0U);
  EXPECT_EQ(cached_whole(0), 0U);
  EXPECT_EQ(cached_whole(std::nullopt), 0U) << "not told";
}

TEST(ScoreRows, CountsAnArmThatWasRefusedEverything) {
  Row refused = written_row(0, "a", 0);
  refused.status = Row::Status::Refused;
  refused.readings.clear();
  const Scores scores = score_rows(std::vector<Row>{refused});
  ASSERT_EQ(scores.columns.size(), 1U);
  EXPECT_EQ(scores.columns[0].tasks.at(0).refused, 1U);
  EXPECT_EQ(scores.columns[0].tasks.at(0).accuracy.n, 0U);
}

TEST(Auroc, CountsTiesHalf) {
  const double yes[] = {3, 1, 2}, no[] = {0, 2};  // wins 2, 1, 1.5 of 6
  EXPECT_DOUBLE_EQ(*auroc(yes, no), 4.5 / 6);
  EXPECT_FALSE(auroc({}, no));
}

TEST(NearestRank, IsTheSmallestRankCoveringQ) {
  EXPECT_EQ(nearest_rank(1, 9'900), 1U);
  EXPECT_EQ(nearest_rank(2, 5'000), 1U);
  EXPECT_EQ(nearest_rank(100, 9'900), 99U);
  EXPECT_EQ(nearest_rank(100, 700), 7U);
}

}  // namespace
}  // namespace deem::score
