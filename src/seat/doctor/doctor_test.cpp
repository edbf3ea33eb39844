// What a diagnosis says of scripted servers, beyond whether it finds their faults.
#include "seat/doctor/doctor.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>

#include "codec/json.h"
#include "net/http_server.h"
#include "seat/seat_test_support.h"

namespace deem::seat {
namespace {

using Verdict = ProbeResult::Verdict;

const ProbeResult& probe_of(const Diagnosis& diagnosis, std::string_view name) {
  const auto found = std::ranges::find(diagnosis.probes, name, &ProbeResult::name);
  if (found == diagnosis.probes.end()) {
    ADD_FAILURE() << "no probe " << name;
    static const ProbeResult none;
    return none;
  }
  return *found;
}

FakeOptions small(FakeOptions options = {}) {
  options.context = 1024;
  return options;
}

Diagnosis examined(const FakeServer& server, const DoctorOptions& options = {},
                   SeatSpec spec = {}) {
  if (spec.kind.empty()) spec = server.seat();
  const auto seat = seat_of(spec);
  auto diagnosis = examine(*seat, options, {}, {});
  if (!diagnosis) {
    ADD_FAILURE() << diagnosis.error().message;
    return {};
  }
  return std::move(*diagnosis);
}

TEST(Doctor, ProbesComeInTheirOrderEachOnce) {
  const auto server = start_fake(ServerKind::Vllm, small());
  std::vector<std::string> begun;
  const auto seat = seat_of(server.seat());
  const auto diagnosis =
      examine(*seat, {}, [&](std::string_view name) { begun.emplace_back(name); }, {});
  ASSERT_TRUE(diagnosis);
  ASSERT_EQ(diagnosis->probes.size(), std::size(kProbes));
  for (std::size_t i = 0; i < std::size(kProbes); ++i) {
    EXPECT_EQ(diagnosis->probes[i].name, kProbes[i]);
    EXPECT_FALSE(diagnosis->probes[i].says.empty()) << kProbes[i];
  }
  EXPECT_EQ(begun.size(), std::size(kProbes));
}

TEST(Doctor, SaysWhichReadingsToBelieve) {
  auto server = start_fake(ServerKind::Vllm, small());
  const auto well = examined(server);
  ASSERT_EQ(well.readings.size(), 3u);
  for (const ReadingAdvice& reading : well.readings) {
    EXPECT_TRUE(reading.supported) << reading.name;
    EXPECT_TRUE(reading.believed) << reading.name;
  }
  server.set_faults({{.fault = Fault::AllZero, .everywhere = true}});
  const auto ill = examined(server);
  EXPECT_FALSE(ill.readings[0].believed);
  EXPECT_EQ(ill.readings[0].name, "letters");
  EXPECT_NE(ill.readings[0].why.find("logprobs"), std::string::npos) << ill.readings[0].why;
  EXPECT_TRUE(ill.readings[2].believed) << "written answers need no logprobs";
}

// A longer name is another model, unless a date makes it longer.
TEST(Doctor, AnotherSizeOfTheNameIsAnotherModel) {
  const std::pair<const char*, bool> kNames[] = {
      {"fake-model-20b", false},       {"fake-model-1399", false},
      {"fake-model-2407", true},       {"fake-model-20240806", true},
      {"fake-model-2024-08-06", true}, {"fake-model-2024-13-06", false},
      {"fake-model-7", false},         {"openai/fake-model", true},
      {"openai/other", false}};
  for (const auto& [name, same] : kNames) {
    const auto server = start_fake(ServerKind::OpenAi, small({.served = name}));
    const auto diagnosis = examined(server, {.probes = {"identity"}});
    EXPECT_EQ(probe_of(diagnosis, "identity").verdict == Verdict::Finding, !same) << name;
  }
}

// A healthy server of a weak model: letters are stuck, likelihoods are right.
TEST(Doctor, AModelThatIsStuckByOneReadingIsNoFinding) {
  const auto server = start_fake(
      ServerKind::Vllm,
      small({.faults = {
                 {.fault = Fault::FirstOption, .contains = "\"messages\"", .everywhere = true}}}));
  const Diagnosis diagnosis = examined(server);
  EXPECT_EQ(diagnosis.count(Verdict::Finding), 0u);
  const ProbeResult& sanity = probe_of(diagnosis, "sanity");
  EXPECT_NE(sanity.says.find("stuck on the first option: taken in 64 of 64"), std::string::npos)
      << sanity.says;
  EXPECT_NE(sanity.says.find("cloze reads best, shown better than letters"), std::string::npos)
      << sanity.says;
  EXPECT_EQ(diagnosis.readings[0].guesses, true) << diagnosis.readings[0].why;
  EXPECT_EQ(diagnosis.readings[1].guesses, false) << diagnosis.readings[1].why;
  EXPECT_NE(diagnosis.readings[1].why.find("24 of 24 right"), std::string::npos);
  EXPECT_TRUE(diagnosis.readings[0].believed) << "the seat is not to blame";
}

TEST(Doctor, AnswersLikeGuessingByEveryReadingAreFalseAlarm) {
  const auto server = start_fake(
      ServerKind::Vllm, small({.faults = {{.fault = Fault::Wanders, .everywhere = true}}}));
  const Diagnosis diagnosis = examined(server);
  EXPECT_EQ(diagnosis.count(Verdict::Finding), 1u);
  const ProbeResult& sanity = probe_of(diagnosis, "sanity");
  EXPECT_EQ(sanity.verdict, Verdict::Finding);
  EXPECT_EQ(sanity.direction, "false alarm");
  EXPECT_EQ(sanity.spoils, (std::vector<std::string>{"letters", "likelihood", "written"}));
}

TEST(Doctor, SanityKeepsAllOfADiagnosisUnderTwoHundredAndFortyRequests) {
  const auto server = start_fake(ServerKind::Vllm, small());
  EXPECT_LT(examined(server).requests, 240);
}

TEST(Doctor, ASeatWithoutLikelihoodSaysSo) {
  const auto server = start_fake(ServerKind::Ollama, small());
  const auto diagnosis = examined(server);
  EXPECT_EQ(diagnosis.readings[1].name, "likelihood");
  EXPECT_FALSE(diagnosis.readings[1].supported);
  EXPECT_NE(diagnosis.readings[1].why.find("Ollama"), std::string::npos);
}

TEST(Doctor, AServerThatIsNotThereIsAnError) {
  std::string address;
  {
    address = start_fake(ServerKind::Vllm).address();
  }
  const auto seat = seat_of({.kind = "vllm", .address = address});
  const auto diagnosis = examine(*seat, {}, {}, {});
  ASSERT_FALSE(diagnosis);
  EXPECT_EQ(diagnosis.error().code, Error::Code::Unavailable);
}

TEST(Doctor, AStopLeavesTheRestNotMeasured) {
  const auto server = start_fake(ServerKind::Vllm, small());
  const auto seat = seat_of(server.seat());
  std::stop_source stop;
  const auto diagnosis = examine(
      *seat, {},
      [&](std::string_view name) {
        if (name == "letters") stop.request_stop();
      },
      stop.get_token());
  ASSERT_TRUE(diagnosis) << diagnosis.error().message;
  EXPECT_EQ(probe_of(*diagnosis, "tokenizer").verdict, Verdict::Ok);
  for (const char* name : {"letters", "repeat", "overlong"}) {
    EXPECT_EQ(probe_of(*diagnosis, name).verdict, Verdict::NotMeasured);
    EXPECT_EQ(probe_of(*diagnosis, name).says, "interrupted");
  }
  EXPECT_EQ(diagnosis->count(Verdict::Finding), 0u);
  for (const ReadingAdvice& reading : diagnosis->readings) {
    EXPECT_FALSE(reading.believed) << reading.name;
    EXPECT_EQ(reading.guesses, std::nullopt);
    EXPECT_EQ(reading.why, "interrupted");
  }
}

TEST(Doctor, AClaimIsHeldAgainstTheBoards) {
  // The scripted Ollama claims 98,000,000 bytes, 93.5 MiB, all of them on boards.
  const auto server = start_fake(ServerKind::Ollama, small());
  const auto held = [&](Result<double> mib) {
    DoctorOptions options;
    options.held_mib = [mib] { return mib; };
    return probe_of(examined(server, options), "residency");
  };
  EXPECT_EQ(held(95.0).verdict, Verdict::Ok);
  const ProbeResult nowhere = held(0.0);
  EXPECT_EQ(nowhere.verdict, Verdict::Finding);
  EXPECT_EQ(nowhere.direction, "false comfort");
  EXPECT_NE(nowhere.says.find("93 MiB"), std::string::npos) << nowhere.says;
  EXPECT_EQ(held(400.0).verdict, Verdict::Ok) << "contexts and buffers are not in the claim";
  EXPECT_EQ(held(2000.0).verdict, Verdict::Finding);
  const ProbeResult unread = held(fail(Error::Code::Unsupported, "no board here"));
  EXPECT_EQ(unread.verdict, Verdict::NotMeasured);
  EXPECT_NE(unread.says.find("no board here"), std::string::npos) << unread.says;
}

TEST(Doctor, ABrokenServerIsNotAskedOnAndOn) {
  const auto server = start_fake(ServerKind::LlamaServer,
                                 small({.faults = {{.fault = Fault::Hang, .everywhere = true}}}));
  SeatSpec spec = server.seat();
  spec.timeout_s = 0.2;
  const TimePoint began = Clock::now();
  const auto diagnosis = examined(server, {.patience_s = 0.2}, spec);
  EXPECT_LT(Seconds(Clock::now() - began).count(), 5);
  EXPECT_EQ(probe_of(diagnosis, "answers").verdict, Verdict::Finding);
  EXPECT_NE(probe_of(diagnosis, "answers").says.find("HTTP 200"), std::string::npos)
      << "its health route says it is well";
  EXPECT_EQ(probe_of(diagnosis, "tokenizer").verdict, Verdict::Ok);
  EXPECT_EQ(probe_of(diagnosis, "repeat").verdict, Verdict::NotMeasured);
  EXPECT_FALSE(diagnosis.readings[2].supported);
}

TEST(Doctor, AcceptanceOfDraftsIsTold) {
  const auto server = start_fake(ServerKind::Vllm, small({.speculates = true}));
  const ProbeResult probe = probe_of(examined(server), "speculation");
  EXPECT_EQ(probe.verdict, Verdict::Ok);
  EXPECT_NE(probe.says.find("drafts are on"), std::string::npos) << probe.says;
}

TEST(Doctor, HostileWordsStayOnOneLine) {
  const auto server = start_fake(ServerKind::OpenAi, small({.model = "evil\x1b[31m\nname"}));
  for (const ProbeResult& probe : examined(server).probes) {
    EXPECT_EQ(probe.says.find('\x1b'), std::string::npos) << probe.name;
    EXPECT_EQ(probe.says.find('\n'), std::string::npos) << probe.name;
  }
}

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
  EXPECT_LT(asked, 40);
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

TEST(Doctor, JsonHoldsWhatTheDiagnosisDoes) {
  const auto server = start_fake(ServerKind::Vllm, small());
  const Diagnosis diagnosis = examined(server);
  const codec::Json json = to_json(diagnosis);
  EXPECT_EQ(json.get_string("schema"), "deem.doctor/1");
  EXPECT_EQ(json.find("seat")->get_string("model"), "fake-model");
  EXPECT_EQ(json.find("seat")->get_int("context"), 1024);
  ASSERT_EQ(json.find("probes")->items().size(), std::size(kProbes));
  const codec::Json& depth = json.find("probes")->items()[6];
  EXPECT_EQ(depth.get_string("name"), "depth");
  EXPECT_EQ(depth.get_string("verdict"), "ok");
  EXPECT_EQ(depth.find("evidence")->get_int("ids_back"), 26);
  EXPECT_EQ(json.find("readings")->items()[0].get_bool("believed"), true);
  // Strict JSON, whatever a server sent.
  EXPECT_TRUE(codec::parse_json(codec::dump_json(json)));
}

}  // namespace
}  // namespace deem::seat
