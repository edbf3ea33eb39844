#include "score/compare.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/chance.h"
#include "score/gate.h"

namespace deem::score {
namespace {

using record::ReadingRecord;
using record::Row;

/// A row whose written answer is option `said` of three, labelled with option `label`.
Row row_of(const std::string& arm, const std::string& id, std::size_t said, std::size_t label,
           double seconds = 1) {
  Row row;
  row.arm = arm;
  row.task = id.substr(0, 1);
  row.id = id;
  row.keys = {"x", "y", "z"};
  row.label = row.keys[label];
  row.state_sha256 = "state of " + id;
  ReadingRecord reading;
  reading.kind = ReadingRecord::Kind::Written;
  reading.answer.option = said;
  reading.planned_to_done_s = seconds;
  row.readings["written"] = reading;
  return row;
}

const ColumnName kA{"a", "written", "raw"}, kB{"b", "written", "raw"};

TEST(Compare, PairsItemsAndCountsWhoWasRight) {
  // Right in A: s1 s2 s3; in B: s2 s4 (and t1 of both). s5 only A, t2 only B.
  std::vector<Row> rows = {
      row_of("a", "s1", 0, 0, 1), row_of("b", "s1", 1, 0, 2), row_of("a", "s2", 1, 1, 1),
      row_of("b", "s2", 1, 1, 2), row_of("a", "s3", 2, 2, 1), row_of("b", "s3", 0, 2, 2),
      row_of("a", "s4", 1, 0, 1), row_of("b", "s4", 0, 0, 4), row_of("a", "s5", 0, 0, 1),
      row_of("a", "t1", 0, 0, 3), row_of("b", "t1", 0, 0, 3), row_of("b", "t2", 0, 0, 3)};
  const Compared out = compare(rows, kA, rows, kB);
  ASSERT_EQ(out.tasks.size(), 2U);
  const Comparison& s = out.tasks[0];
  EXPECT_EQ(s.task, "s");
  EXPECT_EQ(s.n, 4U);
  EXPECT_EQ(s.only_a, 1U);
  EXPECT_EQ(s.only_b, 0U);
  EXPECT_EQ(s.both_right, 1U);
  EXPECT_EQ(s.both_wrong, 0U);
  EXPECT_EQ(s.right_a, 2U);
  EXPECT_EQ(s.right_b, 1U);
  EXPECT_NEAR(s.accuracy_a, .75, 1e-15);
  EXPECT_NEAR(s.accuracy_b, .5, 1e-15);
  EXPECT_NEAR(s.brier_a, .5, 1e-15);  // one of four wrong, 2 each
  EXPECT_NEAR(s.brier_b, 1, 1e-15);
  EXPECT_EQ(s.median_a, 1);
  EXPECT_EQ(s.median_b, 2);
  EXPECT_EQ(s.p95_b, 4);
  EXPECT_EQ(s.p, 1);
  ASSERT_TRUE(s.accuracy_difference);
  EXPECT_LE(s.accuracy_difference->low, -.25);
  EXPECT_GE(s.accuracy_difference->high, -.25);
  EXPECT_EQ(out.all.n, 5U);
  EXPECT_EQ(out.all.only_b, 1U);
  ASSERT_EQ(out.disagreements.size(), 3U);
  EXPECT_EQ(out.disagreements[0].id, "s1");
  EXPECT_EQ(out.disagreements[0].said_a, "x");
  EXPECT_EQ(out.disagreements[0].said_b, "y");
  EXPECT_EQ(out.disagreements[0].label, "x");
}

TEST(Compare, AnItemWithOtherOptionsIsNoPair) {
  Row other = row_of("b", "s1", 0, 0);
  other.keys = {"x", "z", "y"};
  const std::vector<Row> rows = {row_of("a", "s1", 0, 0), other};
  const Compared out = compare(rows, kA, rows, kB);
  EXPECT_EQ(out.all.n, 0U);
  EXPECT_EQ(out.all.only_a, 1U);
  EXPECT_EQ(out.all.only_b, 1U);
  EXPECT_FALSE(out.all.detectable);
}

TEST(Compare, DetectableDifferenceFallsWithTheRootOfN) {
  EXPECT_NEAR(*detectable_difference(.25, 100), 0.1400792608, 1e-9);  // 2.80158521… · .05
  EXPECT_NEAR(*detectable_difference(.25, 400), 0.1400792608 / 2, 1e-9);
  EXPECT_EQ(*detectable_difference(0, 10), 0);
}

// Two arms that are the same in truth: each item is right with its own chance, independently in
// both. At the 5 % level at most 5 % of campaigns may find a difference.
TEST(Compare, FindsNoDifferenceWhereThereIsNoneInNineteenOfTwentyCampaigns) {
  Random random(11);
  constexpr int kCampaigns = 2'000;
  int by_test = 0, by_interval = 0;
  for (int campaign = 0; campaign < kCampaigns; ++campaign) {
    std::size_t b = 0, c = 0;
    std::vector<ClusterSums> clusters;
    for (int item = 0; item < 120; ++item) {
      const double chance = random.unit();
      const bool first = random.unit() < chance, second = random.unit() < chance;
      b += first && !second ? 1U : 0U;
      c += second && !first ? 1U : 0U;
      clusters.push_back({1, (second ? 1.0 : 0.0) - (first ? 1.0 : 0.0), 0});
    }
    by_test += mcnemar_exact(b, c) < .05 ? 1 : 0;
    const auto interval = bootstrap_means(clusters, static_cast<std::uint64_t>(campaign), 200)->a;
    by_interval += interval.low > 0 || interval.high < 0 ? 1 : 0;
  }
  EXPECT_LE(by_test, kCampaigns * .05);
  EXPECT_GE(by_test, kCampaigns * .01) << "a test that never finds anything is none";
  EXPECT_LE(by_interval,
            kCampaigns * .075);  // a percentile interval of 200 resamples is a bit short
}

TEST(Gate, HoldsBAgainstANumberADifferenceOrARatio) {
  Comparison c;
  c.n = 10;
  c.accuracy_a = .8;
  c.accuracy_b = .75;
  c.brier_a = .3;
  c.brier_b = .32;
  c.p95_a = 2;
  c.p95_b = 2.1;
  const auto holds = [&](const char* text) {
    const auto gate = parse_gate(text);
    EXPECT_TRUE(gate) << text;
    const GateResult result = check_gate(*gate, c);
    EXPECT_TRUE(result.measured) << text;
    return result.holds;
  };
  EXPECT_TRUE(holds("accuracy>=0.7"));
  EXPECT_FALSE(holds("accuracy>=0.76"));
  EXPECT_TRUE(holds("accuracy>=-0.06"));
  EXPECT_FALSE(holds("accuracy>=-0.04"));
  EXPECT_TRUE(holds("brier<=+0.03"));
  EXPECT_FALSE(holds("brier <= +0.01"));
  EXPECT_TRUE(holds("p95<=1.1x"));
  EXPECT_FALSE(holds("p95<=1.01x"));
  EXPECT_FALSE(check_gate(*parse_gate("median<=1"), c).measured);
  EXPECT_FALSE(check_gate(*parse_gate("accuracy>=0"), Comparison()).measured);
}

/// One server had the prompts of a run before: its times are of other work.
TEST(Caches, UnlikeOnesLetNoGateHoldTimesOrJoules) {
  std::vector<Row> cold = {row_of("a", "s1", 0, 0, 2), row_of("a", "s2", 1, 1, 2)};
  std::vector<Row> warm = {row_of("a", "s1", 0, 0, .1), row_of("a", "s2", 1, 1, .1)};
  const auto tell = [](std::vector<Row>& rows, std::int64_t cached) {
    for (Row& row : rows) {
      row.readings["written"].prompt_tokens = 100;
      row.readings["written"].cached_tokens = cached;
    }
  };
  const auto compared = [&] { return compare(cold, kA, warm, kA).all; };
  tell(cold, 20);
  EXPECT_FALSE(compared().cached_b) << "a reply that does not tell is not 0";
  EXPECT_EQ(unlike_caches(compared()), "");
  tell(warm, 30);
  EXPECT_NEAR(*compared().cached_a, .2, 1e-15);
  EXPECT_EQ(unlike_caches(compared()), "") << "a tenth apart is none";
  tell(warm, 99);
  const Comparison c = compared();
  const std::string why = unlike_caches(c);
  EXPECT_NE(why.find("20 % of the prompts' tokens in its cache, B's 99 %"), std::string::npos)
      << why;

  JoulesPair joules;
  joules.a = 300, joules.b = 20, joules.a_valid = joules.b_valid = true;
  joules.difference = -280, joules.ratio = 1. / 15;
  for (const char* text : {"p95<=1x", "median<=+0", "joules<=1x"}) {
    EXPECT_TRUE(check_gate(*parse_gate(text), c, &joules).holds) << text;
    const GateResult held = check_gate(*parse_gate(text), c, &joules, why);
    EXPECT_FALSE(held.measured) << text;
    EXPECT_EQ(held.why, why);
  }
  for (const char* text : {"joules<=30", "accuracy>=+0", "p95<=1"})
    EXPECT_TRUE(check_gate(*parse_gate(text), c, &joules, why).measured) << text;
}

class BadGate : public testing::TestWithParam<const char*> {};

TEST_P(BadGate, IsRefused) {
  const auto gate = parse_gate(GetParam());
  ASSERT_FALSE(gate);
  EXPECT_EQ(gate.error().code, Error::Code::BadInput);
}

INSTANTIATE_TEST_SUITE_P(Table, BadGate,
                         testing::Values("", "brier", "brier<0.1", "brier=0.1", "breir<=0.1",
                                         "brier<=", "brier<=+", "brier<=x", "brier<=0.1y",
                                         "brier<=nan", "brier<=inf", "p95<=+1.1x", "p95<=-1x",
                                         "p95<=0x", "<=1"));

}  // namespace
}  // namespace deem::score
