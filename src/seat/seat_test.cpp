// What each adapter asks and finds out, against scripted servers.
#include "seat/seat.h"

#include <numeric>

#include "base/file.h"
#include "codec/json.h"
#include "net/certificate.h"
#include "net/http_server.h"
#include "seat/seat_test_support.h"

namespace deem::seat {
namespace {

using Letters = Capabilities::Letters;
using decision::LetterPolicy;

TEST(ParseSeat, KindThenAddress) {
  const auto spec = parse_seat("vllm:http://127.0.0.1:8000/v1");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->kind, "vllm");
  EXPECT_EQ(spec->address, "http://127.0.0.1:8000/v1");
  EXPECT_EQ(parse_seat("local:/m/a:b.gguf")->address, "/m/a:b.gguf");
  EXPECT_EQ(parse_seat("llama-server:unix:/run/l.sock")->address, "unix:/run/l.sock");
}

TEST(ParseSeat, UnknownKindsGetTheListAndASuggestion) {
  for (const char* text : {"", "vllm", "vlm:http://h", "http://127.0.0.1:8000", "vllm:"}) {
    const auto spec = parse_seat(text);
    ASSERT_FALSE(spec) << text;
    EXPECT_EQ(spec.error().code, Error::Code::BadInput);
  }
  EXPECT_NE(parse_seat("olama:http://h").error().message.find("did you mean \"ollama\"?"),
            std::string::npos);
  EXPECT_NE(parse_seat("http://h").error().message.find("vllm:http://"), std::string::npos);
  EXPECT_EQ(make_seat({.kind = "tgi"}).error().code, Error::Code::BadInput);
}

TEST(MakeSeat, AddressesAreCheckedAtOnce) {
  EXPECT_EQ(make_seat({.kind = "vllm", .address = "127.0.0.1:8000"}).error().code,
            Error::Code::BadInput);
  const auto bad = make_seat({.kind = "openai", .address = "https://a:hunter2@h"});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message.find("hunter2"), std::string::npos);
  SeatSpec spec{.kind = "vllm", .address = "http://127.0.0.1:1"};
  spec.chat_template_kwargs["enable_thinking"] = "no";
  EXPECT_EQ(make_seat(spec).error().code, Error::Code::BadInput);
}

decision::LettersReading read(Seat& seat, LetterPolicy policy, int top_k = 20) {
  auto request = four_letters(policy);
  request.top_k = top_k;
  const auto reply = seat.first_position(request, {});
  if (!reply) {
    ADD_FAILURE() << reply.error().message;
    return {};
  }
  return decision::read_letters(reply->position, 4, {.policy = policy});
}

