#pragma once

// Private to seat/doctor: what the probes of a decision endpoint share.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "seat/doctor/session.h"

namespace deem::seat {

/// One examination of a decision endpoint: its questions, and what it told of the first.
struct Native {
  using Question = DecideRequest::Question;
  using Probs = std::vector<double>;
  static constexpr std::string_view kReading = "native";

  Session& session;
  std::string broken = {};  // why the choice has no answer to hold others against; "": it has
  /// Answers to the choice alone: nothing of its prompt kept, all of it, and its beginning
  /// (llama.cpp and SGLang read each otherwise, up to .07 apart).
  std::vector<Probs> told = {};
  double spread = 0;  // standard deviation of those, of the option where it is largest
  double step = 0;    // to which they are rounded
  std::optional<Usage> usage = {};

  static Question choice(std::string id);
  static Question noul(std::string id);
  static Question score(std::string id);

  DecideRequest request(std::vector<Question> questions) const;
  /// A failure other than BadInput is kept.
  Result<DecideReply> ask(std::vector<Question> questions) const;
};

/// The most that a probability of one is off the other's; and of any two of several.
double apart(const Native::Probs& a, const Native::Probs& b);
double largest_move(const std::vector<Native::Probs>& told);
/// An error in at most 200 code points.
std::string shown(const Error& error);

ProbeResult probe_native_answers(Native& native);
ProbeResult probe_ids(Native& native);
ProbeResult probe_company(Native& native);
ProbeResult probe_native_repeat(Native& native);
ProbeResult probe_native_overlong(Native& native);
ProbeResult probe_errors(Native& native);

}  // namespace deem::seat
