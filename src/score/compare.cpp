#include "score/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <tuple>

#include "base/chance.h"
#include "decision/baseline.h"
#include "score/fitted.h"
#include "score/statistics.h"

namespace deem::score {
namespace {

using record::Row;
using Key = std::tuple<std::string, std::string, int>;  // task, id, repeat

/// One column's answer to one labelled item.
struct Given {
  const Row* row = nullptr;
  Answer answer = {};
  bool right = false;
  double brier = 0, seconds = 0;
  std::optional<std::int64_t> prompt = {}, cached = {};  // tokens
};

/// Adds up how much of the prompts was cached; one that is not told makes it unknown.
class CachedShare {
 public:
  void add(const Given& given) {
    known_ = known_ && given.prompt && given.cached;
    if (!known_) return;
    prompt_ += static_cast<double>(*given.prompt);
    cached_ += static_cast<double>(*given.cached);
  }
  std::optional<double> value() const {
    return known_ && prompt_ > 0 ? std::optional(cached_ / prompt_) : std::nullopt;
  }

 private:
  bool known_ = true;
  double prompt_ = 0, cached_ = 0;
};

std::map<Key, Given> answers_of(std::span<const Row> rows, const ColumnName& column,
                                const record::Fit* fit) {
  std::map<Key, Given> out;
  for (const Row& row : rows) {
    const auto label = label_index(row);
    if (row.arm != column.arm || !label || !row.probe.empty()) continue;
    InColumn found = in_column(row, column.reading, column.variant, fit);
    if (!found.answer || found.answer->probs.empty()) continue;
    Given given{.row = &row, .answer = std::move(*found.answer)};
    given.right = given.answer.choice == *label;
    given.brier = decision::brier(given.answer.probs, *label);
    given.seconds = found.reading->planned_to_done_s;
    given.prompt = found.reading->prompt_tokens;
    given.cached = found.reading->cached_tokens;
    out.insert_or_assign(Key{row.task, row.id, row.repeat}, std::move(given));
  }
  return out;
}

/// Adds up pairs of one task, or of all.
class PairTally {
 public:
  explicit PairTally(std::string task) { out_.task = std::move(task); }

  void only_a() { ++out_.only_a; }
  void only_b() { ++out_.only_b; }

  void add(const Given& a, const Given& b) {
    ++out_.n;
    if (a.right && b.right) ++out_.both_right;
    if (!a.right && !b.right) ++out_.both_wrong;
    if (a.right && !b.right) ++out_.right_a;
    if (!a.right && b.right) ++out_.right_b;
    out_.brier_a += a.brier;
    out_.brier_b += b.brier;
    seconds_a_.push_back(a.seconds);
    seconds_b_.push_back(b.seconds);
    share_a_.add(a);
    share_b_.add(b);
    const auto [place, fresh] = states_.try_emplace(state_of(*a.row), clusters_.size());
    if (fresh) clusters_.emplace_back();
    ClusterSums& sums = clusters_[place->second];
    ++sums.n;
    sums.a += (b.right ? 1.0 : 0.0) - (a.right ? 1.0 : 0.0);
    sums.b += b.brier - a.brier;
  }

  Comparison finish(std::uint64_t seed) {
    if (out_.n == 0) return std::move(out_);
    const auto n = static_cast<double>(out_.n);
    out_.accuracy_a = static_cast<double>(out_.both_right + out_.right_a) / n;
    out_.accuracy_b = static_cast<double>(out_.both_right + out_.right_b) / n;
    out_.brier_a /= n;
    out_.brier_b /= n;
    out_.p = mcnemar_exact(out_.right_a, out_.right_b);
    out_.detectable =
        detectable_difference(static_cast<double>(out_.right_a + out_.right_b) / n, out_.n);
    if (const auto means = bootstrap_means(clusters_, seed)) {
      out_.accuracy_difference = means->a;
      out_.brier_difference = means->b;
    }
    out_.median_a = percentile(seconds_a_, 5'000);
    out_.median_b = percentile(seconds_b_, 5'000);
    out_.p95_a = percentile(std::move(seconds_a_), 9'500);
    out_.p95_b = percentile(std::move(seconds_b_), 9'500);
    out_.cached_a = share_a_.value();
    out_.cached_b = share_b_.value();
    return std::move(out_);
  }

 private:
  Comparison out_;
  std::map<std::string, std::size_t> states_;
  std::vector<ClusterSums> clusters_;
  std::vector<double> seconds_a_, seconds_b_;
  CachedShare share_a_, share_b_;
};

Disagreement disagreement(const Key& key, const Given& a, const Given& b) {
  return {.task = std::get<0>(key),
          .id = std::get<1>(key),
          .repeat = std::get<2>(key),
          .said_a = a.row->keys[a.answer.choice],
          .said_b = b.row->keys[b.answer.choice],
          .label = *a.row->label,
          .p_a = a.answer.probs[a.answer.choice],
          .p_b = b.answer.probs[b.answer.choice]};
}

}  // namespace

std::string unlike_caches(const Comparison& c) {
  constexpr double kApart = 0.1;
  if (!c.cached_a || !c.cached_b || std::abs(*c.cached_a - *c.cached_b) <= kApart) return "";
  char text[128];
  std::snprintf(text, sizeof text,
                "A's seat had %.0f %% of the prompts' tokens in its cache, B's %.0f %%: times and "
                "joules are not of the same work",
                *c.cached_a * 100, *c.cached_b * 100);
  return text;
}

std::optional<double> detectable_difference(double discordant, std::size_t n) {
  if (n == 0) return std::nullopt;
  constexpr double kQuantiles = 1.959963984540054 + 0.8416212335729143;  // 97.5 % and 80 %
  return kQuantiles * std::sqrt(discordant / static_cast<double>(n));
}

Compared compare(std::span<const Row> a_rows, const ColumnName& a, std::span<const Row> b_rows,
                 const ColumnName& b, const CompareOptions& options) {
  const std::uint64_t seed = options.seed;
  const auto of_a = answers_of(a_rows, a, options.fit_a);
  const auto of_b = answers_of(b_rows, b, options.fit_b);
  std::vector<std::string> order;
  std::map<std::string, PairTally> tallies;
  const auto tally_of = [&](const std::string& task) -> PairTally& {
    const auto [place, fresh] = tallies.try_emplace(task, task);
    if (fresh) order.push_back(task);
    return place->second;
  };
  for (const Row& row : a_rows) {
    if (row.probe.empty()) tally_of(row.task);
  }
  PairTally all("");
  Compared out;
  for (const auto& [key, given] : of_a) {
    PairTally& task = tally_of(std::get<0>(key));
    const auto other = of_b.find(key);
    if (other == of_b.end() || other->second.row->keys != given.row->keys) {
      task.only_a();
      all.only_a();
      continue;
    }
    task.add(given, other->second);
    all.add(given, other->second);
    if (given.answer.choice != other->second.answer.choice) {
      out.disagreements.push_back(disagreement(key, given, other->second));
    }
  }
  for (const auto& [key, given] : of_b) {
    const auto other = of_a.find(key);
    if (other != of_a.end() && other->second.row->keys == given.row->keys) continue;
    tally_of(std::get<0>(key)).only_b();
    all.only_b();
  }
  for (const std::string& task : order) {
    Comparison one = tallies.at(task).finish(seed);
    if (one.n + one.only_a + one.only_b > 0) out.tasks.push_back(std::move(one));
  }
  out.all = all.finish(seed);
  return out;
}

}  // namespace deem::score
