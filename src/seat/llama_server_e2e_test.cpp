// The llama-server adapter against a real server on a real model, and against the engine in this
// process on the same prompts. Runs where DEEM_LLAMA_SERVER names the program and DEEM_MODEL a
// GGUF.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <thread>

#include "base/process.h"
#include "codec/json.h"
#include "decision/letters.h"
#include "net/http_client.h"
#include "seat/seat.h"

namespace deem::seat {
namespace {

using decision::LetterPolicy;

const std::string kQuestion =
    "State:\nThe ferry to the island leaves at nine and returns at five. The café on board is "
    "closed.\n\n"
    "Question: When does the ferry leave?\nOptions:\n[A] eight: in the morning\n[B] nine: in the "
    "morning\n"
    "[C] five: in the afternoon\n\nAnswer with the letter of the best option only.";

class LlamaServer : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const char* program = std::getenv("DEEM_LLAMA_SERVER");
    const char* model = std::getenv("DEEM_MODEL");
    if (program == nullptr || model == nullptr || *program == '\0' || *model == '\0') return;
    const std::string socket =
        testing::TempDir() + "deem_e2e_" + std::to_string(::getpid()) + ".sock";
    auto started =
        Process::spawn({.argv = {program, "-m", model, "--host", socket, "-c", "4096", "-np", "1"},
                        .environment = own_environment()});
    if (!started) {
      ADD_FAILURE() << started.error().message;
      return;
    }
    process_ = std::make_unique<Process>(std::move(*started));
    spec_ = {.kind = "llama-server", .address = "unix:" + socket};
    seat_ = std::move(*make_seat(spec_));
    const auto until = Clock::now() + std::chrono::seconds(90);
    while (Clock::now() < until && process_->running()) {
      if (seat_->identify()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ADD_FAILURE() << "llama-server does not answer: " << process_->errors();
    seat_.reset();
  }
  static void TearDownTestSuite() {
    seat_.reset();
    if (process_) process_->stop(Seconds(5));
    process_.reset();
  }
  void SetUp() override {
    if (!process_) GTEST_SKIP() << "DEEM_LLAMA_SERVER and DEEM_MODEL are not both set";
    ASSERT_TRUE(seat_);
  }

  static codec::Json ask(const std::string& path, const std::string& body) {
    net::HttpOptions options;
    options.url = *net::parse_url(spec_.address);
    auto client = net::HttpClient::make(std::move(options));
    const auto reply = client->send({.path = path, .body = body});
    if (!reply) {
      ADD_FAILURE() << reply.error().message;
      return {};
    }
    auto json = codec::parse_json(reply->body);
    return json ? *json : codec::Json();
  }
  static std::string messages() {
    std::string out = R"("messages":[{"role":"user","content":)";
    codec::append_json_string(out, kQuestion);
    return out + R"(}],"chat_template_kwargs":{"enable_thinking":false})";
  }
  static decision::LettersReading letters(Seat& seat, LetterPolicy policy) {
    const auto reply =
        seat.first_position({.prompt = kQuestion, .letters = 3, .policy = policy}, {});
    if (!reply) {
      ADD_FAILURE() << reply.error().message;
      return {};
    }
    return decision::read_letters(reply->position, 3, {.policy = policy});
  }

  static std::unique_ptr<Process> process_;
  static std::unique_ptr<Seat> seat_;
  static SeatSpec spec_;
};
std::unique_ptr<Process> LlamaServer::process_;
std::unique_ptr<Seat> LlamaServer::seat_;
SeatSpec LlamaServer::spec_;

TEST_F(LlamaServer, SaysWhoItIsAndWhatItCanDo) {
  const auto identity = seat_->identify();
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_EQ(identity->root, std::getenv("DEEM_MODEL"));
  EXPECT_EQ(identity->context, 4096);
  EXPECT_TRUE(identity->build);
  EXPECT_TRUE(identity->template_sha256);
  const auto can = seat_->capabilities();
  ASSERT_TRUE(can) << can.error().message;
  EXPECT_EQ(can->letters, Capabilities::Letters::FullVocabulary);
  const auto proof = seat_->prove_letters(52);
  ASSERT_TRUE(proof) << proof.error().message;
  EXPECT_EQ(proof->ids.size(), 52u);
}

TEST_F(LlamaServer, CountsAsItsOwnRouteDoes) {
  const auto own =
      ask("/v1/chat/completions/input_tokens", "{" + messages() + "}").get_int("input_tokens");
  ASSERT_TRUE(own);
  const auto counted = seat_->count_chat(kQuestion);
  ASSERT_TRUE(counted) << counted.error().message;
  EXPECT_EQ(*counted, *own);
  const auto reply = seat_->first_position({.prompt = kQuestion, .letters = 3}, {});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->usage.prompt_tokens, *own);
}

TEST_F(LlamaServer, LettersByIdsAreThoseOfItsChatRoute) {
  const auto reading = letters(*seat_, LetterPolicy::Exact);
  ASSERT_EQ(reading.logprobs.size(), 3u);
  const auto chat = ask(
      "/v1/chat/completions",
      "{" + messages() + R"(,"max_tokens":1,"temperature":0,"logprobs":true,"top_logprobs":4096})");
  const codec::Json* choices = chat.find("choices");
  ASSERT_NE(choices, nullptr);
  const auto& top = choices->items()[0]
                        .find("logprobs")
                        ->find("content")
                        ->items()[0]
                        .find("top_logprobs")
                        ->items();
  const auto proof = seat_->prove_letters(3);
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(reading.logprobs[i]);
    bool found = false;
    for (const codec::Json& entry : top) {
      if (entry.get_int("id") != proof->ids[i][0]) continue;
      found = true;
      EXPECT_NEAR(std::exp(*reading.logprobs[i]), std::exp(*entry.get_double("logprob")), 0.01);
    }
    EXPECT_TRUE(found);
  }
}

