// Diagnoses of the pinned llama-server on a real model, as it comes, with several small slots and
// with drafts; and of the same model in this process, which must agree probe by probe. Runs where
// DEEM_LLAMA_SERVER names the program and DEEM_MODEL a GGUF.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "base/process.h"
#include "seat/doctor/doctor.h"
#include "seat/seat.h"

namespace deem::seat {
namespace {

using Verdict = ProbeResult::Verdict;

constexpr double kPatience = 90;  // seconds; this box may be busy

class Doctored : public testing::Test {
 protected:
  void SetUp() override {
    const char *program = std::getenv("DEEM_LLAMA_SERVER"), *model = std::getenv("DEEM_MODEL");
    if (program == nullptr || model == nullptr || *program == '\0' || *model == '\0')
      GTEST_SKIP() << "DEEM_LLAMA_SERVER and DEEM_MODEL are not both set";
    program_ = program;
    model_ = model;
  }
  void TearDown() override {
    if (process_) process_->stop(Seconds(5));
    ::unlink(socket_.c_str());
  }

  std::unique_ptr<Seat> serve(std::vector<std::string> more) {
    socket_ = testing::TempDir() + "deem_doctor_" + std::to_string(::getpid()) + ".sock";
    std::vector<std::string> argv = {program_, "-m", model_, "--host",
                                     socket_,  "-t", "1",    "--metrics"};
    argv.insert(argv.end(), more.begin(), more.end());
    auto started = Process::spawn({.argv = argv, .environment = own_environment()});
    if (!started) {
      ADD_FAILURE() << started.error().message;
      return nullptr;
    }
    process_ = std::make_unique<Process>(std::move(*started));
    auto seat =
        make_seat({.kind = "llama-server", .address = "unix:" + socket_, .timeout_s = kPatience});
    const auto until = Clock::now() + std::chrono::seconds(90);
    while (Clock::now() < until && process_->running()) {
      if ((*seat)->identify()) return std::move(*seat);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ADD_FAILURE() << "llama-server does not answer: " << process_->errors();
    return nullptr;
  }

  static Diagnosis examined(Seat& seat, std::vector<std::string> probes = {}) {
    const DoctorOptions options{
        .probes = std::move(probes), .patience_s = kPatience, .nonce = 271828};
    auto diagnosis = examine(seat, options, {}, {});
    if (!diagnosis) {
      ADD_FAILURE() << diagnosis.error().message;
      return {};
    }
    return std::move(*diagnosis);
  }

  static const ProbeResult& probe_of(const Diagnosis& diagnosis, std::string_view name) {
    static const ProbeResult none;
    const auto found = std::ranges::find(diagnosis.probes, name, &ProbeResult::name);
    return found == diagnosis.probes.end() ? none : *found;
  }

  /// All but the longest.
  static std::vector<std::string> without_sanity() {
    std::vector<std::string> out(std::begin(kProbes), std::end(kProbes));
    std::erase(out, "sanity");
    return out;
  }

  /// No finding but in `expected`.
  static void expect_found(const Diagnosis& diagnosis, std::vector<std::string_view> expected) {
    for (const ProbeResult& probe : diagnosis.probes) {
      const bool may = std::ranges::find(expected, probe.name) != expected.end();
      EXPECT_EQ(probe.verdict == Verdict::Finding, may) << probe.name << ": " << probe.says;
    }
  }

  std::string program_, model_, socket_;
  std::unique_ptr<Process> process_;
};

#ifdef DEEM_LOCAL
/// Verdict by verdict, and what must be the same to the last byte.
void expect_agreement(const Diagnosis& here, const Diagnosis& there) {
  ASSERT_EQ(there.probes.size(), here.probes.size());
  for (std::size_t i = 0; i < here.probes.size(); ++i) {
    const ProbeResult &a = here.probes[i], &b = there.probes[i];
    EXPECT_EQ(to_string(a.verdict), to_string(b.verdict))
        << a.name << "\n  here: " << a.says << "\n  there: " << b.says;
    for (const char* key : {"first_ids", "tail", "moves_at_temperature"})
      EXPECT_EQ(a.evidence.get_string(key), b.evidence.get_string(key)) << a.name << " " << key;
    for (const char* key : {"ids_back", "entries"})
      EXPECT_EQ(a.evidence.get_int(key), b.evidence.get_int(key)) << a.name << " " << key;
    // The server's 4-bit kernels round activations.
    for (const char* key : {"mass_letters", "mass_exact", "mass_fold", "sum"}) {
      EXPECT_NEAR(a.evidence.get_double(key).value_or(-1), b.evidence.get_double(key).value_or(-1),
                  0.1)
          << a.name << " " << key;
    }
  }
}

TEST_F(Doctored, TheSameModelHereAndBehindTheServerAgreeProbeByProbe) {
  auto remote = serve({"-c", "4096", "-np", "1"});
  ASSERT_TRUE(remote);
  auto local = make_seat({.kind = "local", .address = model_, .context = 4096});
  ASSERT_TRUE(local) << local.error().message;
  const Diagnosis there = examined(*remote), here = examined(**local);
  expect_found(there, {});
  expect_agreement(here, there);
  for (const Diagnosis* one : {&here, &there}) {
    EXPECT_EQ(probe_of(*one, "depth").evidence.get_int("ids_back"), 26);
    EXPECT_NEAR(probe_of(*one, "logprobs").evidence.get_double("sum").value_or(0), 1, 1e-3);
    for (const ReadingAdvice& reading : one->readings)
      EXPECT_TRUE(reading.believed) << reading.name;
    // Letters are beyond a model of this size; the likelihood of the options' texts is not.
    EXPECT_EQ(one->readings[0].guesses, true) << one->readings[0].why;
    EXPECT_EQ(one->readings[1].guesses, false) << one->readings[1].why;
    EXPECT_EQ(probe_of(*one, "sanity").evidence.get_string("best"), "cloze-prior");
  }
  EXPECT_EQ(probe_of(here, "repeat").evidence.get_double("crowd_nats"), 0)
      << "requests take turns here, so a crowd changes nothing";
}

// A base model, whose tokenizer sets BOS and whose file has no chat template: letters have hardly a
// hundredth of position 0, and both say so.
TEST_F(Doctored, ABaseModelIsFoundOutHereAndBehindTheServer) {
  const char* gemma = std::getenv("DEEM_MODEL_GEMMA");
  if (gemma == nullptr || *gemma == '\0') GTEST_SKIP() << "DEEM_MODEL_GEMMA is not set";
  model_ = gemma;
  auto remote = serve({"-c", "2048", "-np", "1"});
  ASSERT_TRUE(remote);
  auto local = make_seat({.kind = "local", .address = model_, .context = 2048});
  ASSERT_TRUE(local) << local.error().message;
  const Diagnosis there = examined(*remote), here = examined(**local);
  expect_found(there, {"template"});
  expect_agreement(here, there);
  EXPECT_FALSE(here.readings[0].believed);
  EXPECT_TRUE(here.readings[1].believed) << "likelihoods need no letters";
}
#endif

TEST_F(Doctored, SeveralSmallSlotsAreWellAndRefuseByTheContextOfOne) {
  auto seat = serve({"-c", "2048", "-np", "4"});
  ASSERT_TRUE(seat);
  const Diagnosis diagnosis = examined(*seat, without_sanity());
  expect_found(diagnosis, {});
  EXPECT_EQ(diagnosis.identity.context, 512);
  const ProbeResult& overlong = probe_of(diagnosis, "overlong");
  EXPECT_EQ(overlong.verdict, Verdict::Ok);
  EXPECT_NE(overlong.says.find("(512 tokens)"), std::string::npos) << overlong.says;
  EXPECT_EQ(probe_of(diagnosis, "mixed").verdict, Verdict::Ok);
}

// With a draft of the same model, the pinned build tells 0.0 and no list for drafted tokens
// (llama.cpp#27972); position 0, the only one that is read, is as without.
TEST_F(Doctored, DraftsBlankTheLaterPositionsAndNotTheFirst) {
  auto seat = serve({"-c", "2048", "-np", "1", "-md", model_, "--spec-type", "draft-simple"});
  ASSERT_TRUE(seat);
  const Diagnosis diagnosis = examined(*seat, without_sanity());
  expect_found(diagnosis, {"speculation"});
  const ProbeResult& drafts = probe_of(diagnosis, "speculation");
  EXPECT_EQ(drafts.direction, "false comfort");
  EXPECT_EQ(drafts.evidence.get_bool("speculates"), true);
  EXPECT_GT(drafts.evidence.get_int("later_blank").value_or(0), 0);
  EXPECT_NE(drafts.says.find("drafted tokens accepted"), std::string::npos) << drafts.says;
  for (const ReadingAdvice& reading : diagnosis.readings)
    EXPECT_TRUE(reading.believed) << reading.name << ": " << reading.why;
}

}  // namespace
}  // namespace deem::seat
