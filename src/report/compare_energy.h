#pragma once

// Private to report: joules of a pair of columns.

#include <string>
#include <utility>
#include <vector>

#include "codec/json.h"
#include "score/energy_compare.h"

namespace deem::report {

extern const std::vector<std::string> kJoulesHead;

/// A name and cells as the head has them: each task, and all of them together unless it is one.
/// Empty where neither side has joules.
using NamedCells = std::pair<std::string, std::vector<std::string>>;
std::vector<NamedCells> joules_lines(const score::ComparedJoules& joules);

/// Why there is no difference, where there is none.
std::vector<std::string> joules_sentences(const score::ComparedJoules& joules);

codec::Json joules_json(const score::ComparedJoules& joules);

}  // namespace deem::report
