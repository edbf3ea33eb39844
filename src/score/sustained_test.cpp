#include "score/sustained.h"

#include <gtest/gtest.h>

#include "score/score_rows.h"

namespace deem::score {
namespace {

using record::Row;

Row at(std::string stamp, double seconds, std::string probe, bool fails = false) {
  Row row;
  row.arm = "a";
  row.task = "t";
  row.mode = "readout";
  row.stamp = std::move(stamp);
  row.probe = std::move(probe);
  record::ReadingRecord reading;
  reading.planned_to_done_s = seconds;
  if (fails) reading.error = "HTTP 503";
  row.readings["letters"] = reading;
  return row;
}

// 1970-01-02 is 86,400 s; 2000-02-29 12:00:00 is 951,825,600 s (date -u -d … +%s).
TEST(Stamp, IsSecondsSince1970) {
  EXPECT_EQ(parse_stamp("1970-01-02T00:00:00Z"), 86'400);
  EXPECT_EQ(parse_stamp("2000-02-29T12:00:00Z"), 951'825'600);
  for (const char* bad : {"", "2001-02-29T12:00:00Z", "2000-02-29T24:00:00Z",
                          "2000-02-29 12:00:00Z", "2000-02-29T12:00:0xZ"}) {
    EXPECT_FALSE(parse_stamp(bad)) << bad;
  }
}

TEST(Sustained, HasTheMedianOfEachMinuteAndOfTheLastSixtySeconds) {
  const std::vector<Row> rows = {
      at("2026-12-02T10:00:00Z", 1, ""),          at("2026-12-02T10:00:30Z", 3, "sustained"),
      at("2026-12-02T10:00:59Z", 2, "sustained"), at("2026-12-02T10:01:30Z", 5, "sustained"),
      at("2026-12-02T10:03:00Z", 9, "sustained"), at("2026-12-02T10:02:45Z", 0, "sustained", true),
      at("2026-12-02T10:02:01Z", 7, "sustained"), at("2026-12-02T10:00:10Z", 99, "order:1")};
  const auto all = sustained_figures(rows);
  ASSERT_EQ(all.size(), 1U);
  const SustainedFigures& f = all[0];
  EXPECT_EQ(f.answered, 6U);
  EXPECT_EQ(f.failed, 1U);
  EXPECT_EQ(f.span_s, 180);
  EXPECT_EQ(f.longest_pause_s, 44) << "from 10:02:01 to 10:02:45";
  EXPECT_DOUBLE_EQ(*f.answers_per_s, 6. / 180) << "the failed call's time is in it";
  ASSERT_EQ(f.minutes.size(), 4U);
  EXPECT_EQ(f.minutes[0].n, 3U);
  EXPECT_EQ(f.minutes[0].median_s, 2);
  EXPECT_EQ(f.minutes[2].failed, 1U);
  EXPECT_EQ(f.first_minute_median_s, 2);
  EXPECT_EQ(f.last_minute_median_s, 7) << "of 7 and 9";
}

TEST(Sustained, IsAbsentWithoutItsRows) {
  EXPECT_TRUE(sustained_figures(std::vector<Row>{at("2026-12-02T10:00:00Z", 1, "")}).empty());
}

TEST(Prefix, IsColdAtNoCachedTokenAndUnknownWithoutACount) {
  std::vector<Row> rows;
  for (const auto& [cached, seconds] : {std::pair(0, 4.0), {0, 6.0}, {30, 1.0}, {60, 3.0}}) {
    rows.push_back(at("", seconds, ""));
    rows.back().readings["letters"].cached_tokens = cached;
    rows.back().readings["letters"].prompt_tokens = 120;
  }
  rows.push_back(at("", 50, ""));
  const auto all = prefix_figures(rows);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].cold, 2U);
  EXPECT_EQ(all[0].warm, 2U);
  EXPECT_EQ(all[0].unknown, 1U);
  EXPECT_EQ(all[0].cold_median_s, 4);
  EXPECT_EQ(all[0].warm_median_s, 1);
  EXPECT_EQ(all[0].warm_cached_share, .25);
}

}  // namespace
}  // namespace deem::score
