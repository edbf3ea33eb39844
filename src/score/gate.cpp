#include "score/gate.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "base/text.h"

namespace deem::score {
namespace {

constexpr std::string_view kMetrics[] = {"accuracy", "brier", "median", "p95", "joules"};

std::unexpected<Error> bad(std::string_view text, const std::string& what) {
  return fail(Error::Code::BadInput, "gate " + printable(text, 60) + ": " + what);
}

/// A's and B's figure.
std::pair<std::optional<double>, std::optional<double>> figures(const Comparison& c,
                                                                std::string_view metric) {
  if (metric == "median") return {c.median_a, c.median_b};
  if (metric == "p95") return {c.p95_a, c.p95_b};
  if (c.n == 0) return {};
  if (metric == "accuracy") return {c.accuracy_a, c.accuracy_b};
  return {c.brier_a, c.brier_b};
}

/// A's figure counts only where the two may be held against each other.
std::pair<std::optional<double>, std::optional<double>> joules_figures(const JoulesPair& joules) {
  return {joules.difference ? joules.a : std::nullopt, joules.b_valid ? joules.b : std::nullopt};
}

}  // namespace

Result<Gate> parse_gate(std::string_view text) {
  const std::size_t at = text.find_first_of("<>");
  if (at == std::string_view::npos || text.substr(at + 1, 1) != "=") {
    return bad(text, "wants METRIC<=LIMIT or METRIC>=LIMIT, as in brier<=+0.01 or p95<=1.1x");
  }
  Gate gate{.text = std::string(text),
            .metric = std::string(trim(text.substr(0, at))),
            .at_most = text[at] == '<'};
  if (std::ranges::find(kMetrics, gate.metric) == std::end(kMetrics)) {
    return bad(text, "no metric " + printable(gate.metric, 40) +
                         "; accuracy, brier, median, p95 or joules");
  }
  std::string_view limit = trim(text.substr(at + 2));
  const bool is_difference = limit.starts_with('+') || limit.starts_with('-');
  if (limit.ends_with('x')) {
    gate.kind = Gate::Kind::Ratio;
    limit.remove_suffix(1);
  } else if (is_difference) {
    gate.kind = Gate::Kind::Difference;
  }
  if (limit.starts_with('+')) limit.remove_prefix(1);
  const auto [end, error] = std::from_chars(limit.data(), limit.data() + limit.size(), gate.limit);
  const bool whole = error == std::errc() && end == limit.data() + limit.size();
  if (limit.empty() || !whole || !std::isfinite(gate.limit)) {
    return bad(text,
               "the limit is a number (0.9), a difference to A (+0.01) or a ratio to A (1.1x)");
  }
  if (gate.kind == Gate::Kind::Ratio && (is_difference || gate.limit <= 0)) {
    return bad(text, "a ratio is above 0 and has no sign");
  }
  return gate;
}

GateResult check_gate(const Gate& gate, const Comparison& comparison, const JoulesPair* joules,
                      std::string_view unlike_work) {
  static const JoulesPair kNone{.why = "joules are not measured",
                                .b_why = "joules are not measured"};
  const bool energy = gate.metric == "joules";
  if (joules == nullptr) joules = &kNone;
  const auto [a, b] = energy ? joules_figures(*joules) : figures(comparison, gate.metric);
  GateResult out;
  const bool of_work = energy || gate.metric == "median" || gate.metric == "p95";
  if (of_work && gate.kind != Gate::Kind::Value && !unlike_work.empty()) {
    out.why = unlike_work;
    return out;
  }
  if (!b || (gate.kind != Gate::Kind::Value && !a)) {
    if (energy) out.why = gate.kind == Gate::Kind::Value ? joules->b_why : joules->why;
    return out;
  }
  if (gate.kind == Gate::Kind::Ratio && *a <= 0) {  // net joules may be below
    if (energy) out.why = "net joules of A are not above 0";
    return out;
  }
  out.measured = true;
  out.value = gate.kind == Gate::Kind::Ratio        ? *b / *a
              : gate.kind == Gate::Kind::Difference ? *b - *a
                                                    : *b;
  out.holds = gate.at_most ? out.value <= gate.limit : out.value >= gate.limit;
  return out;
}

}  // namespace deem::score
