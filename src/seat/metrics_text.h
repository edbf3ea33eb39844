#pragma once

// Private to seat: Prometheus text. Pure; takes anything.

#include <initializer_list>
#include <optional>
#include <string_view>

#include "seat/seat.h"

namespace deem::seat {

/// The sum over all label sets of the first of `names` that is there; none when none is.
std::optional<double> metric_sum(std::string_view text,
                                 std::initializer_list<std::string_view> names);

/// vLLM exports its counters of drafts only where it drafts.
Counters read_vllm_counters(std::string_view text);
/// llama-server exports them always; whether it drafts is told by /slots.
Counters read_llama_counters(std::string_view text);

}  // namespace deem::seat
