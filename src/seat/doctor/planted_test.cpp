// Scripted servers that commit every fault of the list, alone and in pairs: a diagnosis must name
// each, must find nothing on servers that are well, and what it names must not become an answer.
#include "seat/doctor/planted.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <regex>
#include <thread>

#include "seat/doctor/doctor.h"
#include "seat/seat_test_support.h"

namespace deem::seat {
namespace {

using Verdict = ProbeResult::Verdict;

// A sanitizer makes a diagnosis ten times as long: there every fault is planted on one kind of
// server, not on each, and few pairs are.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSlow = true;
#else
constexpr bool kSlow = false;
#endif

bool has(const std::vector<Fault>& faults, std::initializer_list<Fault> any) {
  return std::ranges::any_of(
      any, [&](Fault fault) { return std::ranges::find(faults, fault) != faults.end(); });
}

/// Seconds an answer may take: few where none will come.
double patience(const std::vector<Fault>& faults) {
  return has(faults, {Fault::Hang, Fault::Stall}) ? 0.3 : kSlow ? 90 : 20;
}

/// Requests meet where that matters.
std::chrono::milliseconds delay(const std::vector<Fault>& faults) {
  const bool meets = has(faults, {Fault::CrowdJitter, Fault::CrossTalk, Fault::PadInMix});
  return std::chrono::milliseconds(!meets ? 0 : kSlow ? 250 : 30);
}

std::string all_findings(const Diagnosis& diagnosis) {
  std::string out;
  for (const ProbeResult& probe : diagnosis.probes) {
    if (probe.verdict == Verdict::Finding) out += "  " + probe.name + ": " + probe.says + "\n";
  }
  return out.empty() ? "  no finding\n" : out;
}

/// Whether a finding of `probe` says `words`, a regular expression.
bool is_named(const Diagnosis& diagnosis, const Planted& planted) {
  const std::regex words(planted.words);
  return std::ranges::any_of(diagnosis.probes, [&](const ProbeResult& probe) {
    return probe.verdict == Verdict::Finding && probe.name == planted.probe &&
           std::regex_search(probe.says, words);
  });
}

/// All but the longest, for those that are many.
std::vector<std::string> without_sanity() {
  std::vector<std::string> out(std::begin(kProbes), std::end(kProbes));
  std::erase(out, "sanity");
  return out;
}

Result<Diagnosis> examine_fake(ServerKind kind, const std::vector<Fault>& faults,
                               FakeOptions options = {}, std::vector<std::string> probes = {}) {
  for (const Fault fault : faults) options.faults.push_back({.fault = fault, .everywhere = true});
  options.delay = delay(faults);
  auto server = start_fake(kind, std::move(options));
  SeatSpec spec = server.seat();
  spec.timeout_s = patience(faults);
  const auto seat = seat_of(spec);
  const DoctorOptions doctor{.probes = std::move(probes),
                             .patience_s = spec.timeout_s,
                             .nonce = 4711,
                             .blind_tokens = 3'000};
  return examine(*seat, doctor, {}, {});
}

/// A request for the top k beside one by exact ids.
RowFate fate_in_mix(Seat& seat) {
  std::optional<RowFate> fate;
  std::jthread by_ids([&] { (void)seat.first_position(four_letters(), {}); });
  for (int i = 0; i < 50 && !fate; ++i) {
    const auto reply = seat.first_position(four_letters(decision::LetterPolicy::Reference), {});
    if (!reply) return RowFate::Refused;
    if (decision::read_letters(reply->position, 4, {}).cause != decision::VoidCause::None)
      fate = RowFate::Void;
    by_ids = std::jthread([&] { (void)seat.first_position(four_letters(), {}); });
  }
  return fate.value_or(RowFate::Passes);
}

/// The kinds that a fault is planted on, or that are well so.
std::vector<KindCase> kinds_of(const auto& one, std::size_t turn) {
  std::vector<KindCase> kinds;
  for (const KindCase& kind : kAllKinds) {
    if (one.suits(kind.kind)) kinds.push_back(kind);
  }
  return kSlow ? std::vector{kinds[turn % kinds.size()]} : kinds;
}

struct Count {
  int caught = 0, planted = 0;
};

TEST(Planted, EachIsNamed) {
  std::map<std::string, Count> by_kind;
  Count all;
  std::size_t turn = 0;
  for (const Planted& planted : planted_faults()) {
    for (const KindCase& kind : kinds_of(planted, turn++)) {
      const auto probes =
          planted.family == Family::Answer ? std::vector<std::string>() : without_sanity();
      const auto diagnosis = examine_fake(kind.kind, {planted.fault}, planted.options, probes);
      ASSERT_TRUE(diagnosis) << planted.name << " " << kind.name << ": "
                             << diagnosis.error().message;
      const bool named = is_named(*diagnosis, planted);
      EXPECT_TRUE(named) << planted.name << " on " << kind.name << ", wanted " << planted.probe
                         << " ~ " << planted.words << ", got\n"
                         << all_findings(*diagnosis);
      for (Count* count : {&all, &by_kind[kind.name]}) {
        ++count->planted;
        count->caught += named ? 1 : 0;
      }
    }
  }
  for (const auto& [kind, count] : by_kind)
    std::printf("%-13s faults caught %d of %d\n", kind.c_str(), count.caught, count.planted);
  std::printf("faults caught %d of %d\n", all.caught, all.planted);
  EXPECT_GE(static_cast<std::size_t>(all.planted), planted_faults().size());
}

TEST(Planted, HealthyServersGetNoFinding) {
  int healthy = 0, alarms = 0;
  std::size_t turn = 0;
  for (const Healthy& one : healthy_servers()) {
    for (const KindCase& kind : kinds_of(one, turn++)) {
      const auto diagnosis = examine_fake(kind.kind, one.harmless, one.options);
      ASSERT_TRUE(diagnosis) << one.name << " " << kind.name << ": " << diagnosis.error().message;
      ++healthy;
      const bool alarmed = diagnosis->count(Verdict::Finding) > 0;
      alarms += alarmed ? 1 : 0;
      EXPECT_FALSE(alarmed) << one.name << " on " << kind.name << "\n" << all_findings(*diagnosis);
      EXPECT_EQ(diagnosis->probes.size(), std::size(kProbes));
    }
  }
  std::printf("false alarms %d of %d healthy servers\n", alarms, healthy);
}

/// What becomes of a decision that the fault strikes. What is seen in prompts and names alone is
/// there from the start, the rest once the adapter has probed a server that was well.
RowFate fate_of(const Planted& planted, ServerKind kind) {
  constexpr Family kEarly[] = {Family::Prompt, Family::Bos, Family::Service, Family::Over,
                               Family::Proof};
  const bool early = std::ranges::find(kEarly, planted.family) != std::end(kEarly);
  FakeOptions options = planted.options;
  if (early) options.faults.push_back({.fault = planted.fault, .everywhere = true});
  options.delay = delay({planted.fault});
  auto server = start_fake(kind, std::move(options));
  SeatSpec spec = server.seat();
  spec.timeout_s = patience({planted.fault});
  const auto seat = seat_of(spec);
  EXPECT_TRUE(seat->capabilities()) << planted.name;
  if (!early) server.set_faults({{.fault = planted.fault, .everywhere = true}});
  if (planted.fault == Fault::PadInMix) return fate_in_mix(*seat);
  const auto reply = seat->first_position(four_letters(), {});
  if (!reply) return RowFate::Refused;
  if (decision::read_letters(reply->position, 4, {}).cause != decision::VoidCause::None)
    return RowFate::Void;
  if (reply->usage.served_model.value_or("fake-model") != "fake-model") return RowFate::Noted;
  const auto counted = seat->count_chat(kFourLetters);
  const auto run = reply->usage.prompt_tokens;
  return counted && run && *run != *counted ? RowFate::Noted : RowFate::Passes;
}

TEST(Planted, WhatBecomesOfTheirRows) {
  std::map<RowFate, int> counts;
  std::string passing;
  for (const Planted& planted : planted_faults()) {
    bool passes = false;
    for (const KindCase& kind : kAllKinds) {
      if (!planted.suits(kind.kind)) continue;
      const RowFate fate = fate_of(planted, kind.kind);
      ++counts[fate];
      passes |= fate == RowFate::Passes;
      EXPECT_EQ(static_cast<int>(fate), static_cast<int>(planted.row))
          << planted.name << " on " << kind.name;
    }
    if (passes) passing += " " + planted.name;
  }
  std::printf("rows: %d void, %d refused, %d noted, %d pass: only a diagnosis tells of%s\n",
              counts[RowFate::Void], counts[RowFate::Refused], counts[RowFate::Noted],
              counts[RowFate::Passes], passing.c_str());
}

// A fault that strikes one decision of all, whichever it is (20 is a likelihood, which has no
// list).
TEST(Planted, OnceIsNamedToo) {
  constexpr Fault kOnce[] = {Fault::ServerError, Fault::NotJson,     Fault::NullLogprobs,
                             Fault::Sentinel,    Fault::PadSentinel, Fault::AllZero,
                             Fault::NanBody};
  Count count;
  for (const Fault fault : kOnce) {
    for (const std::uint64_t at : {2u, 5u, 8u, 13u, 24u}) {
      if (kSlow && at % 2 == 0) continue;
      FakeOptions options;
      options.context = 1024;
      options.faults = {{.fault = fault, .first = at, .count = 1}};
      const auto diagnosis = examine_fake(ServerKind::Vllm, {}, options, without_sanity());
      ASSERT_TRUE(diagnosis) << diagnosis.error().message;
      const bool named = diagnosis->count(Verdict::Finding) > 0;
      EXPECT_TRUE(named) << static_cast<int>(fault) << " at " << at;
      ++count.planted;
      count.caught += named ? 1 : 0;
    }
  }
  for (const Fault fault : {Fault::ServerError, Fault::NotJson, Fault::NullLogprobs}) {
    FakeOptions options;
    options.context = 1024;
    options.faults = {{.fault = fault, .first = 20, .count = 1}};
    const auto diagnosis = examine_fake(ServerKind::Vllm, {}, options, without_sanity());
    ASSERT_TRUE(diagnosis) << diagnosis.error().message;
    EXPECT_GT(diagnosis->count(Verdict::Finding), 0u) << static_cast<int>(fault);
  }
  std::printf("faults of one decision caught %d of %d\n", count.caught, count.planted);
}

struct Pair {
  const Planted *a = nullptr, *b = nullptr;
  ServerKind kind = ServerKind::Vllm;
  bool hidden = false, named = false;
  std::string findings{};
};

/// All pairs take half a minute; every third does for a test that is run often.
std::size_t stride() {
  if (kSlow) return 41;
  return std::getenv("DEEM_ALL_PAIRS") == nullptr ? 3 : 1;
}

/// Pairs on one kind of server that suits both, the kinds by turns.
std::vector<Pair> make_pairs() {
  const auto& faults = planted_faults();
  std::vector<Pair> pairs;
  std::size_t turn = 0;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    for (std::size_t j = i + 1; j < faults.size(); ++j) {
      const auto kind = kind_for(faults[i], faults[j], turn);
      if (kind && turn++ % stride() == 0)
        pairs.push_back({.a = &faults[i], .b = &faults[j], .kind = *kind});
    }
  }
  return pairs;
}

/// Where one hides the other (a server that hangs has no numbers to be wrong), the one that hides
/// must be named.
void judge_pair(Pair& pair) {
  const Planted &a = *pair.a, &b = *pair.b;
  const bool sanity = a.family == Family::Answer || b.family == Family::Answer;
  const auto diagnosis = examine_fake(pair.kind, {a.fault, b.fault}, merged(a, b),
                                      sanity ? std::vector<std::string>() : without_sanity());
  if (!diagnosis) {
    pair.findings = diagnosis.error().message;
    return;
  }
  const bool first = is_named(*diagnosis, a), second = is_named(*diagnosis, b);
  const bool over = hides(a, b), under = hides(b, a);
  pair.hidden = over || under;
  pair.named = over && under ? first || second : over ? first : under ? second : first && second;
  pair.findings = all_findings(*diagnosis);
}

TEST(Planted, PairsAreNamedToo) {
  std::vector<Pair> pairs = make_pairs();
  std::atomic<std::size_t> next = 0;
  {
    std::vector<std::jthread> workers;
    for (int worker = 0; worker < 6; ++worker) {
      workers.emplace_back([&] {
        for (std::size_t i = next++; i < pairs.size(); i = next++) judge_pair(pairs[i]);
      });
    }
  }
  Count both, hiding;
  for (const Pair& pair : pairs) {
    EXPECT_TRUE(pair.named) << pair.a->name << " + " << pair.b->name << " on "
                            << kAllKinds[static_cast<std::size_t>(pair.kind)].name
                            << (pair.hidden ? ", one hides the other" : "") << ", got\n"
                            << pair.findings;
    Count& count = pair.hidden ? hiding : both;
    ++count.planted;
    count.caught += pair.named ? 1 : 0;
  }
  std::printf("pairs: both named in %d of %d; one hides the other, named, in %d of %d\n",
              both.caught, both.planted, hiding.caught, hiding.planted);
  EXPECT_GT(both.planted + hiding.planted, 30);
}

}  // namespace
}  // namespace deem::seat
