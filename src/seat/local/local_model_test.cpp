// The seat on a real model: DEEM_MODEL names a GGUF file of a chat model; without it all is
// skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>

#include "seat/local/in_process_seat.h"
#include "seat/local/scored_text.h"

namespace deem::seat::local {
namespace {

using decision::LetterPolicy;

constexpr std::string_view kState =
    "The tide mill at Eling stands on a causeway between Bartley Water and the head of the "
    "estuary. Twice a day the sea fills the pond behind it, a hinged gate falls shut by itself, "
    "and when the water outside has dropped far enough the miller lets it out over the wheel. "
    "Work follows the moon and not the clock: the stones may turn at three in the morning and "
    "again in the late afternoon. The wheel of 1785 was of oak; iron replaced it in 1892. Flour "
    "from the mill went by barge to Southampton until the railway took that trade away.";

constexpr std::array<std::string_view, 6> kQuestions = {
    "What shuts the gate?",      "When may the stones turn?", "What was the wheel made of?",
    "How did the flour travel?", "Who took the trade away?",  "What does the work follow?"};

PositionRequest question(std::size_t i, LetterPolicy policy = LetterPolicy::Exact) {
  PositionRequest request;
  request.prompt = "State:\n" + std::string(kState) +
                   "\n\nQuestion: " + std::string(kQuestions[i]) +
                   "\nOptions:\n[A] sea: the water\n[B] iron: a metal\n[C] barge: a boat\n"
                   "[D] moon: its phases\n\nAnswer with the letter of the best option only.";
  request.letters = 4;
  request.policy = policy;
  return request;
}

LikelihoodRequest stem(std::string score) {
  return {.given = std::string(kState) + "\n\nThe text is about", .score = std::move(score)};
}

// The parameter is the environment variable that names the model file.
class LocalModel : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const char* path = std::getenv(GetParam());
    if (path == nullptr) GTEST_SKIP() << GetParam() << " names no model";
    if (path_ != path) {
      seat_.reset();
      SeatSpec spec;
      spec.kind = "local";
      spec.address = path;
      spec.context = 1024;
      auto made = InProcessSeat::make(spec);
      ASSERT_TRUE(made) << made.error().message;
      seat_ = std::move(*made);
      path_ = path;
    }
    seat_->share_prefixes(true);  // forgets
  }
  static void TearDownTestSuite() { seat_.reset(); }

  static std::vector<double> letters(const Result<PositionReply>& reply) {
    EXPECT_TRUE(reply) << reply.error().message;
    std::vector<double> p;
    for (const auto& logprob : reply->position.exact) p.push_back(std::exp(*logprob));
    return p;
  }
  static double sum(const LikelihoodRequest& request) {
    const auto reply = seat_->likelihood(request, {});
    EXPECT_TRUE(reply) << reply.error().message;
    return reply ? reply->text.sum : std::nan("");
  }

  static std::unique_ptr<InProcessSeat> seat_;
  static std::string path_;
};
std::unique_ptr<InProcessSeat> LocalModel::seat_;
std::string LocalModel::path_;

INSTANTIATE_TEST_SUITE_P(Files, LocalModel, testing::Values("DEEM_MODEL", "DEEM_MODEL_GEMMA"),
                         [](const auto& p) { return p.param; });

// Where two probabilities are closer than this, the batch a token rode in may decide.
constexpr double kTie = 0.02;

void expect_same(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 0.01);
  const auto best_a = std::ranges::max_element(a) - a.begin();
  const auto best_b = std::ranges::max_element(b) - b.begin();
  if (best_a != best_b) {
    EXPECT_LT(std::abs(a[static_cast<std::size_t>(best_a)] - a[static_cast<std::size_t>(best_b)]),
              kTie);
  }
}

TEST_P(LocalModel, SharedPrefixesGiveTheProbabilitiesOfUnsharedEvaluation) {
  std::vector<PositionRequest> requests;
  for (std::size_t i = 0; i < kQuestions.size(); ++i) requests.push_back(question(i));
  const auto together = seat_->first_positions(requests, {});
  seat_->share_prefixes(true);  // forgets
  std::vector<Result<PositionReply>> in_turn;
  for (const PositionRequest& request : requests)
    in_turn.push_back(seat_->first_position(request, {}));
  seat_->share_prefixes(false);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto alone = letters(seat_->first_position(requests[i], {}));
    expect_same(letters(together[i]), alone);
    expect_same(letters(in_turn[i]), alone);
  }
}