void expect_scores(const decision::LettersReading& reading) {
  ASSERT_EQ(reading.logprobs.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(reading.logprobs[i].value_or(99), kFourScores[i], 1e-9);
}

TEST(VllmSeat, IdentifiesProvesAndCounts) {
  auto server = start_fake(ServerKind::Vllm, {.context = 2048});
  const auto seat = seat_of(server.seat());
  const auto identity = seat->identify();
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_EQ(identity->model, "fake-model");
  EXPECT_EQ(identity->root, "/models/fake-model");
  EXPECT_EQ(identity->build, "0.32.0");
  EXPECT_EQ(identity->context, 2048);
  const auto proof = seat->prove_letters(52);
  ASSERT_TRUE(proof) << proof.error().message;
  EXPECT_EQ(proof->how, "/tokenize");
  EXPECT_EQ(proof->ids[0], std::vector<std::int64_t>{'A'});
  EXPECT_EQ(proof->ids[51], std::vector<std::int64_t>{'z'});
  const auto can = seat->capabilities();
  ASSERT_TRUE(can) << can.error().message;
  EXPECT_EQ(can->letters, Letters::ExactIds);
  EXPECT_EQ(can->top_k, 20);
  EXPECT_TRUE(can->likelihood) << can->likelihood_note;
  EXPECT_TRUE(can->census);
  const FakeModel model;
  const auto prompt = model.render({{"user", kFourLetters}}, FakeModel::Ending::Prompt, false);
  EXPECT_EQ(*seat->count_chat(kFourLetters),
            static_cast<std::int64_t>(model.encode(prompt, true).size()));
  EXPECT_EQ(*seat->count_plain("abc"), 3);
}

TEST(VllmSeat, AsksExactIdsAndNeverTruncation) {
  auto server = start_fake(ServerKind::Vllm);
  const auto seat = seat_of(server.seat());
  expect_scores(read(*seat, LetterPolicy::Exact));
  const auto body = codec::parse_json(server.last_body("/v1/chat/completions"));
  ASSERT_TRUE(body);
  EXPECT_EQ(codec::dump_json(*body->find("logprob_token_ids")), "[65, 66, 67, 68]");
  EXPECT_EQ(body->get_int("max_tokens"), 1);
  EXPECT_EQ(body->get_int("temperature"), 0);
  EXPECT_EQ(codec::dump_json(*body->find("chat_template_kwargs")), "{\"enable_thinking\": false}");
  EXPECT_EQ(body->find("top_logprobs"), nullptr);
  EXPECT_EQ(body->find("truncate_prompt_tokens"), nullptr);
  expect_scores(read(*seat, LetterPolicy::SumExact));
  expect_scores(read(*seat, LetterPolicy::Reference));
  EXPECT_NE(server.last_body("/v1/chat/completions").find("\"top_logprobs\":20"),
            std::string::npos);
}

TEST(VllmSeat, WithoutExactIdsItReadsTheTopK) {
  auto server = start_fake(ServerKind::Vllm, {.max_top_k = 5, .exact_ids = false});
  const auto seat = seat_of(server.seat());
  EXPECT_EQ(seat->capabilities()->letters, Letters::TopK);
  EXPECT_EQ(seat->capabilities()->top_k, 5);
  expect_scores(read(*seat, LetterPolicy::Exact));
}

TEST(VllmSeat, WithoutATokenizerItSaysSpellingOnly) {
  auto server = start_fake(ServerKind::Vllm, {.tokenizer = false});
  const auto seat = seat_of(server.seat());
  EXPECT_EQ(seat->prove_letters(4)->how, "spelling only");
  EXPECT_EQ(seat->capabilities()->letters, Letters::TopK);
  EXPECT_FALSE(seat->capabilities()->likelihood);
  EXPECT_EQ(seat->count_chat("x").error().code, Error::Code::Unsupported);
  EXPECT_EQ(seat->likelihood({.given = "a", .score = "b"}, {}).error().code,
            Error::Code::Unsupported);
}

// What llama-server answers on vLLM's route: it knows no messages there.
TEST(VllmSeat, ATokenizerThatCountsNothingIsNoCensus) {
  const auto server = net::HttpServer::start({}, [](const net::ServerRequest& request) {
    return net::ServerReply{.body = request.target == "/v1/models" ? R"({"data":[{"id":"m"}]})"
                                                                   : R"({"tokens":[]})"};
  });
  ASSERT_TRUE(server);
  const auto seat = make_seat({.kind = "vllm", .address = server->address()});
  ASSERT_TRUE(seat);
  const auto count = (*seat)->count_chat("How many?");
  ASSERT_FALSE(count);
  EXPECT_EQ(count.error().code, Error::Code::Unsupported);
  EXPECT_NE(count.error().message.find("counts no tokens"), std::string::npos)
      << count.error().message;
  EXPECT_EQ((*seat)->prove_letters(2)->how, "spelling only");
}

TEST(VllmSeat, AListOfModelsOverTheLimitIsRefused) {
  const auto server = net::HttpServer::start({}, [](const net::ServerRequest&) {
    std::string list = R"({"data":[{"id":"m"}]})";
    list.resize((std::size_t{16} << 20) + 1, ' ');
    return net::ServerReply{.body = std::move(list)};
  });
  ASSERT_TRUE(server);
  const auto seat = make_seat({.kind = "vllm", .address = server->address()});
  ASSERT_TRUE(seat);
  const auto identity = (*seat)->identify();
  ASSERT_FALSE(identity);
  EXPECT_TRUE(
      identity.error().message.ends_with("a reply to GET /v1/models over the limit of 16 MiB"))
      << identity.error().message;
}

TEST(VllmSeat, ATemplateThatMergesWithLettersIsRefused) {
  for (const auto kind : {ServerKind::Vllm, ServerKind::LlamaServer}) {
    FakeOptions options;
    options.scores.space_before_reply = true;
    // Thinking closed puts text between the space and the letter, so leave it to the template.
    auto server = start_fake(kind, options);
    SeatSpec spec = server.seat();
    spec.chat_template_kwargs["enable_thinking"] = "true";
    const auto proof = seat_of(spec)->prove_letters(2);
    ASSERT_FALSE(proof);
    EXPECT_EQ(proof.error().code, Error::Code::Unsupported);
    EXPECT_NE(proof.error().message.find("letter A"), std::string::npos) << proof.error().message;
  }
}

/// The sum of the scripted model's own scores of `score` after `before`, token by token.
double expected_sum(const FakeModel& model, const std::string& before, const std::string& score) {
  double sum = 0;
  std::string text = before;
  for (const std::int64_t id : model.encode(score, true)) {
    sum += model.next(text)[static_cast<std::size_t>(id)];
    text += model.piece(id);
  }
  return sum;
}

class ScoringSeat : public testing::TestWithParam<ServerKind> {};

TEST_P(ScoringSeat, LikelihoodIsTheSumOverTheScoredTokens) {
  auto server = start_fake(GetParam());
  const auto seat = seat_of(server.seat());
  const FakeModel model(four_scores());
  const auto plain = seat->likelihood({.given = "The sky is", .score = " blue\n"}, {});
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->text.tokens, 5u);  // " b" "l" "u" "e" "\n"
  EXPECT_EQ(plain->text.bytes, 6u);
  EXPECT_NEAR(plain->text.sum, expected_sum(model, "The sky is", " blue\n"), 1e-9);
  EXPECT_EQ(plain->usage.prompt_tokens, 11);  // after "The" " s" "k" "y" " i" "s"

  const auto chat = seat->likelihood({.given = "Which?", .score = "roof", .chat = true}, {});
  ASSERT_TRUE(chat) << chat.error().message;
  const auto prompt = model.render({{"user", "Which?"}}, FakeModel::Ending::Prompt, false);
  EXPECT_EQ(chat->text.tokens, 5u);  // the end of turn included
  EXPECT_EQ(chat->text.bytes, 4u);
  EXPECT_NEAR(chat->text.sum, expected_sum(model, prompt, "roof<|im_end|>"), 1e-9);
}

