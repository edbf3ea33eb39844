// Each kind of server × each shape and fault seen in the wild: what the adapter and the judge of
// readings make of it.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <variant>

#include "seat/seat_test_support.h"

namespace deem::seat {
namespace {

using decision::VoidCause;
using Code = Error::Code;

struct Expected {
  const char* name;
  Fault fault;
  std::variant<VoidCause, Code> outcome;
  const char* words = "";  // in the error's message
};

const std::vector<Expected> kTable = {
    {"NullLogprobs", Fault::NullLogprobs, VoidCause::NoLogprobs},
    {"EmptyLogprobs", Fault::EmptyLogprobs, VoidCause::NoLogprobs},
    {"MissingLogprobs", Fault::MissingLogprobs, VoidCause::NoLogprobs},
    {"NullEntries", Fault::NullEntries, VoidCause::NoLetterSeen},
    {"Sentinel", Fault::Sentinel, VoidCause::SentinelLogprob},
    {"PadSentinel", Fault::PadSentinel, VoidCause::SentinelLogprob},
    {"AllZero", Fault::AllZero, VoidCause::AllZeroLogprobs},
    {"NanBody", Fault::NanBody, VoidCause::NotANumber},
    {"MinusInfinity", Fault::MinusInfinity, VoidCause::NoLetterSeen},
    {"ThinkingFirst", Fault::ThinkingFirst, VoidCause::ThinkingToken},
    {"FewerEntries", Fault::FewerEntries, VoidCause::None},
    {"MultiCharacter", Fault::MultiCharacter, VoidCause::MultiCharacter},
    {"LookAlike", Fault::LookAlike, VoidCause::NoLetterSeen},
    {"LowMass", Fault::LowMass, VoidCause::LowLabelMass},
    {"AboveOne", Fault::AboveOne, VoidCause::ProbabilityAboveOne},
    {"Truncated", Fault::Truncated, VoidCause::None},
    {"WrongModel", Fault::WrongModel, VoidCause::None},
    {"Chunked", Fault::Chunked, VoidCause::None},
    {"InvalidJson", Fault::InvalidJson, Code::Corrupt, "not JSON"},
    {"NotJson", Fault::NotJson, Code::Corrupt, "It works!"},
    {"BadRequest", Fault::BadRequest, Code::BadInput, "not to this server's liking"},
    {"TooManyRequests", Fault::TooManyRequests, Code::Unavailable,
     "HTTP 429: too many requests at once (retry after 2)"},
    {"ServerError", Fault::ServerError, Code::Unavailable,
     "HTTP 500: EngineCore encountered an issue"},
    {"Loading", Fault::Loading, Code::Unavailable, "HTTP 503: Loading model"},
    {"PlainTextError", Fault::PlainTextError, Code::Unavailable,
     "HTTP 502: upstream connect error at http://***@backend/"},
    {"Hang", Fault::Hang, Code::Timeout, "by the deadline"},
    {"Close", Fault::Close, Code::Unavailable, "without a reply"},
    {"CloseMidReply", Fault::CloseMidReply, Code::Unavailable, "inside its reply"},
    {"Stall", Fault::Stall, Code::Timeout, "by the deadline"},
};

struct KindCase {
  const char* name;
  ServerKind kind;
};
constexpr std::array<KindCase, 6> kKinds = {{{"vllm", ServerKind::Vllm},
                                             {"ollama", ServerKind::Ollama},
                                             {"llama_server", ServerKind::LlamaServer},
                                             {"openai", ServerKind::OpenAi},
                                             {"sglang", ServerKind::Sglang},
                                             {"lmstudio", ServerKind::LmStudio}}};

class SeatFault : public testing::TestWithParam<std::tuple<KindCase, Expected>> {};

TEST_P(SeatFault, IsNamedAndNeverAnAnswer) {
  const auto& [kind, expected] = GetParam();
  auto server = start_fake(kind.kind);
  const auto seat = seat_of(server.seat());
  ASSERT_TRUE(seat->capabilities());
  server.set_faults({{.fault = expected.fault, .count = 2}});
  const Schedule schedule{
      .planned = Clock::now(),
      .deadline = Clock::now() + std::chrono::milliseconds(
                                     std::get_if<Code>(&expected.outcome) &&
                                             std::get<Code>(expected.outcome) == Code::Timeout
                                         ? 60
                                         : 20'000)};
  const auto reply = seat->first_position(four_letters(), schedule);
  if (const auto* code = std::get_if<Code>(&expected.outcome)) {
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, *code) << reply.error().message;
    EXPECT_NE(reply.error().message.find(expected.words), std::string::npos)
        << reply.error().message;
    EXPECT_NE(reply.error().message.find(server.address()), std::string::npos)
        << reply.error().message;
    EXPECT_EQ(reply.error().message.find("hunter2"), std::string::npos);
  } else {
    ASSERT_TRUE(reply) << reply.error().message;
    const auto reading = decision::read_letters(reply->position, 4, {});
    EXPECT_EQ(to_string(reading.cause), to_string(std::get<VoidCause>(expected.outcome)));
  }
  // The next decision after the faults is read as if nothing had been.
  server.set_faults({});
  const auto after = seat->first_position(four_letters(), {});
  ASSERT_TRUE(after) << after.error().message;
  const auto reading = decision::read_letters(after->position, 4, {});
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(reading.logprobs[i].value_or(99), kFourScores[i], 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Table, SeatFault,
                         testing::Combine(testing::ValuesIn(kKinds), testing::ValuesIn(kTable)),
                         [](const auto& p) {
                           return std::string(std::get<0>(p.param).name) + "_" +
                                  std::get<1>(p.param).name;
                         });

class SeatKind : public testing::TestWithParam<KindCase> {};

TEST_P(SeatKind, LookAlikesCountUnderFoldOnly) {
  auto server = start_fake(GetParam().kind);
  const auto seat = seat_of(server.seat());
  ASSERT_TRUE(seat->capabilities());
  server.set_faults({{.fault = Fault::LookAlike}});
  const auto fold = decision::LetterPolicy::Fold;
  const auto reply = seat->first_position(four_letters(fold), {});
  ASSERT_TRUE(reply) << reply.error().message;
  const auto reading = decision::read_letters(reply->position, 4, {.policy = fold});
  EXPECT_EQ(reading.cause, VoidCause::None);
  EXPECT_NEAR(reading.logprobs[0].value_or(99), -0.5, 1e-9);
}

TEST_P(SeatKind, ACutPromptShowsInTheServersCount) {
  auto server = start_fake(GetParam().kind);
  const auto seat = seat_of(server.seat());
  const auto whole = seat->first_position(four_letters(), {});
  server.set_faults({{.fault = Fault::Truncated}});
  const auto cut = seat->first_position(four_letters(), {});
  ASSERT_TRUE(whole && cut);
  EXPECT_EQ(*cut->usage.prompt_tokens, *whole->usage.prompt_tokens / 2);
  if (const auto census = seat->count_chat(kFourLetters)) {
    EXPECT_EQ(*census, *whole->usage.prompt_tokens);
  } else {
    EXPECT_EQ(census.error().code, Code::Unsupported);
  }
}

TEST_P(SeatKind, AReplyNamesTheModelThatAnswered) {
  if (GetParam().kind == ServerKind::Sglang) GTEST_SKIP() << "/generate names no model";
  auto server = start_fake(GetParam().kind);
  const auto seat = seat_of(server.seat());
  EXPECT_EQ(seat->first_position(four_letters(), {})->usage.served_model, "fake-model");
  server.set_faults({{.fault = Fault::WrongModel}});
  EXPECT_EQ(seat->first_position(four_letters(), {})->usage.served_model, "some-other-model");
}

TEST_P(SeatKind, AnOverlongPromptCarriesTheServersNumbers) {
  auto server = start_fake(GetParam().kind, {.context = 600});
  const auto seat = seat_of(server.seat());
  ASSERT_TRUE(seat->capabilities());
  const auto reply = seat->first_position(
      {.prompt = std::string(900, 'x') + "\n[A] a: \n[B] b: ", .letters = 2}, {});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Code::BadInput);
  EXPECT_NE(reply.error().message.find("context"), std::string::npos) << reply.error().message;
}

TEST_P(SeatKind, AKeyIsSentAndItsRefusalNamesTheVariable) {
  const auto server = start_fake(GetParam().kind, {.key = "right-key"});
  SeatSpec spec = server.seat();
  EXPECT_EQ(seat_of(spec)->capabilities().error().code, Code::Unavailable);
  spec.key_env = "DEEM_TEST_SEAT_KEY";
  ::setenv("DEEM_TEST_SEAT_KEY", "wrong-key", 1);
  const auto refused = seat_of(spec)->capabilities();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("DEEM_TEST_SEAT_KEY"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(refused.error().message.find("wrong-key"), std::string::npos);
  ::setenv("DEEM_TEST_SEAT_KEY", "right-key", 1);
  EXPECT_TRUE(seat_of(spec)->capabilities());
  ::unsetenv("DEEM_TEST_SEAT_KEY");
  EXPECT_EQ(make_seat(spec).error().code, Code::NotFound);
}

TEST_P(SeatKind, WritesAnAnswerWithThinkingClosed) {
  auto server = start_fake(GetParam().kind);
  const auto seat = seat_of(server.seat());
  const auto reply = seat->write({.prompt = kFourLetters}, {});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "A");
  EXPECT_EQ(reply->thinking, "");
  EXPECT_EQ(reply->usage.output_tokens, 1);
  EXPECT_EQ(reply->usage.finish_reason, "stop");
  EXPECT_GE(reply->timing.first_byte_s, reply->timing.sent_s);
  EXPECT_GE(reply->timing.done_s, reply->timing.first_byte_s);
}

TEST_P(SeatKind, ThinkingLeftOpenIsKeptApart) {
  if (GetParam().kind == ServerKind::OpenAi || GetParam().kind == ServerKind::LmStudio) {
    GTEST_SKIP() << "this endpoint has no such switch";
  }
  auto server = start_fake(GetParam().kind);
  SeatSpec spec = server.seat();
  spec.chat_template_kwargs["enable_thinking"] = "true";
  const auto reply = seat_of(spec)->write({.prompt = kFourLetters, .max_tokens = 20}, {});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "A");
  EXPECT_EQ(reply->thinking, "Hm");
}

TEST_P(SeatKind, ManyThreadsReadTheSame) {
  auto server = start_fake(GetParam().kind, {.threads = 2});
  const auto seat = seat_of(server.seat());
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 5; ++i) {
          const auto reply = seat->first_position(four_letters(), {});
          if (!reply || decision::read_letters(reply->position, 4, {}).cause != VoidCause::None)
            ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, SeatKind, testing::ValuesIn(kKinds),
                         [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace deem::seat
