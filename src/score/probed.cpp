#include "score/probed.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace deem::score {

using record::Row;

std::vector<ProbedArm> probed_arms(std::span<const Row> rows) {
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
  constexpr std::string_view kSustained = "sustained";
  std::map<Key, ProbedItem> items;
  for (const Row& row : rows) {
    if (row.probe.empty() || row.probe == kSustained || row.repeat != 0) continue;
    items[{row.arm, row.task, row.id}].probes[row.probe] = &row;
  }
  std::vector<ProbedArm> out;
  if (items.empty()) return out;
  for (const Row& row : rows) {
    if (!row.probe.empty() || row.repeat != 0) continue;
    const auto found = items.find({row.arm, row.task, row.id});
    if (found == items.end()) continue;
    found->second.plain = &row;
    auto arm = std::ranges::find(out, row.arm, &ProbedArm::arm);
    if (arm == out.end()) arm = out.insert(out.end(), ProbedArm{.arm = row.arm});
    arm->items.push_back(found->second);
  }
  return out;
}

std::vector<ReadingVariant> probed_columns(const ProbedArm& arm,
                                           bool (*wanted)(std::string_view probe)) {
  std::vector<ReadingVariant> out;
  std::set<ReadingVariant> seen;
  for (const ProbedItem& item : arm.items) {
    for (const auto& [name, row] : item.probes) {
      if (!wanted(name)) continue;
      for (const auto& [reading, record] : row->readings) {
        if (record.error || record.unsupported) continue;
        for (const std::string& variant : variants_of(record)) {
          if (seen.insert({reading, variant}).second) out.push_back({reading, variant});
        }
      }
    }
  }
  std::ranges::stable_sort(out, {}, &ReadingVariant::reading);
  return out;
}

std::optional<Said> said(const Row* row, const Row& plain, const ReadingVariant& column) {
  if (row == nullptr || row->status != Row::Status::Asked) return std::nullopt;
  const auto reading = row->readings.find(column.reading);
  if (reading == row->readings.end()) return std::nullopt;
  const auto answer = answer_of(*row, reading->second, column.variant);
  if (!answer || answer->probs.size() != plain.keys.size()) return std::nullopt;
  Said out{.probs = std::vector<double>(plain.keys.size()), .place = answer->choice};
  if (row->keys == plain.keys) {
    out.probs = answer->probs;
    out.choice = answer->choice;
    return out;
  }
  std::map<std::string_view, std::size_t> place;
  for (std::size_t i = 0; i < plain.keys.size(); ++i) place.emplace(plain.keys[i], i);
  for (std::size_t i = 0; i < row->keys.size(); ++i) {
    const auto found = place.find(row->keys[i]);
    if (found == place.end()) return std::nullopt;
    out.probs[found->second] = answer->probs[i];
    if (i == answer->choice) out.choice = found->second;
  }
  return out;
}

double largest_change(std::span<const double> a, std::span<const double> b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

void Spread::add(double value) {
  ++n;
  sum += value;
  max = std::max(max, value);
}

std::optional<double> Spread::mean() const {
  return n == 0 ? std::nullopt : std::optional(sum / static_cast<double>(n));
}

std::optional<double> Spread::largest() const { return n == 0 ? std::nullopt : std::optional(max); }

}  // namespace deem::score
