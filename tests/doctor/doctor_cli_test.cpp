// `deem doctor` as a program: exit codes, the table's width, its words, JSON.
#include <gtest/gtest.h>

#include "base/process.h"
#include "base/text.h"
#include "codec/json.h"
#include "seat/fake/fake_server.h"

namespace deem {
namespace {

using seat::FakeServer;
using seat::Fault;
using seat::ServerKind;

FakeServer serve(ServerKind kind, std::vector<seat::FaultRule> faults = {}) {
  seat::FakeOptions options;
  options.context = 1024;
  options.faults = std::move(faults);
  auto server = FakeServer::start(kind, std::move(options));
  if (!server) ADD_FAILURE() << server.error().message;
  return std::move(*server);
}

Finished doctor(std::vector<std::string> args) {
  std::vector<std::string> argv = {DEEM_PROGRAM, "doctor"};
  argv.insert(argv.end(), args.begin(), args.end());
  auto done =
      run_process({.argv = argv, .environment = {"LANG=C.UTF-8", "KEY=open-sesame"}}, Seconds(60));
  if (!done) ADD_FAILURE() << done.error().message;
  return done ? std::move(*done) : Finished{};
}

/// On one line, so that a wrapped sentence is found.
std::string flat(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n';
    if (!blank || (!out.empty() && out.back() != ' ')) out += blank ? ' ' : c;
  }
  return out;
}

TEST(DoctorCli, AServerThatIsWellEndsInZero) {
  const FakeServer server = serve(ServerKind::Vllm);
  const Finished done = doctor({"vllm:" + server.address()});
  EXPECT_EQ(done.ending.code, 0) << done.errors;
  EXPECT_EQ(done.errors, "");
  EXPECT_EQ(done.output.find("finding "), std::string::npos) << done.output;
  EXPECT_NE(flat(done.output).find(" letters believe exact ids; 24 of 24 right, 1.00 "),
            std::string::npos)
      << done.output;
  EXPECT_NE(done.output.find(", 0 findings, 1 not measured; "), std::string::npos) << done.output;
}

TEST(DoctorCli, QuickAsksTheQuickProbesAlone) {
  const FakeServer server = serve(ServerKind::Vllm);
  const Finished done = doctor({"vllm:" + server.address(), "--quick"});
  EXPECT_EQ(done.ending.code, 0) << done.errors;
  EXPECT_EQ(done.output.find("repeat"), std::string::npos) << done.output;
  EXPECT_NE(done.output.find("\nquick: 8 of 15 probes; 8 ok, 0 findings, 0 not measured; "),
            std::string::npos)
      << done.output;
  const Finished data = doctor({"vllm:" + server.address(), "--quick", "--json"});
  const auto json = codec::parse_json(data.output);
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(json->find("probes")->items().size(), 8u);
  EXPECT_LE(json->get_int("requests").value_or(99), 12);
}

TEST(DoctorCli, QuickKnowsTheProbesOfADecisionEndpoint) {
  const FakeServer server = serve(ServerKind::SystemOne);
  const Finished done = doctor({"systemone:" + server.address(), "--quick"});
  EXPECT_EQ(done.ending.code, 0) << done.errors;
  EXPECT_NE(done.output.find("\nquick: 4 of 8 probes; 4 ok, "), std::string::npos) << done.output;
}

TEST(DoctorCli, ADecisionEndpointIsHeldAgainstAPlainSeat) {
  const FakeServer native = serve(ServerKind::SystemOne), plain = serve(ServerKind::LlamaServer);
  const Finished done =
      doctor({"systemone:" + native.address(), "--against", "llama-server:" + plain.address()});
  EXPECT_EQ(done.ending.code, 0) << done.output << done.errors;
  EXPECT_NE(flat(done.output).find(" against ok right on 24 of 24, our letters on 24: "),
            std::string::npos)
      << done.output;
}

TEST(DoctorCli, AnotherSeatThatIsNotThereEndsInFour) {
  const FakeServer native = serve(ServerKind::SystemOne);
  std::string gone;
  {
    gone = serve(ServerKind::Vllm).address();
  }
  const Finished done = doctor({"systemone:" + native.address(), "--against", "vllm:" + gone});
  EXPECT_EQ(done.ending.code, 4) << done.output;
  EXPECT_NE(done.errors.find("--against: "), std::string::npos) << done.errors;
}

TEST(DoctorCli, AModelThatOnlyGuessesIsFound) {
  const FakeServer server =
      serve(ServerKind::Ollama, {{.fault = Fault::FirstOption, .everywhere = true}});
  const Finished done = doctor({"ollama:" + server.address()});
  EXPECT_EQ(done.ending.code, 1) << done.errors;
  EXPECT_NE(flat(done.output).find(" sanity finding answers like guessing by every reading: "),
            std::string::npos)
      << done.output;
  EXPECT_NE(flat(done.output).find(" letters do not believe see sanity "), std::string::npos)
      << done.output;
}

TEST(DoctorCli, AReadingThatOnlyGuessesIsSaidToBesideOneThatDoesNot) {
  const FakeServer server =
      serve(ServerKind::Vllm,
            {{.fault = Fault::FirstOption, .contains = "\"messages\"", .everywhere = true}});
  const Finished done = doctor({"vllm:" + server.address()});
  EXPECT_EQ(done.ending.code, 0) << done.output << done.errors;
  EXPECT_NE(flat(done.output).find(" letters like guessing exact ids; 10 of 24 right, "),
            std::string::npos)
      << done.output;
  EXPECT_NE(flat(done.output).find(" likelihood believe token by token; cloze 24 of 24 right, "),
            std::string::npos)
      << done.output;
}

TEST(DoctorCli, AFindingEndsInOneAndSaysHowItErrs) {
  const FakeServer server =
      serve(ServerKind::Vllm, {{.fault = Fault::AllZero, .everywhere = true}});
  const Finished done = doctor({"vllm:" + server.address()});
  EXPECT_EQ(done.ending.code, 1) << done.errors;
  EXPECT_NE(flat(done.output).find(" logprobs finding every number is 0 [false comfort] "),
            std::string::npos)
      << done.output;
  EXPECT_NE(flat(done.output).find(" letters do not believe see logprobs "), std::string::npos)
      << done.output;
}

TEST(DoctorCli, TheTableFitsEightyColumnsOnOneScreen) {
  for (const ServerKind kind :
       {ServerKind::Vllm, ServerKind::Ollama, ServerKind::LlamaServer, ServerKind::OpenAi,
        ServerKind::Sglang, ServerKind::LmStudio, ServerKind::SystemOne, ServerKind::Decisions}) {
    const FakeServer server = serve(kind);
    const Finished done = doctor({server.seat().kind + ":" + server.address()});
    std::size_t lines = 0;
    for (const std::string_view line : split(done.output, '\n')) {
      EXPECT_LE(count_code_points(line), 80u) << line;
      ++lines;
    }
    EXPECT_LE(lines, 50u) << done.output;
  }
}

TEST(DoctorCli, ADecisionEndpointIsAskedWhatItCanBeHeldTo) {
  seat::FakeOptions ill;
  ill.answers = {seat::AnswerFault::ReadsIds};
  const auto server = FakeServer::start(ServerKind::SystemOne, ill);
  ASSERT_TRUE(server);
  const Finished done = doctor({"systemone:" + server->address()});
  EXPECT_EQ(done.ending.code, 1) << done.errors;
  EXPECT_NE(flat(done.output).find(" ids finding under the id of the right answer: a probability "),
            std::string::npos)
      << done.output;
  EXPECT_NE(flat(done.output).find(" native do not believe see ids "), std::string::npos)
      << done.output;
}

TEST(DoctorCli, JsonIsOneStrictDocument) {
  const FakeServer server = serve(ServerKind::LlamaServer);
  const Finished done = doctor({"llama-server:" + server.address(), "--json"});
  EXPECT_EQ(done.ending.code, 0) << done.errors;
  const auto json = codec::parse_json(done.output);
  ASSERT_TRUE(json) << json.error().message << "\n" << done.output;
  EXPECT_EQ(json->get_string("schema"), "deem.doctor/1");
  EXPECT_EQ(json->find("probes")->items().size(), 15u);
}

TEST(DoctorCli, ASeatThatDoesNotAnswerEndsInFour) {
  std::string address;
  {
    address = serve(ServerKind::Vllm).address();
  }
  const Finished done = doctor({"vllm:" + address});
  EXPECT_EQ(done.ending.code, 4);
  EXPECT_EQ(done.output, "");
  EXPECT_NE(done.errors.find("connection refused"), std::string::npos) << done.errors;
}

TEST(DoctorCli, AModelThatIsNotServedEndsInFourWithThoseThatAre) {
  const FakeServer server = serve(ServerKind::Vllm);
  const Finished done = doctor({"vllm:" + server.address(), "--model", "absent"});
  EXPECT_EQ(done.ending.code, 4);
  EXPECT_NE(done.errors.find("fake-model"), std::string::npos) << done.errors;
}

TEST(DoctorCli, TheKeyComesFromTheEnvironmentAndIsNotShown) {
  seat::FakeOptions options;
  options.context = 1024;
  options.key = "open-sesame";
  const auto server = FakeServer::start(ServerKind::OpenAi, options);
  ASSERT_TRUE(server);
  const Finished done = doctor({"openai:" + server->address(), "--key-env", "KEY"});
  EXPECT_EQ(done.ending.code, 0) << done.output << done.errors;
  EXPECT_EQ((done.output + done.errors).find("sesame"), std::string::npos);
  EXPECT_EQ(doctor({"openai:" + server->address()}).ending.code, 4);
}

TEST(DoctorCli, AHangIsFoundWithinTheTimeGiven) {
  const FakeServer server = serve(ServerKind::Vllm, {{.fault = Fault::Hang, .everywhere = true}});
  const TimePoint began = Clock::now();
  const Finished done = doctor({"vllm:" + server.address(), "--timeout", "0.3"});
  EXPECT_LT(Seconds(Clock::now() - began).count(), 20);
  EXPECT_EQ(done.ending.code, 1);
  EXPECT_NE(flat(done.output).find("though GET /health: HTTP 200"), std::string::npos)
      << done.output;
}

}  // namespace
}  // namespace deem
