#include "decision/readout.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace deem::decision {

std::vector<double> softmax(std::span<const double> logits, double temperature) {
  std::vector<double> p(logits.begin(), logits.end());
  if (p.empty()) return p;
  for (double& v : p) v /= temperature;
  const double top = *std::ranges::max_element(p);
  double sum = 0;
  for (double& v : p) {
    v = std::exp(v - top);
    sum += v;
  }
  for (double& v : p) v /= sum;
  return p;
}

double calibrate_noul(double p_yes, const Constants& constants) {
  const double p = std::min(std::max(p_yes, 1e-4), 1 - 1e-4);
  const double z = std::log(p / (1 - p)) / constants.noul_slope + constants.noul_bias;
  return 1 / (1 + std::exp(-z));
}

std::size_t argmax(std::span<const double> p) {
  DEEM_CHECK(!p.empty());
  std::size_t best = 0;
  for (std::size_t i = 1; i < p.size(); ++i) {
    if (p[i] > p[best]) best = i;
  }
  return best;
}

double confidence_typesafe_choice(std::span<const double> p) {
  DEEM_CHECK(!p.empty());
  if (p.size() == 1) return 1;
  const double uniform = 1.0 / static_cast<double>(p.size());
  return std::max(0.0, (p[argmax(p)] - uniform) / (1 - uniform));
}

double confidence_typesafe_score(std::span<const double> p) {
  DEEM_CHECK(!p.empty());
  if (p.size() == 1) return 1;
  const auto n = static_cast<double>(p.size());
  const auto mode = static_cast<double>(argmax(p));
  double spread = 0;    // mean distance from the middle: what a uniform answer has
  double distance = 0;  // expected distance from the mode
  for (std::size_t i = 0; i < p.size(); ++i) {
    const auto level = static_cast<double>(i);
    spread += std::abs(level - (n - 1) / 2) / n;
    distance += p[i] * std::abs(level - mode);
  }
  return std::max(0.0, 1 - distance / spread);
}

double confidence_entropy(std::span<const double> p) {
  DEEM_CHECK(!p.empty());
  if (p.size() == 1) return 1;
  double entropy = 0;
  for (const double v : p) {
    if (v > 0) entropy -= v * std::log(v);
  }
  return std::max(0.0, 1 - entropy / std::log(static_cast<double>(p.size())));
}

double margin_top2(std::span<const double> p) {
  DEEM_CHECK(!p.empty());
  const std::size_t best = argmax(p);
  double second = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (i != best) second = std::max(second, p[i]);
  }
  return p[best] - second;
}

double expectation(std::span<const double> p) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += static_cast<double>(i) * p[i];
  return sum;
}

std::vector<Group> tournament_groups(std::size_t n, std::size_t limit) {
  DEEM_CHECK(limit > 0);
  std::vector<Group> groups;
  if (n == 0) return groups;
  const std::size_t count = (n - 1) / limit + 1;
  const std::size_t size = n / count;
  const std::size_t longer = n % count;  // this many groups hold one more
  for (std::size_t g = 0, first = 0; g < count; ++g) {
    const std::size_t last = first + size + (g < longer ? 1 : 0);
    groups.push_back({first, last});
    first = last;
  }
  return groups;
}

std::vector<double> combine_tournament(const std::vector<std::vector<double>>& groups,
                                       std::span<const double> final_round) {
  DEEM_CHECK(groups.size() == final_round.size());
  std::vector<double> p;
  double sum = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].empty()) continue;
    const double winner = groups[g][argmax(groups[g])];
    for (const double inside : groups[g]) {
      p.push_back(winner > 0 ? final_round[g] * inside / winner : 0);
      sum += p.back();
    }
  }
  if (sum > 0) {
    for (double& v : p) v /= sum;
  }
  return p;
}

std::string to_string(const Variant& variant) {
  const char* norm = variant.norm == Norm::Sum    ? "-sum"
                     : variant.norm == Norm::Mean ? "-mean"
                                                  : "-bytes";
  return std::string(variant.prior ? "prior" : "raw") + norm;
}

std::optional<Variant> parse_variant(std::string_view name) {
  for (const bool prior : {false, true}) {
    for (const Norm norm : {Norm::Sum, Norm::Mean, Norm::Bytes}) {
      const Variant variant{.prior = prior, .norm = norm};
      if (name == to_string(variant)) return variant;
    }
  }
  return std::nullopt;
}

std::optional<std::vector<double>> option_scores(std::span<const TextScore> texts,
                                                 std::span<const std::optional<TextScore>> priors,
                                                 Variant variant) {
  std::vector<double> scores;
  scores.reserve(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const TextScore& text = texts[i];
    double score = text.sum;
    if (variant.prior) {
      if (i >= priors.size() || !priors[i]) return std::nullopt;
      score -= priors[i]->sum;
    }
    if (variant.norm != Norm::Sum) {
      const std::size_t length = variant.norm == Norm::Mean ? text.tokens : text.bytes;
      if (length == 0) return std::nullopt;
      score /= static_cast<double>(length);
    }
    scores.push_back(score);
  }
  return scores;
}

}  // namespace deem::decision
