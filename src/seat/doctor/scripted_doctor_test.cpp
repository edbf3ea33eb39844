// What a diagnosis says of servers whose every reply is scripted: refusals, empty replies, silence.
#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>

#include "codec/json.h"
#include "net/http_server.h"
#include "seat/doctor/doctor_test_support.h"
#include "seat/remote.h"
#include "seat/seat_test_support.h"

namespace deem::seat {
namespace {

using Verdict = ProbeResult::Verdict;

/// An OpenAI-style server that answers as told, for shapes and words of one server alone.
struct Scripted {
  std::function<net::ServerReply(const codec::Json& body)> chat;
  std::optional<net::HttpServer> server;

  explicit Scripted(std::function<net::ServerReply(const codec::Json& body)> answer)
      : chat(std::move(answer)) {
    auto started = net::HttpServer::start({}, [this](const net::ServerRequest& request) {
      net::ServerReply reply;
      if (request.target == "/v1/models") {
        reply.body = R"({"data":[{"id":"m","max_model_len":4096}]})";
        return reply;
      }
      const auto body = codec::parse_json(request.body);
      if (request.target == "/v1/chat/completions" && body) return chat(*body);
      reply.status = 404;
      return reply;
    });
    if (!started) ADD_FAILURE() << started.error().message;
    server = std::move(*started);
  }
  Diagnosis diagnosis() const {
    const auto seat = seat_of({.kind = "openai", .address = server->address()});
    auto made = examine(*seat, {}, {}, {});
    if (!made) ADD_FAILURE() << made.error().message;
    return made ? std::move(*made) : Diagnosis{};
  }
};

std::size_t prompt_bytes(const codec::Json& body) {
  return body.find("messages")->items()[0].get_string("content")->size();
}

net::ServerReply refusal(const std::string& words) {
  net::ServerReply reply;
  reply.status = 400;
  reply.body =
      codec::dump_json(codec::Json::object({{"error", codec::Json::object({{"message", words}})}}));
  return reply;
}

net::ServerReply letter_a() {
  net::ServerReply reply;
  reply.body =
      R"({"model":"m","choices":[{"message":{"content":"A"},"finish_reason":"length","logprobs":{
        "content":[{"token":"A","logprob":-0.2,"top_logprobs":[{"token":"A","logprob":-0.2},
        {"token":"B","logprob":-2.0},{"token":"C","logprob":-4.0},{"token":"D","logprob":-5.0}]}]}}],
        "usage":{"prompt_tokens":90,"completion_tokens":1}})";
  return reply;
}

struct RefusalCase {
  const char* name;
  const char* words;
  Verdict verdict;
};
class Refusal : public testing::TestWithParam<RefusalCase> {};

TEST_P(Refusal, IsHeldAgainstTheContextTold) {
  const Scripted server([](const codec::Json& body) {
    return prompt_bytes(body) > 5'000 ? refusal(GetParam().words) : letter_a();
  });
  const ProbeResult probe = probe_of(server.diagnosis(), "overlong");
  EXPECT_EQ(probe.verdict, GetParam().verdict) << probe.says;
}

// The context told is 4096, the prompt has 4316 words or more.
INSTANTIATE_TEST_SUITE_P(
    Table, Refusal,
    testing::Values(
        RefusalCase{"NamesIt", "at most 4096 tokens, you sent 4400", Verdict::Ok},
        RefusalCase{"NamesItWithACommaInIt", "at most 4,096 tokens, you sent 4,400", Verdict::Ok},
        RefusalCase{"NamesNothing", "the prompt is too long", Verdict::Ok},
        RefusalCase{"HasACodeOfItsOwn", "error 1301: the prompt is too long", Verdict::Ok},
        RefusalCase{"ShortensIt", "the limit is 4k tokens, you sent 4400", Verdict::Ok},
        RefusalCase{"NamesAnother", "at most 2048 tokens, you sent 4400", Verdict::Finding},
        RefusalCase{"NamesAnotherWithCommas", "at most 2,048 tokens, you sent 4,400",
                    Verdict::Finding}),
    [](const auto& p) { return p.param.name; });

/// The same with other words written.
net::ServerReply writes(const std::string& content) {
  net::ServerReply reply = letter_a();
  constexpr std::string_view kContent = R"("content":"A")";
  reply.body.replace(reply.body.find(kContent), kContent.size(),
                     R"("content":)" + codec::dump_json(content));
  return reply;
}

TEST(Doctor, RepliesWithoutTextAreAFindingAndNotBelieved) {
  const Scripted server([](const codec::Json& body) {
    return prompt_bytes(body) > 5'000 ? refusal("at most 4096 tokens") : writes("");
  });
  const Diagnosis diagnosis = server.diagnosis();
  EXPECT_EQ(probe_of(diagnosis, "answers").verdict, Verdict::Finding);
  EXPECT_NE(probe_of(diagnosis, "answers").says.find("holds no text"), std::string::npos);
  EXPECT_FALSE(diagnosis.readings[2].believed) << diagnosis.readings[2].why;
}

