#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/arm.h"
#include "kit/kit.h"
#include "seat/seat.h"

namespace deem::bench {

/// What one reading of one item sends, before any seat sees it.
struct LettersPrompt {
  std::vector<decision::Group> groups;  // of options; one unless there are over 52
  std::vector<std::string> prompts;     // one per group
};
struct TextsPrompt {
  std::vector<seat::LikelihoodRequest> texts;  // one per option, or one when no option is named
  std::vector<std::optional<seat::LikelihoodRequest>> priors;  // none where the state is no part
                                                               // of `given`, or is what is scored
  std::string digest;  // of the templates (kit readings), else ""
};

/// Which of the kinds a reading's name stands for in a task. None: the task does not define it.
enum class ReadingKind { Letters, Words, WordsUnlisted, Written, Native, Likelihood };
std::optional<ReadingKind> find_reading(const kit::Task& task, std::string_view name);

/// `all` and `chosen` written out for a task; other lists unchanged.
std::vector<ReadingChoice> readings_for(const Arm& arm, const kit::Task& task);

/// The letters prompt(s) of `item` with `state` in the state's place.
LettersPrompt make_letters_prompt(const kit::Kit& kit, const kit::Item& item,
                                  std::string_view state);

/// The prompt of a tournament's final among `winners` (option indices, in option order).
std::string make_final_prompt(const kit::Kit& kit, const kit::Item& item, std::string_view state,
                              const std::vector<std::size_t>& winners);

TextsPrompt make_texts_prompt(const kit::Kit& kit, const kit::Task& task, const kit::Item& item,
                              std::string_view reading, bool prior);

/// What a decision endpoint is given for `item`, in one form whatever form it is sent in.
std::string make_native_text(const kit::Kit& kit, const kit::Item& item);

/// What a written answer is asked by: the letters prompt, or with over 52 options the listed words.
std::string make_written_prompt(const kit::Kit& kit, const kit::Item& item);

}  // namespace deem::bench
