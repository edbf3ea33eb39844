#include "score/laws.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace deem::score {
namespace {

using record::Row;

constexpr std::string_view kLaw = "law:";

/// The law a probe is asked for; "" for none.
std::string law_of(std::string_view probe) {
  if (probe == "order:reverse") return "order";
  return probe.starts_with(kLaw) ? std::string(probe.substr(kLaw.size())) : "";
}

bool is_law(std::string_view probe) { return !law_of(probe).empty(); }
bool is_beside(std::string_view probe) { return probe == "law:beside"; }

std::size_t index_of(const Row& row, const std::optional<std::string>& label) {
  return static_cast<std::size_t>(std::ranges::find(row.keys, *label) - row.keys.begin());
}

class LawTally {
 public:
  void add(const Row& plain, const Row& probe, std::string_view law, const ReadingVariant& column) {
    const auto a = said(&plain, plain, column), b = said(&probe, plain, column);
    if (!a || !b) {
      ++unanswered_;
      return;
    }
    const bool negation = law == "negation";
    const bool yes_only = negation || law == "choice";
    if (yes_only && a->probs.size() != 2) return;
    violation_.add(negation   ? std::abs(a->probs[0] + b->probs[0] - 1)
                   : yes_only ? std::abs(a->probs[0] - b->probs[0])
                              : largest_change(a->probs, b->probs));
    changes_ += (a->choice == b->choice) == negation ? 1U : 0U;
    if (plain.label) {
      ++labelled_;
      const std::size_t label = index_of(plain, plain.label);
      right_ += a->choice == label ? 1U : 0U;
      uniform_ += label < plain.keys.size() ? 1 / static_cast<double>(plain.keys.size()) : 0;
    }
    if (probe.label) {
      ++probe_labelled_;
      probe_right_ += b->choice == index_of(plain, probe.label) ? 1U : 0U;
    }
  }

  LawFigures finish(const std::string& arm, const ReadingVariant& column, std::string law,
                    std::string task) const {
    LawFigures out{.arm = arm,
                   .reading = column.reading,
                   .variant = column.variant,
                   .law = std::move(law),
                   .task = std::move(task),
                   .n = violation_.n,
                   .unanswered = unanswered_,
                   .mean = violation_.mean(),
                   .max = violation_.largest(),
                   .changes = rate(changes_, violation_.n),
                   .plain_accuracy = rate(right_, labelled_),
                   .probe_accuracy = rate(probe_right_, probe_labelled_)};
    if (labelled_ > 0) out.uniform_accuracy = uniform_ / static_cast<double>(labelled_);
    return out;
  }
  bool empty() const { return violation_.n + unanswered_ == 0; }

 private:
  Spread violation_;
  std::size_t unanswered_ = 0, changes_ = 0, labelled_ = 0, right_ = 0, probe_labelled_ = 0,
              probe_right_ = 0;
  double uniform_ = 0;
};

bool is_sound(const record::ReadingRecord& reading) {
  return !reading.error && reading.cause == decision::VoidCause::None;
}

/// Both readings' numbers where both have one; `add` takes the pair.
template <class Add>
void each_logprob(const record::ReadingRecord& a, const record::ReadingRecord& b, Add add) {
  for (std::size_t r = 0; r < std::min(a.rounds.size(), b.rounds.size()); ++r) {
    if (a.rounds[r].options != b.rounds[r].options) continue;  // a final of other winners
    const auto &x = a.rounds[r].letters.logprobs, &y = b.rounds[r].letters.logprobs;
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
      if (x[i] && y[i]) add(*x[i], *y[i]);
    }
  }
  for (std::size_t t = 0; t < std::min(a.texts.size(), b.texts.size()); ++t) {
    add(a.texts[t].sum, b.texts[t].sum);
  }
}

}  // namespace

