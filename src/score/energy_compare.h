#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "score/energy.h"

namespace deem::score {

/// Net joules a decision of two arms, on one task ("": all).
struct JoulesPair {
  std::string task = {};
  std::optional<double> a = {}, b = {};
  bool a_valid = false, b_valid = false;
  std::int64_t decisions_a = 0, decisions_b = 0;
  std::optional<double> difference = {}, ratio = {};  // B − A, B ÷ A; where both are valid and
                                                      // may be held against each other
  // 95 %, by resampling the blocks of each; none under five blocks of one.
  std::optional<Interval> difference_95 = {}, ratio_95 = {};
  std::string why = {};    // there is no difference; "" when there is
  std::string b_why = {};  // B's joules are not valid; "" when they are
};

struct ComparedJoules {
  std::vector<JoulesPair> tasks = {};  // those both arms have, in A's order
  JoulesPair all = {};
};

/// One arm of a run's energy; the energy must outlive it.
struct JoulesSide {
  const RunEnergy& energy;
  std::string_view arm;
};

/// Plain blocks only. Of all tasks together there is no difference where the two arms answered the
/// tasks in other shares, and between two columns of one arm there is none at all: its joules are
/// of all its readings together.
ComparedJoules compare_joules(const JoulesSide& a, const JoulesSide& b,
                              const EnergyOptions& options = {});

}  // namespace deem::score