TEST_P(ScoringSeat, ATokenAcrossTheBoundaryIsScoredWhole) {
  auto server = start_fake(GetParam());
  const auto seat = seat_of(server.seat());
  const FakeModel model(four_scores());
  // "Answer: " + "B": the model's tokenizer has " B" as one token.
  const auto reply = seat->likelihood({.given = "It is: ", .score = "B"}, {});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text.tokens, 1u);
  EXPECT_EQ(reply->text.bytes, 1u);
  EXPECT_NEAR(reply->text.sum, expected_sum(model, "It is:", " B"), 1e-9);
}

TEST_P(ScoringSeat, OptionsThatArePrefixesOfEachOtherAreScoredApart) {
  auto server = start_fake(GetParam());
  const auto seat = seat_of(server.seat());
  const FakeModel model(four_scores());
  const auto brief = seat->likelihood({.given = "Topic:", .score = " card"}, {});
  const auto longer = seat->likelihood({.given = "Topic:", .score = " card lost"}, {});
  ASSERT_TRUE(brief && longer);
  EXPECT_NEAR(longer->text.sum - brief->text.sum, expected_sum(model, "Topic: card", " lost"),
              1e-9);
}

TEST_P(ScoringSeat, NothingToScoreIsBadInput) {
  auto server = start_fake(GetParam());
  EXPECT_EQ(seat_of(server.seat())->likelihood({.given = "a", .score = ""}, {}).error().code,
            Error::Code::BadInput);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ScoringSeat,
                         testing::Values(ServerKind::Vllm, ServerKind::LlamaServer,
                                         ServerKind::Sglang),
                         [](const auto& p) {
                           return p.param == ServerKind::Vllm     ? "vllm"
                                  : p.param == ServerKind::Sglang ? "sglang"
                                                                  : "llama_server";
                         });

