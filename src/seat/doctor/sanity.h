#pragma once

// Private to seat/doctor: what answers to kSanityItems say of the readings that gave them. Pure.

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace deem::seat {

/// What one reading said, by item: an option, or none where it gave no answer.
struct SanityAnswers {
  std::string name{};
  std::vector<std::optional<std::size_t>> said{};
};

struct SanityFigures {
  enum class Standing { TooFew, Guessing, Above };
  std::string name{};
  std::size_t answered = 0, right = 0;
  double low = 0, high = 1;  // of the share right, 95 % (Wilson)
  double guessing = 0;       // the share a guesser expects on those that were answered
  double chance = 1;         // that a guesser is right as often, exact

  double share() const;
  /// Above: under kGuessing a guesser's chance. TooFew: less than half of the items answered.
  Standing standing() const;
};
/// Several readings are held against guessing, and one passing by luck hides a broken seat: each
/// has to pass at .01.
inline constexpr double kGuessing = 0.01;
SanityFigures figures_of(const SanityAnswers& answers);

/// The reading with most items right of those above guessing, and those it is better than.
struct SanityLead {
  struct Over {
    std::string name{};
    double difference = 0;  // in the share right, of the items both answered
    double p = 1;           // McNemar, exact, adjusted for all the others (Holm)
  };
  std::string best{};
  std::vector<Over> over{};  // every other reading with answers
};
/// At most this of a difference by chance shows a reading to be better.
inline constexpr double kShown = 0.05;
std::optional<SanityLead> lead_of(std::span<const SanityAnswers> readings);

/// A choice asked with its options rotated by `shift`: place p held option (p + shift) mod n.
struct RotatedAnswer {
  std::size_t item = 0, shift = 0;
  std::size_t option = 0;  // the one chosen
};

/// Where the chosen options stood, over every rotation of every item: a reader of the state takes
/// each place equally often.
struct Places {
  struct Taken {
    std::size_t times = 0, prompts = 0;  // prompts that have such a place
    double share() const;
  };
  std::array<Taken, 4> at{};  // first, second…
  Taken last{};
  std::size_t items = 0, flips = 0;  // items with several answers; of them, those with unlike ones

  /// The place that is taken in four of five prompts or more: "first" … "last"; "" : none is.
  std::string stuck() const;
  /// The place taken in the largest share, and that.
  std::pair<std::string, Taken> most() const;
};
Places places_of(std::span<const RotatedAnswer> answers);

}  // namespace deem::seat
