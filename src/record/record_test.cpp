#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/digest.h"
#include "record/fields.h"
#include "record/row.h"
#include "record/rows_file.h"
#include "record/run.h"

namespace deem::record {
namespace {

Row sample_row(std::string id = "q-1") {
  Row row;
  row.arm = "letters";
  row.task = "section";
  row.id = std::move(id);
  row.type = decision::QuestionType::Choice;
  row.mode = "readout";
  row.keys = {"a", "ø", "雪"};
  row.label = "ø";
  row.state_id = "s";
  row.state_sha256 = std::string(64, '0');
  row.state_chars = 1'234;
  row.language = "de";
  row.stamp = "2026-12-01T00:00:00Z";
  ReadingRecord letters;
  letters.prompt_sha256 = std::string(64, 'a');
  letters.prompt_chars = 12;
  letters.rounds.push_back({{0, 1, 2}, {}});
  letters.rounds[0].letters.logprobs = {-0.5, std::nullopt, -1e-7};
  letters.rounds[0].letters.bound = -12.25;
  letters.rounds[0].letters.mass_letters = 0.75;
  letters.rounds[0].letters.top_token = "A";
  letters.asked_k = 20;
  letters.sent_to_done_s = 0.125;
  row.readings["letters"] = letters;
  ReadingRecord cloze;
  cloze.kind = ReadingRecord::Kind::Texts;
  cloze.texts = {{-3.5, 2, 9}, {-4, 3, 10}, {-5, 1, 2}};
  cloze.priors = {decision::TextScore{-2, 2, 9}, std::nullopt, std::nullopt};
  row.readings["cloze"] = cloze;
  return row;
}

TEST(RowFormat, ReadsBackWhatItWrote) {
  const std::string line = format_row(sample_row());
  const Result<Row> row = parse_row(line);
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ(format_row(*row), line);
  EXPECT_EQ(row->keys[2], "雪");
  const auto& letters = row->readings.at("letters");
  EXPECT_EQ(letters.rounds[0].letters.logprobs[0], -0.5);
  EXPECT_FALSE(letters.rounds[0].letters.logprobs[1].has_value());
  EXPECT_EQ(letters.rounds[0].letters.bound, -12.25);
  EXPECT_EQ(letters.asked_k, 20);
  const auto& cloze = row->readings.at("cloze");
  EXPECT_EQ(cloze.texts[1], (decision::TextScore{-4, 3, 10}));
  EXPECT_EQ(cloze.priors[0], (decision::TextScore{-2, 2, 9}));
  EXPECT_FALSE(cloze.priors[2].has_value());
}

TEST(RowFormat, EndsWithTheCrcOfWhatStandsBeforeIt) {
  const std::string line = format_row(sample_row());
  const std::size_t mark = line.rfind(",\"crc\":\"");
  ASSERT_NE(mark, std::string::npos);
  char want[9];
  std::snprintf(want, sizeof want, "%08x", crc32c(line.substr(0, mark)));
  EXPECT_EQ(line.substr(mark), ",\"crc\":\"" + std::string(want) + "\"}");
}

TEST(RowFormat, NamesAProbeOnlyWhereThereIsOne) {
  Row row = sample_row();
  EXPECT_EQ(format_row(row).find("probe"), std::string::npos);
  row.probe = "order:reverse";
  const Result<Row> again = parse_row(format_row(row));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->probe, "order:reverse");
  for (const char* bad : {"\"\"", "1", "null", "[]"}) {
    std::string line = format_row(row);
    const std::string good = "\"order:reverse\"";
    line.replace(line.find(good), good.size(), bad);
    EXPECT_FALSE(parse_row(line, Checksum::Ignore)) << bad;
  }
}

TEST(RowsFile, TellsRowsApartByTheirProbe) {
  Row plain = sample_row(), probe = sample_row();
  probe.probe = "noise:again";
  Row retried = probe;
  retried.stamp = "2026-12-02T00:00:00Z";
  const RowsFile file =
      parse_rows(format_row(plain) + "\n" + format_row(probe) + "\n" + format_row(retried) + "\n");
  ASSERT_EQ(file.rows.size(), 2U);
  EXPECT_EQ(file.rows[0].probe, "");
  EXPECT_EQ(file.rows[1].stamp, retried.stamp);
}

TEST(RowFormat, NamesANumberThatIsNotFiniteByNull) {
  Row row = sample_row();
  row.readings["cloze"].texts[0].sum = std::numeric_limits<double>::quiet_NaN();
  row.readings["cloze"].cause = decision::VoidCause::NotFinite;
  const std::string line = format_row(row);
  EXPECT_EQ(line.find("NaN"), std::string::npos);
  const Result<Row> again = parse_row(line);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(std::isnan(again->readings.at("cloze").texts[0].sum));
  EXPECT_EQ(again->readings.at("cloze").cause, decision::VoidCause::NotFinite);
}

TEST(RowFormat, MendsBytesThatAreNoUtf8) {
  Row row = sample_row();
  row.readings["letters"].rounds[0].letters.top_token = "\xE2\x96";
  const Result<Row> again = parse_row(format_row(row));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->readings.at("letters").rounds[0].letters.top_token, "\uFFFD\uFFFD");
}

TEST(RowFormat, RefusesEveryFlippedByte) {
  const std::string line = format_row(sample_row());
  for (std::size_t i = 0; i < line.size(); ++i) {
    std::string bad = line;
    bad[i] = static_cast<char>(bad[i] ^ 0x01);
    EXPECT_FALSE(parse_row(bad)) << "byte " << i;
  }
}

TEST(RowFormat, RefusesEveryCutLine) {
  const std::string line = format_row(sample_row());
  for (std::size_t n = 0; n < line.size(); ++n) EXPECT_FALSE(parse_row(line.substr(0, n))) << n;
}

