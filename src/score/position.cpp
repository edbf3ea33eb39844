#include "score/position.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "decision/baseline.h"
#include "decision/readout.h"
#include "score/detail.h"

namespace deem::score {
namespace {

using record::Row;

bool is_order(std::string_view probe) { return probe.starts_with("order:"); }

/// Adds up answers of one way.
class WayTally {
 public:
  void add(std::span<const double> p, std::size_t choice, std::size_t label,
           const std::string& state) {
    const auto [place, fresh] = states_.try_emplace(state, clusters_.size());
    if (fresh) clusters_.emplace_back();
    ClusterSums& sums = clusters_[place->second];
    ++n_;
    const bool right = choice == label;
    hits_ += right ? 1U : 0U;
    const double brier = decision::brier(p, label);
    brier_ += brier;
    ++sums.n;
    sums.a += right ? 1 : 0;
    sums.b += brier;
  }

  WayToAnswer finish() {
    WayToAnswer out{.accuracy = rate(hits_, n_)};
    if (n_ == 0) return out;
    out.brier = brier_ / static_cast<double>(n_);
    if (const auto means = bootstrap_means(clusters_, kScoreSeed)) out.brier_95 = means->b;
    return out;
  }

 private:
  std::size_t hits_ = 0, n_ = 0;
  double brier_ = 0;
  std::map<std::string, std::size_t> states_;
  std::vector<ClusterSums> clusters_;
};

/// n! where it is under a million.
std::size_t orders_of(std::size_t n) {
  std::size_t product = 1;
  for (std::size_t i = 2; i <= n && product < 1'000'000; ++i) product *= i;
  return product;
}

class Tally {
 public:
  explicit Tally(std::string task) { out_.task = std::move(task); }

  void add(const ProbedItem& item, const ReadingVariant& column) {
    const Row& plain = *item.plain;
    const auto first = said(item.plain, plain, column);
    const auto label = label_index(plain);
    std::vector<Said> all;
    std::optional<Said> reverse;
    std::vector<const Row*> asked;
    for (const auto& [name, row] : item.probes) {
      if (!is_order(name) || !row->readings.contains(column.reading)) continue;
      auto one = said(row, plain, column);
      if (!one) {
        ++out_.unanswered;
        continue;
      }
      if (name == "order:reverse") reverse = one;
      all.push_back(std::move(*one));
      asked.push_back(row);
    }
    if (!first || all.empty()) return;
    ++out_.n;
    out_.orders += all.size();
    if (all.size() + 1 == orders_of(plain.keys.size())) ++out_.complete;
    double change = 0;
    bool flipped = false;
    for (const Said& one : all) {
      const bool differs = one.choice != first->choice;
      flipped = flipped || differs;
      flipped_orders_ += differs ? 1U : 0U;
      change = std::max(change, largest_change(one.probs, first->probs));
    }
    flipped_items_ += flipped ? 1U : 0U;
    changes_.push_back(change);
    if (reverse) {
      ++reversed_;
      reverse_flips_ += reverse->choice != first->choice ? 1U : 0U;
    }
    add_places(plain, *first, plain, label);
    for (std::size_t i = 0; i < all.size(); ++i) add_places(*asked[i], all[i], plain, label);
    if (label) add_ways(plain, *first, all, reverse, *label);
  }

