#include "score/align.h"

#include <algorithm>
#include <map>

#include "score/answer.h"
#include "score/resample.h"

namespace deem::score {
namespace {

using decision::Calibrator;
using record::Row;
using Places = std::map<ItemName, std::size_t>;  // of an item in the shared order

constexpr double kAskedShare = 0.9;

/// Leaves whole states out, in seeded order, until the rest is within the limit.
void limit_items(std::span<const Row* const> rows, std::size_t most_items, std::uint64_t seed,
                 Places& places) {
  if (places.size() <= most_items) return;
  std::map<std::string, std::vector<ItemName>> by_state;
  std::set<ItemName> seen;
  for (const Row* row : rows) {
    const ItemName name{row->task, row->id, row->repeat};
    if (places.contains(name) && seen.insert(name).second) by_state[state_of(*row)].push_back(name);
  }
  std::vector<const std::vector<ItemName>*> order;
  for (const auto& [state, items] : by_state) order.push_back(&items);
  Random random(seed);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  for (const auto* items : order) {
    if (places.size() <= most_items) break;
    for (const ItemName& name : *items) places.erase(name);
  }
}

/// `states`: how many the shared items lie on.
Aligned align(const ColumnName& name, FitSample from, const Places& places, std::size_t& states) {
  std::vector<std::size_t> source(places.size());
  for (std::size_t i = 0; i < from.names.size(); ++i) {
    const auto found = places.find(from.names[i]);
    if (found != places.end()) source[found->second] = i;
  }
  Aligned out{.name = name};
  std::map<std::size_t, std::size_t> clusters;
  std::size_t unanswered = 0;
  for (const std::size_t i : source) {
    const RawSample::Item& item = from.sample.item(i);
    const std::size_t cluster = clusters.try_emplace(item.cluster, clusters.size()).first->second;
    const auto own =
        item.scores > 0 ? from.sample.probs(i, Calibrator{}) : std::optional<std::vector<double>>();
    out.sample.add(from.sample.scores(item), item.options, item.label, cluster,
                   own ? std::span<const double>(*own) : std::span<const double>());
    unanswered += item.scores == 0 ? 1 : 0;
    if (from.seconds[i]) out.seconds.push_back(*from.seconds[i]);
    if (from.tokens[i]) out.tokens.push_back(*from.tokens[i]);
  }
  states = clusters.size();
  from.unanswered = unanswered;
  out.from = std::move(from);
  out.methods = methods_for(out.sample);
  out.own = std::ranges::find(out.methods, Calibrator::Method::None) != out.methods.end();
  return out;
}

}  // namespace

Alignment align_columns(std::span<const Row* const> rows, const std::vector<ColumnName>& names,
                        std::size_t most_items, std::uint64_t seed) {
  Alignment out;
  std::vector<FitSample> samples;
  std::set<ItemName> all;
  for (const ColumnName& name : names) {
    samples.push_back(fit_sample(rows, name));
    all.insert(samples.back().names.begin(), samples.back().names.end());
  }
  std::map<ItemName, std::size_t> asked;  // by how many of the columns that stay
  std::vector<std::size_t> kept;
  for (std::size_t c = 0; c < names.size(); ++c) {
    const FitSample& sample = samples[c];
    if (sample.names.empty()) continue;
    const bool few =
        static_cast<double>(sample.names.size()) < kAskedShare * static_cast<double>(all.size());
    if (few) {
      if (sample.unanswered < sample.names.size()) {
        out.notes.push_back(names[c].text() + ": left out, asked only " +
                            std::to_string(sample.names.size()) + " of " +
                            std::to_string(all.size()) + " items");
      }
      continue;
    }
    if (sample.unanswered == sample.names.size()) {
      out.notes.push_back(names[c].text() + ": left out, no answer to any of " +
                          std::to_string(sample.names.size()) + " items");
      continue;
    }
    kept.push_back(c);
    for (const ItemName& item : sample.names) ++asked[item];
  }
  Places places;
  for (const auto& [item, count] : asked) {
    if (count == kept.size()) places.emplace(item, 0);
  }
  if (places.size() < all.size() && !kept.empty()) {
    out.notes.push_back(std::to_string(all.size() - places.size()) +
                        " items that not every column was asked are left out");
  }
  const std::size_t before = places.size();
  limit_items(rows, most_items, seed, places);
  out.left_out = before - places.size();
  std::size_t next = 0;
  for (auto& [item, index] : places) {
    index = next++;
    out.items.insert(item);
  }
  for (const std::size_t c : kept)
    out.columns.push_back(align(names[c], std::move(samples[c]), places, out.states));
  return out;
}

}  // namespace deem::score
