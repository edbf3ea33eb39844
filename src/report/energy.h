#pragma once

#include <optional>
#include <string>
#include <vector>

#include "score/energy.h"

namespace deem::report {

/// What run.json says of an arm's place on its boards.
struct ArmPin {
  std::string arm = {};
  std::string status = {};  // "ok", "finding", or "not measured (why)"
  std::string method = {};
  std::vector<std::string> boards = {}, findings = {}, notes = {};
};
/// "ok by growth on GPU-…", "finding: …; …", "not measured (why)".
std::string pin_text(const ArmPin& pin);

/// What a kilowatt hour costs, in money and in grams of CO2; none: not asked for.
struct EnergyPrice {
  std::optional<double> per_kwh = {}, grams_per_kwh = {};
  bool any() const { return per_kwh || grams_per_kwh; }
};

/// Joules of one run, its arms named as the columns are.
struct RunJoules {
  std::string run = {};  // its path as it was typed
  score::RunEnergy energy = {};
  std::vector<ArmPin> pins = {};
};

}  // namespace deem::report
