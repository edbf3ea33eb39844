#include "score/fit_sample.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "decision/baseline.h"
#include "decision/readout.h"
#include "score/answer.h"

namespace deem::score {
namespace {

using record::ReadingRecord;
using record::Row;

bool is_kit_reading(const ReadingRecord& reading, const std::string& name) {
  return reading.kind == ReadingRecord::Kind::Texts && name != "words" && name != "words-unlisted";
}

/// A variant that a reading's raw numbers allow, or that a failed one might have had.
bool may_have(const ReadingRecord& reading, const std::string& variant) {
  if (reading.error || reading.cause != decision::VoidCause::None) return true;
  const std::vector<std::string> variants = variants_of(reading);
  return std::ranges::find(variants, variant) != variants.end();
}

}  // namespace

std::string too_few(std::size_t items, std::size_t states) {
  if (items < kLeastItems) {
    return std::to_string(items) + " labelled answers, " + std::to_string(kLeastItems) +
           " are needed";
  }
  if (states < kLeastStates) {
    return "answers on " + std::to_string(states) + " states, " + std::to_string(kLeastStates) +
           " are needed";
  }
  return "";
}

std::vector<ColumnName> columns_of(std::span<const Row> rows) {
  std::vector<ColumnName> out;
  std::map<std::string, std::map<std::string, std::vector<std::string>>> seen;
  for (const Row& row : rows) {
    if (!row.probe.empty()) continue;
    for (const auto& [name, reading] : row.readings) {
      if (reading.error || reading.cause != decision::VoidCause::None) continue;
      auto& known = seen[row.arm][name];
      const std::vector<std::string> variants = variants_of(reading);
      for (const std::string& variant : variants) {
        if (std::ranges::find(known, variant) != known.end()) continue;
        known.push_back(variant);
        out.push_back({row.arm, name, variant});
      }
    }
  }
  return out;
}

FitSample fit_sample(std::span<const Row* const> rows, const ColumnName& column) {
  FitSample out;
  std::map<std::string_view, std::size_t> states;
  for (const Row* row : rows) {
    if (row->arm != column.arm || row->status == Row::Status::Refused || !row->probe.empty())
      continue;
    const auto found = row->readings.find(column.reading);
    const std::optional<std::size_t> label = label_index(*row);
    if (found == row->readings.end() || !label || row->keys.size() < 2) continue;
    const ReadingRecord& reading = found->second;
    if (!may_have(reading, column.variant)) continue;
    if (out.names.empty()) {
      out.type = row->type;
      out.mode = row->mode;
      out.options = row->keys.size();
      if (reading.kind == ReadingRecord::Kind::Letters)
        out.policy = decision::to_string(reading.policy);
      if (is_kit_reading(reading, column.reading)) out.prompt_digest = reading.prompt_sha256;
    }
    const std::size_t cluster = states.try_emplace(state_of(*row), states.size()).first->second;
    const auto scores = scores_of(*row, reading, column.variant);
    const auto answer = scores ? answer_of(*row, reading, column.variant) : std::nullopt;
    std::optional<double>& seconds = out.seconds.emplace_back();
    std::optional<double>& tokens = out.tokens.emplace_back();
    if (answer) {
      out.sample.add(*scores, row->keys.size(), *label, cluster, answer->probs);
      const bool prior = column.variant.starts_with("prior");
      seconds = reading.planned_to_done_s + (prior ? reading.prior_s : 0);
      if (reading.prompt_tokens) {
        tokens = static_cast<double>(*reading.prompt_tokens + reading.output_tokens.value_or(0));
      }
    } else {
      ++out.unanswered;
      out.sample.add({}, row->keys.size(), *label, cluster, {});
    }
    out.names.push_back({row->task, row->id, row->repeat});
  }
  return out;
}

record::FitFigures figures_of(const Judged& judged, std::uint64_t seed) {
  record::FitFigures out{.n = static_cast<std::int64_t>(judged.size())};
  if (judged.empty()) return out;
  std::vector<ClusterSums> clusters;
  for (const Judged::Item& item : judged.items()) {
    if (item.cluster >= clusters.size()) clusters.resize(item.cluster + 1);
    ClusterSums& sums = clusters[item.cluster];
    ++sums.n;
    sums.a += item.correct() ? 1 : 0;
    sums.b += decision::brier(judged.probs(item), item.label);
  }
  std::erase_if(clusters, [](const ClusterSums& sums) { return sums.n == 0; });
  ClusterSums all;
  for (const ClusterSums& sums : clusters) {
    all.n += sums.n;
    all.a += sums.a;
    all.b += sums.b;
  }
  out.accuracy = all.a / all.n;
  out.brier = all.b / all.n;
  out.log_loss = log_loss(judged)->mean;
  out.ece = ece_of(equal_width_bins(judged, CalibrationError::kBins));
  if (const auto means = bootstrap_means(clusters, seed)) {
    out.accuracy_low = means->a.low;
    out.accuracy_high = means->a.high;
    out.brier_low = means->b.low;
    out.brier_high = means->b.high;
  }
  return out;
}

void add_judged(Judged& out, const RawSample& sample, std::size_t i,
                const decision::Calibrator& calibrator) {
  const auto probs = sample.probs(i, calibrator);
  DEEM_CHECK(probs);
  const RawSample::Item& item = sample.item(i);
  const std::size_t choice = item.scores > 0 ? decision::argmax(*probs) : (item.label == 0 ? 1 : 0);
  out.add(*probs, choice, item.label, item.cluster);
}

}  // namespace deem::score
