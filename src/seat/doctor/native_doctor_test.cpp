// What a diagnosis says of decision endpoints: each planted fault by name, and nothing of those
// that are well.
#include <algorithm>
#include <cstdio>
#include <regex>

#include "seat/doctor/doctor.h"
#include "seat/seat_test_support.h"

namespace deem::seat {
namespace {

using Verdict = ProbeResult::Verdict;

Result<Diagnosis> examine_fake(const Form& form, FakeOptions options, std::uint64_t nonce = 4711) {
  options.sglang_form = form.sglang;
  const auto server = start_fake(form.kind, std::move(options));
  const auto seat = seat_of(server.seat());
  // A state of 20,000 words is over the context of 16,384 bytes that a scripted endpoint has.
  return examine(*seat, {.patience_s = 20, .nonce = nonce, .blind_tokens = 20'000}, {}, {});
}

std::string all_findings(const Diagnosis& diagnosis) {
  std::string out;
  for (const ProbeResult& probe : diagnosis.probes) {
    if (probe.verdict == Verdict::Finding) out += "  " + probe.name + ": " + probe.says + "\n";
  }
  return out;
}

struct Planted {
  AnswerFault fault;
  const char* probe;
  const char* words;      // in its finding, a regular expression
  const char* direction;  // how it errs
  bool believed = false;  // the reading, all the same
};

const Planted kPlanted[] = {
    {AnswerFault::RenamedId, "answers", "choice: no_answer", "false alarm"},
    {AnswerFault::NoAnswers, "answers", "choice: no_answer", "false alarm"},
    {AnswerFault::NullAnswer, "answers", "choice: no_answer", "false alarm"},
    {AnswerFault::WrongType, "answers", "choice: no_answer", "false alarm"},
    {AnswerFault::Declined, "answers", "choice: declined", "false alarm"},
    {AnswerFault::MissingOption, "answers", "choice: missing_option", "false alarm"},
    {AnswerFault::NullOption, "answers", "choice: missing_option", "false alarm"},
    {AnswerFault::NanOption, "answers", "choice: not_a_number", "false alarm"},
    {AnswerFault::TextOption, "answers", "choice: not_a_number", "false alarm"},
    {AnswerFault::Negative, "answers", "choice: not_a_probability", "false alarm"},
    {AnswerFault::Percent, "answers", "choice: not_a_probability", "false alarm"},
    {AnswerFault::SumLow, "answers", "choice: sum_not_one", "false alarm"},
    {AnswerFault::AllZero, "answers", "choice: sum_not_one", "false alarm"},
    {AnswerFault::ChoiceDiffers, "answers", "choice: choice_differs", "false alarm"},
    {AnswerFault::ChoiceUnknown, "answers", "choice: choice_differs", "false alarm"},
    {AnswerFault::ScoreDiffers, "answers", "score [0-9.]+ where .* 3 levels say", "", true},
    {AnswerFault::ReadsIds, "ids", "right answer: a probability moves", "false comfort"},
    {AnswerFault::ReadsCompany, "company", "behind it: a probability moves", "false comfort"},
    {AnswerFault::Jitters, "repeat", "asked again: a probability moves", "false comfort"},
    {AnswerFault::TakesAnything, "errors", "without options", "false comfort", true},
    {AnswerFault::CutsState, "overlong", "cuts silently: .* it read 16424", "false comfort"},
};

class NativeDoctor : public testing::TestWithParam<Form> {};

TEST_P(NativeDoctor, ProbesComeInTheirOrderEachOnce) {
  const auto diagnosis = examine_fake(GetParam(), {});
  ASSERT_TRUE(diagnosis) << diagnosis.error().message;
  ASSERT_EQ(diagnosis->probes.size(), std::size(kNativeProbes));
  for (std::size_t i = 0; i < std::size(kNativeProbes); ++i) {
    EXPECT_EQ(diagnosis->probes[i].name, kNativeProbes[i]);
    EXPECT_EQ(diagnosis->probes[i].verdict, Verdict::Ok) << diagnosis->probes[i].says;
    EXPECT_FALSE(diagnosis->probes[i].says.empty()) << kNativeProbes[i];
  }
  ASSERT_EQ(diagnosis->readings.size(), 1u);
  EXPECT_EQ(diagnosis->readings[0].name, "native");
  EXPECT_TRUE(diagnosis->readings[0].supported && diagnosis->readings[0].believed);
}

TEST_P(NativeDoctor, EveryPlantedFaultIsNamed) {
  int caught = 0;
  for (const Planted& planted : kPlanted) {
    const auto diagnosis = examine_fake(GetParam(), {.answers = {planted.fault}});
    ASSERT_TRUE(diagnosis) << planted.probe << ": " << diagnosis.error().message;
    const auto named = [&](const ProbeResult& probe) {
      return probe.verdict == Verdict::Finding && probe.name == planted.probe &&
             std::regex_search(probe.says, std::regex(planted.words)) &&
             probe.direction == planted.direction;
    };
    const bool found = std::ranges::any_of(diagnosis->probes, named);
    EXPECT_TRUE(found) << "wanted " << planted.probe << " ~ " << planted.words << ", got\n"
                       << all_findings(*diagnosis);
    EXPECT_EQ(diagnosis->readings.at(0).believed, planted.believed) << planted.words;
    caught += found ? 1 : 0;
  }
  std::printf("%s: caught %d of %zu planted faults\n", GetParam().name, caught,
              std::size(kPlanted));
}

TEST_P(NativeDoctor, IdsCompanyAndRepeatsAreToldApart) {
  for (const auto& [fault, probe] :
       {std::pair{AnswerFault::ReadsIds, "ids"}, std::pair{AnswerFault::ReadsCompany, "company"}}) {
    const auto diagnosis = examine_fake(GetParam(), {.answers = {fault}});
    ASSERT_TRUE(diagnosis) << diagnosis.error().message;
    EXPECT_EQ(diagnosis->readings.at(0).why, std::string("see ") + probe);
  }
}

TEST_P(NativeDoctor, NothingIsFoundOfThoseThatAreWell) {
  const std::vector<FakeOptions> healthy = {{},
                                            {.answers = {AnswerFault::ColdDrift}},
                                            {.answers = {AnswerFault::Rounded}},
                                            {.answers = {AnswerFault::Reordered}},
                                            {.answers = {AnswerFault::ExtraAnswer}},
                                            {.answers = {AnswerFault::ExtraMembers}},
                                            {.answers = {AnswerFault::NoConfidence}},
                                            {.served = "fake-model-1.13.0"}};
  int alarms = 0;
  for (const FakeOptions& options : healthy) {
    const auto diagnosis = examine_fake(GetParam(), options);
    ASSERT_TRUE(diagnosis) << diagnosis.error().message;
    EXPECT_EQ(all_findings(*diagnosis), "");
    EXPECT_TRUE(diagnosis->readings.at(0).believed);
    alarms += all_findings(*diagnosis).empty() ? 0 : 1;
  }
  std::printf("%s: %d false alarms on %zu endpoints\n", GetParam().name, alarms, healthy.size());
}

TEST_P(NativeDoctor, AnswersLikeGuessingAreAFinding) {
  for (const Fault fault : {Fault::Wanders, Fault::FirstOption, Fault::AllAlike}) {
    const auto diagnosis =
        examine_fake(GetParam(), {.faults = {{.fault = fault, .everywhere = true}}});
    ASSERT_TRUE(diagnosis) << diagnosis.error().message;
    const ProbeResult& sanity = diagnosis->probes.back();
    EXPECT_EQ(sanity.verdict, Verdict::Finding) << sanity.says;
    EXPECT_NE(sanity.says.find("like guessing by every reading"), std::string::npos) << sanity.says;
    EXPECT_EQ(sanity.says.find("stuck on the first option: taken in 52 of 52") != std::string::npos,
              fault != Fault::Wanders)
        << sanity.says;
    EXPECT_FALSE(diagnosis->readings.at(0).believed);
  }
}

TEST_P(NativeDoctor, ANameNobodyServesIsAFindingThatSpoilsNothing) {
  const auto diagnosis =
      examine_fake(GetParam(), {.faults = {{.fault = Fault::AnyName, .everywhere = true}}});
  ASSERT_TRUE(diagnosis) << diagnosis.error().message;
  EXPECT_EQ(diagnosis->probes.at(0).verdict, Verdict::Finding) << diagnosis->probes[0].says;
  EXPECT_TRUE(diagnosis->readings.at(0).believed);
}

TEST_P(NativeDoctor, WithoutAnAnswerTheRestIsNotMeasured) {
  const auto diagnosis = examine_fake(GetParam(), {.answers = {AnswerFault::Declined}});
  ASSERT_TRUE(diagnosis) << diagnosis.error().message;
  for (const ProbeResult& probe : diagnosis->probes) {
    const bool rests = probe.name == "ids" || probe.name == "company" || probe.name == "repeat" ||
                       probe.name == "sanity";
    EXPECT_EQ(probe.verdict == Verdict::NotMeasured, rests) << probe.name << ": " << probe.says;
  }
  EXPECT_FALSE(diagnosis->readings.at(0).supported);
  EXPECT_NE(diagnosis->readings[0].why.find("declined"), std::string::npos);
}

TEST_P(NativeDoctor, AReplyThatCanNotBeReadIsTheSeatsErrorAndSaysWhy) {
  const auto diagnosis = examine_fake(GetParam(), {.answers = {AnswerFault::Duplicate}});
  ASSERT_FALSE(diagnosis);
  EXPECT_NE(diagnosis.error().message.find("\"a\" stands twice in the reply"), std::string::npos)
      << diagnosis.error().message;
}

TEST_P(NativeDoctor, LabelsThatHoldNothingAreAFindingWhereThatIsTold) {
  const auto diagnosis = examine_fake(GetParam(), {.answers = {AnswerFault::LowMass}});
  ASSERT_TRUE(diagnosis) << diagnosis.error().message;
  const bool told = GetParam().kind == ServerKind::SystemOne || GetParam().sglang;
  const ProbeResult& answers = diagnosis->probes.at(1);
  EXPECT_EQ(answers.says.find("choice: low_label_mass") != std::string::npos, told) << answers.says;
}

TEST_P(NativeDoctor, StepsOfAHundredthAreSaid) {
  const auto diagnosis = examine_fake(GetParam(), {.answers = {AnswerFault::Rounded}});
  ASSERT_TRUE(diagnosis) << diagnosis.error().message;
  const ProbeResult& answers = diagnosis->probes.at(1);
  EXPECT_NE(answers.says.find("steps of 0.01"), std::string::npos) << answers.says;
}

/// An endpoint held against the letters of a scripted vLLM.
Result<ProbeResult> held_against(const Form& form, FakeOptions native, FakeOptions plain = {}) {
  native.sglang_form = form.sglang;
  const auto server = start_fake(form.kind, std::move(native));
  const auto other = start_fake(ServerKind::Vllm, std::move(plain));
  const auto seat = seat_of(server.seat()), against = seat_of(other.seat());
  auto diagnosis = examine(
      *seat, {.probes = {"against"}, .patience_s = 20, .nonce = 4711, .against = against.get()}, {},
      {});
  if (!diagnosis) return fail(diagnosis.error());
  return diagnosis->probes.back();
}

TEST_P(NativeDoctor, TheSameAnswersAsOurLettersAreWell) {
  const auto probe = held_against(GetParam(), {});
  ASSERT_TRUE(probe) << probe.error().message;
  EXPECT_EQ(probe->name, "against");
  EXPECT_EQ(probe->verdict, Verdict::Ok) << probe->says;
  EXPECT_NE(probe->says.find("right on 24 of 24, our letters on 24: +0.00"), std::string::npos)
      << probe->says;
  EXPECT_LT(probe->evidence.get_double("max").value_or(1), 1e-3);
  EXPECT_EQ(probe->evidence.get_int("differ"), 0);
}

// The choice moves by 0.2 of its likeliest option and more when it is asked again, so what ids and
// company do can not be told.
TEST_P(NativeDoctor, WhatMovesByItselfIsNotLaidToIdsAndCompany) {
  const auto diagnosis = examine_fake(GetParam(), {.answers = {AnswerFault::Jitters}});
  ASSERT_TRUE(diagnosis) << diagnosis.error().message;
  const auto verdict = [&](std::string_view name) {
    return std::ranges::find(diagnosis->probes, name, &ProbeResult::name)->verdict;
  };
  EXPECT_EQ(verdict("ids"), Verdict::Ok);
  EXPECT_EQ(verdict("company"), Verdict::Ok);
  EXPECT_EQ(verdict("repeat"), Verdict::Finding);
  EXPECT_GT(diagnosis->probes.at(1).evidence.get_double("spread").value_or(0), 0.03);
}

// Beyond the first probes, in the middle of the questions of `sanity`.
TEST_P(NativeDoctor, AnEndpointThatDiesInTheMiddleIsNotBelieved) {
  for (const Fault fault : {Fault::ServerError, Fault::Close}) {
    const auto diagnosis =
        examine_fake(GetParam(), {.faults = {{.fault = fault, .first = 40, .count = 1000}}});
    ASSERT_TRUE(diagnosis) << diagnosis.error().message;
    const ProbeResult& answers = diagnosis->probes.at(1);
    EXPECT_EQ(answers.verdict, Verdict::Finding) << answers.says;
    EXPECT_NE(answers.says.find("requests were not answered: "), std::string::npos) << answers.says;
    EXPECT_FALSE(diagnosis->readings.at(0).believed);
  }
}

// A reply that declines is no answer to what can not be answered.
TEST_P(NativeDoctor, ADeclinedQuestionWithoutOptionsIsWell) {
  const auto diagnosis =
      examine_fake(GetParam(), {.answers = {AnswerFault::TakesAnything, AnswerFault::Declined}});
  ASSERT_TRUE(diagnosis) << diagnosis.error().message;
  const auto errors = std::ranges::find(diagnosis->probes, "errors", &ProbeResult::name);
  EXPECT_EQ(errors->verdict, Verdict::Ok) << errors->says;
}

TEST_P(NativeDoctor, ASkewIsFoundAgainstOurLetters) {
  const auto probe = held_against(GetParam(), {.answers = {AnswerFault::Skewed}});
  ASSERT_TRUE(probe) << probe.error().message;
  EXPECT_EQ(probe->verdict, Verdict::Finding) << probe->says;
  EXPECT_EQ(probe->direction, "false alarm");
  EXPECT_EQ(probe->spoils, std::vector<std::string>{"native"});
  EXPECT_NE(probe->says.find("of 24 answers differ, more than the 0 that waver"), std::string::npos)
      << probe->says;
}

TEST_P(NativeDoctor, LettersThatAreWorseDoNotSpoilTheEndpoint) {
  const auto probe =
      held_against(GetParam(), {}, {.faults = {{.fault = Fault::FirstOption, .everywhere = true}}});
  ASSERT_TRUE(probe) << probe.error().message;
  EXPECT_EQ(probe->verdict, Verdict::Finding) << probe->says;
  EXPECT_EQ(probe->direction, "");
  EXPECT_TRUE(probe->spoils.empty());
}

TEST_P(NativeDoctor, ProbabilitiesThatMoveALittleAreNoFinding) {
  for (const AnswerFault harmless : {AnswerFault::Rounded, AnswerFault::Jitters}) {
    const auto probe = held_against(GetParam(), {.answers = {harmless}});
    ASSERT_TRUE(probe) << probe.error().message;
    EXPECT_EQ(probe->verdict, Verdict::Ok) << probe->says;
  }
}

TEST_P(NativeDoctor, WithoutLettersToReadThereIsNothingToHoldItAgainst) {
  const auto probe = held_against(GetParam(), {},
                                  {.faults = {{.fault = Fault::NullLogprobs, .everywhere = true}}});
  ASSERT_TRUE(probe) << probe.error().message;
  EXPECT_EQ(probe->verdict, Verdict::NotMeasured) << probe->says;
  EXPECT_NE(probe->says.find("the other seat reads no letters"), std::string::npos) << probe->says;
}

INSTANTIATE_TEST_SUITE_P(Forms, NativeDoctor, testing::ValuesIn(kForms),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace deem::seat