TEST(Doctor, WordsThatStateNoOptionAreNotBelieved) {
  const Scripted server([](const codec::Json& body) {
    return prompt_bytes(body) > 5'000 ? refusal("at most 4096 tokens")
                                      : writes("ERROR: internal failure");
  });
  const Diagnosis diagnosis = server.diagnosis();
  EXPECT_FALSE(diagnosis.readings[2].believed);
  EXPECT_EQ(diagnosis.readings[2].why, "answers 0 of 24 easy questions");
}

// The server's own words are none of its status.
TEST(Doctor, AStatusInTheServersWordsIsNoStatus) {
  EXPECT_EQ(http_status({Error::Code::Unavailable, "http://a:1/v1/x: HTTP 500: not : HTTP 429"}),
            500);
  EXPECT_EQ(http_status({Error::Code::Timeout, "http://a:1: no reply by the deadline"}), 0);
}

TEST(Doctor, AKeyThatIsRefusedIsTheSeatsError) {
  for (const int status : {401, 403, 404}) {
    const Scripted server([status](const codec::Json&) {
      net::ServerReply reply = refusal("no");
      reply.status = status;
      return reply;
    });
    const auto seat = seat_of({.kind = "openai", .address = server.server->address()});
    const auto diagnosis = examine(*seat, {}, {}, {});
    ASSERT_FALSE(diagnosis) << status;
    EXPECT_NE(diagnosis.error().message.find("HTTP " + std::to_string(status)), std::string::npos);
  }
}

TEST(Doctor, AServerThatStopsAnsweringIsNotWaitedForAgainAndAgain) {
  std::atomic<int> asked = 0;
  const Scripted server([&](const codec::Json&) {
    net::ServerReply reply = letter_a();
    if (++asked > 4) reply.delay = std::chrono::seconds(30);
    return reply;
  });
  const auto seat =
      seat_of({.kind = "openai", .address = server.server->address(), .timeout_s = 0.3});
  const auto diagnosis = examine(*seat, {.patience_s = 0.3}, {}, {});
  ASSERT_TRUE(diagnosis) << diagnosis.error().message;
  EXPECT_EQ(probe_of(*diagnosis, "sanity").says, "it answers nothing any more");
  EXPECT_EQ(probe_of(*diagnosis, "answers").verdict, Verdict::Finding);
  EXPECT_LT(asked, 20);
  for (const ReadingAdvice& reading : diagnosis->readings) EXPECT_FALSE(reading.believed);
}

// An interface that takes few requests at once is well.
TEST(Doctor, RequestsThatArePutOffAreNoFinding) {
  std::atomic<int> asked = 0;
  const Scripted server([&](const codec::Json& body) {
    if (prompt_bytes(body) > 5'000) return refusal("at most 4096 tokens");
    if (++asked % 3 != 0 || asked < 20) return letter_a();
    net::ServerReply reply = refusal("too many requests");
    reply.status = 429;
    return reply;
  });
  const Diagnosis diagnosis = server.diagnosis();
  const ProbeResult& answers = probe_of(diagnosis, "answers");
  EXPECT_EQ(answers.verdict, Verdict::Ok) << answers.says;
  EXPECT_NE(answers.says.find("requests put off as too many (HTTP 429)"), std::string::npos)
      << answers.says;
  EXPECT_EQ(probe_of(diagnosis, "repeat").verdict, Verdict::Ok)
      << probe_of(diagnosis, "repeat").says;
}

TEST(Doctor, AServerThatTakesNoHighTemperatureHasNoFindingForIt) {
  const Scripted server([](const codec::Json& body) {
    if (prompt_bytes(body) > 5'000) return refusal("at most 4096 tokens");
    if (body.get_string("model") != "m") return refusal("no such model");
    if (body.get_double("temperature").value_or(0) > 1) return refusal("0 <= temperature <= 1");
    net::ServerReply reply = letter_a();
    // As many entries as are asked, so that nothing is amiss but the temperature.
    const auto k = body.get_int("top_logprobs").value_or(0);
    if (k == 0) return reply;
    codec::Json top = codec::Json::array();
    constexpr const char* kLetters = "ABCDEFGHIJKLMNOPQRST";
    for (int i = 0; i < k; ++i) {
      top.push(codec::Json::object(
          {{"token", std::string(1, kLetters[i])}, {"logprob", i == 0 ? -0.2 : -2.0 - i}}));
    }
    const codec::Json first =
        codec::Json::object({{"token", "A"}, {"logprob", -0.2}, {"top_logprobs", std::move(top)}});
    reply.body = codec::dump_json(codec::Json::object(
        {{"model", "m"},
         {"choices", codec::Json::array({codec::Json::object(
                         {{"message", codec::Json::object({{"content", "A"}})},
                          {"logprobs",
                           codec::Json::object({{"content", codec::Json::array({first})}})}})})}}));
    return reply;
  });
  const Diagnosis diagnosis = server.diagnosis();
  const ProbeResult probe = probe_of(diagnosis, "logprobs");
  EXPECT_EQ(probe.verdict, Verdict::Ok) << probe.says;
  EXPECT_NE(probe.says.find("raw or processed"), std::string::npos) << probe.says;
  for (const ProbeResult& one : diagnosis.probes) {
    // It says A to everything.
    EXPECT_EQ(one.verdict == Verdict::Finding, one.name == "sanity")
        << one.name << ": " << one.says;
  }
}

// As a model without a chat template does: what leads position 0 changes by rounding, and no
// letter has much of it.
TEST(Doctor, AnotherCauseOfAModelsOwnIsNoDrift) {
  std::atomic<int> turn = 0;
  const Scripted server([&](const codec::Json& body) {
    if (prompt_bytes(body) > 5'000) return refusal("at most 4096 tokens");
    const bool even = turn++ % 2 == 0;
    net::ServerReply reply;
    reply.body = std::string(R"({"model":"m","choices":[{"message":{"content":""},"logprobs":{
        "content":[{"token":")") +
                 (even ? "State" : "Case") + R"(","logprob":-1.5,"top_logprobs":[
        {"token":"State","logprob":-1.5},{"token":"Case","logprob":-1.5},{"token":"A","logprob":-5},
        {"token":"B","logprob":-6},{"token":"C","logprob":-7}]}]}}]})";
    return reply;
  });
  const ProbeResult probe = probe_of(server.diagnosis(), "repeat");
  EXPECT_EQ(probe.verdict, Verdict::Ok) << probe.says;
}

