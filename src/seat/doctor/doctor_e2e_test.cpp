// Diagnoses of the pinned llama-server on a real model: as it comes, with a small context, with
// several slots and with drafts; and of the same model in this process, which must agree probe by
// probe but where the report says why not. Runs where DEEM_LLAMA_SERVER names the program and
// DEEM_MODEL a GGUF.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <thread>

#include "base/process.h"
#include "seat/doctor/doctor.h"
#include "seat/seat.h"

namespace deem::seat {
namespace {

using Verdict = ProbeResult::Verdict;

constexpr double kPatience = 90;  // seconds; this box may be busy

const ProbeResult& probe_of(const Diagnosis& diagnosis, std::string_view name) {
  static const ProbeResult none;
  const auto found = std::ranges::find(diagnosis.probes, name, &ProbeResult::name);
  return found == diagnosis.probes.end() ? none : *found;
}

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

  static Diagnosis examined(Seat& seat, const std::vector<std::string>& probes = {}) {
    auto diagnosis =
        examine(seat, {.probes = probes, .patience_s = kPatience, .nonce = 271828}, {}, {});
    if (!diagnosis) {
      ADD_FAILURE() << diagnosis.error().message;
      return {};
    }
    return std::move(*diagnosis);
  }

  /// No finding but in `expected`.
  static void expect_found(const Diagnosis& diagnosis,
                           const std::vector<std::string_view>& expected) {
    for (const ProbeResult& probe : diagnosis.probes) {
      const bool may = std::ranges::find(expected, probe.name) != expected.end();
      EXPECT_EQ(probe.verdict == Verdict::Finding, may) << probe.name << ": " << probe.says;
    }
  }

