#pragma once

// Private to seat/doctor: kSanityItems asked by every reading that a seat supports.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "seat/doctor/session.h"

namespace deem::seat {

/// By letters, every item in each rotation of its options, and as many letters with nothing asked.
class LetterAnswers {
 public:
  explicit LetterAnswers(Session& session);

  void ask();
  /// letters: as the items stand; letters-orders: probabilities averaged over the rotations;
  /// letters-prior: as they stand, minus what the letters get when nothing is asked.
  std::vector<SanityAnswers> answers() const;
  /// Prompts without a reading, places, letters all alike, mass and priors.
  void tell(Probe& probe) const;

 private:
  /// An item at one rotation, or (item = the number of items) nothing asked.
  struct Prompt {
    std::size_t item = 0, shift = 0, size = 0;
    std::optional<std::vector<double>> scores{};  // by place, once answered
  };
  void take(const Result<PositionReply>& reply, Prompt& prompt);

  Session& session_;
  std::vector<Prompt> prompts_;
  std::map<std::string, std::size_t> void_;  // by cause
  double mass_ = 0;                          // that letters have, summed
};

/// Each option after state and question, raw and minus the same after neither (the empty domain
/// premise of Holtzman et al. 2021).
std::vector<SanityAnswers> sanity_by_likelihood(Session& session, Probe& probe);
std::vector<SanityAnswers> sanity_by_writing(Session& session);

}  // namespace deem::seat
