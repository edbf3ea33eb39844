// What a diagnosis says of scripted servers, beyond whether it finds their faults.
#include "seat/doctor/doctor.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>

#include "codec/json.h"
#include "net/http_server.h"
#include "seat/doctor/doctor_test_support.h"
#include "seat/seat_test_support.h"

namespace deem::seat {
namespace {

using Verdict = ProbeResult::Verdict;

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
  EXPECT_EQ(to_json(*diagnosis).get_bool("interrupted"), true);
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
  EXPECT_EQ(json.get_bool("interrupted"), false);
  // Strict JSON, whatever a server sent.
  EXPECT_TRUE(codec::parse_json(codec::dump_json(json)));
}

}  // namespace
}  // namespace deem::seat
