#include "score/choose.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "decision/baseline.h"
#include "decision/readout.h"
#include "score/answer.h"
#include "score/fit_sample.h"

namespace deem::score {
namespace {

using decision::Calibrator;
using Method = Calibrator::Method;
using record::Row;

constexpr double kAskedShare = 0.9;
constexpr double kEqual = 1e-12;  // means of one criterion that are nearer differ by rounding
constexpr double kPower = 2.8015852181129683;  // z(.975) + z(.80)

double value_of(const Losses& losses, Criterion by) {
  switch (by) {
    case Criterion::Brier:
      return losses.brier / losses.n;
    case Criterion::LogLoss:
      return losses.log_loss / losses.n;
    case Criterion::Accuracy:
      return 1 - losses.right / losses.n;
  }
  return 0;
}

double value_of(const record::FitFigures& figures, Criterion by) {
  switch (by) {
    case Criterion::Brier:
      return figures.brier;
    case Criterion::LogLoss:
      return figures.log_loss;
    case Criterion::Accuracy:
      return 1 - figures.accuracy;
  }
  return 0;
}

/// A column on the items that all columns share, in one order.
struct Aligned {
  FitSample from = {};
  RawSample sample = {};
  std::vector<Method> methods = {};
  bool own = false;                               // has probabilities by its own constants
  std::vector<double> seconds = {}, tokens = {};  // of those answered
};

/// One candidate's held-out predictions.
struct Predicted {
  std::size_t column = 0;
  bool fitted = false;
  std::vector<Calibrator> by_fold = {};
  Calibrator final = {};
  std::vector<double> inner = {};  // criterion inside each fold's training items
};

double one_loss(const RawSample& sample, std::size_t i, const Calibrator& calibrator,
                Criterion by) {
  Losses out;
  out.add(*sample.probs(i, calibrator), sample.item(i));
  return value_of(out, by);
}

/// Chooses among the columns of one task.
class Chooser {
 public:
  Chooser(const std::vector<const Row*>& rows, const std::vector<ColumnName>& columns,
          const ChooseOptions& options, Choice& out)
      : rows_(rows), options_(options), out_(out) {
    gather(columns);
  }

  void run() {
    out_.n = columns_.empty() ? 0 : columns_.front().sample.size();
    out_.states = states_;
    if (columns_.empty()) {
      out_.refused = "no labelled answers";
      return;
    }
    out_.refused = too_few(out_.n, out_.states);
    if (!out_.refused.empty()) return;
    const RawSample& any = columns_.front().sample;
    fold_of_ = assign_folds(any, any.all(), kFolds, options_.seed);
    for (std::size_t fold = 0; fold < kFolds; ++fold) {
      Split parts = split(any, any.all(), fold_of_, fold);
      if (!parts.held_out.empty() && !parts.train.empty()) splits_.push_back(std::move(parts));
    }
    out_.parts = splits_.size();
    predict();
    if (predicted_.empty()) {
      out_.refused = "no reading gives probabilities";
      return;
    }
    list();
    measure_choosing();
    describe_baselines();
  }

 private:
  void gather(const std::vector<ColumnName>& names) {
    std::vector<FitSample> samples;
    std::set<ItemName> all;
    for (const ColumnName& name : names) {
      samples.push_back(fit_sample(rows_, name));
      all.insert(samples.back().names.begin(), samples.back().names.end());
    }
    std::map<ItemName, std::size_t> asked;  // by how many of the columns that stay
    std::vector<std::size_t> kept;
    for (std::size_t c = 0; c < names.size(); ++c) {
      const FitSample& sample = samples[c];
      const bool few =
          static_cast<double>(sample.names.size()) < kAskedShare * static_cast<double>(all.size());
      if (sample.unanswered == sample.names.size()) {
        if (!few && !sample.names.empty()) {
          out_.notes.push_back(names[c].text() + ": left out, no answer to any of " +
                               std::to_string(sample.names.size()) + " items");
        }
        continue;
      }
      if (few) {
        out_.notes.push_back(names[c].text() + ": left out, asked only " +
                             std::to_string(sample.names.size()) + " of " +
                             std::to_string(all.size()) + " items");
        continue;
      }
      kept.push_back(c);
      for (const ItemName& item : sample.names) ++asked[item];
    }
    std::map<ItemName, std::size_t> place;
    for (const auto& [item, count] : asked) {
      if (count == kept.size()) place.emplace(item, 0);
    }
    if (place.size() < all.size() && !kept.empty()) {
      out_.notes.push_back(std::to_string(all.size() - place.size()) +
                           " items that not every column was asked are left out");
    }
    limit_items(place);
    std::size_t next = 0;
    for (auto& [item, index] : place) index = next++;
    for (const std::size_t c : kept) align(names[c], std::move(samples[c]), place);
    for (const auto& [item, index] : place) items_.insert(item);
  }