  std::string program_, model_, socket_;
  std::unique_ptr<Process> process_;
};

/// All but the longest.
std::vector<std::string> without_sanity() {
  std::vector<std::string> out(std::begin(kProbes), std::end(kProbes));
  std::erase(out, "sanity");
  return out;
}

/// A probe whose verdicts differ, and what the report says of it there.
struct Known {
  std::string_view probe;
  Verdict there;
  std::string_view says;
};

#ifdef DEEM_LOCAL
/// Verdict by verdict, and what must be the same to the last byte; but those of `known`.
void expect_agreement(const Diagnosis& here, const Diagnosis& there,
                      const std::vector<Known>& known = {}) {
  ASSERT_EQ(there.probes.size(), here.probes.size());
  std::size_t agree = 0;
  for (std::size_t i = 0; i < here.probes.size(); ++i) {
    const ProbeResult &a = here.probes[i], &b = there.probes[i];
    EXPECT_EQ(a.name, b.name);
    const auto differs = std::ranges::find(known, a.name, &Known::probe);
    if (differs != known.end()) {
      EXPECT_NE(to_string(a.verdict), to_string(b.verdict)) << a.name << " is known to differ";
      EXPECT_EQ(to_string(b.verdict), to_string(differs->there)) << b.name << ": " << b.says;
      EXPECT_NE(b.says.find(differs->says), std::string::npos) << b.name << ": " << b.says;
      std::printf("%s: here %s (%s)\n    there %s (%s)\n", a.name.c_str(),
                  std::string(to_string(a.verdict)).c_str(), a.says.c_str(),
                  std::string(to_string(b.verdict)).c_str(), b.says.c_str());
    } else {
      EXPECT_EQ(to_string(a.verdict), to_string(b.verdict))
          << a.name << "\n  here: " << a.says << "\n  there: " << b.says;
      agree += a.verdict == b.verdict ? 1 : 0;
    }
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
  std::printf("%zu of %zu probes agree\n", agree, here.probes.size());
}

/// The same of the readings that are believed.
void expect_same_readings(const Diagnosis& here, const Diagnosis& there) {
  ASSERT_EQ(there.readings.size(), here.readings.size());
  for (std::size_t i = 0; i < here.readings.size(); ++i) {
    EXPECT_EQ(there.readings[i].name, here.readings[i].name);
    EXPECT_TRUE(here.readings[i].believed) << here.readings[i].name << here.readings[i].why;
    EXPECT_TRUE(there.readings[i].believed) << there.readings[i].name << there.readings[i].why;
  }
}

/// Of this process; once for each context.
const Diagnosis& examined_here(const std::string& model, std::int64_t context,
                               const std::vector<std::string>& probes) {
  static std::map<std::int64_t, Diagnosis> known;
  const auto [at, fresh] = known.try_emplace(context);
  if (!fresh) return at->second;
  auto seat = make_seat({.kind = "local", .address = model, .context = context});
  if (!seat) {
    ADD_FAILURE() << seat.error().message;
    return at->second;
  }
  auto diagnosis =
      examine(**seat, {.probes = probes, .patience_s = kPatience, .nonce = 271828}, {}, {});
  if (!diagnosis) {
    ADD_FAILURE() << diagnosis.error().message;
    return at->second;
  }
  at->second = std::move(*diagnosis);
  for (const ProbeResult& probe : at->second.probes) {
    EXPECT_NE(probe.verdict, Verdict::Finding) << probe.name << ": " << probe.says;
  }
  EXPECT_EQ(probe_of(at->second, "depth").evidence.get_int("ids_back"), 26);
  EXPECT_NEAR(probe_of(at->second, "logprobs").evidence.get_double("sum").value_or(0), 1, 1e-3);
  EXPECT_EQ(probe_of(at->second, "repeat").evidence.get_double("crowd_nats"), 0)
      << "requests take turns here, so a crowd changes nothing";
  return at->second;
}
#endif

struct Way {
  const char* name;
  std::vector<std::string> flags;  // of the server
  std::int64_t context;            // of one request there
  bool sanity = false;             // with the longest probe too
  bool drafts = false;             // by the model itself, which then accepts nearly all
  std::vector<Known> known = {};
};

const std::vector<Way>& ways() {
  // The pinned build tells 0.0 and no list for drafted tokens (llama.cpp#27972); position 0, the
  // only one that is read, is as without. In this process nothing is drafted.
  static const std::vector<Way> all = {
      {"AsItComes", {"-c", "2048", "-np", "1"}, 2048, true},
      {"SmallContext", {"-c", "512", "-np", "1"}, 512},
      {"SeveralSlots", {"-c", "2048", "-np", "4"}, 512},
      {"Drafts",
       {"-c", "1024", "-np", "1", "--spec-type", "draft-simple"},
       1024,
       false,
       true,
       {{"speculation", Verdict::Finding, "only position 0 can be read; drafts are on"}}}};
  return all;
}

class SameModel : public Doctored, public testing::WithParamInterface<Way> {};

TEST_P(SameModel, AgreesHereAndBehindTheServerProbeByProbe) {
  const Way& way = GetParam();
  std::vector<std::string> flags = way.flags;
  if (way.drafts) flags.insert(flags.end(), {"-md", model_});
  auto remote = serve(flags);
  ASSERT_TRUE(remote);
  const auto probes = way.sanity ? std::vector<std::string>() : without_sanity();
  const Diagnosis there = examined(*remote, probes);
  process_->stop(Seconds(5));  // two models at once starve both
  EXPECT_EQ(there.identity.context, way.context);
  std::vector<std::string_view> found;
  for (const Known& known : way.known) found.push_back(known.probe);
  expect_found(there, found);
  const ProbeResult& overlong = probe_of(there, "overlong");
  const std::string context = "(" + std::to_string(way.context) + " tokens)";
  EXPECT_NE(overlong.says.find(context), std::string::npos) << overlong.says;
  if (way.drafts) {
    const ProbeResult& drafts = probe_of(there, "speculation");
    EXPECT_EQ(drafts.direction, "false comfort");
    EXPECT_EQ(drafts.evidence.get_bool("speculates"), true);
    EXPECT_GT(drafts.evidence.get_int("later_blank").value_or(0), 0);
    EXPECT_NE(drafts.says.find("drafted tokens accepted"), std::string::npos) << drafts.says;
  }
#ifdef DEEM_LOCAL
  const Diagnosis& here = examined_here(model_, way.context, probes);
  EXPECT_EQ(here.identity.context, way.context);
  expect_agreement(here, there, way.known);
  expect_same_readings(here, there);
  if (!way.sanity) return;
  for (const Diagnosis* one : {&here, &there}) {
    // Letters are beyond a model of this size; the likelihood of the options' texts is not.
    EXPECT_EQ(one->readings[0].guesses, true) << one->readings[0].why;
    EXPECT_EQ(one->readings[1].guesses, false) << one->readings[1].why;
    EXPECT_EQ(probe_of(*one, "sanity").evidence.get_string("best"), "cloze-prior");
  }
#endif
}

INSTANTIATE_TEST_SUITE_P(Ways, SameModel, testing::ValuesIn(ways()),
                         [](const auto& one) { return std::string(one.param.name); });

#ifdef DEEM_LOCAL
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
  const Diagnosis there = examined(*remote, without_sanity()),
                  here = examined(**local, without_sanity());
  expect_found(there, {"template"});
  expect_agreement(here, there);
  EXPECT_FALSE(here.readings[0].believed);
  EXPECT_TRUE(here.readings[1].believed) << "likelihoods need no letters";
}
#endif

}  // namespace
}  // namespace deem::seat
