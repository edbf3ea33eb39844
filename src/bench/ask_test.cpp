#include "bench/ask.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bench/prompts.h"
#include "bench/scripted_seat.h"
#include "bench/test_kit.h"

namespace deem::bench {
namespace {

class Asking : public testing::Test {
 protected:
  std::vector<record::Row> ask(const Arm& arm, Unit unit) {
    ScriptedSeat seat(script, calls);
    return Asker(kit, census, *seat.identify(), seat, memo).ask(arm, unit);
  }

  kit::Kit kit = small_kit();
  Census census;
  ScriptedSeat::Script script;
  ScriptedSeat::Calls calls;
  PriorMemo memo;
};

TEST_F(Asking, KeepsEveryLettersLogprobAndTheUsersTurnsDigest) {
  const auto rows = ask(small_arm("a", {{"letters", false}}), {0, 0, {0}, 0});
  ASSERT_EQ(rows.size(), 1U);
  const auto& letters = rows[0].readings.at("letters");
  ASSERT_EQ(letters.rounds.size(), 1U);
  EXPECT_EQ(letters.rounds[0].letters.logprobs.size(), 3U);
  const std::string prompt =
      "State:\nThe north gate opens at nine.\n\nQuestion: Which one?\nOptions:\n[A] a: alpha\n[B] "
      "b: "
      "beta\n[C] c: \n\nAnswer with the letter of the best option only.";
  EXPECT_EQ(letters.prompt_sha256, sha256_hex(prompt));
  EXPECT_EQ(letters.prompt_chars, static_cast<std::int64_t>(prompt.size()));
  EXPECT_EQ(calls.positions, 1);
}

TEST_F(Asking, ComputesAPriorOnceForAllItemsItDoesNotDependOn) {
  ask(small_arm("a", {{"cloze", true}}), {0, 0, {0}, 0});
  EXPECT_EQ(calls.likelihoods, 6);  // three options, three priors
  const auto rows = ask(small_arm("a", {{"cloze", true}}), {0, 0, {1}, 0});
  EXPECT_EQ(calls.likelihoods, 9);  // three more options; the priors are known
  const auto& cloze = rows[0].readings.at("cloze");
  ASSERT_EQ(cloze.priors.size(), 3U);
  EXPECT_TRUE(cloze.priors[2].has_value());
}

TEST_F(Asking, TakesNoPriorWhereTheStateIsWhatIsScored) {
  const auto rows = ask(small_arm("a", {{"channel", true}}), {0, 0, {0}, 0});
  EXPECT_EQ(calls.likelihoods, 3);
  for (const auto& prior : rows[0].readings.at("channel").priors) EXPECT_FALSE(prior.has_value());
}

TEST_F(Asking, ScoresOneTextWhereTheTemplatesNameNoOption) {
  const auto rows = ask(small_arm("a", {{"gain", true}}), {0, 1, {0}, 0});
  EXPECT_EQ(rows[0].readings.at("gain").texts.size(), 1U);
  EXPECT_TRUE(rows[0].readings.at("gain").priors[0].has_value());
}

TEST_F(Asking, LeavesOutAReadingTheTaskDoesNotDefine) {
  const auto rows = ask(small_arm("a", {{"letters", false}, {"gain", false}}), {0, 0, {0}, 0});
  EXPECT_EQ(rows[0].readings.size(), 1U);
  EXPECT_EQ(rows[0].status, record::Row::Status::Asked);
}

TEST_F(Asking, AsksSixtyOptionsInTwoGroupsAndAFinalOfTheirWinners) {
  auto& options = kit.tasks[0].items[0].question.options;
  options.clear();
  for (int i = 0; i < 60; ++i)
    options.push_back({"k" + std::to_string(i), "option " + std::to_string(i), ""});
  const auto rows = ask(small_arm("a", {{"letters", false}}), {0, 0, {0}, 0});
  const auto& letters = rows[0].readings.at("letters");
  ASSERT_EQ(letters.rounds.size(), 3U);
  EXPECT_EQ(letters.rounds[0].options.size(), 30U);
  EXPECT_EQ(letters.rounds[1].options.front(), 30U);
  EXPECT_EQ(letters.rounds[2].options.size(), 2U);
  EXPECT_LT(letters.rounds[2].options[0], 30U);
  EXPECT_GE(letters.rounds[2].options[1], 30U);
  EXPECT_EQ(letters.calls, 3);
}

TEST_F(Asking, VoidsAReplyToAPromptThatWasCut) {
  const auto prompt =
      make_letters_prompt(kit, kit.tasks[0].items[0], kit.states[0].text).prompts[0];
  ScriptedSeat seat(script, calls);
  census[sha256_hex(prompt)] = *seat.count_chat(prompt);
  script.prompt_tokens_lie = -3;
  const auto rows = ask(small_arm("a", {{"letters", false}}), {0, 0, {0}, 0});
  EXPECT_EQ(rows[0].readings.at("letters").cause, decision::VoidCause::TruncatedPrompt);
  script.prompt_tokens_lie = 0;
  script.says_truncated = true;
  const auto told = ask(small_arm("a", {{"letters", false}}), {0, 0, {0}, 0});
  EXPECT_EQ(told[0].readings.at("letters").cause, decision::VoidCause::TruncatedPrompt);
}

TEST_F(Asking, MakesAnErrorRowOfAnItemTheServerRefusesWithItsOwnSentence) {
  script.fails = [](const std::string&) {
    return Error{Error::Code::Unavailable, "HTTP 500: out of cheese"};
  };
  const auto rows = ask(small_arm("a", {{"letters", false}}), {0, 0, {0}, 0});
  EXPECT_EQ(rows[0].status, record::Row::Status::Error);
  EXPECT_EQ(rows[0].reason, "HTTP 500: out of cheese");
}

TEST_F(Asking, TakesACountBelowZeroForNoCount) {
  script.prompt_tokens_lie = -100'000;
  const auto rows = ask(small_arm("a", {{"letters", false}}), {0, 0, {0}, 0});
  EXPECT_FALSE(rows[0].readings.at("letters").prompt_tokens.has_value());
}

TEST_F(Asking, ReadsAWrittenAnswerAndKeepsWhatIsUnparsedApart) {
  script.written = "The answer is B.";
  auto rows = ask(small_arm("w", {{"written", false}}), {0, 0, {0}, 0});
  EXPECT_EQ(rows[0].readings.at("written").answer.option, 1U);
  script.written = "I can't tell.";
  rows = ask(small_arm("w", {{"written", false}}), {0, 0, {0}, 0});
  EXPECT_FALSE(rows[0].readings.at("written").answer.option.has_value());
  EXPECT_EQ(rows[0].readings.at("written").reply, "I can't tell.");
}

TEST_F(Asking, VoidsLettersWithHardlyAnyMass) {
  script.position = [](const seat::PositionRequest& request) {
    decision::FirstPosition position;
    position.logprobs_present = true;
    for (std::size_t i = 0; i < request.letters; ++i)
      position.exact.emplace_back(-13.2 - 0.7 * static_cast<double>(i));
    position.sampled = decision::TokenScore{"The", 7, -0.01};
    position.top = {*position.sampled};
    return position;
  };
  const auto rows = ask(small_arm("a", {{"letters", false}}), {0, 1, {0}, 0});
  EXPECT_EQ(rows[0].readings.at("letters").cause, decision::VoidCause::LowLabelMass);
}

}  // namespace
}  // namespace deem::bench
