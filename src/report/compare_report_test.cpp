#include "report/compare_report.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "codec/json.h"

namespace deem::report {
namespace {

CompareReport sample() {
  PairReport pair{.a = "run letters:raw", .b = "run cloze|x <script>"};
  score::Comparison task;
  task.task = "gate";
  task.n = 40;
  task.only_a = 2;
  task.right_a = 1;
  task.right_b = 26;
  task.accuracy_a = .275;
  task.accuracy_b = .9;
  task.accuracy_difference = score::Interval{.45, .78};
  task.p = 1e-6;
  task.brier_a = .797;
  task.brier_b = .171;
  task.median_a = .183;
  task.median_b = .23;
  pair.result.tasks = {task};
  pair.result.all = task;
  pair.result.all.task = "";
  pair.result.disagreements = {
      {.task = "gate", .id = "g\033[31m1", .said_a = "a", .said_b = "b", .label = "b"}};
  pair.holm_p = .04;
  pair.gates = {
      {*score::parse_gate("brier<=+0.01"), {.measured = true, .holds = true, .value = -.626}}};
  CompareReport report{.pairs = {pair, pair}};
  report.frontier = {{.name = "slow and bad", .accuracy = .5, .median_s = 2},
                     {.name = "fast", .accuracy = .6, .median_s = 1},
                     {.name = "right", .accuracy = .9, .median_s = 3}};
  find_frontier(report.frontier);
  return report;
}

TEST(Frontier, NamesWhatIsDominated) {
  const auto points = sample().frontier;
  EXPECT_EQ(points[0].dominated_by, 1U);
  EXPECT_FALSE(points[1].dominated_by);
  EXPECT_FALSE(points[2].dominated_by);
  // A price makes the slower and worse one worth a look.
  std::vector<FrontierPoint> priced = sample().frontier;
  for (FrontierPoint& point : priced) {
    point.dominated_by.reset();
    point.cost = point.name == "slow and bad" ? 1 : 2;
  }
  find_frontier(priced);
  EXPECT_FALSE(priced[0].dominated_by);
  priced[0].cost.reset();  // not told: by the two others alone
  find_frontier(priced);
  EXPECT_TRUE(priced[0].dominated_by);
  std::vector<FrontierPoint> equal(2);
  find_frontier(equal);
  EXPECT_FALSE(equal[0].dominated_by || equal[1].dominated_by)
      << "equals do not dominate each other";
}

TEST(CompareText, SaysWhatDiffersInAHundredColumnsWithoutControlCharacters) {
  const std::string text = as_text(sample(), 100, false);
  EXPECT_NE(text.find("+.625 [+.45, +.78]"), std::string::npos) << text;
  EXPECT_NE(text.find("<.001"), std::string::npos);
  EXPECT_NE(text.find("p adjusted for 2 comparisons (Holm): .040"), std::string::npos) << text;
  EXPECT_NE(text.find("gate brier<=+0.01: holds (-0.626)"), std::string::npos) << text;
  EXPECT_NE(text.find("left out: 2 items only A answered, 0 only B"), std::string::npos);
  EXPECT_NE(text.find("slow and bad  .500 in 2.00 s  dominated by fast"), std::string::npos)
      << text;
  EXPECT_EQ(text.find('\033'), std::string::npos);
  for (const std::string_view line : split(text, '\n'))
    EXPECT_LE(count_code_points(line), 100U) << line;
}

TEST(CompareMarkdown, EscapesNames) {
  const std::string text = as_markdown(sample());
  EXPECT_NE(text.find("cloze\\|x \\<script>"), std::string::npos) << text;
  EXPECT_EQ(text.find('\033'), std::string::npos);
}

TEST(CompareJson, IsStrictJsonWithItsSchema) {
  const auto json = codec::parse_json(as_json(sample()));
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(json->get_string("schema"), "deem.compare/1");
  const codec::Json& pair = json->find("pairs")->items()[0];
  EXPECT_EQ(pair.find("tasks")->items()[0].get_int("right_b"), 26);
  EXPECT_EQ(pair.find("gates")->items()[0].get_bool("holds"), true);
  EXPECT_EQ(pair.find("disagreements")->items().size(), 1U);
  EXPECT_EQ(json->find("frontier")->items()[0].get_string("dominated_by"), "fast");
}

}  // namespace
}  // namespace deem::report
