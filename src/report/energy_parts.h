#pragma once

// Private to report: joules in tables, sentences and JSON.

#include <optional>
#include <string>
#include <vector>

#include "codec/json.h"
#include "report/probes.h"
#include "report/report.h"

namespace deem::report {

/// "0.123", "12.3", "1234", "–": three digits at least.
std::string joules(std::optional<double> value);

/// Plain blocks of an arm on a task ("": all); nullptr where there are none.
const score::EnergyFigures* energy_on(const Heading& heading, const std::string& arm,
                                      const std::string& task);
/// Net joules a decision: "12.3", "12.3?" where it is not valid, "–".
std::string net_cell(const score::EnergyFigures* figures);
/// "yes", "gross only", "no".
std::string validity(const score::EnergyFigures& figures);

/// What prices are by: net joules where they are valid, else gross ones.
struct PricedJoules {
  double per_decision = 0;
  bool net = false, valid = false;
};
std::optional<PricedJoules> priced(const score::EnergyFigures& figures);
/// "net", "gross", "gross, not valid"
std::string to_string(const PricedJoules& priced);

/// Joules, then watts, then what they cost, each where there is something to show. Two names.
std::vector<ProbeTable> energy_tables(const Heading& heading);

/// What is not measured, what is not valid and why, what else to know, loads of models. Empty
/// without runs.
std::vector<std::string> energy_remarks(const score::Scores& scores, const Heading& heading);

/// Member `energy` of deem.score/1 (docs/formats/score.md).
codec::Json energy_json(const std::vector<RunJoules>& runs, const EnergyPrice& price);

}  // namespace deem::report
