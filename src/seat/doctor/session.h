#pragma once

// Private to seat/doctor: what the probes of one examination share.

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "decision/letters.h"
#include "seat/doctor/doctor.h"
#include "seat/doctor/sanity.h"
#include "seat/doctor/sanity_items.h"

namespace deem::seat {

/// Collects what a probe finds. One finding makes it a finding; else it is ok when something was
/// measured.
class Probe {
 public:
  explicit Probe(std::string_view name) { out_.name = name; }

  /// `direction` and `spoils` as in ProbeResult.
  void find(std::string says, std::string_view direction,
            std::initializer_list<std::string_view> spoils);
  /// One more reading that its finding spoils.
  void spoil(std::string_view reading);
  /// Something measured and well.
  void well(std::string says);
  /// Said whatever is found.
  void advise(std::string says);
  /// Part of it that is not measured.
  void skip(std::string why);
  /// A number that is none becomes null.
  void note(std::string_view key, codec::Json value);
  bool found() const { return out_.verdict == ProbeResult::Verdict::Finding; }

  ProbeResult close();

 private:
  ProbeResult out_;
  std::string found_, well_, skipped_, advice_;
  bool comfort_ = false, alarm_ = false;
};

/// A probe that can not be done.
ProbeResult not_measured(std::string_view name, std::string why);

/// One examination. Not for several threads at once.
class Session {
 public:
  Session(Seat& s, const DoctorOptions& o, std::stop_token t);

  Seat& seat;
  const DoctorOptions& options;
  const std::stop_token stop;
  Diagnosis out;
  Lineage lineage;
  std::string no_answers;  // why no decision is answered; "": they are
  std::string no_letters;  // why no letters are read; "": they are
  decision::LetterPolicy policy = decision::LetterPolicy::Exact;  // Reference where ids fail
  std::optional<WriteReply> written;                              // of question(0)
  std::optional<PositionReply> first;                             // of question(0)
  std::vector<double> noise;  // per letter, nats between readings of one prompt
  int asked = 0;              // decisions
  int odd = 0;                // of them, those whose numbers were none though the first's were
  std::string odd_cause;      // of one of those
  std::vector<std::string> failures;           // of them, and of the other readings' requests
  std::set<std::string, std::less<>> failing;  // the readings of those
  int busy = 0;                                // requests it put off, being asked too many at once
  std::optional<Error> refused;                // it answers nothing, for want of a key or a name
  std::vector<SanityFigures> sane;             // by reading, once probed
  std::optional<std::string> first_served;     // the model that the first reply named
  std::map<std::string, int, std::less<>> served;  // replies by the model they name

  static constexpr std::size_t kLetters = 4;  // of every question here
  std::uint64_t nonce() const { return nonce_; }
  /// A user's turn with four options that this server has not seen; the same for the same `i`.
  std::string question(std::size_t i) const;
  PositionRequest request(std::size_t i) const { return request(i, policy); }
  PositionRequest request(std::size_t i, decision::LetterPolicy by) const;

  /// Whether the probe was asked for.
  bool wants(std::string_view name) const;
  Schedule schedule() const;
  /// Of one of a crowd: each may wait for all others where one is answered at a time.
  Schedule crowd_schedule() const;
  /// Keeps that a request had no reply in time; after as many as a crowd, each_of asks no more.
  void missed(const Error& error);
  /// Keeps that a request of a reading was answered, or failed.
  void answered() { hung_ = 0; }
  void failed(std::string_view reading, const Error& error);
  /// Whether it answers nothing any more: several requests had no reply in time, one after another.
  /// Nothing is asked of it then, but by is_back.
  bool is_hung() const { return hung_ >= kHung; }
  static Error hung_error();
  /// Asks one decision more: a crowd alone may have been too much for it.
  bool is_back();
  /// Keeps which model a reply says it is of.
  void saw(const Usage& usage);
  /// One decision; a failure other than Unsupported is kept.
  Result<PositionReply> ask(const PositionRequest& request);
  /// One that a sound server may refuse (BadInput).
  Result<PositionReply> try_ask(const PositionRequest& request);
  /// The same of several at once, each on a thread of its own.
  std::vector<Result<PositionReply>> ask_together(std::span<const PositionRequest> requests);
  /// Questions unlike one another, alone and then together: their replies by question, the one
  /// alone first. `n` of them; none of the first three.
  struct Unlike {
    Result<PositionReply> alone = fail(Error::Code::Unavailable, "not asked");
    Result<PositionReply> beside = fail(Error::Code::Unavailable, "not asked");
  };
  std::vector<Unlike> ask_unlike(std::size_t n);
  /// The same of groups that may share their beginnings, several groups at once; Unavailable where
  /// each_of ended before.
  using Group = std::vector<PositionRequest>;
  std::vector<std::vector<Result<PositionReply>>> ask_groups(std::span<const Group> groups);
  /// Calls `run` with each i < n, a crowd's worth at once (a local seat one by one), until a stop,
  /// or until too many were missed.
  void each_of(std::size_t n, const std::function<void(std::size_t)>& run);

  /// As probed; nothing where the probe failed.
  Capabilities can() const { return out.capabilities.value_or(Capabilities{}); }
  /// Why a probe that reads letters can not be done; "" when it can.
  const std::string& no_reading() const { return no_answers.empty() ? no_letters : no_answers; }

