#include "report/report.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "codec/json.h"

namespace deem::report {
namespace {

score::Scores sample() {
  score::Figures f;
  f.task = "pick|one";
  f.rows = 12;
  f.asked = 11;
  f.refused = 1;
  f.voids = 1;
  f.void_causes["low_label_mass"] = 1;
  f.answered = 10;
  f.labelled = 10;
  f.accuracy = {.hits = 6, .n = 10, .value = 0.6, .low = 0.313, .high = 0.832};
  f.brier = 0.5;
  f.brier_n = 10;
  f.median_s = 0.25;
  f.p95_s = 1.5;
  f.stuck_position = 0;
  f.stuck_share = 0.95;
  f.uniform = {.hits = 0, .n = 10, .value = 0.25, .low = 0, .high = 1};
  f.reliability.resize(10);
  score::Figures gain = f;
  gain.stuck_position = std::nullopt;
  gain.uncalibrated = true;
  gain.auroc = 0.985;
  gain.auroc_n = 10;
  score::Scores scores;
  scores.rows = 12;
  scores.tasks = {"pick|one"};
  scores.columns = {{.arm = "a",
                     .reading = "letters",
                     .variant = "raw",
                     .mode = "readout",
                     .tasks = {f},
                     .all = f},
                    {.arm = "a",
                     .reading = "gain",
                     .variant = "prior-sum",
                     .mode = "readout",
                     .tasks = {gain},
                     .all = gain}};
  return scores;
}

TEST(TextReport, ShowsFiguresWithIntervalNAndBaselinesInAHundredColumns) {
  const std::string text =
      as_text(sample(), {.lines = {{"kit", "small"}}, .notes = {}}, 100, false);
  EXPECT_NE(text.find(".600 [.31, .83]"), std::string::npos) << text;
  EXPECT_NE(text.find("baseline: uniform"), std::string::npos);
  EXPECT_NE(text.find("uncalibrated"), std::string::npos);
  EXPECT_NE(text.find(".985"), std::string::npos);
  EXPECT_EQ(text.find('\033'), std::string::npos);
  for (const std::string_view line : split(text, '\n'))
    EXPECT_LE(count_code_points(line), 100U) << line;
}

TEST(TextReport, SaysPlainlyWhatIsStuckVoidAndRefused) {
  const std::string text = as_text(sample(), {}, 100, false);
  EXPECT_NE(text.find("option 1 in 95 % of 10 answers"), std::string::npos) << text;
  EXPECT_NE(text.find("1 of 11 void (low_label_mass 1)"), std::string::npos) << text;
  EXPECT_NE(text.find("1 of 12 refused"), std::string::npos) << text;
}

TEST(MarkdownReport, EscapesBarsInNames) {
  const std::string text = as_markdown(sample(), {});
  EXPECT_NE(text.find("## pick\\|one"), std::string::npos) << text;
}

TEST(JsonReport, IsStrictJsonWithItsSchemaAndNullsForTheUnknown) {
  const auto json = codec::parse_json(as_json(sample(), {.lines = {{"kit", "k"}}, .notes = {"n"}}));
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(json->get_string("schema"), "deem.score/1");
  const codec::Json& first = json->find("columns")->items()[0].find("tasks")->items()[0];
  EXPECT_EQ(first.find("accuracy")->get_double("value"), 0.6);
  EXPECT_TRUE(first.find("auroc")->is_null());
  EXPECT_EQ(first.get_int("refused"), 1);
}

TEST(CsvReport, HasAsManyFieldsInEveryLine) {
  const std::string text = as_csv(sample(), {});
  std::size_t fields = 0;
  for (std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t n = split(line, ',').size();
    if (fields == 0) fields = n;
    EXPECT_EQ(n, fields) << line;
  }
  EXPECT_EQ(fields, 65U);
}

}  // namespace
}  // namespace deem::report
