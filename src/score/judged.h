#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace deem::score {

/// Labelled answers with probabilities, as the figures take them: what was said, what was right.
/// Everything here is a plain number, so that a million of them fit and every figure is a pure
/// function of it.
class Judged {
 public:
  struct Item {
    std::size_t first = 0;  // of its probabilities
    std::uint32_t options = 0;
    std::uint32_t choice = 0;
    std::uint32_t label = 0;    // index of the right option; `options` when the label is none
    std::uint32_t cluster = 0;  // items on one state share it
    bool correct() const { return choice == label; }
  };

  /// Requires choice < probs.size() and label ≤ probs.size().
  void add(std::span<const double> probs, std::size_t choice, std::size_t label,
           std::size_t cluster);

  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  const std::vector<Item>& items() const { return items_; }
  std::span<const double> probs(const Item& item) const {
    return std::span(probs_).subspan(item.first, item.options);
  }
  /// The probability of what was answered.
  double confidence(const Item& item) const { return probs_[item.first + item.choice]; }

 private:
  std::vector<Item> items_;
  std::vector<double> probs_;
};

}  // namespace deem::score