  PositionFigures finish() {
    out_.flipped_items = rate(flipped_items_, out_.n);
    out_.flipped_orders = rate(flipped_orders_, out_.orders);
    out_.reverse_flips = rate(reverse_flips_, reversed_);
    out_.median_change = percentile(changes_, 5'000);
    if (!changes_.empty()) out_.max_change = *std::ranges::max_element(changes_);
    for (const auto& [hits, n] : by_gold_) out_.by_gold.push_back(rate(hits, n));
    for (const std::size_t hits : said_at_) out_.said_at.push_back(rate(hits, answers_));
    if (out_.labelled > 0) out_.uniform_accuracy = uniform_ / static_cast<double>(out_.labelled);
    out_.plain = plain_.finish();
    out_.averaged = averaged_.finish();
    out_.averaged_logprobs = averaged_logprobs_.finish();
    out_.reversed = reversed_way_.finish();
    return std::move(out_);
  }

 private:
  /// Where the gold option stood, and whether it was said there.
  void add_places(const Row& row, const Said& one, const Row& plain,
                  const std::optional<std::size_t>& label) {
    ++answers_;
    if (one.place >= said_at_.size()) said_at_.resize(one.place + 1);
    ++said_at_[one.place];
    if (!label || *label >= plain.keys.size()) return;
    const auto at = static_cast<std::size_t>(std::ranges::find(row.keys, plain.keys[*label]) -
                                             row.keys.begin());
    if (at >= by_gold_.size()) by_gold_.resize(at + 1);
    ++by_gold_[at].second;
    by_gold_[at].first += one.choice == *label ? 1U : 0U;
  }

  void add_ways(const Row& plain, const Said& first, const std::vector<Said>& others,
                const std::optional<Said>& reverse, std::size_t label) {
    ++out_.labelled;
    uniform_ += label < plain.keys.size() ? 1 / static_cast<double>(plain.keys.size()) : 0;
    const std::string& state = state_of(plain);
    plain_.add(first.probs, first.choice, label, state);
    if (reverse) reversed_way_.add(reverse->probs, reverse->choice, label, state);
    const std::size_t options = plain.keys.size();
    std::vector<double> mean(options), logs(options);
    const auto take = [&](const Said& one) {
      for (std::size_t i = 0; i < options; ++i) {
        mean[i] += one.probs[i];
        logs[i] += std::log(std::max(one.probs[i], std::numeric_limits<double>::min()));
      }
    };
    take(first);
    for (const Said& one : others) take(one);
    const auto n = static_cast<double>(others.size() + 1);
    for (std::size_t i = 0; i < options; ++i) {
      mean[i] /= n;
      logs[i] /= n;
    }
    averaged_.add(mean, decision::argmax(mean), label, state);
    const std::vector<double> p = decision::softmax(logs);
    averaged_logprobs_.add(p, decision::argmax(p), label, state);
  }

  PositionFigures out_;
  std::size_t flipped_items_ = 0, flipped_orders_ = 0, reversed_ = 0, reverse_flips_ = 0,
              answers_ = 0;
  double uniform_ = 0;
  std::vector<double> changes_;
  std::vector<std::pair<std::size_t, std::size_t>> by_gold_;
  std::vector<std::size_t> said_at_;
  WayTally plain_, averaged_, averaged_logprobs_, reversed_way_;
};

}  // namespace

std::vector<PositionColumn> position_figures(const std::vector<ProbedArm>& arms) {
  std::vector<PositionColumn> out;
  for (const ProbedArm& arm : arms) {
    for (const ReadingVariant& column : probed_columns(arm, is_order)) {
      std::vector<std::string> tasks;
      std::map<std::string, Tally> tallies;
      Tally all("");
      for (const ProbedItem& item : arm.items) {
        const auto [place, fresh] = tallies.try_emplace(item.plain->task, item.plain->task);
        if (fresh) tasks.push_back(item.plain->task);
        place->second.add(item, column);
        all.add(item, column);
      }
      PositionColumn one{.arm = arm.arm, .reading = column.reading, .variant = column.variant};
      for (const std::string& task : tasks) {
        PositionFigures figures = tallies.at(task).finish();
        if (figures.n + figures.unanswered > 0) one.tasks.push_back(std::move(figures));
      }
      one.all = all.finish();
      out.push_back(std::move(one));
    }
  }
  return out;
}

std::vector<LabelPrior> label_priors(std::span<const Row> rows) {
  std::vector<LabelPrior> out;
  for (const Row& row : rows) {
    if (!row.probe.empty() && !is_order(row.probe)) continue;
    for (const auto& [name, reading] : row.readings) {
      if (!reading.prior_rounds || reading.prior_rounds->size() != 1) continue;
      const auto& letters = reading.prior_rounds->front().letters;
      if (letters.cause != decision::VoidCause::None) continue;
      const auto p = decision::softmax(decision::fill_missing(letters, reading.policy).logprobs);
      auto found = std::ranges::find_if(out, [&](const LabelPrior& one) {
        return one.arm == row.arm && one.reading == name && one.p.size() == p.size();
      });
      if (found == out.end()) {
        found = out.insert(
            out.end(),
            {.arm = row.arm, .reading = name, .rows = 0, .p = std::vector<double>(p.size())});
      }
      ++found->rows;
      for (std::size_t i = 0; i < p.size(); ++i) found->p[i] += p[i];
    }
  }
  for (LabelPrior& one : out) {
    for (double& p : one.p) p /= static_cast<double>(one.rows);
  }
  std::ranges::stable_sort(out, {}, [](const LabelPrior& one) {
    return std::tuple(one.arm, one.reading, one.p.size());
  });
  return out;
}

}  // namespace deem::score