TEST_P(LocalModel, AColdCallUsesNothingEvaluatedBefore) {
  const auto first = seat_->first_position(question(0), {});
  Schedule cold;
  cold.cold = true;
  const auto again = seat_->first_position(question(0), cold);
  ASSERT_TRUE(first && again);
  EXPECT_EQ(again->usage.cached_tokens, 0);
  expect_same(letters(first), letters(again));
  (void)seat_->first_position(question(0), {});
  EXPECT_GT(*seat_->first_position(question(0), {})->usage.cached_tokens, 0) << "as before it";
}

TEST_P(LocalModel, TheStateIsEvaluatedOnceAndCountedAsCached) {
  const std::size_t before = seat_->tokens_run();
  const auto first = seat_->first_position(question(0), {});
  const auto second = seat_->first_position(question(1), {});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->usage.cached_tokens, 0);
  EXPECT_GT(*second->usage.cached_tokens, *second->usage.prompt_tokens / 2);
  EXPECT_EQ(seat_->tokens_run() - before,
            static_cast<std::size_t>(*first->usage.prompt_tokens + *second->usage.prompt_tokens -
                                     *second->usage.cached_tokens));
  // Asked again, only the last token runs: its scores are wanted.
  const auto again = seat_->first_position(question(1), {});
  EXPECT_EQ(*again->usage.cached_tokens, *again->usage.prompt_tokens - 1);
  expect_same(letters(again), letters(second));
}

TEST_P(LocalModel, ManyMorePathsThanSequencesAreAllAnswered) {
  std::vector<LikelihoodRequest> requests;
  for (int i = 0; i < 150; ++i) requests.push_back(stem(" number " + std::to_string(i * 37)));
  const auto replies = seat_->likelihoods(requests, {});
  seat_->share_prefixes(true);
  for (const std::size_t i : {0U, 77U, 149U}) {
    ASSERT_TRUE(replies[i]) << replies[i].error().message;
    EXPECT_NEAR(replies[i]->text.sum, sum(requests[i]), 0.05);
  }
}

TEST_P(LocalModel, ALongTextIsScoredWholeWhateverFitsInOneCall) {
  const LikelihoodRequest request{.given = "Title:",
                                  .score = " " + std::string(kState) + " " + std::string(kState)};
  const auto whole = seat_->likelihood(request, {});
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_GT(whole->text.tokens, 200U);
  const std::vector<LikelihoodRequest> twice = {request, stem(" a tide mill"), request};
  const auto together = seat_->likelihoods(twice, {});
  EXPECT_NEAR(together[2]->text.sum, whole->text.sum, 0.05);
}

TEST_P(LocalModel, OptionsThatArePrefixesOfEachOtherScoreAsAlone) {
  const std::vector<LikelihoodRequest> requests = {stem(" a tide mill"), stem(" a tide"),
                                                   stem(" a tide mill and its wheel"), stem(" a"),
                                                   stem(" a tide mill")};
  const auto together = seat_->likelihoods(requests, {});
  seat_->share_prefixes(false);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    ASSERT_TRUE(together[i]) << together[i].error().message;
    const auto alone = seat_->likelihood(requests[i], {});
    EXPECT_NEAR(together[i]->text.sum, alone->text.sum, 0.05) << requests[i].score;
    EXPECT_EQ(together[i]->text.tokens, alone->text.tokens);
    EXPECT_EQ(together[i]->text.bytes, requests[i].score.size());
  }
  EXPECT_DOUBLE_EQ(together[0]->text.sum, together[4]->text.sum);
}

TEST_P(LocalModel, TokenByTokenEqualsTheWholeSequence) {
  const LikelihoodRequest request = stem(" a mill that works with the tide, not the clock.");
  const auto scored = make_scored_text(seat_->vocabulary(), seat_->chat(), request);
  ASSERT_TRUE(scored) << scored.error().message;
  const double whole = sum(request);

  auto model = load_model(path_, 0, 0);
  ASSERT_TRUE(model);
  auto engine = Engine::make(*model, 1024, 0);
  ASSERT_TRUE(engine);
  engine->share_prefixes(false);
  double walked = 0;
  for (std::size_t at = scored->first; at < scored->tokens.size(); ++at) {
    TokenPath path;
    path.tokens.assign(scored->tokens.begin(), scored->tokens.begin() + static_cast<int>(at));
    path.wanted = {at - 1};
    const auto done = engine->evaluate({&path, 1}, TimePoint::max(),
                                       [&](std::size_t, std::size_t, const ScoreRow& row) {
                                         walked += row.logprob(scored->tokens[at]);
                                       });
    ASSERT_TRUE(done);
  }
  EXPECT_NEAR(whole, walked, 0.01 * static_cast<double>(scored->scored()));
}

