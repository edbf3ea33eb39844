#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

#include "bench/ask.h"
#include "bench/plan.h"

namespace deem::bench {

/// An item that will not be asked of an arm, and the count that decided it.
struct Overlong {
  std::int64_t tokens = 0;
  std::int64_t limit = 0;
};

/// What the census of one arm found.
struct CensusResult {
  Census counts;  // every chat prompt by its sha256
  /// By task, item and the probe that shows another prompt ("" : the kit's own).
  std::map<std::tuple<std::size_t, std::size_t, std::string>, Overlong> overlong;
  std::int64_t max_tokens = 0;
  std::int64_t total_tokens = 0;
  std::optional<std::string> not_measured;  // why there are no counts
};

/// Counts every item's real prompts (letters or written: exactly; texts: exactly where their
/// bytes could exceed the context, as a token is a byte or more) by the seat's own tokenizer and
/// template, before any asking. `progress` is called with how many items are done.
/// Errors: what the seat's counting fails with, but Unsupported, which is not_measured.
Result<CensusResult> take_census(const Config& config, const kit::Kit& kit,
                                 const std::vector<Unit>& plan, std::size_t arm_index,
                                 seat::Seat& seat, std::optional<std::int64_t> context,
                                 std::stop_token stop);

}  // namespace deem::bench
