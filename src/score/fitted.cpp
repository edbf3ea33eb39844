#include "score/fitted.h"

#include "decision/readout.h"

namespace deem::score {

using record::ReadingRecord;
using record::Row;

const record::FitEntry* entry_for(const record::Fit& fit, const Row& row, const std::string& name,
                                  const ReadingRecord& reading, std::string_view variant) {
  const bool letters = reading.kind == ReadingRecord::Kind::Letters;
  return record::find_entry(
      fit, {.task = row.task,
            .type = row.type,
            .options = row.keys.size(),
            .reading = name,
            .variant = variant,
            .policy = letters ? decision::to_string(reading.policy) : std::string_view(),
            .prompt_digest = reading.prompt_sha256});
}

std::optional<Answer> fitted_answer(const Row& row, const ReadingRecord& reading,
                                    std::string_view variant, const record::FitEntry& entry) {
  if (entry.calibrator.method == decision::Calibrator::Method::None)
    return answer_of(row, reading, variant);
  const auto scores = scores_of(row, reading, variant);
  auto probs = scores ? decision::apply_calibrator(entry.calibrator, *scores) : std::nullopt;
  if (!probs || probs->size() != row.keys.size()) return std::nullopt;
  Answer out{.probs = std::move(*probs), .choice = 0, .score = {}};
  out.choice = decision::argmax(out.probs);
  return out;
}

InColumn in_column(const Row& row, const std::string& reading, const std::string& variant,
                   const record::Fit* fit) {
  std::string name = reading, raw = variant;
  bool through_fit = false;
  if (fit != nullptr && reading == kChosen && variant == kChosenVariant) {
    const record::FitEntry* chosen = record::chosen_entry(*fit, row.task);
    if (chosen == nullptr) return {};
    name = chosen->reading;
    raw = chosen->variant;
    through_fit = true;
  } else if (fit != nullptr && variant.ends_with(kFitSuffix)) {
    raw.resize(raw.size() - kFitSuffix.size());
    through_fit = true;
  }
  const auto found = row.readings.find(name);
  if (found == row.readings.end()) return {};
  const ReadingRecord* given = &found->second;
  const std::string* known_as = &found->first;
  if (!through_fit) return {given, known_as, answer_of(row, *given, raw)};
  const auto* entry = entry_for(*fit, row, name, *given, raw);
  if (entry == nullptr) return {given, known_as, std::nullopt};
  return {given, known_as, fitted_answer(row, *given, raw, *entry)};
}

}  // namespace deem::score
