#include "report/verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/format.h"

namespace deem::report {
namespace {

using score::Column;
using score::Figures;
using score::Scores;

constexpr std::size_t kSmall = 100;      // labelled answers under which the number itself is said
constexpr double kThinMass = 0.5;        // of the letters, median
constexpr double kMuchTruer = 0.1;       // in Brier score: worth a warning
constexpr double kMuchFaster = 0.7;      // of the lead's median time
constexpr double kWantedAccuracy = 0.9;  // for the threshold that is offered

void say_calibration(const Figures& f, Verdict& out) {
  if (!f.detail.calibration || !f.detail.confidence) return;
  const auto& error = *f.detail.calibration;
  const double mean = f.detail.confidence->top_p, right = f.accuracy.value.value_or(0);
  if (error.equal_width <= error.null_p95) {
    out.points.push_back(fmt::format(
        "Its probabilities show no miscalibration at this n: calibration error {}, where a "
        "calibrated model would show up to {} in 95 of 100 such runs.",
        share(error.equal_width), share(error.null_p95)));
    return;
  }
  const char* how = mean < right ? "underconfident" : "overconfident";
  out.warnings.push_back(fmt::format(
      "Do not take its probabilities as chances: calibration error {}, where a calibrated model "
      "would show at most {}; mean confidence {}, right {} ({}).",
      share(error.equal_width), share(error.null_p95), share(mean), share(right), how));
}

/// Among columns that may be as accurate the one with the best Brier score, where it is another.
void say_truest(const Scores& scores, const Figures& f, Verdict& out) {
  const Figures* truest = nullptr;
  const Column* true_one = nullptr;
  for (const std::size_t i : score::ranked_columns(scores, out.task, false)) {
    const Figures& other = *score::figures_on(scores.columns[i], out.task);
    if (*other.accuracy.value < f.accuracy.low || other.accuracy.n * 2 < f.accuracy.n) continue;
    if (!other.brier || !f.brier || *other.brier >= *f.brier) continue;
    if (truest != nullptr && *truest->brier <= *other.brier) continue;
    truest = &other;
    true_one = &scores.columns[i];
  }
  if (truest != nullptr) {
    const double gain = *f.brier - *truest->brier;
    (gain >= kMuchTruer ? out.warnings : out.points)
        .push_back(fmt::format("Better probabilities within its interval: {}, Brier {} instead of "
                               "{}, right in {} of {}.",
                               true_one->name(), number(truest->brier, 3), number(f.brier, 3),
                               with_interval(truest->accuracy), truest->accuracy.n));
  }
}

void say_threshold(const Figures& f, Verdict& out) {
  if (f.accuracy.low >= kWantedAccuracy) return;
  for (const score::ThresholdFor& one : f.detail.threshold_for) {
    if (one.accuracy != kWantedAccuracy) continue;
    if (one.sure) {
      out.points.push_back(fmt::format(
          "Acting only where p ≥ {} keeps {} of the items and is right in {} of {}, found on these "
          "very items.",
          share(one.sure->threshold), share(one.sure->coverage), with_interval(one.sure->accuracy),
          one.sure->accuracy.n));
    } else {
      out.points.push_back(
          fmt::format("No threshold on p makes {} right sure at this n.", share(kWantedAccuracy)));
    }
  }
}

void say_rivals(const Scores& scores, const score::Evidence& evidence, const Figures& f,
                Verdict& out) {
  const std::vector<std::size_t> ranked = score::ranked_columns(scores, out.task, true);
  const std::size_t candidates = score::ranked_columns(scores, out.task, false).size();
  for (const score::Contest& contest : evidence.contests) {
    if (contest.task != out.task) continue;
    out.points.push_back(fmt::format(
        "Against the next reading, {} ({}): they differ on {} of {} items, it alone is right on "
        "{}, the other alone on {} (McNemar p {}).",
        scores.columns[contest.b].name(),
        share(score::figures_on(scores.columns[contest.b], out.task)->accuracy.value),
        contest.differ, contest.n, contest.right_a, contest.right_b,
        contest.p < 0.001 ? "<.001" : share(contest.p)));
  }
  const Figures* fastest = nullptr;
  const Column* fast = nullptr;
  for (const std::size_t i : ranked) {
    const Figures& other = *score::figures_on(scores.columns[i], out.task);
    if (i == out.lead->column || !other.median_s || !f.median_s) continue;
    if (*other.accuracy.value < f.accuracy.low || other.accuracy.n * 2 < f.accuracy.n) continue;
    if (*other.median_s > *f.median_s * kMuchFaster) continue;
    if (fastest != nullptr && *fastest->median_s <= *other.median_s) continue;
    fastest = &other;
    fast = &scores.columns[i];
  }
  if (fast != nullptr) {
    out.points.push_back(fmt::format(
        "Faster within its interval: {}, right in {} of {} at a median of {} instead of {}.",
        fast->name(), with_interval(fastest->accuracy), fastest->accuracy.n,
        duration(fastest->median_s), duration(f.median_s)));
  }
  if (candidates > 1) {
    out.points.push_back(fmt::format(
        "It is the best of {} columns, picked on these very items: expect a little less on new "
        "ones.",
        candidates));
  }
}

void say_counts(const Figures& f, Verdict& out) {
  if (f.accuracy.n < kSmall) {
    out.warnings.push_back(fmt::format("Few items: {} labelled answers{}.", f.accuracy.n,
                                       f.detail.states > 0 && f.detail.states < f.accuracy.n
                                           ? fmt::format(" on {} states", f.detail.states)
                                           : std::string()));
  }
  if (f.stuck_position) {
    out.warnings.push_back(fmt::format("Stuck on a position: option {} in {} of {} answers.",
                                       *f.stuck_position + 1, share(f.stuck_share), f.answered));
  }
  if (f.median_mass && *f.median_mass < kThinMass) {
    out.warnings.push_back(fmt::format(
        "The letters hold only {} of the probability (median): mostly the model wants to say "
        "something else.",
        share(f.median_mass)));
  }
  std::string lost;
  for (const auto& [n, what] : {std::pair(f.voids, "void"),
                                {f.unparsed, "unparsed"},
                                {f.errors, "ended in an error"},
                                {f.unsupported, "not supported"},
                                {f.refused, "refused before asking"}}) {
    if (n > 0) lost += fmt::format("{}{} {}", lost.empty() ? "" : ", ", n, what);
  }
  if (!lost.empty()) {
    out.warnings.push_back(
        fmt::format("Not every item was answered: of {} rows {}.", f.rows, lost));
  }
}

void say_others(const Scores& scores, Verdict& out) {
  std::string stuck;
  std::size_t n = 0;
  for (std::size_t i = 0; i < scores.columns.size(); ++i) {
    const Figures* f = score::figures_on(scores.columns[i], out.task);
    if (f == nullptr || !f->stuck_position || (out.lead != nullptr && i == out.lead->column))
      continue;
    if (++n <= 3) stuck += (stuck.empty() ? "" : "; ") + scores.columns[i].name();
  }
  if (n > 3) stuck += fmt::format(" and {} more", n - 3);
  if (n > 0)
    out.warnings.push_back("Stuck on one position, whatever the item says: " + stuck + ".");
}

/// Tasks where nothing has probabilities: bare scores, or nothing at all.
void say_unmeasured(const Scores& scores, Verdict& out) {
  out.badge = "not measured";
  const Column* best = nullptr;
  const Figures* f = nullptr;
  for (const Column& column : scores.columns) {
    const Figures* figures = score::figures_on(column, out.task);
    if (figures == nullptr || !figures->auroc) continue;
    if (f != nullptr && *f->auroc >= *figures->auroc) continue;
    best = &column;
    f = figures;
  }
  if (best != nullptr) {
    out.headline = fmt::format(
        "No column has probabilities with labels. {} orders yes before no with AUROC {} of {} "
        "items, but is no probability until it is calibrated.",
        best->name(), share(f->auroc), f->auroc_n);
    return;
  }
  std::size_t asked = 0, answered = 0, refused = 0;
  for (const Column& column : scores.columns) {
    if (const Figures* figures = score::figures_on(column, out.task)) {
      asked += figures->asked;
      answered += figures->answered;
      refused += figures->refused;
    }
  }
  out.headline = fmt::format(
      "Nothing can be said: {} answers to {} askings, {} refused, none of them labelled.", answered,
      asked, refused);
}

/// A likelihood gain orders items and may be worth calibrating.
void say_bare(const Scores& scores, Verdict& out) {
  const Column* best = nullptr;
  const Figures* f = nullptr;
  for (const Column& column : scores.columns) {
    const Figures* figures = score::figures_on(column, out.task);
    if (figures == nullptr || !figures->uncalibrated || !figures->auroc) continue;
    if (f != nullptr && *f->auroc >= *figures->auroc) continue;
    best = &column;
    f = figures;
  }
  if (best == nullptr) return;
  out.points.push_back(fmt::format(
      "The bare score of {} orders yes before no with AUROC {} ({} items); as a probability it "
      "needs a calibration.",
      best->name(), share(f->auroc), f->auroc_n));
}

void judge(const Scores& scores, const score::Evidence& evidence, Verdict& out) {
  const Column& column = scores.columns[out.lead->column];
  const Figures& f = *score::figures_on(column, out.task);
  const auto baseline = score::best_baseline(f);
  const double bar = baseline ? *baseline->accuracy.value : 0;
  std::string against = "no baseline";
  if (baseline) {
    // A share with hits has an interval of its own; uniform is exact.
    const bool exact = baseline->name == "uniform";
    against = fmt::format("the best baseline, {}, {}", baseline->name,
                          exact ? share(bar) : with_interval(baseline->accuracy));
  }
  if (f.accuracy.low > bar) {
    out.level = Verdict::Level::Better;
    out.badge = "better than every baseline";
  } else if (f.accuracy.high < bar) {
    out.level = Verdict::Level::Worse;
    out.badge = "worse than " + baseline->name;
  } else {
    out.level = Verdict::Level::Unclear;
    out.badge = "not shown to beat " + (baseline ? baseline->name : std::string("chance"));
  }
  out.headline = fmt::format("{} is right in {} of {}; {}.", column.name(),
                             with_interval(f.accuracy), f.accuracy.n, against);
  say_rivals(scores, evidence, f, out);
  say_calibration(f, out);
  say_truest(scores, f, out);
  say_threshold(f, out);
  say_bare(scores, out);
  say_counts(f, out);
}

/// A probe of the seat speaks against the best column: its figures are not what they seem.
void say_doubt(const Scores& scores, const std::vector<Doubt>& doubts, Verdict& out) {
  const Doubt* doubt = doubt_about(doubts, scores.columns[out.lead->column]);
  if (doubt == nullptr) return;
  out.in_doubt = true;
  out.badge += ", in doubt";
  out.warnings.insert(out.warnings.begin(),
                      "Not to be believed as it stands, a probe of its seat speaks against its " +
                          doubt->reading + ": " + doubt->why + ".");
}

}  // namespace

std::string to_string(Verdict::Level level) {
  switch (level) {
    case Verdict::Level::Better:
      return "better";
    case Verdict::Level::Unclear:
      return "unclear";
    case Verdict::Level::Worse:
      return "worse";
    case Verdict::Level::NotMeasured:
      return "not measured";
  }
  return "not measured";
}

std::vector<Verdict> find_verdicts(const Scores& scores, const score::Evidence& evidence,
                                   const std::vector<Doubt>& doubts) {
  std::vector<Verdict> out;
  for (const std::string& task : scores.tasks) {
    Verdict verdict{.task = task};
    const auto lead = std::ranges::find(evidence.leads, task, &score::Lead::task);
    if (lead != evidence.leads.end()) verdict.lead = &*lead;
    if (verdict.lead != nullptr) {
      judge(scores, evidence, verdict);
      say_doubt(scores, doubts, verdict);
    } else {
      say_unmeasured(scores, verdict);
    }
    say_others(scores, verdict);
    out.push_back(std::move(verdict));
  }
  return out;
}

namespace {

std::string summary_of_levels(const std::vector<Verdict>& verdicts) {
  std::size_t counts[4] = {};
  for (const Verdict& verdict : verdicts) ++counts[static_cast<std::size_t>(verdict.level)];
  const std::size_t better = counts[static_cast<std::size_t>(Verdict::Level::Better)];
  const std::size_t unmeasured = counts[static_cast<std::size_t>(Verdict::Level::NotMeasured)];
  if (verdicts.size() == 1) {
    switch (verdicts.front().level) {
      case Verdict::Level::Better:
        return "The best column is better than every baseline.";
      case Verdict::Level::Unclear:
        return "No column is shown to be better than the best program without a model.";
      case Verdict::Level::Worse:
        return "Every column is worse than a program without a model.";
      case Verdict::Level::NotMeasured:
        return "Nothing was measured.";
    }
  }
  if (better == verdicts.size()) {
    return fmt::format("On all {} tasks the best column is better than every baseline.", better);
  }
  std::string out =
      better == 0 ? "On no task is the best column better than every baseline"
                  : fmt::format("On {} of {} tasks the best column is better than every baseline",
                                better, verdicts.size());
  constexpr std::size_t kNamed = 8;  // tasks; more would be a list, no sentence
  const auto names = [&](auto wanted) {
    std::string list;
    for (const Verdict& verdict : verdicts) {
      if (wanted(verdict.level)) list += (list.empty() ? "" : ", ") + verdict.task;
    }
    return verdicts.size() > kNamed || list.empty() ? std::string() : " (" + list + ")";
  };
  using Level = Verdict::Level;
  out += names([](Level level) { return level == Level::Better; });
  const std::size_t rest = verdicts.size() - better - unmeasured;
  if (rest > 0) {
    out += fmt::format("; on {} it is not shown to be", rest) +
           names([](Level level) { return level == Level::Unclear || level == Level::Worse; });
  }
  if (unmeasured > 0) {
    out += fmt::format("; {} not measured", unmeasured) +
           names([](Level level) { return level == Level::NotMeasured; });
  }
  return out + ".";
}

}  // namespace

std::string summary(const std::vector<Verdict>& verdicts) {
  if (verdicts.empty()) return "Nothing was measured: there are no rows.";
  std::string out = summary_of_levels(verdicts);
  const auto doubted = std::ranges::count(verdicts, true, &Verdict::in_doubt);
  if (doubted == 0) return out;
  return out + (verdicts.size() == 1
                    ? " But a probe of its seat speaks against it."
                    : fmt::format(" But on {} of {} tasks a probe of its seat speaks against that "
                                  "column.",
                                  doubted, verdicts.size()));
}

}  // namespace deem::report