std::string with_crc(std::string json) {  // json without its closing brace
  char crc[9];
  std::snprintf(crc, sizeof crc, "%08x", crc32c(json));
  return json + ",\"crc\":\"" + crc + "\"}";
}

TEST(RowFormat, NamesTheMemberThatIsWrong) {
  const Result<Row> row = parse_row(with_crc("{\"v\":1,\"arm\":3"));
  ASSERT_FALSE(row);
  EXPECT_EQ(row.error().code, Error::Code::Corrupt);
  EXPECT_NE(row.error().message.find("arm"), std::string::npos) << row.error().message;
}

struct Hostile {
  const char *from, *to, *says;
};
class RowOutOfRange : public testing::TestWithParam<Hostile> {};

TEST_P(RowOutOfRange, IsRefusedByName) {
  std::string line = format_row(sample_row());
  line.resize(line.rfind(",\"crc\":"));
  const std::size_t at = line.find(GetParam().from);
  ASSERT_NE(at, std::string::npos) << line;
  const std::size_t end = line.find_first_of(",]}", at + std::string(GetParam().from).size());
  line.replace(at, end - at, std::string(GetParam().from) + GetParam().to);
  const Result<Row> row = parse_row(with_crc(line));
  ASSERT_FALSE(row) << line;
  EXPECT_NE(row.error().message.find(GetParam().says), std::string::npos) << row.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    All, RowOutOfRange,
    testing::Values(Hostile{"\"texts\":[[", "-1e308", "[sum, tokens, bytes]"},
                    Hostile{"\"logprobs\":[", "1e300", "a logprob is out of range"},
                    Hostile{"\"options\":[0,", "0", "an option is named twice"},
                    Hostile{"\"planned_to_done_s\":", "1e300", "planned_to_done_s is out of range"},
                    Hostile{"\"sent_to_done_s\":", "-1", "sent_to_done_s is out of range"},
                    Hostile{"\"temperature\":", "0", "temperature is out of range"},
                    Hostile{"\"noul_slope\":", "0", "noul_slope is out of range"},
                    Hostile{"\"noul_bias\":", "1e300", "noul_bias is out of range"}));

TEST(RowFormat, WhatNoModelGivesIsWrittenAsNullSoThatTheRowCanBeRead) {
  Row row = sample_row();
  row.readings["cloze"].texts[0].sum = -1e300;
  row.readings["letters"].rounds[0].letters.logprobs[0] = -1e300;
  const Result<Row> again = parse_row(format_row(row));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(std::isnan(again->readings.at("cloze").texts[0].sum));
  EXPECT_FALSE(again->readings.at("letters").rounds[0].letters.logprobs[0]);
}

TEST(RowsFile, ToleratesATornLastLineAndNamesABadOneBefore) {
  const std::string good = format_row(sample_row("1")) + "\n";
  const std::string other = format_row(sample_row("2")) + "\n";
  std::string bad = good;
  bad[10] ^= 1;
  const RowsFile rows = parse_rows(good + bad + other + good.substr(0, 40));
  EXPECT_EQ(rows.rows.size(), 2U);
  ASSERT_EQ(rows.problems.size(), 1U);
  EXPECT_EQ(rows.problems[0].line, 2U);
  EXPECT_TRUE(rows.torn_tail);
  EXPECT_EQ(rows.good_bytes, good.size() + bad.size() + other.size());
}

TEST(RowsFile, TreatsALastRowWithoutItsNewlineAsTorn) {
  const std::string good = format_row(sample_row("1")) + "\n";
  const RowsFile rows = parse_rows(good + format_row(sample_row("2")));
  EXPECT_EQ(rows.rows.size(), 1U);
  EXPECT_TRUE(rows.torn_tail);
  EXPECT_EQ(rows.good_bytes, good.size());
}

TEST(RowsFile, AChangedLastLineIsNamedNotCutOff) {
  const std::string good = format_row(sample_row("1")) + "\n";
  std::string bad = good;
  bad[10] ^= 1;
  const RowsFile rows = parse_rows(good + bad);
  ASSERT_EQ(rows.problems.size(), 1U);
  EXPECT_EQ(rows.problems[0].line, 2U);
  EXPECT_FALSE(rows.torn_tail);
  EXPECT_EQ(rows.good_bytes, good.size() + bad.size());
}

TEST(RowsFile, LetsALaterRowReplaceAnEarlierOne) {
  Row first = sample_row("1");
  first.status = Row::Status::Error;
  first.reason = "connection refused";
  const RowsFile rows = parse_rows(format_row(first) + "\n" + format_row(sample_row("1")) + "\n");
  ASSERT_EQ(rows.rows.size(), 1U);
  EXPECT_EQ(rows.rows[0].status, Row::Status::Asked);
}

TEST(RunFormat, ReadsBackWhatItWrote) {
  RunRecord run;
  run.deem = "0.1.0";
  run.kit_name = "k";
  run.kit_digest = std::string(64, 'b');
  run.settings = codec::Json::object({{"seed", 7}});
  run.started = "2026-12-01T00:00:00Z";
  run.planned_rows = 12;
  ArmRecord arm;
  arm.name = "a";
  arm.mode = "readout";
  arm.settings = codec::Json::object({{"group", 1}});
  arm.wall_s = 1.5;
  run.arms.push_back(arm);
  const std::string text = format_run(run);
  const Result<RunRecord> again = parse_run(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(format_run(*again), text);
}

TEST(RunFormat, RefusesAnotherSchema) {
  const Result<RunRecord> run = parse_run("{\"schema\": \"deem.run/99\"}");
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, Error::Code::Corrupt);
}

}  // namespace
}  // namespace deem::record
