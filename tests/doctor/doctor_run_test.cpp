// What `deem run` makes of a diagnosis of its seats: kept, told, carried to the figures, refused.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "base/process.h"
#include "codec/json.h"
#include "record/rows_file.h"
#include "record/run.h"
#include "seat/fake/fake_server.h"

namespace deem {
namespace {

using codec::Json;
using seat::FakeServer;
using seat::Fault;
using seat::FaultRule;
using seat::ServerKind;

FakeServer serve(ServerKind kind, std::vector<FaultRule> faults = {}, std::string address = "",
                 std::int64_t context = 4096) {
  seat::FakeOptions options;
  options.context = context;
  options.faults = std::move(faults);
  if (!address.empty()) options.address = std::move(address);
  auto server = FakeServer::start(kind, std::move(options));
  if (!server) ADD_FAILURE() << server.error().message;
  return std::move(*server);
}

class DoctorRun : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "doctor_run_" + std::to_string(::getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    out_ = join_path(folder_, "run");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Finished deem(std::vector<std::string> args) {
    args.insert(args.begin(), DEEM_PROGRAM);
    auto done = run_process({.argv = args, .environment = {"LANG=C.UTF-8"}}, Seconds(120));
    if (!done) ADD_FAILURE() << done.error().message;
    return done ? std::move(*done) : Finished{};
  }
  Finished run(const FakeServer& server, std::vector<std::string> more = {}) {
    std::vector<std::string> args = {
        "run",    "--kit",  DEEM_SOURCE_DIR "/kits/demo",
        "--task", "intent", "--limit",
        "3",      "--seat", server.seat().kind + ":" + server.address(),
        "--out",  out_,     "--no-power"};
    args.insert(args.end(), more.begin(), more.end());
    return deem(args);
  }
  Finished run_config(const std::string& toml) {
    const std::string path = join_path(folder_, "deem.toml");
    EXPECT_TRUE(write_file_atomically(path, toml));
    return deem({"run", "--config", path, "--no-power"});
  }
  std::string config(const FakeServer& server, const std::string& require) {
    return "kit = \"" DEEM_SOURCE_DIR "/kits/demo\"\nout = \"" + out_ +
           "\"\ntasks = [\"intent\"]\nlimit = 3\n[[arm]]\nname = \"a\"\nseat = \"" +
           server.seat().kind + ":" + server.address() + "\"\nrequire = [" + require + "]\n";
  }
  Json doctor() {
    const auto record = record::load_run(out_);
    if (!record) ADD_FAILURE() << record.error().message;
    return record ? record->arms.at(0).doctor : Json();
  }
  std::string verdict(std::string_view name) {
    const Json kept = doctor();
    const Json* probes = kept.is_object() ? kept.find("probes") : nullptr;
    if (probes == nullptr) return "no probes";
    for (const Json& probe : probes->items()) {
      if (probe.get_string("name") == name) return probe.get_string("verdict").value_or("");
    }
    return "absent";
  }

  std::string folder_, out_;
};

TEST_F(DoctorRun, AHealthySeatIsProbedAndSaidToBe) {
  const FakeServer server = serve(ServerKind::Vllm);
  const Finished done = run(server);
  EXPECT_EQ(done.ending.code, 0) << done.errors;
  EXPECT_NE(done.output.find("doctor readout  9 probes ok\n"), std::string::npos) << done.output;
  EXPECT_EQ(doctor().get_string("mode"), "quick");
  ASSERT_NE(doctor().find("probes"), nullptr);
  EXPECT_EQ(doctor().find("probes")->items().size(), 9u);
  EXPECT_EQ(verdict("again"), "ok");
  EXPECT_LE(doctor().get_int("requests").value_or(99), 14);
  EXPECT_EQ(done.output.find("not to be believed"), std::string::npos) << done.output;
}

/// Temperature has been at these numbers; no row can tell.
TEST_F(DoctorRun, AFindingThatNoRowShowsIsKeptAndCarriedToTheFigures) {
  const FakeServer server =
      serve(ServerKind::Vllm, {{.fault = Fault::Processed, .everywhere = true}});
  const Finished done = run(server);
  EXPECT_EQ(done.ending.code, 0) << done.errors;
  EXPECT_NE(done.errors.find("arm readout: doctor: finding: logprobs: "), std::string::npos)
      << done.errors;
  EXPECT_EQ(verdict("logprobs"), "finding");
  for (const std::vector<std::string>& verb : {std::vector<std::string>{"score", out_},
                                               {"score", out_, "--format", "md"},
                                               {"choose", out_},
                                               {"compare", out_, out_ + "2"},
                                               {"report", out_, "--format", "md"}}) {
    std::filesystem::remove_all(out_ + "2");
    std::filesystem::copy(out_, out_ + "2");
    const Finished told = deem(verb);
    EXPECT_NE((told.output + told.errors).find("letters not to be believed"), std::string::npos)
        << verb[0] << told.output << told.errors;
  }
}

TEST_F(DoctorRun, RequireAsksNothingOfAnArmThatAFindingSpeaksAgainst) {
  const FakeServer server =
      serve(ServerKind::Vllm, {{.fault = Fault::Processed, .everywhere = true}});
  const Finished done = run(server, {"--doctor", "require"});
  EXPECT_EQ(done.ending.code, 1) << done.errors;
  EXPECT_NE(done.errors.find("arm readout: its letters can not be believed: logprobs: "),
            std::string::npos)
      << done.errors;
  EXPECT_NE(done.errors.find("nothing was asked"), std::string::npos);
  EXPECT_FALSE(file_exists(join_path(out_, "run.json")));
  // What it writes is another reading.
  const Finished written = run(server, {"--doctor", "require", "--mode", "generate"});
  EXPECT_EQ(written.ending.code, 0) << written.errors;
}

TEST_F(DoctorRun, AProbeAnArmRequiresMustBeOk) {
  const FakeServer server = serve(ServerKind::Vllm, {{.fault = Fault::OverlongCut}});
  const Finished quick = run(server);
  EXPECT_EQ(quick.ending.code, 0) << quick.errors << "quick does not ask that";
  EXPECT_EQ(verdict("overlong"), "absent");
  std::filesystem::remove_all(out_);

  const Finished found = run_config(config(server, "\"overlong\""));
  EXPECT_EQ(found.ending.code, 1) << found.errors;
  EXPECT_NE(found.errors.find("arm a: requires the probe overlong, which is a finding: "),
            std::string::npos)
      << found.errors;
  EXPECT_FALSE(file_exists(join_path(out_, "run.json")));

  const Finished unknown = run_config(config(server, "\"residency\""));
  EXPECT_EQ(unknown.ending.code, 3) << unknown.errors;
  EXPECT_NE(unknown.errors.find("requires the probe residency, which is not measured: "),
            std::string::npos)
      << unknown.errors;

  const Finished met = run_config(config(server, "\"repeat\", \"mixed\""));
  EXPECT_EQ(met.ending.code, 0) << met.errors;
  EXPECT_EQ(verdict("repeat"), "ok");
  EXPECT_EQ(verdict("mixed"), "ok");
}

// A server that keeps prompts is fast on those it had: that says nothing of the other.
TEST_F(DoctorRun, TimesOfUnlikeWorkDominateNothing) {
  const FakeServer server = serve(ServerKind::Vllm);
  ASSERT_EQ(run(server).ending.code, 0);
  const std::string other = out_ + "2";
  std::filesystem::copy(out_, other, std::filesystem::copy_options::recursive);
  auto rows = record::load_rows(join_path(other, "rows.jsonl"));
  ASSERT_TRUE(rows);
  std::string kept;
  for (record::Row& row : rows->rows) {
    for (auto& [name, reading] : row.readings) {
      ASSERT_TRUE(reading.prompt_tokens);
      reading.cached_tokens = *reading.prompt_tokens - 1;
      reading.planned_to_done_s *= 2;
    }
    kept += record::format_row(row) + '\n';
  }
  ASSERT_TRUE(write_file_atomically(join_path(other, "rows.jsonl"), kept));
  const Finished unlike = deem({"compare", out_, other});
  EXPECT_NE(unlike.output.find("not of the same work"), std::string::npos) << unlike.output;
  EXPECT_EQ(unlike.output.find("dominated by"), std::string::npos) << unlike.output;
  EXPECT_NE((unlike.output + unlike.errors).find("no column is said to be dominated"),
            std::string::npos)
      << unlike.output << unlike.errors;
}

// No row shows that all are answered as if something else had been asked.
TEST_F(DoctorRun, SanityThatAnArmRequiresRefusesAnswersLikeGuessing) {
  const FakeServer ill = serve(ServerKind::Vllm, {{.fault = Fault::Wanders, .everywhere = true}});
  const Finished found = run_config(config(ill, "\"sanity\""));
  EXPECT_EQ(found.ending.code, 1) << found.errors;
  EXPECT_NE(found.errors.find("arm a: requires the probe sanity, which is a finding: "),
            std::string::npos)
      << found.errors;
  EXPECT_FALSE(file_exists(join_path(out_, "run.json")));

  const FakeServer well = serve(ServerKind::Vllm);
  const Finished met = run_config(config(well, "\"sanity\""));
  EXPECT_EQ(met.ending.code, 0) << met.errors;
  EXPECT_EQ(verdict("sanity"), "ok");
}

TEST_F(DoctorRun, WhatCanNotBeRequiredIsNamed) {
  const FakeServer server = serve(ServerKind::Vllm);
  const Finished typo = run_config(config(server, "\"logprob\""));
  EXPECT_EQ(typo.ending.code, 2);
  EXPECT_NE(typo.errors.find("the seat vllm has no probe logprob; there are identity, "),
            std::string::npos)
      << typo.errors;
  const Finished off = run_config("doctor = \"off\"\n" + config(server, "\"logprobs\""));
  EXPECT_EQ(off.ending.code, 2);
  EXPECT_NE(off.errors.find("arm a requires probes"), std::string::npos) << off.errors;
  const Finished word = run(server, {"--doctor", "thorough"});
  EXPECT_EQ(word.ending.code, 2);
  EXPECT_NE(word.errors.find("--doctor thorough: quick, require or off"), std::string::npos);
}

TEST_F(DoctorRun, OffKeepsNothingAndResumeLeavesItOff) {
  const FakeServer server = serve(ServerKind::Vllm);
  EXPECT_EQ(run(server, {"--doctor", "off"}).ending.code, 0);
  EXPECT_TRUE(doctor().is_null());
  EXPECT_EQ(deem({"resume", out_, "--no-power"}).ending.code, 0);
  EXPECT_TRUE(doctor().is_null());
}

/// A server that was well when the run began and is not when it goes on.
TEST_F(DoctorRun, AResumeProbesAgainAndKeepsTheWorse) {
  std::string address;
  {
    const FakeServer well = serve(ServerKind::Vllm);
    address = well.address();
    EXPECT_EQ(run(well).ending.code, 0);
    EXPECT_EQ(verdict("logprobs"), "ok");
  }
  {
    const FakeServer ill =
        serve(ServerKind::Vllm, {{.fault = Fault::Processed, .everywhere = true}}, address);
    const Finished done = deem({"resume", out_, "--no-power"});
    EXPECT_EQ(done.ending.code, 0) << done.errors;
    EXPECT_NE(done.errors.find("doctor: logprobs: ok then, finding now"), std::string::npos)
        << done.errors;
    EXPECT_EQ(verdict("logprobs"), "finding");
  }
  const FakeServer again = serve(ServerKind::Vllm, {}, address);
  EXPECT_EQ(deem({"resume", out_, "--no-power"}).ending.code, 0);
  EXPECT_EQ(verdict("logprobs"), "finding") << "rows of the bad sitting are still there";
}

/// The quick probes take 9 decisions here, the rows 3.
constexpr std::uint64_t kAfterTheProbes = 9;

/// A server that is well while it is probed. Each row looks as one from a server that is well.
TEST_F(DoctorRun, AFaultThatBeginsMeanwhileIsFoundWhenTheRowsAreThere) {
  const FakeServer server =
      serve(ServerKind::Vllm, {{.fault = Fault::SampledDiffers, .first = kAfterTheProbes}});
  const Finished done = run(server);
  EXPECT_EQ(done.ending.code, 0) << done.errors;
  EXPECT_EQ(verdict("logprobs"), "ok");
  EXPECT_EQ(verdict("again"), "finding");
  EXPECT_NE(done.errors.find("arm readout: doctor: finding: again: the written token"),
            std::string::npos)
      << done.errors;
  EXPECT_NE(done.output.find("letters not to be believed: a probe of its seat speaks"),
            std::string::npos)
      << done.output;
  // Resumed with every row there, nothing is asked again, and the doubt stays.
  const Finished resumed = deem({"resume", out_, "--no-power"});
  EXPECT_EQ(resumed.ending.code, 0) << resumed.errors;
  EXPECT_EQ(verdict("again"), "finding");
  std::filesystem::remove_all(out_);

  const FakeServer other =
      serve(ServerKind::Vllm, {{.fault = Fault::SampledDiffers, .first = kAfterTheProbes}});
  const Finished required = run(other, {"--doctor", "require"});
  EXPECT_EQ(required.ending.code, 1) << required.errors;
  EXPECT_NE(required.errors.find("its letters can not be believed: again: "), std::string::npos)
      << required.errors;
  EXPECT_TRUE(file_exists(join_path(out_, "run.json"))) << "what was asked is kept";
}

/// No tokenizer's route and no context told: only the counts of replies tell of a cut.
TEST_F(DoctorRun, PromptsThatAServerCutsAreVoid) {
  const FakeServer server = serve(ServerKind::OpenAi, {{.fault = Fault::OverlongCut}}, "", 400);
  const Finished done = run(server);
  EXPECT_EQ(verdict("longest"), "finding");
  EXPECT_NE(done.errors.find("longest: cuts prompts to 399 tokens: "), std::string::npos)
      << done.errors;
  const auto rows = record::load_rows(join_path(out_, "rows.jsonl"));
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->rows.size(), 3u);
  for (const record::Row& row : rows->rows)
    EXPECT_EQ(row.readings.at("letters").cause, decision::VoidCause::TruncatedPrompt) << row.id;
}

TEST_F(DoctorRun, ADecisionEndpointHasProbesOfItsOwn) {
  seat::FakeOptions options;
  options.context = 4096;
  options.answers = {seat::AnswerFault::ReadsIds};
  const auto server = FakeServer::start(ServerKind::SystemOne, std::move(options));
  ASSERT_TRUE(server);
  const Finished done = run(*server);
  EXPECT_EQ(done.ending.code, 0) << done.errors;
  EXPECT_EQ(verdict("ids"), "finding");
  EXPECT_NE(done.output.find("native not to be believed"), std::string::npos) << done.output;
}

TEST_F(DoctorRun, ADryRunSaysWhatWouldBeProbed) {
  const FakeServer server = serve(ServerKind::Vllm);
  const Finished done = run(server, {"--dry-run"});
  EXPECT_EQ(done.ending.code, 0) << done.errors;
  EXPECT_NE(done.output.find("doctor vllm:" + server.address() + ": identity, answers, shape, "),
            std::string::npos)
      << done.output;
}

}  // namespace
}  // namespace deem
