#include "score/detail.h"

#include <algorithm>
#include <cmath>

#include "decision/baseline.h"
#include "decision/readout.h"

namespace deem::score {
namespace {

constexpr double kThresholds[] = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99};
constexpr double kWanted[] = {0.8, 0.9, 0.95, 0.99};

ActAbove act_above(const RiskCoverage& curve, double threshold, std::size_t n) {
  const RiskCoverage::Above above = curve.above(threshold);
  return {.threshold = threshold,
          .coverage = static_cast<double>(above.n) / static_cast<double>(n),
          .accuracy = rate(above.correct, above.n)};
}

/// Lengths of states in code points, in steps of four times.
std::string length_slice(std::int64_t chars) {
  if (chars < 500) return "0-499";
  if (chars < 2'000) return "500-1999";
  if (chars < 8'000) return "2000-7999";
  if (chars < 32'000) return "8000-31999";
  return "32000 and more";
}

}  // namespace

void Sample::add_slice(const char* by, std::string value, bool right, double brier) {
  SliceSums& sums = slices_[{by, std::move(value)}];
  ++sums.n;
  sums.hits += right ? 1U : 0U;
  sums.brier += brier;
}

void Sample::add(const record::Row& row, const Answer& answer, std::size_t label) {
  const auto [place, fresh] = states_.try_emplace(state_of(row), states_.size());
  const std::size_t cluster = place->second;
  if (fresh) clusters_.emplace_back();
  judged_.add(answer.probs, answer.choice, label, cluster);

  const bool right = answer.choice == label;
  const double brier = decision::brier(answer.probs, label);
  ++clusters_[cluster].n;
  clusters_[cluster].a += right ? 1 : 0;
  clusters_[cluster].b += brier;

  const std::span<const double> p = answer.probs;
  confidence_.top_p += p[answer.choice];
  confidence_.margin += decision::margin_top2(p);
  confidence_.entropy += decision::confidence_entropy(p);
  const bool is_score = row.type == decision::QuestionType::Score;
  confidence_.typesafe +=
      is_score ? decision::confidence_typesafe_score(p) : decision::confidence_typesafe_choice(p);

  if (keys_.empty()) keys_ = row.keys;
  same_keys_ = same_keys_ && row.keys == keys_;
  classes_.push_back({answer.choice, label});
  if (is_score && label < row.keys.size() && p.size() > 1) {
    levels_.push_back({answer.choice, label});
    ranked_ += ranked_probability_score(p, label);
    const double off = decision::expectation(p) - static_cast<double>(label);
    expectation_error_ += std::abs(off);
    expectation_bias_ += off;
  }
  if (!row.language.empty()) add_slice("language", row.language, right, brier);
  if (row.state_chars) add_slice("state length", length_slice(*row.state_chars), right, brier);
  if (!row.kind.empty()) add_slice("kind", row.kind, right, brier);
  add_slice("options", std::to_string(row.keys.size()), right, brier);
  if (label < row.keys.size()) {
    add_slice("gold position", std::to_string(label + 1), right, brier);
  }
}

Detail Sample::finish(std::uint64_t seed) const {
  Detail out{.n = judged_.size(), .states = clusters_.size()};
  if (judged_.empty()) return out;
  const auto n = static_cast<double>(judged_.size());
  if (const auto means = bootstrap_means(clusters_, seed)) {
    out.accuracy_bootstrap = means->a;
    out.brier_bootstrap = means->b;
  }
  if (same_keys_) {
    out.balanced_accuracy = balanced_accuracy(classes_);
    out.macro_f1 = macro_f1(classes_);
  }
  out.brier = brier_parts(judged_);
  out.log_loss = log_loss(judged_);
  out.calibration = calibration_error(judged_, seed);
  const RiskCoverage curve(judged_);
  out.aurc = curve.area();
  for (const double threshold : kThresholds) {
    out.act_above.push_back(act_above(curve, threshold, judged_.size()));
  }
  for (const double accuracy : kWanted) {
    ThresholdFor one{.accuracy = accuracy};
    if (const auto t = curve.threshold_for(accuracy, false)) {
      one.reached = act_above(curve, *t, judged_.size());
    }
    if (const auto t = curve.threshold_for(accuracy, true)) {
      one.sure = act_above(curve, *t, judged_.size());
    }
    out.threshold_for.push_back(std::move(one));
  }
  out.confidence = Confidences{.top_p = confidence_.top_p / n,
                               .margin = confidence_.margin / n,
                               .entropy = confidence_.entropy / n,
                               .typesafe = confidence_.typesafe / n};
  if (!levels_.empty()) {
    const auto k = static_cast<double>(levels_.size());
    out.levels = Levels{.n = levels_.size(),
                        .mean_absolute_error = *mean_absolute_error(levels_),
                        .within_one = *within_one(levels_),
                        .quadratic_weighted_kappa = quadratic_weighted_kappa(levels_),
                        .ranked_probability_score = ranked_ / k,
                        .expectation_error = expectation_error_ / k,
                        .expectation_bias = expectation_bias_ / k};
  }
  for (const auto& [name, sums] : slices_) {
    out.slices.push_back({.by = name.first,
                          .value = name.second,
                          .accuracy = rate(sums.hits, sums.n),
                          .brier = sums.brier / static_cast<double>(sums.n)});
  }
  // "2" before "12": by kind of slice, then by number where both are numbers.
  std::ranges::stable_sort(out.slices, [](const Slice& a, const Slice& b) {
    if (a.by != b.by) return a.by < b.by;
    if (a.by == "kind" || a.by == "language") return a.value < b.value;
    return a.value.size() != b.value.size() ? a.value.size() < b.value.size() : a.value < b.value;
  });
  return out;
}

}  // namespace deem::score
