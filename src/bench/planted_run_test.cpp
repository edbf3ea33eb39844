// Whole runs on scripted servers that commit every fault of the list: each must be void, refused,
// told by the row or by the run's diagnosis, or change nothing that the run reads; and servers that
// are well must get a run without a doubt.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "bench/diagnosis.h"
#include "bench/test_folder.h"
#include "bench/test_kit.h"
#include "bench/test_run.h"
#include "record/rows_file.h"
#include "seat/doctor/planted.h"

namespace deem::bench {
namespace {

using decision::VoidCause;
using record::ReadingRecord;
using record::Row;
using seat::AnswerFault;
using seat::FakeOptions;
using seat::FakeServer;
using seat::Fault;
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

struct Case {
  ServerKind kind = ServerKind::Vllm;
  FakeOptions options = {};
  std::vector<seat::FaultRule> faults = {};  // from the start
  std::vector<seat::FaultRule> later = {};   // once it was probed
  bool overlong = false;                     // an item is longer than the context
  int concurrency = 1;
  double timeout_s = 20;
  Doctor doctor = Doctor::Quick;
  std::vector<std::string> arms = {"read", "write", "cloze"};
};

struct Ran {
  std::string error = {};  // the run's
  Outcome outcome = {};
  std::map<std::string, Row> rows = {};  // by arm, task and id
  record::RunRecord record = {};
};

class Starter : public Observer {
 public:
  Starter(FakeServer& server, const Case& one) : server_(server), case_(one) {}
  void stage(const std::string&) override {}
  void announce(const Announcement&) override {
    if (!case_.later.empty()) server_.set_faults(case_.later);
    if (case_.options.answers_on) *case_.options.answers_on = true;
  }
  void row(const Row&, const Progress&) override {}
  void note(const std::string&) override {}

 private:
  FakeServer& server_;
  const Case& case_;
};

kit::Kit planted_kit(bool overlong) {
  kit::Kit kit = small_kit();
  if (!overlong) return kit;
  std::string text = "The west gate opens at ten.";
  while (text.size() < 1500) text += " It is a gate of oak.";
  kit.states.push_back({"west", text, sha256_hex(text), {}});
  kit::Item item = kit.tasks[0].items[0];
  item.id = "long";
  item.state = kit.states.size() - 1;
  kit.tasks[0].items.push_back(std::move(item));
  return kit;
}

bool reads_likelihood(ServerKind kind) {
  return kind == ServerKind::Vllm || kind == ServerKind::LlamaServer || kind == ServerKind::Sglang;
}

bool is_native(ServerKind kind) {
  return kind == ServerKind::SystemOne || kind == ServerKind::Decisions;
}

std::vector<Arm> arms_of(const Case& one, const seat::SeatSpec& spec) {
  std::vector<Arm> out;
  for (const std::string& name : one.arms) {
    if (name == "cloze" && !reads_likelihood(one.kind)) continue;
    const char* reading = name == "read" ? "letters" : name == "write" ? "written" : "cloze";
    Arm arm = small_arm(name, {{reading, false}});
    arm.seat = spec;
    out.push_back(std::move(arm));
  }
  if (is_native(one.kind)) {
    out.resize(1);
    out[0] = small_arm("native", {{"native", false}});
    out[0].seat = spec;
  }
  return out;
}

Ran run_on(const Case& one) {
  Ran out;
  const TestFolder folder;
  Config config;
  config.kit = join_path(folder.path(), "kit");
  config.out = join_path(folder.path(), "run");
  config.concurrency = one.concurrency;
  config.doctor = one.doctor;
  config.power.off = true;
  EXPECT_TRUE(kit::freeze_kit(planted_kit(one.overlong), config.kit));
  FakeOptions options = one.options;
  options.faults.insert(options.faults.end(), one.faults.begin(), one.faults.end());
  auto server = FakeServer::start(one.kind, std::move(options));
  if (!server) {
    ADD_FAILURE() << server.error().message;
    return out;
  }
  seat::SeatSpec spec = server->seat();
  spec.timeout_s = one.timeout_s;
  config.arms = arms_of(one, spec);
  Starter observer(*server, one);
  auto outcome = run(config, {}, seat::make_seat, observer, {});
  if (!outcome) {
    out.error = outcome.error().message;
    return out;
  }
  out.outcome = std::move(*outcome);
  if (!out.outcome.began) return out;
  const auto rows = record::load_rows(join_path(config.out, "rows.jsonl"));
  auto record = record::load_run(config.out);
  EXPECT_TRUE(rows && record);
  if (!rows || !record) return out;
  for (const Row& row : rows->rows) out.rows[row.arm + "/" + row.task + "/" + row.id] = row;
  out.record = std::move(*record);
  return out;
}

bool same_letters(const std::vector<ReadingRecord::Round>& a,
                  const std::vector<ReadingRecord::Round>& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.letters.logprobs == y.letters.logprobs && x.letters.bound == y.letters.bound &&
           x.letters.mass_letters == y.letters.mass_letters;
  });
}