TEST(LlamaServerSeat, IdentifiesProvesAndReadsByIds) {
  auto server = start_fake(ServerKind::LlamaServer, {.context = 4096});
  const auto seat = seat_of(server.seat());
  const auto identity = seat->identify();
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_EQ(identity->root, "/models/fake-model.gguf");
  EXPECT_EQ(identity->build, "b11361-0c1e570");
  EXPECT_EQ(identity->context, 4096);
  EXPECT_TRUE(identity->template_sha256);
  EXPECT_EQ(seat->capabilities()->letters, Letters::FullVocabulary);
  EXPECT_EQ(seat->capabilities()->likelihood_note, "slow: one call a token");
  EXPECT_EQ(seat->prove_letters(52)->ids[1], std::vector<std::int64_t>{'B'});
  expect_scores(read(*seat, LetterPolicy::Exact));
  expect_scores(read(*seat, LetterPolicy::SumExact));
  expect_scores(read(*seat, LetterPolicy::Reference));
  const auto body = codec::parse_json(server.last_body("/completion"));
  EXPECT_EQ(body->get_bool("post_sampling_probs"), false);
  EXPECT_EQ(body->get_bool("cache_prompt"), true);
  Schedule cold;
  cold.cold = true;
  ASSERT_TRUE(seat->first_position(four_letters(), cold));
  EXPECT_EQ(codec::parse_json(server.last_body("/completion"))->get_bool("cache_prompt"), false);
  EXPECT_EQ(body->get_int("n_probs"), 20);
  const auto reply = seat->first_position(four_letters(), {});
  EXPECT_EQ(reply->position.top.size(), 20u);
  EXPECT_EQ(reply->usage.prompt_tokens, *seat->count_chat(kFourLetters));
}

TEST(OllamaSeat, IdentifiesAndAlwaysSendsItsContext) {
  auto server = start_fake(ServerKind::Ollama, {.context = 8192});
  const auto seat = seat_of(server.seat());
  const auto identity = seat->identify();
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_EQ(identity->model, "fake-model:latest");
  EXPECT_EQ(identity->digest, "sha256:" + std::string(64, 'd'));
  EXPECT_EQ(identity->build, "0.35.1");
  EXPECT_EQ(identity->detail, "0.1B Q4_1");
  EXPECT_EQ(identity->context, 8192);
  EXPECT_EQ(seat->capabilities()->letters, Letters::TopK);
  EXPECT_EQ(seat->capabilities()->top_k, 20);
  EXPECT_FALSE(seat->capabilities()->census);
  EXPECT_EQ(seat->prove_letters(3)->how, "spelling only");
  expect_scores(read(*seat, LetterPolicy::Exact, 64));
  const auto body = codec::parse_json(server.last_body("/api/chat"));
  ASSERT_TRUE(body);
  EXPECT_EQ(body->get_bool("truncate"), false);
  EXPECT_EQ(body->get_bool("shift"), false);
  EXPECT_EQ(body->get_bool("think"), false);
  EXPECT_EQ(body->get_int("top_logprobs"), 20);
  EXPECT_EQ(body->find("options")->get_int("num_ctx"), 8192);
  EXPECT_EQ(body->find("options")->get_int("num_predict"), 1);
}

TEST(OllamaSeat, AContextThatIsNotToldIsLearntByLoading) {
  auto server = start_fake(ServerKind::Ollama, {.context = 4096, .resident = false});
  EXPECT_EQ(seat_of(server.seat())->identify()->context, 4096);
  SeatSpec spec = server.seat();
  spec.context = 777;
  EXPECT_EQ(seat_of(spec)->identify()->context, 777);
}

