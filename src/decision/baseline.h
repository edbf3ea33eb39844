#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace deem::decision {

/// Multi-class Brier score of one answer: Σ (p_i − [i = label])². A label that is none of the
/// options adds the 1 it should have got.
double brier(std::span<const double> p, std::optional<std::size_t> label);

/// 1/n each.
std::vector<double> uniform_probabilities(std::size_t n);

/// The label frequencies of a task, restricted to one item's options and made to sum to 1;
/// uniform where none of them was ever a label.
std::vector<double> prior_probabilities(std::span<const std::string> keys,
                                        const std::map<std::string, std::size_t>& label_counts);

}  // namespace deem::decision
