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

/// The same once the rows are there, where it was well before: a finding spoils all the arm reads.
std::optional<Longest> check_longest_again(const Config& config, const kit::Kit& kit,
                                           const std::vector<Unit>& plan, std::size_t arm_index,
                                           const OpenSeat& open,
                                           const std::optional<Longest>& before,
                                           const std::stop_token& stop);

}  // namespace deem::bench
