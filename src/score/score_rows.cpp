#include "score/score_rows.h"

#include <algorithm>
#include <thread>

#include "decision/baseline.h"
#include "score/answer.h"
#include "score/statistics.h"

namespace deem::score {
namespace {

using record::ReadingRecord;
using record::Row;
using LabelCounts = std::map<std::string, std::size_t>;

constexpr std::size_t kBins = 10;
constexpr std::size_t kStuckAnswers = 10;
constexpr double kStuckShare = 0.9;

template <class T>
void add(std::optional<T>& total, const std::optional<T>& part) {
  if (part) total = total.value_or(T{}) + *part;
}

/// Servers read at least the last token again, some the last block of 16. Texts are many prompts,
/// each after the one before: nothing is told by theirs.
bool is_cached_whole(const ReadingRecord& reading) {
  constexpr std::int64_t kBlock = 16;
  const bool one_prompt =
      reading.kind == ReadingRecord::Kind::Written ||
      (reading.kind == ReadingRecord::Kind::Letters && reading.rounds.size() == 1);
  return one_prompt && reading.prompt_tokens && reading.cached_tokens &&
         *reading.cached_tokens > 0 && *reading.prompt_tokens - *reading.cached_tokens <= kBlock;
}

/// Adds up the figures of one column on one task, or on all.
class Tally {
 public:
  Tally(std::string task, const std::map<std::string, LabelCounts>& labels) : labels_(&labels) {
    out_.task = std::move(task);
    out_.reliability.resize(kBins);
    for (std::size_t i = 0; i < kBins; ++i) {
      out_.reliability[i].low = static_cast<double>(i) / kBins;
      out_.reliability[i].high = static_cast<double>(i + 1) / kBins;
    }
  }

  void add_row(const Row& row, const ReadingRecord* reading, std::string_view variant,
               const record::FitEntry* fitted = nullptr) {
    ++out_.rows;
    if (row.status == Row::Status::Refused) {
      ++out_.refused;
      return;
    }
    if (reading == nullptr) return;
    ++out_.asked;
    add_cost(*reading);
    if (reading->unsupported) {
      ++out_.unsupported;
    } else if (reading->error) {
      ++out_.errors;
    } else if (reading->cause != decision::VoidCause::None) {
      ++out_.voids;
      ++out_.void_causes[std::string(decision::to_string(reading->cause))];
    } else if (reading->kind == ReadingRecord::Kind::Written && !reading->answer.option) {
      ++out_.unparsed;
    } else if (const auto answer = fitted == nullptr
                                       ? answer_of(row, *reading, variant)
                                       : fitted_answer(row, *reading, variant, *fitted)) {
      add_answer(row, *reading, *answer);
    } else {
      ++out_.unsupported;  // this variant of this row can not be computed (a tournament has no
                           // prior)
    }
  }

  std::size_t answers() const { return out_.answered; }

