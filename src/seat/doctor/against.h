#pragma once

// Private to seat/doctor: a decision endpoint against our own letters readout. Pure.

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace deem::seat {

/// One question asked twice of both. By option: the endpoint's probabilities, the letters'
/// log-probabilities; none where there was no answer.
struct AgainstItem {
  using Numbers = std::optional<std::vector<double>>;
  std::size_t label = 0;
  Numbers native{}, native_again{}, letters{}, letters_again{};
};

struct AgainstFigures {
  std::size_t n = 0;                                // questions that both answered both times
  std::size_t native_right = 0, letters_right = 0;  // of those, at first
  std::size_t native_alone = 0, letters_alone = 0;  // right, where the other is not
  std::size_t differ = 0;  // another option chosen by the one than by the other
  std::size_t wavers = 0;  // another option chosen by one of them when asked again
  // Of an option's probability, the largest of each question, letters at a temperature of 1.
  double mean = 0, max = 0;
  double noise = 0;        // the same of each with itself, the largest
  std::size_t apart = 0;   // questions where it is over kTolerance
  double temperature = 1;  // of the letters where `mean` is smallest
  double mean_at_temperature = 0;

  double difference = 0;                      // in the share right, the endpoint minus the letters
  std::pair<double, double> interval{-1, 1};  // of it, 95 % (Newcombe)
  double p_right = 1;                         // McNemar, exact: one is right more often
  double p_differ = 1;  // the same, of questions where they differ and neither wavers,
                        // against those where one wavers and they do not differ
};
/// What the public conformance suite for such endpoints lets a probability move by.
inline constexpr double kTolerance = 0.05;

AgainstFigures hold_against(std::span<const AgainstItem> items);

}  // namespace deem::seat
