#pragma once

#include <optional>
#include <stop_token>

#include "bench/config.h"
#include "bench/plan.h"
#include "bench/setup.h"

namespace deem::bench {

/// Asks the longest prompt of the arm, and the same behind some words more: the count in the
/// replies must grow. None where no prompt can be as long as the context, or a stop ended it.
/// Requires a diagnosis.
std::optional<Longest> check_longest(const Config& config, const kit::Kit& kit,
                                     const std::vector<Unit>& plan, std::size_t arm_index,
                                     const OpenSeat& open, const std::stop_token& stop);

}  // namespace deem::bench
