#include "decision/baseline.h"

namespace deem::decision {

double brier(std::span<const double> p, std::optional<std::size_t> label) {
  double sum = label && *label < p.size() ? 0 : 1;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double error = p[i] - (label == i ? 1.0 : 0.0);
    sum += error * error;
  }
  return sum;
}

std::vector<double> uniform_probabilities(std::size_t n) {
  return std::vector<double>(n, n == 0 ? 0 : 1 / static_cast<double>(n));
}

std::vector<double> prior_probabilities(std::span<const std::string> keys,
                                        const std::map<std::string, std::size_t>& label_counts) {
  std::vector<double> p;
  double sum = 0;
  for (const std::string& key : keys) {
    const auto found = label_counts.find(key);
    p.push_back(found == label_counts.end() ? 0 : static_cast<double>(found->second));
    sum += p.back();
  }
  if (sum == 0) return uniform_probabilities(keys.size());
  for (double& v : p) v /= sum;
  return p;
}

}  // namespace deem::decision
