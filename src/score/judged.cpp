#include "score/judged.h"

#include "base/check.h"

namespace deem::score {

void Judged::add(std::span<const double> probs, std::size_t choice, std::size_t label,
                 std::size_t cluster) {
  DEEM_CHECK(choice < probs.size() && label <= probs.size());
  items_.push_back({.first = probs_.size(),
                    .options = static_cast<std::uint32_t>(probs.size()),
                    .choice = static_cast<std::uint32_t>(choice),
                    .label = static_cast<std::uint32_t>(label),
                    .cluster = static_cast<std::uint32_t>(cluster)});
  probs_.insert(probs_.end(), probs.begin(), probs.end());
}

}  // namespace deem::score
