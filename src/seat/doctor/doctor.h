#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json.h"
#include "decision/letters.h"
#include "seat/seat.h"

namespace deem::seat {

/// What one probe of a seat found.
struct ProbeResult {
  enum class Verdict { Ok, Finding, NotMeasured };
  std::string name{};  // "logprobs"; the lists of them: kProbes, kNativeProbes
  Verdict verdict = Verdict::NotMeasured;
  std::string says{};                 // the evidence with its numbers, or why it is not measured
  std::string direction{};            // how a finding errs: "false comfort": figures look better or
                                      // surer than they are; "false alarm": worse; "": neither
  std::vector<std::string> spoils{};  // readings that a finding takes the belief from
  codec::Json evidence = codec::Json::object();
};

std::string_view to_string(ProbeResult::Verdict verdict);  // "ok", "finding", "not measured"

/// Every probe, in the order of a diagnosis.
inline constexpr std::string_view kProbes[] = {
    "identity",    "answers",      "shape",    "tokenizer", "template",
    "letters",     "depth",        "logprobs", "repeat",    "mixed",
    "speculation", "prefix-cache", "overlong", "residency", "sanity"};

/// The same of an endpoint that answers decisions itself.
inline constexpr std::string_view kNativeProbes[] = {"identity", "answers",  "ids",    "company",
                                                     "repeat",   "overlong", "errors", "sanity"};

/// Those of a few short requests, a dozen in all: what a run asks of every seat first.
inline constexpr std::string_view kQuickProbes[] = {"identity", "answers", "shape", "tokenizer",
                                                    "template", "letters", "depth", "logprobs"};
inline constexpr std::string_view kQuickNativeProbes[] = {"identity", "answers", "ids", "company"};

/// What a run asks once more of a seat when its rows are there (examine_again); no part of a
/// diagnosis.
inline constexpr std::string_view kAgain = "again";

/// One way of reading answers off this seat.
struct ReadingAdvice {
  std::string name{};  // letters, likelihood, written; or native alone
  bool supported = false;
  bool believed = false;          // supported, and no probe speaks against it
  std::optional<bool> guesses{};  // whether the probe `sanity` can tell its answers from guessing
  std::string why{};              // what speaks against it, or what supports it
};

/// What a later look at the same seat is held against.
struct Baseline {
  std::uint64_t nonce = 0;  // of the prompts
  decision::LetterPolicy policy = decision::LetterPolicy::Exact;
  Lineage lineage{};
  std::optional<PositionReply> first{};  // of the first question; none: no letters are read
  std::optional<Usage> written{};        // of the first written reply
  std::vector<double> native{};          // probabilities of the first choice
  std::optional<Usage> decided{};        // of the first choice
};

struct Diagnosis {
  Identity identity{};
  std::optional<Capabilities> capabilities{};
  std::vector<ProbeResult> probes{};  // as kProbes, or kNativeProbes
  std::vector<ReadingAdvice> readings{};
  bool interrupted = false;  // ended before its probes were done: nothing is believed
  int requests = 0;          // decisions and texts asked, beside what the adapter asks by itself
  double took_s = 0;
  std::optional<double> first_answer_s{};  // of the first request that was answered
  Baseline baseline{};

  std::size_t count(ProbeResult::Verdict verdict) const;
};

struct DoctorOptions {
  /// Names of probes; none: all. `identity` and `answers`, on which all others stand, are always
  /// among them.
  std::vector<std::string> probes{};
  double patience_s = 30;              // a decision must be answered within
  std::uint64_t nonce = 0;             // makes prompts that the server has not seen; 0: the clock's
  int crowd = 8;                       // requests in flight at once
  std::int64_t most_tokens = 150'000;  // an over-long prompt has no more than these
  std::int64_t blind_tokens = 33'000;  // its length where the context is not told
  /// A plain seat whose letters a decision endpoint is held against (probe `against`, after all
  /// others); null: none. Must outlive the examination.
  Seat* against = nullptr;
  /// MiB on boards that the seat's own processes hold. Errors: with why that is not known.
  std::function<Result<double>()> held_mib{};
};

/// Asks `seat` what its readings can be trusted for: some 220 short requests and one over-long
/// prompt; nothing is changed on the server. `progress` gets each probe's name as it begins. A stop
/// ends it early: probes not done are not measured. Errors: as Seat::identify.
Result<Diagnosis> examine(Seat& seat, const DoctorOptions& options,
                          const std::function<void(std::string_view)>& progress,
                          const std::stop_token& stop);

/// Asks what `before` began with again, by `readings` (as ReadingAdvice names them), alone and
/// `options.crowd` at once, and the seat who it is: whether it is still the one that was examined.
/// `requests` grows by what was asked.
ProbeResult examine_again(Seat& seat, const Diagnosis& before,
                          std::span<const std::string> readings, const DoctorOptions& options,
                          int& requests, const std::stop_token& stop);

/// docs/formats/doctor.md.
codec::Json to_json(const ProbeResult& probe);
codec::Json to_json(const Diagnosis& diagnosis);

}  // namespace deem::seat
