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

}  // namespace deem::score