 private:
  void count(const PositionRequest& request, const Result<PositionReply>& reply);
  bool is_local() const { return out.identity.kind == "local"; }
  std::size_t crowd() const { return static_cast<std::size_t>(std::max(1, options.crowd)); }
  std::uint64_t nonce_ = 0;
  static constexpr int kHung = 3;
  std::atomic<int> hung_ = 0;            // requests without a reply in time since the last with one
  std::atomic<std::size_t> missed_ = 0;  // in the each_of that goes on
};

decision::LettersReading read(const PositionReply& reply);

/// Whether a server puts a request off, as too many (HTTP 429): no fault, and nothing measured.
bool is_put_off(const Error& error);

/// Whether a reading is void because its numbers are none, whatever the model thinks.
bool is_numberless(decision::VoidCause cause);

/// Of two readings of the same letters: the most that a probability differs by, and the most that a
/// logprob does where both have one over −12. A letter without a number has probability 0.
struct Difference {
  double probability = 0;
  double nats = 0;
};
Difference difference(const decision::LettersReading& a, const decision::LettersReading& b);
/// Nats by letter; 0 where one lacks a number.
std::vector<double> differences(const decision::LettersReading& a,
                                const decision::LettersReading& b);

/// More than this between two readings of one prompt, in probability, is more than rounding: 4-bit
/// kernels were seen to move one by .03, prefix caches by .07.
inline constexpr double kDrift = 0.1;

ProbeResult probe_answers(Session& session);
ProbeResult probe_shape(Session& session);
ProbeResult probe_identity(Session& session);
/// Whether the seat is still who it was; adds to the finished probe.
void compare_identity(Session& session, ProbeResult& identity);
/// What of `before` it tells otherwise now; "" for nothing, or where it does not answer.
std::string identity_changes(Seat& seat, const Identity& before);
/// The name that the first reply bears, and the digests behind the name.
void check_served(Session& session, Probe& probe);
void check_digest(const Lineage& lineage, Probe& probe);
/// What one reply's own numbers tell.
void check_numbers(const PositionReply& reply, Probe& probe);
/// Asks the first question for 26 letters by id: whether all come back with a number. Returns the
/// reply.
Result<PositionReply> check_ids(Session& session, Probe& probe);
/// Whether letters are asked by id.
bool reads_ids(const Capabilities& can);
ProbeResult probe_tokenizer(Session& session);
ProbeResult probe_template(Session& session);
ProbeResult probe_letters(Session& session);
ProbeResult probe_depth(Session& session);
ProbeResult probe_logprobs(Session& session);
ProbeResult probe_repeat(Session& session);
ProbeResult probe_mixed(Session& session);
ProbeResult probe_speculation(Session& session);
ProbeResult probe_prefix_cache(Session& session);
ProbeResult probe_overlong(Session& session);
ProbeResult probe_residency(Session& session);
ProbeResult probe_sanity(Session& session);

/// An item with its options rotated: place p holds option (p + shift) mod n.
decision::Question rotated(const SanityItem& item, std::size_t shift);
/// The name in Diagnosis::readings of one of SanityAnswers.
std::string_view family_of(std::string_view name);
/// What the probe `sanity` says of a reading, by the best of its family; `why` where it is
/// believed.
void add_sanity(const Session& session, ReadingAdvice& advice);
/// "20 of 24 right, 0.83 [0.64, 0.93]", and whether that is like guessing.
std::string shown(const SanityFigures& figures);
void tell_places(const Places& places, Probe& probe);
/// Whether any reading is above guessing, and which reads best; keeps their figures.
void tell_sanity(std::span<const SanityAnswers> readings, Session& session, Probe& probe);

/// The same of a decision endpoint.
ProbeResult probe_native_sanity(Session& session);
/// Of a decision endpoint against options.against.
ProbeResult probe_against(Session& session);
/// Probabilities that answer `i` of a reply gives the options of `asked`, or why it has none.
Result<std::vector<double>> native_probs_of(const Result<DecideReply>& reply,
                                            const DecideRequest::Question& asked,
                                            std::size_t i = 0);

/// The choice that a decision endpoint is asked first, `times` at once: the most that a probability
/// is off the first answer's, and why some are no answer.
struct NativeAgain {
  double apart = 0;
  std::string failed = {};
  bool no_answer = false;  // of those: a reply came, and is none
};
NativeAgain ask_native_again(Session& session, const std::vector<double>& first, std::size_t times);
/// More than this, or than three times what an answer moves by itself, between the answers of a
/// decision endpoint to one question under other ids or in other company is a finding: the
/// tolerance of the public conformance suite.
inline constexpr double kNativeDrift = 0.05;

/// Requests that failed in any probe: not always, or `answers` would have said so.
void add_failures(const Session& session, std::vector<ProbeResult>& probes);
/// Nothing is believed of an examination that was interrupted.
void forget_advice(Diagnosis& diagnosis);
/// Every probe of an endpoint that answers decisions itself (kNativeProbes), and the advice.
void examine_native(Session& session, const std::function<void(std::string_view)>& progress);

}  // namespace deem::seat