TEST_F(LlamaServer, ScoringTokenByTokenChains) {
  const auto score = [&](const char* given, const char* text) {
    const auto reply = seat_->likelihood({.given = given, .score = text}, {});
    if (!reply) ADD_FAILURE() << reply.error().message;
    return reply ? reply->text : decision::TextScore{};
  };
  const auto whole = score("The capital of France is", " Paris, of course.");
  const auto head = score("The capital of France is", " Paris");
  const auto tail = score("The capital of France is Paris", ", of course.");
  EXPECT_EQ(whole.tokens, head.tokens + tail.tokens);
  EXPECT_EQ(whole.bytes, head.bytes + tail.bytes);
  EXPECT_NEAR(whole.sum, head.sum + tail.sum, 0.02);
  EXPECT_LT(head.sum, 0);
}

TEST_F(LlamaServer, WritesAndRefusesInItsOwnWords) {
  const auto reply = seat_->write({.prompt = "Say hello.", .max_tokens = 6}, {});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_FALSE(reply->text.empty());
  EXPECT_LE(*reply->usage.output_tokens, 6);
  const auto overlong =
      seat_->first_position({.prompt = std::string(60'000, 'x') + " y", .letters = 2}, {});
  ASSERT_FALSE(overlong);
  EXPECT_EQ(overlong.error().code, Error::Code::BadInput);
  EXPECT_NE(overlong.error().message.find("exceeds the available context size"), std::string::npos)
      << overlong.error().message;
}

#ifdef DEEM_LOCAL
// The same model, not the same sums: the server rounds activations for its 4-bit kernels, by a
// batch's size, which moves a probability by up to 0.04; the engine here evaluates without that.
constexpr double kProbability = 0.05;
constexpr double kNats = 0.1;  // per scored token

TEST_F(LlamaServer, TheEngineInThisProcessReadsTheSame) {
  auto made = make_seat({.kind = "local", .address = std::getenv("DEEM_MODEL"), .context = 4096});
  ASSERT_TRUE(made) << made.error().message;
  Seat& local = **made;
  EXPECT_EQ(*local.count_chat(kQuestion), *seat_->count_chat(kQuestion));
  EXPECT_EQ(*local.count_plain("Hello, wörld."), *seat_->count_plain("Hello, wörld."));
  const auto here = local.prove_letters(52), there = seat_->prove_letters(52);
  ASSERT_TRUE(here && there);
  for (const auto policy : {LetterPolicy::Exact, LetterPolicy::SumExact, LetterPolicy::Fold}) {
    const auto a = letters(local, policy), b = letters(*seat_, policy);
    ASSERT_EQ(a.logprobs.size(), 3u);
    ASSERT_EQ(b.logprobs.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(here->ids[i][0], there->ids[i][0]);
      EXPECT_NEAR(std::exp(a.logprobs[i].value_or(99)), std::exp(b.logprobs[i].value_or(99)),
                  kProbability)
          << to_string(policy) << " " << i;
    }
    EXPECT_EQ(to_string(a.cause), to_string(b.cause));
  }
  const std::vector<LikelihoodRequest> texts = {
      {.given = "The capital of France is", .score = " Paris"},
      {.given = "It is: ", .score = "blue"},
      {.given = "Name a city.", .score = "Paris", .chat = true},
      {.given = "", .score = "Hello there"}};
  for (const LikelihoodRequest& text : texts) {
    const auto a = local.likelihood(text, {}), b = seat_->likelihood(text, {});
    ASSERT_TRUE(a) << a.error().message;
    ASSERT_TRUE(b) << b.error().message;
    EXPECT_EQ(a->text.tokens, b->text.tokens) << text.given;
    EXPECT_EQ(a->text.bytes, b->text.bytes);
    EXPECT_NEAR(a->text.sum, b->text.sum, kNats * static_cast<double>(a->text.tokens) + kNats)
        << text.given;
  }
}
#endif

}  // namespace
}  // namespace deem::seat
