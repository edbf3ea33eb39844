#include "score/classes.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/check.h"

namespace deem::score {
namespace {

struct Counts {
  double hits = 0, said = 0, right = 0;
};

std::map<std::size_t, Counts> count(std::span<const ClassPair> pairs) {
  std::map<std::size_t, Counts> classes;
  for (const ClassPair& pair : pairs) {
    ++classes[pair.said].said;
    ++classes[pair.right].right;
    if (pair.said == pair.right) ++classes[pair.right].hits;
  }
  return classes;
}

double distance(const ClassPair& pair) {
  return std::abs(static_cast<double>(pair.said) - static_cast<double>(pair.right));
}

template <class F>
std::optional<double> mean_of(std::span<const ClassPair> pairs, F value) {
  if (pairs.empty()) return std::nullopt;
  double sum = 0;
  for (const ClassPair& pair : pairs) sum += value(pair);
  return sum / static_cast<double>(pairs.size());
}

}  // namespace

std::optional<double> balanced_accuracy(std::span<const ClassPair> pairs) {
  double sum = 0, n = 0;
  for (const auto& [name, c] : count(pairs)) {
    if (c.right == 0) continue;
    sum += c.hits / c.right;
    ++n;
  }
  return n == 0 ? std::nullopt : std::optional(sum / n);
}

std::optional<double> macro_f1(std::span<const ClassPair> pairs) {
  double sum = 0, n = 0;
  for (const auto& [name, c] : count(pairs)) {
    sum += 2 * c.hits / (c.said + c.right);
    ++n;
  }
  return n == 0 ? std::nullopt : std::optional(sum / n);
}

std::optional<double> mean_absolute_error(std::span<const ClassPair> pairs) {
  return mean_of(pairs, distance);
}

std::optional<double> within_one(std::span<const ClassPair> pairs) {
  return mean_of(pairs, [](const ClassPair& pair) { return distance(pair) <= 1 ? 1.0 : 0.0; });
}

std::optional<double> quadratic_weighted_kappa(std::span<const ClassPair> pairs) {
  if (pairs.empty()) return std::nullopt;
  double observed = 0, expected = 0;
  for (const ClassPair& pair : pairs) observed += distance(pair) * distance(pair);
  const auto classes = count(pairs);
  for (const auto& [i, a] : classes) {
    for (const auto& [j, b] : classes) {
      const double d = distance({i, j});
      expected += d * d * a.said * b.right;
    }
  }
  expected /= static_cast<double>(pairs.size());
  if (expected == 0) return std::nullopt;
  return 1 - observed / expected;
}

double ranked_probability_score(std::span<const double> probs, std::size_t right) {
  DEEM_CHECK(probs.size() >= 2 && right < probs.size());
  double cumulated = 0, sum = 0;
  for (std::size_t i = 0; i + 1 < probs.size(); ++i) {
    cumulated += probs[i];
    const double off = cumulated - (i >= right ? 1 : 0);
    sum += off * off;
  }
  return sum / static_cast<double>(probs.size() - 1);
}

}  // namespace deem::score
