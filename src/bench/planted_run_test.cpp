// Whole runs on scripted servers that commit every fault of the list: each must be void, refused,
// told by the row or by the run's diagnosis, or change nothing that the run reads; and servers that
// are well must get a run without a doubt.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <tuple>

#include "bench/diagnosis.h"
#include "bench/planted_runs.h"
#include "seat/doctor/planted.h"

namespace deem::bench {
namespace {

using decision::VoidCause;
using record::Row;
using seat::AnswerFault;
using seat::FakeOptions;
using seat::Fault;
using seat::Form;
using seat::kForms;
using seat::KindCase;
using seat::ServerKind;

// A sanitizer makes a run ten times as long: there every fault is planted on one kind of server.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSlow = true;
#else
constexpr bool kSlow = false;
#endif

/// What tells of a fault; the first that does.
enum class Fate {
  NothingAsked,  // the seat could not be opened
  Void,          // rows have a cause
  Refused,       // rows are refused, or are errors
  Noted,         // rows carry it: another model's name, another count of tokens
  Doubted,       // the run's diagnosis speaks against the arm's reading
  Harmless,      // every row is as a server that is well gives it
  Silent,
};
constexpr const char* kFates[] = {"nothing asked", "void",     "refused", "noted",
                                  "doubted",       "harmless", "silent"};

/// When a server falls ill: from the start, or once the run has probed it.
enum class Onset { Before, Meanwhile };

/// What one row that is not as it should be tells by itself.
Fate fate_of(const Row& row) {
  if (row.status != Row::Status::Asked) return Fate::Refused;
  for (const auto& [name, reading] : row.readings) {
    if (reading.error) return Fate::Refused;
    if (reading.cause != VoidCause::None) return Fate::Void;
    if (reading.served_model) return Fate::Noted;
    const auto& counted = reading.prompt_tokens;
    if (counted && reading.census_tokens && *counted != *reading.census_tokens) return Fate::Noted;
  }
  return Fate::Silent;
}

bool is_doubted(const record::RunRecord& record, const std::string& name) {
  for (const record::ArmRecord& arm : record.arms) {
    if (arm.name != name || !arm.doctor.is_object()) continue;
    const auto settings = parse_arm(arm.settings);
    if (!settings) return false;
    const auto readings = diagnosed_readings(*settings);
    for (const codec::Json& probe : arm.doctor.find("probes")->items()) {
      for (const codec::Json& spoilt : probe.find("spoils")->items()) {
        if (std::ranges::find(readings, spoilt.as_string()) != readings.end()) return true;
      }
    }
  }
  return false;
}

/// Of one arm: what the worst of its rows that differ from a healthy server's has to tell of it.
Fate fate_of(const std::string& arm, const Ran& ill, const Ran& well) {
  if (!ill.error.empty()) return Fate::NothingAsked;
  Fate out = Fate::Harmless;
  bool silent = false;
  for (const auto& [key, row] : ill.rows) {
    if (row.arm != arm) continue;
    const auto healthy = well.rows.find(key);
    if (healthy != well.rows.end() && same_answer(row, healthy->second)) continue;
    const Fate one = fate_of(row);
    silent |= one == Fate::Silent;
    out = std::min(out, one);
  }
  if (silent) out = Fate::Silent;
  const bool told = out == Fate::Harmless || out == Fate::Silent;
  return told && is_doubted(ill.record, arm) ? Fate::Doubted : out;
}

std::string findings(const Ran& ran) {
  std::string out = ran.error;
  for (const record::ArmRecord& arm : ran.record.arms) {
    if (!arm.doctor.is_object()) continue;
    for (const codec::Json& probe : arm.doctor.find("probes")->items()) {
      if (probe.get_string("verdict") == "finding")
        out +=
            "\n  " + arm.name + " " + *probe.get_string("name") + ": " + *probe.get_string("says");
    }
  }
  return out;
}

bool is_any(Fault fault, std::initializer_list<Fault> of) {
  return std::ranges::find(of, fault) != of.end();
}

/// How a run meets a planted fault.
Case case_of(const seat::Planted& planted, ServerKind kind, Onset onset) {
  Case out{.kind = kind, .options = planted.options};
  (onset == Onset::Before ? out.faults
                          : out.later) = {{.fault = planted.fault, .everywhere = true}};
  out.overlong = planted.family == seat::Family::Over;
  if (is_any(planted.fault, {Fault::Hang, Fault::Stall})) out.timeout_s = 0.2;
  if (is_any(planted.fault, {Fault::CrowdJitter, Fault::CrossTalk, Fault::PadInMix})) {
    out.concurrency = 4;
    out.options.delay = std::chrono::milliseconds(kSlow ? 80 : 15);
  }
  return out;
}

std::vector<KindCase> kinds_of(const seat::Planted& planted, std::size_t turn) {
  std::vector<KindCase> kinds;
  for (const KindCase& kind : seat::kAllKinds) {
    if (planted.suits(kind.kind)) kinds.push_back(kind);
  }
  return kSlow ? std::vector{kinds[turn % kinds.size()]} : kinds;
}

struct Tally {
  std::map<Fate, int> fates = {};
  void print(const char* what) const {
    int all = 0;
    for (const auto& [fate, n] : fates) all += n;
    std::printf("%s: %d", what, all);
    for (std::size_t fate = 0; fate < std::size(kFates); ++fate) {
      const auto found = fates.find(static_cast<Fate>(fate));
      std::printf(", %d %s", found == fates.end() ? 0 : found->second, kFates[fate]);
    }
    std::printf("\n");
  }
};

/// What of a case its healthy twin depends on.
using Twin = std::tuple<ServerKind, bool, bool, bool, int>;
Twin twin_of(const Case& one) {
  return {one.kind, one.options.sglang_form, one.overlong, one.options.speculates, one.concurrency};
}

/// The same server, well.
Case healed(Case one) {
  one.faults = one.later = {};
  one.options.answers = {};
  one.timeout_s = 20;
  return one;
}

struct Named {
  std::string name;
  Case with;
  std::string fault = {};
};

std::map<Twin, Ran> run_twins(const std::vector<Named>& ill) {
  std::map<Twin, Case> twins;
  for (const Named& one : ill) twins.emplace(twin_of(one.with), healed(one.with));
  std::vector<Case> cases;
  for (const auto& [twin, one] : twins) cases.push_back(one);
  std::vector<Ran> ran = run_all(cases);
  std::map<Twin, Ran> out;
  for (std::size_t i = 0; i < cases.size(); ++i) out[twin_of(cases[i])] = std::move(ran[i]);
  return out;
}

std::vector<Ran> run_ill(const std::vector<Named>& ill) {
  std::vector<Case> cases;
  for (const Named& one : ill) cases.push_back(one.with);
  return run_all(cases);
}

/// What tells of each fault, arm by arm; none may be silent.
void expect_none_silent(const std::vector<Named>& ill, const std::vector<Ran>& ran,
                        const char* what) {
  const std::map<Twin, Ran> healthy = run_twins(ill);
  Tally tally;
  std::map<std::string, bool> told;  // by fault: of some arm on some server
  for (std::size_t i = 0; i < ill.size(); ++i) {
    bool& any = told[ill[i].fault];
    for (const std::string& arm : arm_names(ill[i].with)) {
      const Fate fate = fate_of(arm, ran[i], healthy.at(twin_of(ill[i].with)));
      EXPECT_NE(static_cast<int>(fate), static_cast<int>(Fate::Silent))
          << ill[i].name << ", arm " << arm << findings(ran[i]);
      ++tally.fates[fate];
      any |= fate != Fate::Harmless;
    }
  }
  tally.print(what);
  std::string harmless;
  for (const auto& [fault, any] : told) harmless += any ? "" : " " + fault;
  std::printf("  of %zu faults change nothing that a run reads:%s\n", told.size(),
              harmless.c_str());
}

std::vector<Named> planted_cases(Onset onset) {
  std::vector<Named> out;
  std::size_t turn = 0;
  for (const seat::Planted& planted : seat::planted_faults()) {
    for (const KindCase& kind : kinds_of(planted, turn++))
      out.push_back(
          {planted.name + " on " + kind.name, case_of(planted, kind.kind, onset), planted.name});
  }
  return out;
}

/// Each planted fault from the start, asked once for all tests.
struct FromTheStart {
  std::vector<Named> ill = planted_cases(Onset::Before);
  std::vector<Ran> ran = run_ill(ill);
};
const FromTheStart& from_the_start() {
  static const FromTheStart all;
  return all;
}

TEST(PlantedRun, NoneIsSilentFromTheStart) {
  const auto& [ill, ran] = from_the_start();
  expect_none_silent(ill, ran, "faults by kind of server and reading");
}

TEST(PlantedRun, NoneIsSilentThatBeginsAfterTheProbes) {
  const std::vector<Named> ill = planted_cases(Onset::Meanwhile);
  expect_none_silent(ill, run_ill(ill), "the same, begun after the probes");
}

// Where the quick probes speak against what an arm reads, `require` asks it nothing.
TEST(PlantedRun, RequireAsksNothingWhereTheDiagnosisSpeaksAgainstTheArm) {
  const auto& [ill, asked] = from_the_start();
  std::vector<Named> doubted;
  for (std::size_t i = 0; i < ill.size(); ++i) {
    if (!asked[i].error.empty() || !is_doubted(asked[i].record, "read")) continue;
    doubted.push_back(ill[i]);
    doubted.back().with.arms = {"read"};
    doubted.back().with.doctor = Doctor::Require;
  }
  const std::vector<Ran> required = run_ill(doubted);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < doubted.size(); ++i) {
    // What shows once the rows are there can refuse none of them, and is the end of the run.
    const Outcome::End end = required[i].outcome.end;
    EXPECT_TRUE(end == Outcome::End::SeatRefused || end == Outcome::End::SeatDoubted)
        << doubted[i].name << " " << static_cast<int>(end);
    EXPECT_EQ(end == Outcome::End::SeatRefused, required[i].rows.empty()) << doubted[i].name;
    kept += end == Outcome::End::SeatDoubted ? 1 : 0;
  }
  std::printf("required: %zu of %zu arms in doubt asked nothing, %zu found out once asked\n",
              doubted.size() - kept, doubted.size(), kept);
  EXPECT_GT(doubted.size(), kSlow ? 20U : 150U);
}

// A fault that strikes one decision of the run, whichever it is.
TEST(PlantedRun, OneDecisionOfAllIsVoidOrAnError) {
  constexpr Fault kOnce[] = {Fault::ServerError, Fault::NotJson,     Fault::NullLogprobs,
                             Fault::Sentinel,    Fault::PadSentinel, Fault::AllZero,
                             Fault::NanBody};
  std::vector<Named> ill;
  for (const Fault fault : kOnce) {
    for (const std::uint64_t at : {0U, 3U, 5U}) {
      Case one{.kind = ServerKind::Vllm, .arms = {"read"}};
      one.later = {{.fault = fault, .first = at, .count = 1}};
      ill.push_back({"fault " + std::to_string(static_cast<int>(fault)), one});
    }
  }
  const std::map<Twin, Ran> healthy = run_twins(ill);
  const std::vector<Ran> ran = run_ill(ill);
  int caught = 0;
  for (std::size_t i = 0; i < ill.size(); ++i) {
    const Fate fate = fate_of("read", ran[i], healthy.at(twin_of(ill[i].with)));
    EXPECT_TRUE(fate == Fate::Void || fate == Fate::Refused) << ill[i].name;
    caught += fate == Fate::Void || fate == Fate::Refused ? 1 : 0;
  }
  std::printf("faults of one decision void or an error %d of %zu\n", caught, ill.size());
}

Case case_of(const Form& form, std::vector<AnswerFault> answers, Onset onset) {
  Case out{.kind = form.kind};
  out.options.context = 1024;
  out.options.sglang_form = form.sglang;
  out.overlong = std::ranges::find(answers, AnswerFault::CutsState) != answers.end();
  out.options.answers = std::move(answers);
  if (onset == Onset::Meanwhile)
    out.options.answers_on = std::make_shared<std::atomic<bool>>(false);
  return out;
}

// Those that are faults: as native_doctor_test plants them.
TEST(PlantedRun, NoneOfADecisionEndpointIsSilent) {
  constexpr int kLast = static_cast<int>(AnswerFault::CutsState);
  for (const Onset onset : {Onset::Before, Onset::Meanwhile}) {
    std::vector<Named> ill;
    for (const Form& form : kForms) {
      for (int fault = 0; fault <= kLast; ++fault) {
        if (kSlow && fault % static_cast<int>(std::size(kForms)) != &form - kForms) continue;
        const std::string name = "answer fault " + std::to_string(fault);
        ill.push_back({form.name + (" " + name),
                       case_of(form, {static_cast<AnswerFault>(fault)}, onset), name});
      }
    }
    expect_none_silent(
        ill, run_ill(ill),
        onset == Onset::Before ? "decision endpoints" : "the same, begun after the probes");
  }
}

std::vector<Named> healthy_cases() {
  std::vector<Named> out;
  for (const seat::Healthy& well : seat::healthy_servers()) {
    for (const KindCase& kind : seat::kAllKinds) {
      if (!well.suits(kind.kind)) continue;
      Case one{.kind = kind.kind, .options = well.options};
      for (const Fault fault : well.harmless)
        one.faults.push_back({.fault = fault, .everywhere = true});
      out.push_back({well.name + " on " + kind.name, one});
      one.concurrency = 4;
      if (kSlow) continue;
      out.push_back({well.name + " on " + kind.name + ", 4 at once", one});
    }
  }
  for (const Form& form : kForms) {
    for (const auto& harmless : {std::vector<AnswerFault>{},
                                 {AnswerFault::ColdDrift},
                                 {AnswerFault::Rounded},
                                 {AnswerFault::Reordered},
                                 {AnswerFault::ExtraAnswer},
                                 {AnswerFault::ExtraMembers},
                                 {AnswerFault::NoConfidence}})
      out.push_back({form.name, case_of(form, harmless, Onset::Before)});
  }
  return out;
}

/// Findings, doubts, and rows that are no answers.
std::string alarms_of(const Ran& ran) {
  std::string out = findings(ran);
  for (const auto& [key, row] : ran.rows) {
    const bool can = !row.readings.empty() && !row.readings.begin()->second.unsupported;
    if (can && fate_of(row) != Fate::Silent) out += "\n  row " + key;
    if (row.status == Row::Status::Refused) out += "\n  refused " + key;
  }
  for (const record::ArmRecord& arm : ran.record.arms) {
    if (is_doubted(ran.record, arm.name)) out += "\n  doubt of " + arm.name;
  }
  return out;
}

TEST(PlantedRun, HealthyServersGetRunsWithoutADoubt) {
  const std::vector<Named> healthy = healthy_cases();
  const std::vector<Ran> ran = run_ill(healthy);
  int alarms = 0;
  std::int64_t most = 0;
  for (std::size_t i = 0; i < healthy.size(); ++i) {
    const std::string alarm = alarms_of(ran[i]);
    EXPECT_EQ(alarm, "") << healthy[i].name;
    EXPECT_EQ(ran[i].outcome.end, Outcome::End::Done) << healthy[i].name;
    EXPECT_EQ(ran[i].rows.size(), 6 * arm_names(healthy[i].with).size()) << healthy[i].name;
    alarms += alarm.empty() ? 0 : 1;
    if (healthy[i].with.concurrency > 1) continue;
    for (const record::ArmRecord& arm : ran[i].record.arms)
      most = std::max(most, arm.doctor.get_int("requests").value_or(0));
  }
  std::printf("false alarms %d of %zu healthy runs; at most %d requests of probes, one at once\n",
              alarms, healthy.size(), static_cast<int>(most));
  EXPECT_LE(most, 16);
}

}  // namespace
}  // namespace deem::bench