TEST_P(LocalModel, TheSumIsTheWholeTextsLessTheGivens) {
  const std::string title = "The tide mill at Eling.";
  const std::string given = " It stands on a causeway";
  const std::string score = " between Bartley Water and the estuary.";
  const double whole = sum({.given = title, .score = given + score});
  const double kept = sum({.given = title, .score = given});
  EXPECT_NEAR(sum({.given = title + given, .score = score}), whole - kept, 0.02);
}

TEST_P(LocalModel, ATextWithNothingGivenIsScoredFromItsFirstToken) {
  const auto scored = make_scored_text(seat_->vocabulary(), seat_->chat(), {.score = "The mill."});
  ASSERT_TRUE(scored);
  EXPECT_EQ(scored->first, 1U);
  EXPECT_EQ(scored->tokens[0], *seat_->vocabulary().prefix_token());
  EXPECT_LT(sum({.score = "The mill."}), 0.0);
}

TEST_P(LocalModel, ASpaceMayStandOnEitherSideOfTheBoundary) {
  const auto left =
      seat_->likelihood({.given = "The capital of France is ", .score = "Paris."}, {});
  const auto right =
      seat_->likelihood({.given = "The capital of France is", .score = " Paris."}, {});
  ASSERT_TRUE(left && right);
  EXPECT_NEAR(left->text.sum, right->text.sum, 1e-3);
  EXPECT_EQ(left->text.tokens, right->text.tokens);
  EXPECT_EQ(left->text.bytes + 1, right->text.bytes);
}

TEST_P(LocalModel, AChatReplyIsScoredUpToTheEndOfTheTurn) {
  const LikelihoodRequest request{.given = "Name a colour.", .score = "Blue", .chat = true};
  const auto scored = make_scored_text(seat_->vocabulary(), seat_->chat(), request);
  ASSERT_TRUE(scored);
  EXPECT_TRUE(seat_->vocabulary().ends_turn(scored->tokens.back()));
  std::string spelled;
  for (std::size_t i = scored->first; i < scored->tokens.size(); ++i) {
    spelled += seat_->vocabulary().piece(scored->tokens[i]);
  }
  EXPECT_EQ(spelled, "Blue" + seat_->chat().end_of_reply());
  EXPECT_EQ(*seat_->count_chat("Name a colour."), static_cast<std::int64_t>(scored->first));
}

TEST_P(LocalModel, EveryLetterIsOneTokenOfItsOwn) {
  const auto proof = seat_->prove_letters(52);
  ASSERT_TRUE(proof) << proof.error().message;
  EXPECT_EQ(proof->how, "tokenizer");
  std::set<std::int64_t> distinct;
  for (std::size_t i = 0; i < 52; ++i) {
    const char letter = static_cast<char>(i < 26 ? 'A' + i : 'a' + (i - 26));
    distinct.insert(proof->ids[i][0]);
    for (const std::int64_t id : proof->ids[i]) {
      EXPECT_EQ(seat_->vocabulary().piece(static_cast<Token>(id)), std::string(1, letter));
    }
  }
  EXPECT_EQ(distinct.size(), 52U);
}

TEST_P(LocalModel, WiderPoliciesNeverCountLess) {
  const auto exact = letters(seat_->first_position(question(0, LetterPolicy::Exact), {}));
  const auto all = letters(seat_->first_position(question(0, LetterPolicy::SumExact), {}));
  const auto fold = letters(seat_->first_position(question(0, LetterPolicy::Fold), {}));
  for (std::size_t i = 0; i < exact.size(); ++i) {
    EXPECT_LE(exact[i], all[i] * (1 + 1e-3));
    EXPECT_LE(all[i], fold[i] * (1 + 1e-3));
  }
}

TEST_P(LocalModel, TheReferencePolicySeesOnlyTheTopTwenty) {
  const auto reply = seat_->first_position(question(0, LetterPolicy::Reference), {});
  ASSERT_TRUE(reply);
  EXPECT_TRUE(reply->position.exact.empty());
  EXPECT_EQ(reply->position.asked_k, 20);
  ASSERT_EQ(reply->position.top.size(), 20U);
  EXPECT_TRUE(std::ranges::is_sorted(reply->position.top, std::ranges::greater{},
                                     [](const auto& entry) { return *entry.logprob; }));
  EXPECT_EQ(reply->position.sampled->id, reply->position.top[0].id);
  EXPECT_GT(*reply->position.top_mass, 0.0);
  EXPECT_LE(*reply->position.top_mass, 1.0 + 1e-9);
}

