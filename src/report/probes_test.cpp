#include "report/probes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "score/score_rows.h"

namespace deem::report {
namespace {

score::ProbeFigures sample() {
  score::PositionFigures f{.task = "pick|one"};
  f.n = 40;
  f.orders = 120;
  f.by_gold = {score::rate(38, 40), score::rate(2, 40)};
  f.said_at = {score::rate(150, 160), score::rate(10, 160)};
  f.flipped_items = score::rate(30, 40);
  f.flipped_orders = score::rate(90, 120);
  f.reverse_flips = score::rate(28, 40);
  f.max_change = .6;
  f.median_change = .25;
  f.labelled = 40;
  f.uniform_accuracy = .25;
  f.plain = {.accuracy = score::rate(11, 40), .brier = .797};
  f.averaged = {.accuracy = score::rate(18, 40),
                .brier = .7,
                .brier_95 = score::Interval{.low = .65, .high = .75}};
  f.averaged_logprobs = {.accuracy = score::rate(17, 40), .brier = .71};
  f.reversed = {.accuracy = score::rate(9, 40), .brier = .9};
  score::ProbeFigures out{.rows = 160};
  out.position = {
      {.arm = "<b>arm", .reading = "letters", .variant = "raw", .tasks = {f}, .all = f}};
  for (const std::string kind : {"again", "crowd"}) {
    out.noise.push_back({.arm = "a",
                         .reading = "letters",
                         .kind = kind,
                         .n = 5,
                         .values = 20,
                         .max_logprob = kind == "again" ? 0 : 8.5e-6,
                         .max_probability = 1.4e-6,
                         .flips = score::rate(kind == "again" ? 0 : 1, 5)});
  }
  return out;
}

TEST(ProbeTables, AreNoneWithoutProbeRows) {
  EXPECT_TRUE(probe_tables(score::ProbeFigures{}).empty());
  EXPECT_TRUE(noise_notes(score::ProbeFigures{}).empty());
}

TEST(ProbeTables, HaveACellForEveryColumnAndASentence) {
  const auto tables = probe_tables(sample());
  ASSERT_EQ(tables.size(), 4U);
  for (const ProbeTable& table : tables) {
    EXPECT_FALSE(table.says.empty()) << table.title;
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.header.size()) << table.title;
  }
  EXPECT_EQ(tables[0].rows.at(0),
            (std::vector<std::string>{"<b>arm letters:raw", "pick|one", "40", "120", "0",
                                      ".750 [.60, .86]", ".750", "28 of 40", ".600", ".250"}));
}

TEST(ProbeTables, FitATerminal) {
  const std::string text = tables_as_text(probe_tables(sample()), 100, false);
  for (const std::string_view line : split(text, '\n')) {
    EXPECT_LE(count_code_points(line), 100U) << line;
  }
}

TEST(ProbeTables, EscapeNamesInMarkdown) {
  const std::string text = tables_as_markdown(probe_tables(sample()));
  EXPECT_NE(text.find("\\<b>arm"), std::string::npos) << text;
  EXPECT_EQ(text.find("pick|one"), std::string::npos);
}

TEST(NoiseNotes, TellTheLargestOfAllKinds) {
  EXPECT_EQ(noise_notes(sample()),
            std::vector<std::string>{
                "noise floor of a letters, asked again (again, crowd): log-probabilities differ by "
                "up to 8.5e-06, probabilities by up to 1.4e-06, 1 of 10 answers flip"});
}

TEST(ReversedOrder, StandsAmongTheBaselinesOfItsTask) {
  score::Scores scores;
  scores.probes = sample();
  ASSERT_EQ(reversed_baselines(scores, "pick|one").size(), 1U);
  EXPECT_EQ(reversed_baselines(scores, "pick|one")[0].second.accuracy.hits, 9U);
  EXPECT_TRUE(reversed_baselines(scores, "other").empty());
}

TEST(Cost, SaysWhatIsKnown) {
  EXPECT_EQ(cost_text({}), "");
  EXPECT_EQ(cost_text({.load_s = .9, .peak_bytes = 5 << 20, .memory = "of this process"}),
            "loaded in 900 ms, 5 MiB, of this process");
  EXPECT_EQ(cost_text({.memory = "not measured (why)"}), "memory not measured (why)");
}

TEST(ProbesJson, IsNullWhereNothingIsKnown) {
  const codec::Json json = probes_json(sample(), {{.arm = "a"}});
  EXPECT_EQ(json.get_int("rows"), 160);
  const auto& position = json.find("position")->items().at(0);
  EXPECT_TRUE(position.find("all")->find("plain")->find("brier_95")->is_null());
  EXPECT_TRUE(json.find("seats")->items().at(0).find("peak_bytes")->is_null());
}

}  // namespace
}  // namespace deem::report
