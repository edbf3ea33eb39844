// SGLang's adapter against a scripted server, and the reader of its native replies.
#include <gtest/gtest.h>

#include <cmath>

#include "codec/json.h"
#include "seat/parse_reply.h"
#include "seat/seat_test_support.h"

namespace deem::seat {
namespace {

using Letters = Capabilities::Letters;
using decision::LetterPolicy;

void expect_four(Seat& seat, LetterPolicy policy) {
  const auto reply = seat.first_position(four_letters(policy), {});
  ASSERT_TRUE(reply) << reply.error().message;
  const auto reading = decision::read_letters(reply->position, 4, {.policy = policy});
  ASSERT_EQ(reading.logprobs.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(reading.logprobs[i].value_or(99), kFourScores[i], 1e-9);
}

TEST(SglangSeat, IdentifiesProvesAndCounts) {
  auto server = start_fake(ServerKind::Sglang, {.context = 2048});
  const auto seat = seat_of(server.seat());
  const auto identity = seat->identify();
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_EQ(identity->kind, "sglang");
  EXPECT_EQ(identity->model, "fake-model");
  EXPECT_EQ(identity->root, "/models/fake-model");
  EXPECT_EQ(identity->build, "0.5.23");
  EXPECT_EQ(identity->context, 2048);
  EXPECT_EQ(identity->detail, "bfloat16");
  const auto can = seat->capabilities();
  ASSERT_TRUE(can) << can.error().message;
  EXPECT_EQ(can->letters, Letters::ExactIds);
  EXPECT_EQ(can->top_k, 20);
  EXPECT_TRUE(can->likelihood) << can->likelihood_note;
  EXPECT_TRUE(can->census);
  const auto proof = seat->prove_letters(52);
  ASSERT_TRUE(proof) << proof.error().message;
  EXPECT_EQ(proof->how, "/tokenize");
  EXPECT_EQ(proof->ids[51], std::vector<std::int64_t>{'z'});
  const FakeModel model;
  const auto prompt = model.render({{"user", kFourLetters}}, FakeModel::Ending::Prompt, false);
  EXPECT_EQ(*seat->count_chat(kFourLetters),
            static_cast<std::int64_t>(model.encode(prompt, true).size()));
  EXPECT_EQ(*seat->count_plain("abc"), 3);
}

TEST(SglangSeat, AsksItsNativeRouteForIdsInEveryRequestForLogprobs) {
  auto server = start_fake(ServerKind::Sglang);
  const auto seat = seat_of(server.seat());
  expect_four(*seat, LetterPolicy::Exact);
  const auto body = codec::parse_json(server.last_body("/generate"));
  ASSERT_TRUE(body);
  EXPECT_EQ(codec::dump_json(*body->find("token_ids_logprob")), "[65, 66, 67, 68]");
  EXPECT_EQ(codec::dump_json(*body->find("sampling_params")),
            "{\"max_new_tokens\": 1, \"temperature\": 0}");
  EXPECT_EQ(body->get_int("logprob_start_len"), -1);  // not the whole prompt
  EXPECT_EQ(body->find("text"), nullptr);
  const FakeModel model;
  const auto prompt = model.render({{"user", kFourLetters}}, FakeModel::Ending::Prompt, false);
  EXPECT_EQ(body->find("input_ids")->items().size(), model.encode(prompt, true).size());
  expect_four(*seat, LetterPolicy::SumExact);
  expect_four(*seat, LetterPolicy::Reference);
  EXPECT_NE(server.last_body("/generate").find("\"token_ids_logprob\":[65"), std::string::npos);
  ASSERT_TRUE(seat->likelihood({.given = "The sky is", .score = " blue\n"}, {}));
  const auto scored = codec::parse_json(server.last_body("/generate"));
  EXPECT_EQ(scored->find("token_ids_logprob")->items().size(), 1U);
  EXPECT_EQ(scored->get_int("logprob_start_len"), 5);  // "The" " s" "k" "y" " i" | "s" " b"…
}

TEST(SglangSeat, LettersThatShareATokenAreRefusedByIdAndReadBySpelling) {
  auto server = start_fake(ServerKind::Sglang,
                           {.faults = {{.fault = Fault::SharedLetter, .everywhere = true}}});
  const auto seat = seat_of(server.seat());
  const auto refused = seat->first_position(four_letters(LetterPolicy::Exact), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Error::Code::Unsupported);
  EXPECT_EQ(refused.error().message, "the letters A and B are the same token");
  expect_four(*seat, LetterPolicy::Reference);
}

TEST(SglangSeat, AnOlderBuildIsReadByItsOwnRoutesAndTheTopK) {
  auto server = start_fake(ServerKind::Sglang, {.new_routes = false});
  const auto seat = seat_of(server.seat());
  const auto identity = seat->identify();
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_EQ(identity->root, "/models/fake-model");
  const auto can = seat->capabilities();
  ASSERT_TRUE(can) << can.error().message;
  EXPECT_EQ(can->letters, Letters::TopK);
  EXPECT_EQ(can->top_k, 20);
  EXPECT_FALSE(can->census);
  EXPECT_FALSE(can->likelihood);
  EXPECT_EQ(seat->prove_letters(4)->how, "spelling only");
  EXPECT_EQ(seat->count_chat("x").error().code, Error::Code::Unsupported);
  expect_four(*seat, LetterPolicy::Exact);
  EXPECT_EQ(server.decisions(), 1U);
  EXPECT_EQ(seat->likelihood({.given = "a", .score = "b"}, {}).error().code,
            Error::Code::Unsupported);
}

TEST(SglangSeat, IdsThatDoNotComeBackAreNotReadById) {
  auto server = start_fake(ServerKind::Sglang, {.exact_ids = false});
  const auto seat = seat_of(server.seat());
  EXPECT_EQ(seat->capabilities()->letters, Letters::TopK);
  expect_four(*seat, LetterPolicy::Exact);
  auto mute = start_fake(ServerKind::Sglang, {.exact_ids = false, .returns_logprobs = false});
  EXPECT_EQ(seat_of(mute.seat())->capabilities()->letters, Letters::None);
  EXPECT_EQ(seat_of(mute.seat())->first_position(four_letters(), {}).error().code,
            Error::Code::Unsupported);
}

TEST(SglangSeat, ItsClaimIsTheMemoryItCountedWhileLoading) {
  auto server = start_fake(ServerKind::Sglang);
  const auto claim = seat_of(server.seat())->claim();
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_EQ(claim->text,
            "/server_info: memory_usage {\"weight\": 0.25, \"kvcache\": 1.5, "
            "\"token_capacity\": 65536}");
  EXPECT_FALSE(claim->vram_bytes);
}

TEST(ParseGenerate, ReadsTriplesWithNullTextsAndNumbers) {
  const auto parsed = parse_generate_reply(R"({"text":"B","meta_info":{"prompt_tokens":9,
    "cached_tokens":4,"completion_tokens":1,"e2e_latency":0.25,"finish_reason":{"type":"length"},
    "output_token_logprobs":[[-0.5,66,null]],
    "output_top_logprobs":[[[-0.5,66,"B"],[-1.0,65,"A"],[null,67,"C"]]],
    "output_token_ids_logprobs":[[[-1.0,65,null],[null,67,null]]]}})");
  ASSERT_TRUE(parsed) << parsed.error().message;
  const auto& position = parsed->reply.position;
  EXPECT_TRUE(position.logprobs_present);
  EXPECT_EQ(position.sampled->id, 66);
  ASSERT_EQ(position.top.size(), 3U);
  EXPECT_EQ(position.top[1].token, "A");
  EXPECT_FALSE(position.top[2].logprob);
  EXPECT_NEAR(*position.top_mass, std::exp(-0.5) + std::exp(-1.0), 1e-12);
  ASSERT_TRUE(parsed->has_ids);
  ASSERT_EQ(parsed->by_id.size(), 2U);
  EXPECT_EQ(parsed->by_id[0].logprob, -1.0);
  EXPECT_FALSE(parsed->by_id[1].logprob);
  EXPECT_EQ(parsed->reply.usage.prompt_tokens, 9);
  EXPECT_EQ(parsed->reply.usage.cached_tokens, 4);
  EXPECT_EQ(parsed->reply.usage.total_ms, 250);
  EXPECT_EQ(parsed->reply.usage.finish_reason, "length");
}

TEST(ParseGenerate, WhatIsNotThereIsNoReading) {
  for (const char* body : {R"({"meta_info":{}})", R"({"meta_info":{"output_token_logprobs":[]}})",
                           R"({"meta_info":{"output_token_logprobs":null}})",
                           R"({"meta_info":{"output_token_ids_logprobs":[null]}})"}) {
    const auto parsed = parse_generate_reply(body);
    ASSERT_TRUE(parsed) << body;
    EXPECT_FALSE(parsed->reply.position.logprobs_present) << body;
    EXPECT_FALSE(parsed->has_ids) << body;
  }
  EXPECT_EQ(parse_generate_reply(R"({"text":"B"})").error().code, Error::Code::Corrupt);
  EXPECT_EQ(parse_generate_reply(R"({"error":{"message":"no"}})").error().message, "no");
}

TEST(ParseGenerate, ScoresAreOfTheTokensAskedAndOfNoOthers) {
  const std::vector<std::int64_t> ids = {10, 11, 12};
  const auto body = [](const char* list) {
    return R"({"meta_info":{"prompt_tokens":3,"input_token_logprobs":)" + std::string(list) + "}}";
  };
  const auto scores = parse_generate_scores(body("[[null,11,null],[-2.5,12,null]]"), ids, 2);
  ASSERT_TRUE(scores) << scores.error().message;
  EXPECT_EQ(scores->logprobs, (std::vector<std::optional<double>>{-2.5}));
  const auto whole =
      parse_generate_scores(body("[[null,10,null],[-1,11,null],[null,12,null]]"), ids, 1);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->logprobs, (std::vector<std::optional<double>>{-1, std::nullopt}));
  for (const char* bad : {"[]", "null", "[[-2.5,13,null]]", "[[-1,12,null],[-1,11,null]]",
                          "[[1,1,1],[1,1,1],[1,1,1],[1,1,1]]"}) {
    const auto refused = parse_generate_scores(body(bad), ids, 2);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().code, Error::Code::Corrupt) << bad;
  }
}

}  // namespace
}  // namespace deem::seat