/// Whether two rows say the same of their item.
bool same_answer(const Row& a, const Row& b) {
  if (a.status != b.status || a.readings.size() != b.readings.size()) return false;
  for (const auto& [name, x] : a.readings) {
    const auto found = b.readings.find(name);
    if (found == b.readings.end()) return false;
    const ReadingRecord& y = found->second;
    if (x.cause != y.cause || x.error.has_value() != y.error.has_value() || x.texts != y.texts ||
        x.reply != y.reply || x.native.probs != y.native.probs ||
        x.native.choice != y.native.choice || !same_letters(x.rounds, y.rounds)) {
      return false;
    }
  }
  return true;
}

/// What one row that is not as it should be tells by itself.
Fate fate_of(const Row& row) {
  if (row.status != Row::Status::Asked) return Fate::Refused;
  for (const auto& [name, reading] : row.readings) {
    if (reading.unsupported) continue;
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
  if (is_any(planted.fault, {Fault::CrowdJitter, Fault::PadInMix})) {
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
  std::map<Fate, std::set<std::string>> names = {};

  void add(Fate fate, const std::string& name) {
    ++fates[fate];
    names[fate].insert(name);
  }
  void print(const char* what) const {
    int all = 0;
    for (const auto& [fate, n] : fates) all += n;
    std::printf("%s: %d", what, all);
    for (const auto& [fate, n] : fates)
      std::printf(", %d %s", n, kFates[static_cast<std::size_t>(fate)]);
    const auto silent = fates.find(Fate::Silent);
    std::printf(", %d silent\n", silent == fates.end() ? 0 : silent->second);
  }
};

/// Every fault on every kind of server, arm by arm.
void expect_none_silent(Onset onset, const char* what) {
  std::map<std::tuple<ServerKind, bool, bool, int>, Ran> healthy;
  Tally tally;
  std::size_t turn = 0;
  for (const seat::Planted& planted : seat::planted_faults()) {
    for (const KindCase& kind : kinds_of(planted, turn++)) {
      const Case one = case_of(planted, kind.kind, onset);
      const auto key = std::tuple(kind.kind, one.overlong, one.options.speculates, one.concurrency);
      if (!healthy.contains(key)) {
        Case well = one;
        well.faults = well.later = {};
        healthy[key] = run_on(well);
      }
      const Ran ill = run_on(one);
      for (const std::string& arm : one.arms) {
        if (arm == "cloze" && !reads_likelihood(kind.kind)) continue;
        const Fate fate = fate_of(arm, ill, healthy[key]);
        EXPECT_NE(fate, Fate::Silent)
            << planted.name << " on " << kind.name << ", arm " << arm << findings(ill);
        tally.add(fate, planted.name);
      }
    }
  }
  tally.print(what);
  for (const auto& [fate, names] : tally.names) {
    std::printf("  %s:", kFates[static_cast<std::size_t>(fate)]);
    for (const std::string& name : names) std::printf(" %s", name.c_str());
    std::printf("\n");
  }
}

TEST(PlantedRun, NoneIsSilentFromTheStart) {
  expect_none_silent(Onset::Before, "faults by kind of server and reading");
}

TEST(PlantedRun, NoneIsSilentThatBeginsAfterTheProbes) {
  expect_none_silent(Onset::Meanwhile, "the same, begun after the probes");
}

TEST(PlantedRun, HealthyServersGetRunsWithoutADoubt) {
  int healthy = 0, alarms = 0;
  std::int64_t most = 0;
  for (const seat::Healthy& well : seat::healthy_servers()) {
    for (const KindCase& kind : seat::kAllKinds) {
      if (!well.suits(kind.kind)) continue;
      Case one{.kind = kind.kind, .options = well.options};
      for (const Fault fault : well.harmless)
        one.faults.push_back({.fault = fault, .everywhere = true});
      const Ran ran = run_on(one);
      ++healthy;
      std::string alarm = findings(ran);
      for (const auto& [key, row] : ran.rows) {
        const bool lists = well.options.returns_logprobs || row.arm != "read";
        if (fate_of(row) != Fate::Silent && lists) alarm += "\n  row " + key;
      }
      for (const record::ArmRecord& arm : ran.record.arms) {
        if (is_doubted(ran.record, arm.name)) alarm += "\n  doubt of " + arm.name;
        most = std::max(most, arm.doctor.get_int("requests").value_or(0));
      }
      EXPECT_EQ(ran.rows.size(), reads_likelihood(kind.kind) ? 18U : 12U) << well.name;
      EXPECT_EQ(ran.outcome.end, Outcome::End::Done) << well.name;
      EXPECT_EQ(alarm, "") << well.name << " on " << kind.name;
      alarms += alarm.empty() ? 0 : 1;
    }
  }
  std::printf("false alarms %d of %d healthy runs; at most %d requests of probes\n", alarms,
              healthy, static_cast<int>(most));
}

}  // namespace
}  // namespace deem::bench