TEST(OpenAiSeat, LearnsWhatTheEndpointTakes) {
  auto server = start_fake(ServerKind::OpenAi, {.max_top_k = 5, .completion_tokens_only = true});
  SeatSpec spec = server.seat();
  spec.address += "/v1";
  const auto seat = seat_of(spec);
  const auto can = seat->capabilities();
  ASSERT_TRUE(can) << can.error().message;
  EXPECT_EQ(can->letters, Letters::TopK);
  EXPECT_EQ(can->top_k, 5);
  expect_scores(read(*seat, LetterPolicy::Exact));
  const auto body = codec::parse_json(server.last_body("/v1/chat/completions"));
  EXPECT_EQ(body->find("chat_template_kwargs"), nullptr);
  EXPECT_EQ(body->get_int("max_completion_tokens"), 1);
  EXPECT_EQ(seat->count_chat("x").error().code, Error::Code::Unsupported);
  EXPECT_EQ(seat->likelihood({.given = "a", .score = "b"}, {}).error().code,
            Error::Code::Unsupported);
}

TEST(OpenAiSeat, WithoutLogprobsItCanOnlyWrite) {
  auto server = start_fake(ServerKind::OpenAi, {.returns_logprobs = false});
  const auto seat = seat_of(server.seat());
  EXPECT_EQ(seat->capabilities()->letters, Letters::None);
  EXPECT_EQ(seat->first_position(four_letters(), {}).error().code, Error::Code::Unsupported);
  EXPECT_EQ(seat->write({.prompt = kFourLetters}, {})->text, "A");
}

TEST(RemoteSeat, AModelThatIsNotServedIsNamedWithThoseThatAre) {
  for (const auto kind :
       {ServerKind::Vllm, ServerKind::LlamaServer, ServerKind::OpenAi, ServerKind::Ollama}) {
    auto server = start_fake(kind);
    SeatSpec spec = server.seat();
    spec.model = "absent";
    const auto identity = seat_of(spec)->identify();
    ASSERT_FALSE(identity);
    EXPECT_EQ(identity.error().code, Error::Code::Unavailable);
    EXPECT_NE(identity.error().message.find("absent"), std::string::npos)
        << identity.error().message;
  }
}

TEST(RemoteSeat, SpeaksTlsAndUnixSockets) {
  const auto certificate = net::make_self_signed("127.0.0.1");
  ASSERT_TRUE(certificate);
  auto tls = start_fake(ServerKind::Vllm, {.certificate = *certificate});
  SeatSpec spec = tls.seat();
  EXPECT_TRUE(spec.address.starts_with("https://"));
  EXPECT_FALSE(seat_of(spec)->identify());
  spec.ca_file = testing::TempDir() + "deem_seat_ca.pem";
  ASSERT_TRUE(write_file_atomically(spec.ca_file, certificate->certificate));
  EXPECT_TRUE(seat_of(spec)->identify());

  auto local = start_fake(ServerKind::LlamaServer,
                          {.address = "unix:" + testing::TempDir() + "deem_seat.sock"});
  expect_scores(read(*seat_of(local.seat()), LetterPolicy::Exact));
}

TEST(RemoteSeat, AServerThatIsNotThereIsUnavailable) {
  std::string address;
  {
    address = start_fake(ServerKind::Vllm).address();
  }
  const auto identity = seat_of({.kind = "vllm", .address = address})->identify();
  ASSERT_FALSE(identity);
  EXPECT_EQ(identity.error().code, Error::Code::Unavailable);
}

TEST(RemoteSeat, LettersThatDoNotExistAreBadInput) {
  for (const auto kind : {ServerKind::Vllm, ServerKind::LlamaServer}) {
    auto server = start_fake(kind);
    const auto seat = seat_of(server.seat());
    for (const std::size_t n : {std::size_t{0}, std::size_t{53}}) {
      EXPECT_EQ(seat->prove_letters(n).error().code, Error::Code::BadInput);
      EXPECT_EQ(seat->first_position({.prompt = "x", .letters = n}, {}).error().code,
                Error::Code::BadInput);
    }
  }
}

TEST(RemoteSeat, ItsOwnTimePerRequestIsHeld) {
  auto server = start_fake(ServerKind::Vllm);
  SeatSpec spec = server.seat();
  const auto seat = seat_of(spec);
  ASSERT_TRUE(seat->capabilities());
  spec.timeout_s = 0.05;
  const auto hasty = seat_of(spec);
  server.set_faults({{.fault = Fault::Hang}});
  EXPECT_EQ(hasty->write({.prompt = "x"}, {}).error().code, Error::Code::Timeout);
}

}  // namespace
}  // namespace deem::seat
