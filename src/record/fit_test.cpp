#include "record/fit.h"

#include <gtest/gtest.h>

namespace deem::record {
namespace {

using decision::Calibrator;
using Method = Calibrator::Method;

Fit whole() {
  FitEntry temperature{
      .task = "t",
      .type = decision::QuestionType::Choice,
      .mode = "readout",
      .reading = "letters",
      .variant = "raw",
      .policy = "exact",
      .calibrator = {.method = Method::Temperature, .temperatures = {{0, 1.5}, {12, 2.5}}},
      .n = 60,
      .states = 50,
      .held_out_by = "state",
      .before = FitFigures{.n = 60, .accuracy = .5, .brier = .7},
      .after = FitFigures{.n = 60, .accuracy_low = .4, .accuracy_high = .6}};
  FitEntry any = temperature;
  any.task = "";
  any.options = 3;
  any.calibrator = {.method = Method::LabelPrior, .temperatures = {{0, 2}}, .bias = {.5, -.25, 1}};
  FitEntry platt = temperature;
  platt.task = "u";
  platt.reading = "gain";
  platt.variant = "prior-sum";
  platt.policy = "";
  platt.prompt_digest = "abc";
  platt.calibrator = {.method = Method::Platt, .slope = .125, .offset = -2};
  FitEntry isotonic = platt;
  isotonic.task = "v";
  isotonic.calibrator = {.method = Method::Isotonic, .knots = {{-1, .1}, {2, .1}, {3, .9}}};
  FitEntry by_option = isotonic;
  by_option.task = "o";
  by_option.calibrator.by_option = true;
  FitEntry none = platt;
  none.task = "w";
  none.calibrator = {};
  return {.name = "demo",
          .deem = "0.1.0",
          .made = "2026-12-02T00:00:00Z",
          .by = "calibrate",
          .model = {.kind = "local", .model = "m", .digest = "sha256:1", .template_sha256 = "t"},
          .sources = {{"demo", "k", "r", 240}},
          .entries = {temperature, any, platt, isotonic, by_option, none}};
}

TEST(Fit, ReadsWhatItWrote) {
  const Fit fit = whole();
  const auto read = parse_fit(std::string_view(format_fit(fit)));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, fit);
}

struct Corruption {
  const char *from, *to, *says;
};
class FitCorrupted : public testing::TestWithParam<Corruption> {};

TEST_P(FitCorrupted, IsRefusedByName) {
  std::string text = format_fit(whole());
  const std::size_t at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos) << GetParam().from;
  text.replace(at, std::string(GetParam().from).size(), GetParam().to);
  const auto read = parse_fit(std::string_view(text));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Error::Code::Corrupt);
  EXPECT_NE(read.error().message.find(GetParam().says), std::string::npos) << read.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    All, FitCorrupted,
    testing::Values(
        Corruption{"deem.fit/1", "deem.fit/9", "no fit file"},
        Corruption{"\"by\": \"calibrate\"", "\"by\": \"hand\"", "by"},
        Corruption{"\"method\": \"temperature\"", "\"method\": \"warm\"",
                   "entry 1: calibrator: method"},
        Corruption{"\"t\": 1.5", "\"t\": 0.0", "t is out of range"},
        Corruption{"\"t\": 1.5", "\"t\": -1", "t is out of range"},
        Corruption{"\"t\": 1.5", "\"t\": \"1.5\"", "t is missing or no number"},
        Corruption{"\"slope\": 0.125", "\"slope\": -0.125", "slope is out of range"},
        Corruption{"\"of\": \"difference\"", "\"of\": \"sum\"", "of has an unknown value"},
        Corruption{"0.1\n", "1.1\n", "knots"},
        Corruption{"\"mode\": \"readout\"", "\"mode\": \"guess\"", "mode"},
        Corruption{"\"valid_for\"", "\"valid\"", "valid_for is missing"},
        Corruption{"\"n\": 60,\n   \"states\"", "\"n\": -60,\n   \"states\"", "below 0"},
        Corruption{"\"n\": 60,\n   \"states\"", "\"n\": \"60\",\n   \"states\"", "n is missing"}));

