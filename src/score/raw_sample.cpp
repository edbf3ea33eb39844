#include "score/raw_sample.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "decision/baseline.h"
#include "score/resample.h"

namespace deem::score {

void RawSample::add(std::span<const double> scores, std::size_t options, std::size_t label,
                    std::size_t cluster, std::span<const double> probs) {
  DEEM_CHECK(label <= options);
  items_.push_back({.first = scores_.size(),
                    .scores = static_cast<std::uint32_t>(scores.size()),
                    .options = static_cast<std::uint32_t>(options),
                    .label = static_cast<std::uint32_t>(label),
                    .cluster = static_cast<std::uint32_t>(cluster),
                    .first_default = defaults_.size(),
                    .defaults = static_cast<std::uint32_t>(probs.size())});
  scores_.insert(scores_.end(), scores.begin(), scores.end());
  defaults_.insert(defaults_.end(), probs.begin(), probs.end());
  clusters_ = std::max(clusters_, cluster + 1);
}

std::vector<std::size_t> RawSample::all() const {
  std::vector<std::size_t> out(items_.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}

bool RawSample::is_bare() const {
  return std::ranges::any_of(items_,
                             [](const Item& item) { return item.scores == 1 && item.options > 1; });
}

std::optional<std::vector<double>> RawSample::probs(std::size_t i,
                                                    const decision::Calibrator& calibrator) const {
  const Item& item = items_[i];
  if (item.scores == 0) return decision::uniform_probabilities(item.options);
  if (calibrator.method != decision::Calibrator::Method::None) {
    return decision::apply_calibrator(calibrator, scores(item));
  }
  if (item.defaults == 0) return std::nullopt;
  const auto own = std::span(defaults_).subspan(item.first_default, item.defaults);
  return std::vector<double>(own.begin(), own.end());
}

std::vector<std::size_t> assign_folds(const RawSample& sample, RawSample::Indices items,
                                      std::size_t folds, std::uint64_t seed) {
  std::vector<std::size_t> sizes(sample.clusters());
  for (const std::size_t i : items) ++sizes[sample.item(i).cluster];
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    if (sizes[c] > 0) order.push_back(c);
  }
  Random random(seed);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  std::vector<std::size_t> out(sizes.size(), std::numeric_limits<std::size_t>::max());
  std::vector<std::size_t> filled(std::max<std::size_t>(1, std::min(folds, order.size())));
  for (const std::size_t c : order) {
    const auto least = std::ranges::min_element(filled);
    out[c] = static_cast<std::size_t>(least - filled.begin());
    *least += sizes[c];
  }
  return out;
}

Split split(const RawSample& sample, RawSample::Indices items,
            std::span<const std::size_t> fold_of_cluster, std::size_t fold) {
  Split out;
  for (const std::size_t i : items) {
    (fold_of_cluster[sample.item(i).cluster] == fold ? out.held_out : out.train).push_back(i);
  }
  return out;
}

}  // namespace deem::score