TEST(Doctor, NumbersBeyondAllBoundsLeaveTheJsonStrict) {
  const Scripted server([](const codec::Json& body) {
    if (prompt_bytes(body) > 5'000) return refusal("at most 4096 tokens");
    net::ServerReply reply;
    reply.body =
        R"({"model":"m","choices":[{"message":{"content":"A"},"logprobs":{"content":[{"token":"A",
          "logprob":900,"top_logprobs":[{"token":"A","logprob":900},{"token":"B","logprob":1e300}]}
          ]}}]})";
    return reply;
  });
  const Diagnosis diagnosis = server.diagnosis();
  EXPECT_EQ(probe_of(diagnosis, "logprobs").verdict, Verdict::Finding);
  EXPECT_TRUE(codec::parse_json(codec::dump_json(to_json(diagnosis))))
      << codec::dump_json(to_json(diagnosis));
}

TEST(Doctor, AnotherModelInTheMiddleIsAFinding) {
  std::atomic<int> asked = 0;
  const Scripted server([&](const codec::Json& body) {
    if (prompt_bytes(body) > 5'000) return refusal("at most 4096 tokens");
    net::ServerReply reply = letter_a();
    const int n = ++asked;
    if (n > 60 && n <= 70) reply.body.replace(reply.body.find(R"("m")"), 3, R"("other")");
    return reply;
  });
  const Diagnosis diagnosis = server.diagnosis();
  const ProbeResult& identity = probe_of(diagnosis, "identity");
  EXPECT_EQ(identity.verdict, Verdict::Finding);
  EXPECT_NE(identity.says.find("10 of "), std::string::npos) << identity.says;
  EXPECT_NE(identity.says.find(R"(replies were of "other")"), std::string::npos) << identity.says;
  for (const ReadingAdvice& reading : diagnosis.readings) EXPECT_FALSE(reading.believed);
}

TEST(Doctor, AnEmptyNameIsNoName) {
  const Scripted server([](const codec::Json& body) {
    if (prompt_bytes(body) > 5'000) return refusal("at most 4096 tokens");
    if (body.get_string("model") != "m") return refusal("no such model");
    net::ServerReply reply = letter_a();
    reply.body.replace(reply.body.find(R"("m")"), 3, R"("")");
    return reply;
  });
  EXPECT_NE(probe_of(server.diagnosis(), "identity").verdict, Verdict::Finding);
}

TEST(Doctor, PaddedNumbersBehindALetterAreAFinding) {
  const Scripted server([](const codec::Json& body) {
    if (prompt_bytes(body) > 5'000) return refusal("at most 4096 tokens");
    net::ServerReply reply = letter_a();
    for (const std::string number : {"-2.0", "-4.0", "-5.0"})
      reply.body.replace(reply.body.find(number), number.size(), "-9999.0");
    return reply;
  });
  const ProbeResult probe = probe_of(server.diagnosis(), "logprobs");
  EXPECT_EQ(probe.verdict, Verdict::Finding);
  EXPECT_NE(probe.says.find("-9999 stands for the numbers of 3 of 4 entries"), std::string::npos)
      << probe.says;
}

TEST(Doctor, PutOffAfterTheOverlongPromptIsNoFinding) {
  std::atomic<bool> overrun = false;
  const Scripted server([&](const codec::Json& body) {
    if (prompt_bytes(body) > 5'000) {
      overrun = true;
      return refusal("at most 4096 tokens");
    }
    if (!overrun.exchange(false)) return letter_a();
    net::ServerReply reply = refusal("tokens a minute");
    reply.status = 429;
    return reply;
  });
  const ProbeResult probe = probe_of(server.diagnosis(), "overlong");
  EXPECT_EQ(probe.verdict, Verdict::Ok) << probe.says;
  EXPECT_NE(probe.says.find("HTTP 429"), std::string::npos) << probe.says;
}

}  // namespace
}  // namespace deem::seat
