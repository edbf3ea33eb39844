#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "decision/question.h"

namespace deem::decision {

/// What a program without a model answers.
struct OverlapChoice {
  std::size_t option = 0;  // index into the question's options
  double score = 0;        // shared words (choice, score) or the share found (noul)
};

/// The keyword-overlap baseline. Words are runs of ASCII letters, digits and bytes above 0x7f,
/// lower-cased, without a short list of English stop words; each counts once.
///   choice, score: the option that shares most words with state and question, by its key,
///     description and text. An option with a text of its own (a section) is part of the state, so
///     it is held against the question alone. Ties, none shared included: the first option.
///   noul: yes (option 0) when at least half of the question's words are found in the state, else
///     no (option 1).
/// None when there is no option to choose.
std::optional<OverlapChoice> overlap_choice(std::string_view state, const Question& question);

}  // namespace deem::decision
