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

}  // namespace deem::score