  /// Leaves whole states out, in seeded order, until the rest is within the limit.
  void limit_items(std::map<ItemName, std::size_t>& place) {
    if (place.size() <= options_.most_items) return;
    std::map<std::string, std::vector<ItemName>> by_state;
    std::set<ItemName> seen;
    for (const Row* row : rows_) {
      const ItemName name{row->task, row->id, row->repeat};
      if (place.contains(name) && seen.insert(name).second)
        by_state[state_of(*row)].push_back(name);
    }
    std::vector<const std::vector<ItemName>*> order;
    for (const auto& [state, items] : by_state) order.push_back(&items);
    Random random(options_.seed);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    const std::size_t before = place.size();
    for (const auto* items : order) {
      if (place.size() <= options_.most_items) break;
      for (const ItemName& name : *items) place.erase(name);
    }
    out_.left_out = before - place.size();
  }

  void align(const ColumnName& name, FitSample from, const std::map<ItemName, std::size_t>& place) {
    std::vector<std::size_t> source(place.size());
    for (std::size_t i = 0; i < from.names.size(); ++i) {
      const auto found = place.find(from.names[i]);
      if (found != place.end()) source[found->second] = i;
    }
    Aligned out;
    std::map<std::size_t, std::size_t> clusters;
    std::size_t unanswered = 0;
    for (const std::size_t i : source) {
      const RawSample::Item& item = from.sample.item(i);
      const std::size_t cluster = clusters.try_emplace(item.cluster, clusters.size()).first->second;
      const auto own = item.scores > 0 ? from.sample.probs(i, Calibrator{})
                                       : std::optional<std::vector<double>>();
      out.sample.add(from.sample.scores(item), item.options, item.label, cluster,
                     own ? std::span<const double>(*own) : std::span<const double>());
      unanswered += item.scores == 0 ? 1 : 0;
      if (from.seconds[i]) out.seconds.push_back(*from.seconds[i]);
      if (from.tokens[i]) out.tokens.push_back(*from.tokens[i]);
    }
    from.unanswered = unanswered;
    states_ = clusters.size();
    out.from = std::move(from);
    out.methods = methods_for(out.sample);
    out.own = std::ranges::find(out.methods, Method::None) != out.methods.end();
    columns_.push_back(std::move(out));
    names_.push_back(name);
  }

  void predict() {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const Aligned& column = columns_[c];
      const std::vector<std::size_t> all = column.sample.all();
      if (column.own) {
        Predicted raw{.column = c, .fitted = false};
        for (const Split& parts : splits_) {
          raw.by_fold.emplace_back();
          raw.inner.push_back(value_of(*losses(column.sample, parts.train, {}), options_.by));
        }
        predicted_.push_back(std::move(raw));
      }
      const auto whole = fit_best(column.sample, all, column.methods, options_.seed);
      // Where no fit is better the reading's own constants stand, and they are a candidate already.
      if (!whole || (column.own && whole->calibrator.method == Method::None)) continue;
      Predicted fitted{.column = c, .fitted = true, .final = whole->calibrator};
      for (const Split& parts : splits_) {
        const auto part = fit_best(column.sample, parts.train, column.methods, options_.seed);
        if (!part || !losses(column.sample, parts.held_out, part->calibrator)) break;
        fitted.by_fold.push_back(part->calibrator);
        fitted.inner.push_back(value_of(part->held_out, options_.by));
      }
      if (fitted.by_fold.size() == splits_.size()) predicted_.push_back(std::move(fitted));
    }
  }

  record::FitFigures held_out(const Predicted& predicted) const {
    Judged judged;
    for (std::size_t fold = 0; fold < splits_.size(); ++fold) {
      for (const std::size_t i : splits_[fold].held_out) {
        add_judged(judged, columns_[predicted.column].sample, i, predicted.by_fold[fold]);
      }
    }
    return figures_of(judged, options_.seed);
  }

