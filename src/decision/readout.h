#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deem::decision {

/// Constants applied to raw scores; stored in every row. The defaults are OpenJev's published
/// serving values, as the reference bench uses them.
struct Constants {
  double temperature = 0.85;
  double noul_slope = 1.829074;
  double noul_bias = 0.0;
  bool operator==(const Constants&) const = default;
};
inline constexpr double kReferenceFloor = -30.0;

/// exp(z/T) normalised, subtracting the maximum; sums left to right, as run.py's softmax does.
/// −infinity beside a finite logit gets 0; none but such, +infinity or NaN give NaN.
std::vector<double> softmax(std::span<const double> logits, double temperature = 1.0);

/// p(yes) after the helper's yes/no calibration: p clamped to [1e-4, 1−1e-4],
/// 1/(1+exp(−(logit(p)/slope + bias))).
double calibrate_noul(double p_yes, const Constants& constants);

/// Index of the largest, the first among equals, as Python's max: a NaN never wins unless it is
/// first, and then always. Requires a non-empty span.
std::size_t argmax(std::span<const double> p);

// Confidence under its several names; never a bare "confidence". Each
// requires a non-empty span; expectation does not.
double confidence_typesafe_choice(std::span<const double> p);  // (max−1/n)/(1−1/n); 1 for n = 1
double confidence_typesafe_score(std::span<const double> p);   // max(0, 1 − Σ p_i·|i−mode|/D)
double confidence_entropy(std::span<const double> p);          // 1 − H/ln n; 1 for n = 1
double margin_top2(std::span<const double> p);
double expectation(std::span<const double> p);  // Σ i·p_i

/// Groups for n options of at most `limit` each: ceil(n/limit) of them, sizes differing by one at
/// most, the longer ones first. 53→27+26, 104→52+52, 105→35×3, 255→51×5. Each entry is
/// [first, last) over option indices. The final round takes one option of each group, so it fits
/// `limit` up to n = limit². Requires limit > 0.
struct Group {
  std::size_t first = 0;
  std::size_t last = 0;
  bool operator==(const Group&) const = default;
};
std::vector<Group> tournament_groups(std::size_t n, std::size_t limit = 52);

/// Combines group probabilities with those of the final among the groups' winners:
/// p_i ∝ p_final[group] · p_i / p_winner(group). `groups[g]` are probabilities inside group g, its
/// winner their argmax. Requires as many groups as final probabilities.
std::vector<double> combine_tournament(const std::vector<std::vector<double>>& groups,
                                       std::span<const double> final_round);

/// Raw numbers of one text scored by likelihood.
struct TextScore {
  double sum = 0;          // natural log-likelihood of the scored tokens
  std::size_t tokens = 0;  // how many tokens were scored
  std::size_t bytes = 0;   // bytes of the scored text
  bool operator==(const TextScore&) const = default;
};

/// One way of turning texts' numbers into scores: raw, or minus the prior; summed, per token or
/// per byte. (lm-evaluation-harness: acc = raw sum, acc_norm = raw bytes, acc_mutual_info = prior
/// sum.)
enum class Norm { Sum, Mean, Bytes };
struct Variant {
  bool prior = false;
  Norm norm = Norm::Sum;
  bool operator==(const Variant&) const = default;
};
std::string to_string(const Variant& variant);  // "raw-sum", "prior-mean", …
std::optional<Variant> parse_variant(std::string_view name);

/// Scores of options under `variant`; none when the variant needs a prior and one is absent, or
/// divides by the length of a text that has none.
/// Prior: (sum − prior.sum), divided by the text's own tokens or bytes for mean and bytes.
std::optional<std::vector<double>> option_scores(std::span<const TextScore> texts,
                                                 std::span<const std::optional<TextScore>> priors,
                                                 Variant variant);

}  // namespace deem::decision