TEST_P(LocalModel, APromptOverTheContextIsRefusedWithBothNumbersAndOthersAreAnswered) {
  PositionRequest huge = question(0);
  for (int i = 0; i < 12; ++i) huge.prompt += kState;
  const std::int64_t tokens = *seat_->count_chat(huge.prompt);
  const std::vector<PositionRequest> requests = {question(0), huge, question(1)};
  const auto replies = seat_->first_positions(requests, {});
  EXPECT_TRUE(replies[0] && replies[2]);
  ASSERT_FALSE(replies[1]);
  EXPECT_EQ(replies[1].error().code, Error::Code::BadInput);
  EXPECT_EQ(replies[1].error().message,
            "the prompt has " + std::to_string(tokens) + " tokens, the context holds 1024");
}

TEST_P(LocalModel, WritesTheSameEveryTimeAndStopsAtTheLimit) {
  const WriteRequest request{.prompt = "Count from one to five.", .max_tokens = 6};
  const auto first = seat_->write(request, {});
  const auto second = seat_->write(request, {});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->text, second->text);
  EXPECT_LE(*first->usage.output_tokens, 6);
  EXPECT_EQ(*second->usage.cached_tokens, *second->usage.prompt_tokens - 1);
  EXPECT_EQ(first->usage.finish_reason, *first->usage.output_tokens == 6 ? "length" : "stop");
}

TEST_P(LocalModel, TheFirstWrittenTokenIsTheTopOfTheFirstPosition) {
  const auto written = seat_->write({.prompt = question(0).prompt, .max_tokens = 1}, {});
  const auto position = seat_->first_position(question(0), {});
  ASSERT_TRUE(written && position);
  EXPECT_EQ(written->text, position->position.top[0].token);
}

TEST_P(LocalModel, APassedDeadlineIsATimeoutAndTheSeatGoesOn) {
  Schedule late;
  late.deadline = Clock::now() - std::chrono::seconds(1);
  const auto reply = seat_->first_position(question(2), late);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Error::Code::Timeout);
  Schedule soon;  // in the middle of the evaluation: some 200 tokens take longer than this
  soon.deadline = Clock::now() + std::chrono::milliseconds(20);
  EXPECT_FALSE(seat_->first_position(question(3), soon));
  const auto after = letters(seat_->first_position(question(3), {}));
  seat_->share_prefixes(false);
  expect_same(after, letters(seat_->first_position(question(3), {})));
}

TEST_P(LocalModel, IdentityNamesTheWeightsTheEngineAndTheContext) {
  const auto identity = seat_->identify();
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_EQ(identity->kind, "local");
  EXPECT_EQ(identity->digest->size(), std::string_view("sha256:").size() + 64);
  EXPECT_TRUE(identity->build->starts_with("llama.cpp "));
  EXPECT_EQ(identity->context, 1024);
  EXPECT_EQ(identity->template_sha256->size(), 64U);
  EXPECT_EQ(*seat_->identify(), *identity);
}

TEST_P(LocalModel, BadRequestsAreRefused) {
  PositionRequest none = question(0);
  none.letters = 0;
  EXPECT_EQ(seat_->first_position(none, {}).error().code, Error::Code::BadInput);
  EXPECT_EQ(seat_->likelihood(stem(""), {}).error().code, Error::Code::BadInput);
  EXPECT_EQ(seat_->write({.prompt = "x", .max_tokens = 0}, {}).error().code, Error::Code::BadInput);
  EXPECT_FALSE(seat_->prove_letters(53));
}

TEST(LocalSpec, BadNumbersAndTemplateArgumentsAreNamed) {
  const char* path = std::getenv("DEEM_MODEL");
  if (path == nullptr) GTEST_SKIP() << "DEEM_MODEL names no model";
  SeatSpec spec;
  spec.address = path;
  spec.context = 3;
  EXPECT_EQ(InProcessSeat::make(spec).error().code, Error::Code::BadInput);
  spec.context = 1'000'000'000'000;
  EXPECT_EQ(InProcessSeat::make(spec).error().code, Error::Code::BadInput);
  spec.context = 0;
  spec.chat_template_kwargs["persona"] = "not json";
  const Error error = InProcessSeat::make(spec).error();
  EXPECT_EQ(error.code, Error::Code::BadInput);
  EXPECT_NE(error.message.find("'persona'"), std::string::npos) << error.message;
}

}  // namespace
}  // namespace deem::seat::local
