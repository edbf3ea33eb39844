#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "record/fit.h"
#include "record/row.h"
#include "score/answer.h"

namespace deem::score {

/// Fits by the name of the arm they are applied to.
using Fits = std::map<std::string, record::Fit>;

/// What a calibrated column's variant ends with: "raw-fit" is "raw" through its fit.
inline constexpr std::string_view kFitSuffix = "-fit";
/// The column of a fit by choose: each task by the reading chosen for it, "chosen:fit".
inline constexpr std::string_view kChosen = "chosen";
inline constexpr std::string_view kChosenVariant = "fit";

/// The entry that suits one reading of a row, or nullptr.
const record::FitEntry* entry_for(const record::Fit& fit, const record::Row& row,
                                  const std::string& name, const record::ReadingRecord& reading,
                                  std::string_view variant);

/// answer_of, by the entry's constants. None where there is no answer, or the entry does not suit
/// it.
std::optional<Answer> fitted_answer(const record::Row& row, const record::ReadingRecord& reading,
                                    std::string_view variant, const record::FitEntry& entry);

/// What a column of a scored table (reading and variant as printed there, "raw-fit" and chosen:fit
/// among them) is about in one row, and its answer. `fit`: of the row's arm, or nullptr.
struct InColumn {
  const record::ReadingRecord* reading = nullptr;  // none: not asked that way
  const std::string* name = nullptr;               // of that reading, as the row has it
  std::optional<Answer> answer = {};
};
InColumn in_column(const record::Row& row, const std::string& reading, const std::string& variant,
                   const record::Fit* fit = nullptr);

/// The fit of an arm, or nullptr.
inline const record::Fit* fit_of(const Fits& fits, const std::string& arm) {
  const auto found = fits.find(arm);
  return found == fits.end() ? nullptr : &found->second;
}

}  // namespace deem::score
