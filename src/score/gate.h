#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "score/compare.h"
#include "score/energy_compare.h"

namespace deem::score {

/// A condition on a comparison: "brier<=+0.01" (B may be worse than A by .01), "accuracy>=-0.02",
/// "p95<=1.1x" (at most 1.1 times A's), "accuracy>=0.9" (B itself). Metrics: accuracy, brier,
/// median, p95 (seconds), joules (net, a decision).
struct Gate {
  enum class Kind { Value, Difference, Ratio };
  std::string text = {};
  std::string metric = {};
  bool at_most = true;
  Kind kind = Kind::Value;
  double limit = 0;
};
/// Errors: BadInput naming what is wrong.
Result<Gate> parse_gate(std::string_view text);

/// What a gate found.
struct GateResult {
  bool measured = false;  // false: there is no such figure
  bool holds = false;
  double value = 0;      // what was held against the limit
  std::string why = {};  // not measured, where that is known
};
/// `joules`: of the same two columns; null where there are none. Joules that are not valid are not
/// measured. `unlike_work`: why times and joules of A and B are not of the same work, so that no
/// gate holds one against the other; "" where they are.
GateResult check_gate(const Gate& gate, const Comparison& comparison,
                      const JoulesPair* joules = nullptr, std::string_view unlike_work = "");

}  // namespace deem::score