std::vector<LawFigures> law_figures(const std::vector<ProbedArm>& arms) {
  static constexpr const char* kLaws[] = {"negation",   "choice", "order",  "rename",
                                          "whitespace", "alone",  "beside", "batch"};
  std::vector<LawFigures> out;
  for (const ProbedArm& arm : arms) {
    const bool asked = std::ranges::any_of(arm.items, [](const ProbedItem& item) {
      return std::ranges::any_of(item.probes,
                                 [](const auto& probe) { return probe.first.starts_with(kLaw); });
    });
    if (!asked) continue;  // orders alone are no question of laws
    for (const ReadingVariant& column : probed_columns(arm, is_law)) {
      for (const char* law : kLaws) {
        const std::string probe =
            std::string_view(law) == "order" ? "order:reverse" : std::string(kLaw) + law;
        std::vector<std::pair<std::string, LawTally>> tasks;
        LawTally all;
        for (const ProbedItem& item : arm.items) {
          const auto found = item.probes.find(probe);
          if (found == item.probes.end() || !found->second->readings.contains(column.reading)) {
            continue;
          }
          const std::string& task = item.plain->task;
          auto tally = std::ranges::find(tasks, task, &std::pair<std::string, LawTally>::first);
          if (tally == tasks.end()) tally = tasks.insert(tasks.end(), {task, LawTally()});
          tally->second.add(*item.plain, *found->second, law, column);
          all.add(*item.plain, *found->second, law, column);
        }
        for (const auto& [task, tally] : tasks) {
          if (!tally.empty()) out.push_back(tally.finish(arm.arm, column, law, task));
        }
        if (!all.empty()) out.push_back(all.finish(arm.arm, column, law, ""));
      }
    }
  }
  return out;
}

std::vector<Interference> interference_figures(const std::vector<ProbedArm>& arms) {
  std::vector<Interference> out;
  for (const ProbedArm& arm : arms) {
    for (const ReadingVariant& column : probed_columns(arm, is_beside)) {
      Spread change;
      std::size_t flips = 0;
      for (const ProbedItem& item : arm.items) {
        const auto beside = item.probes.find("law:beside"), alone = item.probes.find("law:alone");
        if (beside == item.probes.end()) continue;
        const Row* base = alone == item.probes.end() ? item.plain : alone->second;
        const auto a = said(base, *item.plain, column);
        const auto b = said(beside->second, *item.plain, column);
        if (!a || !b) continue;
        change.add(largest_change(a->probs, b->probs));
        flips += a->choice != b->choice ? 1U : 0U;
      }
      if (change.n == 0) continue;
      out.push_back({.arm = arm.arm,
                     .reading = column.reading,
                     .variant = column.variant,
                     .n = change.n,
                     .changes = rate(flips, change.n),
                     .mean = change.mean(),
                     .max = change.largest()});
    }
  }
  return out;
}

std::vector<NoiseFigures> noise_figures(const std::vector<ProbedArm>& arms) {
  static constexpr const char* kKinds[] = {"again", "alone", "crowd", "cold"};
  std::vector<NoiseFigures> out;
  for (const ProbedArm& arm : arms) {
    std::map<std::string, std::array<NoiseFigures, std::size(kKinds)>> by_reading;
    std::map<std::string, std::array<std::size_t, std::size(kKinds)>> flips;
    for (const ProbedItem& item : arm.items) {
      for (std::size_t k = 0; k < std::size(kKinds); ++k) {
        const auto found = item.probes.find(std::string("noise:") + kKinds[k]);
        if (found == item.probes.end()) continue;
        for (const auto& [name, again] : found->second->readings) {
          const auto first = item.plain->readings.find(name);
          if (first == item.plain->readings.end() || !is_sound(first->second) || !is_sound(again))
            continue;
          NoiseFigures& f = by_reading[name][k];
          ++f.n;
          each_logprob(first->second, again, [&](double x, double y) {
            ++f.values;
            f.max_logprob = std::max(f.max_logprob.value_or(0), std::abs(x - y));
          });
          const ReadingVariant column{name, variants_of(first->second).front()};
          const auto a = said(item.plain, *item.plain, column);
          const auto b = said(found->second, *item.plain, column);
          if (!a || !b) continue;
          ++f.flips.n;
          f.max_probability =
              std::max(f.max_probability.value_or(0), largest_change(a->probs, b->probs));
          flips[name][k] += a->choice != b->choice ? 1U : 0U;
        }
      }
    }
    for (auto& [name, kinds] : by_reading) {
      for (std::size_t k = 0; k < std::size(kKinds); ++k) {
        NoiseFigures& f = kinds[k];
        if (f.n == 0) continue;
        f.arm = arm.arm;
        f.reading = name;
        f.kind = kKinds[k];
        f.flips = rate(flips[name][k], f.flips.n);
        out.push_back(std::move(f));
      }
    }
  }
  return out;
}

}  // namespace deem::score
