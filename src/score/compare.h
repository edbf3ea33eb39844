#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record/fit.h"
#include "record/row.h"
#include "score/detail.h"
#include "score/resample.h"

namespace deem::score {

/// Which answers of a set of rows: an arm, a reading of it and a variant.
struct ColumnName {
  std::string arm = {}, reading = {}, variant = {};
  bool operator==(const ColumnName&) const = default;
  std::string text() const { return arm + " " + reading + ":" + variant; }
};

/// The least difference in accuracy that a paired test of `n` items finds in 80 % of the cases at
/// the 5 % level, when a share `discordant` of them is right in one column only (normal
/// approximation: 2.802 · √(discordant / n)). None when n is 0.
std::optional<double> detectable_difference(double discordant, std::size_t n);

/// B against A on the items that both answered, of one task ("" : all).
struct Comparison {
  std::string task = {};
  std::size_t n = 0;                   // pairs
  std::size_t only_a = 0, only_b = 0;  // labelled items that one alone answered
  std::size_t both_right = 0, both_wrong = 0;
  std::size_t right_a = 0, right_b = 0;  // right there and wrong in the other
  double accuracy_a = 0, accuracy_b = 0;
  std::optional<Interval> accuracy_difference = {};  // of B − A, bootstrap by state
  double p = 1;                                      // McNemar, exact
  std::optional<double> detectable = {};
  double brier_a = 0, brier_b = 0;
  std::optional<Interval> brier_difference = {};  // of B − A, the same resamples
  std::optional<double> median_a = {}, median_b = {}, p95_a = {}, p95_b = {};  // s, planned send
  // Share of these pairs' prompt tokens that the server had cached; none where not all told.
  std::optional<double> cached_a = {}, cached_b = {};
};

/// Why times and joules of the two are not of the same work: one server had over a tenth more of
/// the prompts in its cache than the other. "" where that is not so, or not told.
std::string unlike_caches(const Comparison& comparison);

/// An item on which the two say different things.
struct Disagreement {
  std::string task = {}, id = {};
  int repeat = 0;
  std::string said_a = {}, said_b = {}, label = {};
  double p_a = 0, p_b = 0;  // of what each said
};

struct Compared {
  std::vector<Comparison> tasks = {};  // in the order of A's rows
  Comparison all = {};
  std::vector<Disagreement> disagreements = {};
};

struct CompareOptions {
  std::uint64_t seed = kScoreSeed;
  const record::Fit* fit_a = nullptr;  // of each side's arm: its columns "…-fit" and chosen:fit
  const record::Fit* fit_b = nullptr;
};

/// Pairs are made by task, id and repeat; an item whose options differ between the two is counted
/// as answered by one alone. Bare scores (no probabilities) make no pairs.
Compared compare(std::span<const record::Row> a_rows, const ColumnName& a,
                 std::span<const record::Row> b_rows, const ColumnName& b,
                 const CompareOptions& options = {});

}  // namespace deem::score
