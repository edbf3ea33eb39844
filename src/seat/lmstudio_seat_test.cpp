// LM Studio's adapter against a scripted server, and the reader of its replies.
#include <gtest/gtest.h>

#include "codec/json.h"
#include "seat/parse_reply.h"
#include "seat/seat_test_support.h"

namespace deem::seat {
namespace {

using Letters = Capabilities::Letters;

void expect_four(Seat& seat) {
  const auto reply = seat.first_position(four_letters(), {});
  ASSERT_TRUE(reply) << reply.error().message;
  const auto reading = decision::read_letters(reply->position, 4, {});
  ASSERT_EQ(reading.logprobs.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(reading.logprobs[i].value_or(99), kFourScores[i], 1e-9);
}

TEST(LmStudioSeat, IdentifiesTheOneModelThatIsLoaded) {
  auto server = start_fake(ServerKind::LmStudio, {.context = 8192});
  const auto seat = seat_of(server.seat());
  const auto identity = seat->identify();
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_EQ(identity->kind, "lmstudio");
  EXPECT_EQ(identity->model, "fake-model");
  EXPECT_EQ(identity->context, 8192);  // of the loaded model, not the 131072 it could hold
  EXPECT_EQ(identity->detail, "lmstudio-community llama gguf Q4_1");
  EXPECT_EQ(seat->claim()->context, 8192);
  const auto can = seat->capabilities();
  ASSERT_TRUE(can) << can.error().message;
  EXPECT_EQ(can->letters, Letters::TopK);
  EXPECT_EQ(can->top_k, 20);
  EXPECT_FALSE(can->census);
  EXPECT_FALSE(can->likelihood);
  EXPECT_EQ(seat->prove_letters(3)->how, "spelling only");
  EXPECT_EQ(seat->count_chat("x").error().code, Error::Code::Unsupported);
}

TEST(LmStudioSeat, AModelThatIsNotLoadedIsLoadedToTellItsContext) {
  auto server = start_fake(ServerKind::LmStudio, {.context = 4096, .resident = false});
  const auto nameless = seat_of(server.seat())->identify();
  ASSERT_FALSE(nameless);
  EXPECT_NE(nameless.error().message.find("name one of: other-model, fake-model"),
            std::string::npos)
      << nameless.error().message;
  SeatSpec spec = server.seat();
  spec.model = "fake-model";
  const auto seat = seat_of(spec);
  EXPECT_FALSE(seat->claim());
  EXPECT_EQ(seat->identify()->context, 4096);
}

TEST(LmStudioSeat, AsksResponsesForLogprobsWithoutPenaltiesOrCuts) {
  auto server = start_fake(ServerKind::LmStudio);
  const auto seat = seat_of(server.seat());
  expect_four(*seat);
  const auto body = codec::parse_json(server.last_body("/v1/responses"));
  ASSERT_TRUE(body);
  EXPECT_EQ(codec::dump_json(*body->find("include")), "[\"message.output_text.logprobs\"]");
  EXPECT_EQ(body->get_int("top_logprobs"), 20);
  EXPECT_EQ(body->get_int("max_output_tokens"), 1);
  EXPECT_EQ(body->get_int("temperature"), 0);
  EXPECT_EQ(body->get_int("frequency_penalty"), 0);
  EXPECT_EQ(body->get_string("truncation"), "disabled");
  EXPECT_EQ(body->get_bool("store"), false);
  EXPECT_EQ(server.count("/v1/chat/completions"), 0U);
}

TEST(LmStudioSeat, WhatItRefusesIsDropped) {
  auto server =
      start_fake(ServerKind::LmStudio,
                 {.max_top_k = 5, .refuses = {"frequency_penalty", "truncation", "store"}});
  const auto seat = seat_of(server.seat());
  const auto can = seat->capabilities();
  ASSERT_TRUE(can) << can.error().message;
  EXPECT_EQ(can->top_k, 5);
  expect_four(*seat);
  auto hostile = start_fake(ServerKind::LmStudio, {.refuses = {"temperature"}});
  const auto refused = seat_of(hostile.seat())->capabilities();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("'temperature'"), std::string::npos)
      << refused.error().message;
}

TEST(LmStudioSeat, ThinkingIsTurnedOffByEffort) {
  auto server = start_fake(ServerKind::LmStudio, {.thinks = true});
  expect_four(*seat_of(server.seat()));
  EXPECT_NE(server.last_body("/v1/responses").find(R"("reasoning":{"effort":"none"})"),
            std::string::npos);
  SeatSpec spec = server.seat();
  spec.chat_template_kwargs["enable_thinking"] = "true";
  const auto thought = seat_of(spec)->write({.prompt = kFourLetters, .max_tokens = 20}, {});
  ASSERT_TRUE(thought) << thought.error().message;
  EXPECT_EQ(thought->thinking, "Hm");
  EXPECT_EQ(thought->text, "A");
  auto stubborn = start_fake(ServerKind::LmStudio, {.thinks = true, .refuses = {"reasoning"}});
  EXPECT_TRUE(seat_of(stubborn.seat())->capabilities());
}

TEST(LmStudioSeat, WithoutLogprobsItCanOnlyWrite) {
  for (const FakeOptions& options :
       {FakeOptions{.returns_logprobs = false}, FakeOptions{.new_routes = false}}) {
    auto server = start_fake(ServerKind::LmStudio, options);
    const auto seat = seat_of(server.seat());
    const auto can = seat->capabilities();
    ASSERT_TRUE(can) << can.error().message;
    EXPECT_EQ(can->letters, Letters::None);
    EXPECT_EQ(seat->first_position(four_letters(), {}).error().code, Error::Code::Unsupported);
    EXPECT_EQ(seat->write({.prompt = kFourLetters}, {})->text, "A");
    EXPECT_EQ(seat->identify()->model, "fake-model");
  }
}

TEST(ParseResponses, ReadsTheFirstTextAndKeepsThinkingApart) {
  const auto reply = parse_responses_reply(R"({"status":"incomplete","model":"m","error":null,
    "incomplete_details":{"reason":"max_output_tokens"},
    "output":[{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]},
      {"type":"message","content":[{"type":"output_text","text":"B","logprobs":[
        {"token":"B","logprob":-0.03125,"bytes":[66],"top_logprobs":[
          {"token":"B","logprob":-0.03125,"bytes":[66]},{"token":"A","logprob":-4.1875,"bytes":[65]}]},
        {"token":"\n","logprob":-0.0625,"bytes":[10],"top_logprobs":[]}]}]}],
    "usage":{"input_tokens":32,"output_tokens":2,"input_tokens_details":{"cached_tokens":5}}})");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "B");
  EXPECT_EQ(reply->thinking, "hm");
  ASSERT_EQ(reply->position.top.size(), 2U);
  EXPECT_EQ(reply->position.top[1].logprob, -4.1875);
  EXPECT_EQ(reply->usage.prompt_tokens, 32);
  EXPECT_EQ(reply->usage.cached_tokens, 5);
  EXPECT_EQ(reply->usage.finish_reason, "length");
}

TEST(ParseResponses, NoCountAndNoListAreNotZero) {
  const auto reply = parse_responses_reply(R"({"status":"completed","output":[{"type":"message",
    "content":[{"type":"output_text","text":"Hi.","logprobs":[]}]}],"error":null,
    "usage":{"input_tokens":0,"output_tokens":2}})");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_FALSE(reply->usage.prompt_tokens);
  EXPECT_EQ(reply->usage.finish_reason, "stop");
  EXPECT_FALSE(reply->position.logprobs_present);
  EXPECT_EQ(parse_responses_reply(R"({"output":5})").error().code, Error::Code::Corrupt);
  const auto refused = [](const char* body) { return parse_responses_reply(body).error().message; };
  EXPECT_EQ(refused(R"({"error":"Unexpected endpoint or method."})"),
            "Unexpected endpoint or method.");
  EXPECT_EQ(refused(R"({"output":[],"error":{"message":"out of memory"}})"), "out of memory");
}

}  // namespace
}  // namespace deem::seat