  void list() {
    std::vector<record::FitFigures> figures;
    for (const Predicted& one : predicted_) figures.push_back(held_out(one));
    for (std::size_t k = 0; k < predicted_.size(); ++k) order_.push_back(k);
    std::ranges::stable_sort(order_, [&](std::size_t a, std::size_t b) {
      return value_of(figures[a], options_.by) < value_of(figures[b], options_.by);
    });
    for (const std::size_t k : order_) {
      const Predicted& one = predicted_[k];
      const FitSample& from = columns_[one.column].from;
      Candidate out{.column = names_[one.column],
                    .mode = from.mode,
                    .fitted = one.fitted,
                    .calibrator = one.final,
                    .held_out = figures[k],
                    .unanswered = from.unanswered};
      out.median_s = percentile(columns_[one.column].seconds, 5'000);
      const std::vector<double>& tokens = columns_[one.column].tokens;
      if (!tokens.empty()) {
        out.mean_tokens =
            std::accumulate(tokens.begin(), tokens.end(), 0.0) / static_cast<double>(tokens.size());
      }
      measure_behind(one, out);
      out_.candidates.push_back(std::move(out));
    }
    for (std::size_t k = 0; k < out_.candidates.size(); ++k) {
      const Candidate& one = out_.candidates[k];
      const Candidate& least = out_.candidates[out_.cheapest];
      if (one.within_noise && one.median_s && (!least.median_s || *one.median_s < *least.median_s))
        out_.cheapest = k;
    }
    out_.chosen = options_.cheapest ? out_.cheapest : 0;
    make_entry();
  }

  /// Against the best, item by item; also how many items it would take to tell the next one.
  void measure_behind(const Predicted& one, Candidate& out) {
    const Predicted& best = predicted_[order_.front()];
    std::vector<ClusterSums> clusters(columns_.front().sample.clusters());
    double sum = 0;
    for (std::size_t fold = 0; fold < splits_.size(); ++fold) {
      for (const std::size_t i : splits_[fold].held_out) {
        const double d = one_loss(columns_[one.column].sample, i, one.by_fold[fold], options_.by) -
                         one_loss(columns_[best.column].sample, i, best.by_fold[fold], options_.by);
        ClusterSums& sums = clusters[columns_.front().sample.item(i).cluster];
        ++sums.n;
        sums.a += d;
        sum += d;
      }
    }
    const auto n = static_cast<double>(out_.n);
    out.behind = sum / n;
    std::erase_if(clusters, [](const ClusterSums& sums) { return sums.n == 0; });
    if (const auto means = bootstrap_means(clusters, options_.seed)) out.behind_interval = means->a;
    out.within_noise = &one == &best || !out.behind_interval || out.behind_interval->low <= 0;
    if (out_.next || one.column == best.column) return;
    out_.next = out_.candidates.size();
    // Variance of the mean difference, states as the units; it falls with their number.
    double squares = 0;
    for (const ClusterSums& sums : clusters) {
      const double off = sums.a - out.behind * sums.n;
      squares += off * off;
    }
    const double k = static_cast<double>(clusters.size());
    if (out.behind > 0 && k > 1) {
      const double variance = squares * k / (k - 1) / (n * n);
      out_.items_needed = n * kPower * kPower * variance / (out.behind * out.behind);
    }
  }

  void make_entry() {
    const Predicted& one = predicted_[order_[out_.chosen]];
    const Candidate& candidate = out_.candidates[out_.chosen];
    const FitSample& from = columns_[one.column].from;
    out_.entry = {.task = out_.task,
                  .type = from.type,
                  .mode = from.mode,
                  .reading = candidate.column.reading,
                  .variant = candidate.column.variant,
                  .policy = from.policy,
                  .prompt_digest = from.prompt_digest,
                  .calibrator = one.final,
                  .n = static_cast<std::int64_t>(out_.n),
                  .states = static_cast<std::int64_t>(out_.states),
                  .held_out_by = "state",
                  .after = candidate.held_out};
    for (std::size_t k = 0; k < predicted_.size(); ++k) {
      if (predicted_[k].column == one.column && !predicted_[k].fitted)
        out_.entry.before = held_out(predicted_[k]);
    }
  }

  void measure_choosing() {
    Judged judged;
    for (std::size_t fold = 0; fold < splits_.size(); ++fold) {
      // The first of equals as they come, not as they are ranked: the ranking has seen this part.
      double least = std::numeric_limits<double>::infinity();
      for (const Predicted& one : predicted_) least = std::min(least, one.inner[fold]);
      const auto picked = std::ranges::find_if(
          predicted_, [&](const Predicted& one) { return one.inner[fold] <= least + kEqual; });
      const auto rank =
          std::ranges::find(order_, static_cast<std::size_t>(picked - predicted_.begin()));
      ++out_.candidates[static_cast<std::size_t>(rank - order_.begin())].chosen_in;
      const Predicted& one = *picked;
      for (const std::size_t i : splits_[fold].held_out)
        add_judged(judged, columns_[one.column].sample, i, one.by_fold[fold]);
    }
    out_.procedure = figures_of(judged, options_.seed);
    out_.price = value_of(out_.procedure, options_.by) -
                 value_of(out_.candidates.front().held_out, options_.by);
    if (out_.chosen == 0) out_.entry.after = out_.procedure;
  }

  void describe_baselines() {
    std::map<std::string, std::size_t> labels;
    std::map<ItemName, const Row*> first;
    for (const Row* row : rows_) {
      const ItemName name{row->task, row->id, row->repeat};
      if (items_.contains(name) && row->label) first.try_emplace(name, row);
    }
    for (const auto& [name, row] : first) ++labels[*row->label];
    std::size_t with_overlap = 0, overlap = 0;
    NoModel& out = out_.no_model;
    const auto n = static_cast<double>(first.size());
    for (const auto& [name, row] : first) {
      const std::size_t label = *label_index(*row);
      const auto uniform = decision::uniform_probabilities(row->keys.size());
      const auto prior = decision::prior_probabilities(row->keys, labels);
      out.uniform += (label < row->keys.size() ? uniform[0] : 0) / n;
      out.majority += (decision::argmax(prior) == label ? 1 : 0) / n;
      out.uniform_brier += decision::brier(uniform, label) / n;
      out.prior_brier += decision::brier(prior, label) / n;
      if (row->overlap_choice < 0) continue;
      ++with_overlap;
      overlap += static_cast<std::size_t>(row->overlap_choice) == label ? 1U : 0U;
    }
    if (with_overlap > 0)
      out.overlap = static_cast<double>(overlap) / static_cast<double>(with_overlap);
  }

  const std::vector<const Row*>& rows_;
  const ChooseOptions& options_;
  Choice& out_;
  std::vector<Aligned> columns_;
  std::vector<ColumnName> names_;
  std::set<ItemName> items_;
  std::size_t states_ = 0;
  std::vector<std::size_t> fold_of_;
  std::vector<Split> splits_;
  std::vector<Predicted> predicted_;
  std::vector<std::size_t> order_;  // of predicted_, best first; candidates are in this order
};

constexpr std::array<std::pair<Criterion, std::string_view>, 3> kNames = {
    {{Criterion::Brier, "brier"},
     {Criterion::LogLoss, "log-loss"},
     {Criterion::Accuracy, "accuracy"}}};

}  // namespace

std::string_view to_string(Criterion criterion) {
  return kNames[static_cast<std::size_t>(criterion)].second;
}

std::optional<Criterion> parse_criterion(std::string_view name) {
  for (const auto& [criterion, text] : kNames) {
    if (text == name) return criterion;
  }
  return std::nullopt;
}

std::vector<Choice> choose(std::span<const Row> rows, const ChooseOptions& options) {
  std::vector<std::string> tasks;
  std::map<std::string, std::vector<const Row*>> by_task;
  for (const Row& row : rows) {
    if (row.repeat != 0) continue;
    if (!by_task.contains(row.task)) tasks.push_back(row.task);
    by_task[row.task].push_back(&row);
  }
  const std::vector<ColumnName> columns = columns_of(rows);
  std::vector<Choice> out;
  for (const std::string& task : tasks) {
    Choice choice{.task = task};
    Chooser(by_task[task], columns, options, choice).run();
    out.push_back(std::move(choice));
  }
  return out;
}

}  // namespace deem::score