TEST(FitFile, WithoutEntriesSaysThatNothingWasFitted) {
  Fit fit = whole();
  fit.entries.clear();
  const auto read = parse_fit(std::string_view(format_fit(fit)));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "entries is empty: nothing was fitted");
}

TEST(FitFile, TwoEntriesForTheSameAnswersAreRefused) {
  Fit fit = whole();
  const std::string n = std::to_string(fit.entries.size() + 1);
  fit.entries.push_back(fit.entries.front());
  fit.entries.back().n = 31;
  const auto read = parse_fit(std::string_view(format_fit(fit)));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "entry " + n + " is for the same answers as entry 1");
}

FitModel model() {
  return {.kind = "local", .model = "", .digest = "sha256:1", .template_sha256 = "t"};
}

TEST(FitModel, SameWeightsBehindOneTemplateAreTheSameWhateverServesThem) {
  FitModel served = model();
  served.kind = "llama-server";
  served.model = "smol";
  served.root = "/models/x.gguf";
  EXPECT_FALSE(difference(model(), served));
}

TEST(FitModel, EveryDifferenceIsNamed) {
  FitModel other = model();
  other.digest = "sha256:2";
  EXPECT_EQ(difference(model(), other), "weights sha256:1 there, sha256:2 here");
  other = model();
  other.template_sha256 = "u";
  EXPECT_EQ(difference(model(), other), "chat template t there, u here");
  other = model();
  other.digest.reset();
  EXPECT_EQ(difference(model(), other),
            "weights sha256:1 there, not told here, so they may not be the same");
  other.template_sha256.reset();
  EXPECT_EQ(difference(model(), other), "chat template t there, not told here");
  const FitModel named{.kind = "vllm", .model = "m", .root = "org/m", .detail = "fp8"};
  EXPECT_FALSE(difference(named, named));
  other = named;
  other.detail = "bf16";
  EXPECT_EQ(difference(named, other), "quant fp8 there, bf16 here");
  other = named;
  other.root = "org/n";
  EXPECT_EQ(difference(named, other), "root org/m there, org/n here");
  other = named;
  other.model = "n";
  EXPECT_EQ(difference(named, other), "model m there, n here");
  other = named;
  other.kind = "openai";
  EXPECT_EQ(difference(named, other), "seat vllm there, openai here");
}

TEST(FindEntry, TheTasksOwnComesBeforeThatOfAnyTask) {
  const Fit fit = whole();
  FitQuery query{
      .task = "t", .options = 3, .reading = "letters", .variant = "raw", .policy = "exact"};
  ASSERT_NE(find_entry(fit, query), nullptr);
  EXPECT_EQ(find_entry(fit, query)->task, "t");
  query.task = "elsewhere";
  ASSERT_NE(find_entry(fit, query), nullptr);
  EXPECT_EQ(find_entry(fit, query)->task, "");
  query.options = 4;
  EXPECT_EQ(find_entry(fit, query), nullptr);
  query.options = 3;
  query.policy = "fold";
  EXPECT_EQ(find_entry(fit, query), nullptr);
  query.policy = "exact";
  query.type = decision::QuestionType::Score;
  EXPECT_EQ(find_entry(fit, query), nullptr);
}

TEST(FindEntry, OtherTextsAreAnotherReading) {
  const Fit fit = whole();
  FitQuery query{
      .task = "u", .options = 2, .reading = "gain", .variant = "prior-sum", .prompt_digest = "abc"};
  EXPECT_NE(find_entry(fit, query), nullptr);
  query.prompt_digest = "abd";
  EXPECT_EQ(find_entry(fit, query), nullptr);
}

TEST(ChosenEntry, IsOnlyInAFitThatChooses) {
  Fit fit = whole();
  EXPECT_EQ(chosen_entry(fit, "u"), nullptr);
  fit.by = "choose";
  ASSERT_NE(chosen_entry(fit, "u"), nullptr);
  EXPECT_EQ(chosen_entry(fit, "u")->reading, "gain");
  EXPECT_EQ(chosen_entry(fit, "nowhere"), nullptr);
}

}  // namespace
}  // namespace deem::record