  Figures finish() {
    for (Rate* share : {&out_.accuracy, &out_.majority, &out_.overlap}) {
      *share = rate(share->hits, share->n);
    }
    out_.detail = sample_.finish();
    const auto mean = [](double sum, std::size_t n) {
      return n == 0 ? std::nullopt : std::optional(sum / static_cast<double>(n));
    };
    out_.brier = mean(brier_, out_.brier_n);
    out_.uniform.value = mean(uniform_, out_.uniform.n);
    out_.uniform_brier = mean(uniform_brier_, out_.uniform.n);
    out_.prior_brier = mean(prior_brier_, out_.uniform.n);
    out_.auroc = auroc(positives_, negatives_);
    out_.auroc_n = positives_.size() + negatives_.size();
    out_.median_mass = percentile(masses_, 5'000);
    out_.median_s = percentile(planned_, 5'000);
    out_.p90_s = percentile(planned_, 9'000);
    out_.p95_s = percentile(planned_, 9'500);
    out_.p99_s = percentile(planned_, 9'900);
    out_.median_sent_s = percentile(sent_, 5'000);
    out_.p95_sent_s = percentile(sent_, 9'500);
    out_.seconds_n = planned_.size();
    if (out_.answered >= kStuckAnswers && !out_.uncalibrated) {
      const auto most =
          std::ranges::max_element(positions_, {}, [](const auto& p) { return p.second; });
      out_.stuck_share = static_cast<double>(most->second) / static_cast<double>(out_.answered);
      if (out_.stuck_share >= kStuckShare) out_.stuck_position = most->first;
    }
    return std::move(out_);
  }

 private:
  void add_cost(const ReadingRecord& reading) {
    out_.group = std::max(out_.group, reading.group);
    if (reading.prompt_tokens)
      add(out_.prompt_tokens, reading.prompt_tokens);
    else
      ++out_.tokens_unknown;
    add(out_.cached_tokens, reading.cached_tokens);
    if (is_cached_whole(reading)) ++out_.cached_whole;
    add(out_.output_tokens, reading.output_tokens);
    if (reading.error || reading.unsupported) return;
    planned_.push_back(reading.planned_to_done_s);
    sent_.push_back(reading.sent_to_done_s);
    if (reading.kind == ReadingRecord::Kind::Letters && !reading.rounds.empty()) {
      masses_.push_back(reading.rounds.front().letters.mass_letters);
    } else if (reading.native.label_mass) {
      masses_.push_back(*reading.native.label_mass);
    }
  }

  void add_answer(const Row& row, const ReadingRecord&, const Answer& answer) {
    ++out_.answered;
    ++positions_[answer.choice];
    const bool bare = answer.probs.empty();
    out_.uncalibrated = out_.uncalibrated || bare;
    const auto label = label_index(row);
    if (!label) return;
    ++out_.labelled;
    if (row.type == decision::QuestionType::Noul && *label < 2) {
      (*label == 0 ? positives_ : negatives_)
          .push_back(bare ? answer.score.value_or(0) : answer.probs[0]);
    }
    add_baselines(row, *label);
    if (bare) return;
    sample_.add(row, answer, *label);
    const bool right = answer.choice == *label;
    ++out_.accuracy.n;
    out_.accuracy.hits += right ? 1U : 0U;
    brier_ += decision::brier(answer.probs, *label);
    ++out_.brier_n;
    const double p = *std::ranges::max_element(answer.probs);
    Bin& bin = out_.reliability[std::min(kBins - 1, static_cast<std::size_t>(p * kBins))];
    ++bin.n;
    bin.correct += right ? 1U : 0U;
    bin.sum_p += p;
  }

  void add_baselines(const Row& row, std::size_t label) {
    const auto n = static_cast<double>(row.keys.size());
    ++out_.uniform.n;
    uniform_ += label < row.keys.size() ? 1 / n : 0;
    uniform_brier_ += decision::brier(decision::uniform_probabilities(row.keys.size()), label);
    const auto prior = decision::prior_probabilities(row.keys, labels_->at(row.task));
    prior_brier_ += decision::brier(prior, label);
    ++out_.majority.n;
    out_.majority.hits += decision::argmax(prior) == label ? 1U : 0U;
    if (row.overlap_choice >= 0) {
      ++out_.overlap.n;
      out_.overlap.hits += static_cast<std::size_t>(row.overlap_choice) == label ? 1U : 0U;
    }
  }

  const std::map<std::string, LabelCounts>* labels_;
  Figures out_;
  Sample sample_;
  double brier_ = 0, uniform_ = 0, uniform_brier_ = 0, prior_brier_ = 0;
  std::vector<double> positives_, negatives_, masses_, planned_, sent_;
  std::map<std::size_t, std::size_t> positions_;
};

/// Label frequencies by task, each item once however many arms and repeats asked it.
std::map<std::string, LabelCounts> count_labels(std::span<const Row> rows) {
  std::map<std::string, std::map<std::string, std::string>> by_item;
  for (const Row& row : rows) {
    if (row.label && row.probe.empty()) by_item[row.task][row.id] = *row.label;
  }
  std::map<std::string, LabelCounts> out;
  for (const Row& row : rows) out.try_emplace(row.task);
  for (const auto& [task, items] : by_item) {
    for (const auto& [id, label] : items) ++out[task][label];
  }
  return out;
}

/// A reading that failed whole has no raw numbers, so it counts for every variant.
bool has_variant(const ReadingRecord& reading, const std::string& variant) {
  if (reading.error || reading.unsupported) return true;
  const std::vector<std::string> variants = variants_of(reading);
  return std::ranges::find(variants, variant) != variants.end();
}

template <class T>
void add_new(std::vector<T>& list, const T& value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

/// A column: a reading and a variant of it as they are, through a fit, or as a fit chooses them.
struct Wanted {
  std::string reading = {}, variant = {};
  const record::Fit* fit = nullptr;
  bool chosen = false;

  std::string shown_reading() const { return chosen ? std::string(kChosen) : reading; }
  std::string shown_variant() const {
    if (chosen) return std::string(kChosenVariant);
    return variant + (fit == nullptr ? "" : std::string(kFitSuffix));
  }
};

/// The part of a row that a column is about.
struct Given {
  const ReadingRecord* reading = nullptr;
  std::string_view variant = {};
  const record::FitEntry* entry = nullptr;
  bool counts = false;  // the reading has this variant, or failed whole
};

Given given_by(const Row& row, const Wanted& wanted) {
  Given out{.variant = wanted.variant};
  const std::string* name = &wanted.reading;
  if (wanted.chosen) {
    const record::FitEntry* chosen = record::chosen_entry(*wanted.fit, row.task);
    if (chosen == nullptr) return out;
    name = &chosen->reading;
    out.variant = chosen->variant;
  }
  const auto found = row.readings.find(*name);
  if (found == row.readings.end()) return out;
  out.reading = &found->second;
  out.counts = has_variant(*out.reading, std::string(out.variant));
  if (wanted.fit != nullptr && out.reading->cause == decision::VoidCause::None) {
    out.entry = entry_for(*wanted.fit, row, *name, *out.reading, out.variant);
    if (out.entry == nullptr) return {};
  }
  return out;
}

/// The columns that the fit of an arm adds to those it has.
std::vector<Wanted> fitted_columns(const std::vector<Wanted>& raw, const record::Fit& fit) {
  if (fit.by == "choose") return {{.fit = &fit, .chosen = true}};
  std::vector<Wanted> out;
  for (const Wanted& column : raw) {
    const bool has = std::ranges::any_of(fit.entries, [&](const record::FitEntry& entry) {
      return entry.reading == column.reading && entry.variant == column.variant;
    });
    if (has) out.push_back({column.reading, column.variant, &fit});
  }
  return out;
}

struct ColumnTallies {
  std::vector<Tally> tasks;
  Tally all;
};

/// The figures of one column. The tasks together take as long as all of them at once, so with many
/// rows the two are worked out side by side.
void finish(ColumnTallies& tallies, Column& column) {
  constexpr std::size_t kWorthAThread = 10'000;
  const auto all = [&] { column.all = tallies.all.finish(); };
  std::jthread helper;
  if (tallies.all.answers() >= kWorthAThread) helper = std::jthread(all);
  for (Tally& task : tallies.tasks) column.tasks.push_back(task.finish());
  if (helper.joinable()) {
    helper.join();
  } else {
    all();
  }
}

}  // namespace

Scores score_rows(std::span<const Row> rows, const Fits& fits) {
  Scores out;
  const auto labels = count_labels(rows);
  std::vector<std::string> arms;
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> wanted;  // by arm
  std::map<std::string, std::string> modes;
  std::map<std::pair<std::string_view, std::string_view>, std::vector<const Row*>> of;
  for (const Row& row : rows) {
    if (!row.probe.empty()) continue;
    ++out.rows;
    of[{row.arm, row.task}].push_back(&row);
    add_new(arms, row.arm);
    add_new(out.tasks, row.task);
    modes[row.arm] = row.mode;
    for (const auto& [name, reading] : row.readings) {
      for (const std::string& variant : variants_of(reading))
        add_new(wanted[row.arm], {name, variant});
    }
  }
  for (const std::string& arm : arms) {
    std::vector<Wanted> columns;
    for (const auto& [reading, variant] : wanted[arm]) columns.push_back({reading, variant});
    // An arm that was refused everything still has its counts.
    const bool nothing = columns.empty();
    if (nothing) columns.push_back({"nothing", "asked"});
    if (const auto fit = fits.find(arm); fit != fits.end() && !nothing) {
      std::ranges::move(fitted_columns(columns, fit->second), std::back_inserter(columns));
    }
    // A reading's variants stand together, however the rows bring them; what was chosen, last.
    std::ranges::stable_sort(
        columns, {}, [](const Wanted& column) { return std::pair(column.chosen, column.reading); });
    for (const Wanted& one : columns) {
      Column column{.arm = arm,
                    .reading = one.shown_reading(),
                    .variant = one.shown_variant(),
                    .mode = modes[arm],
                    .calibrated = one.fit != nullptr,
                    .tasks = {},
                    .all = {}};
      ColumnTallies tallies{.tasks = {}, .all = Tally("", labels)};
      for (const std::string& task : out.tasks) {
        Tally tally(task, labels);
        bool any = false;
        for (const Row* row : of[{arm, task}]) {
          const Given given = given_by(*row, one);
          any = any || nothing || given.counts;
          tally.add_row(*row, given.reading, given.variant, given.entry);
          if (given.reading != nullptr)
            tallies.all.add_row(*row, given.reading, given.variant, given.entry);
        }
        // A prior that no item of the task has (a channel's) makes no line there.
        if (any) tallies.tasks.push_back(std::move(tally));
      }
      finish(tallies, column);
      out.columns.push_back(std::move(column));
    }
  }
  out.probes = probe_figures(rows);
  return out;
}

}  // namespace deem::score
