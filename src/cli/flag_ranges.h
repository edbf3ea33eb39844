#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

#include "seat/local_seat.h"

namespace deem::cli {

/// A number from `low` to `high`. CLI::Range lets NaN pass.
inline CLI::Validator number_within(double low, double high) {
  const std::string range = fmt::format("{} to {}", low, high);
  return CLI::Validator(
      [=](const std::string& typed) {
        double value = 0;
        const bool good = CLI::detail::lexical_cast(typed, value) && value >= low && value <= high;
        return good ? std::string() : typed + " is no number from " + range;
      },
      range);
}

inline CLI::Validator seconds_of_a_request() { return number_within(0.001, 86'400); }
inline CLI::Validator thread_count() { return number_within(1, seat::kMostThreads); }

}  // namespace deem::cli
