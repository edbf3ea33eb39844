#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "decision/question.h"

namespace deem::decision {

/// How a written reply was understood; stored in the row.
enum class WrittenHow { Unparsed, Letter, StatedLetter, Key, Words, YesNo, Reference };

struct WrittenAnswer {
  std::optional<std::size_t> option;  // none: unparsed
  WrittenHow how = WrittenHow::Unparsed;
};

std::string_view to_string(WrittenHow how);

/// Finds the option a reply *states* (rules and their limits: docs/measuring.md): a bare letter
/// ("B", "(b)", "B.", "**B**", "[B]"), a stated one ("Answer: B", "The answer is (B)"), the
/// option's own key or words, "yes"/"no" where the options are those. An article "A", a pronoun
/// "I", or a word that merely begins with a letter is not a statement. Two different statements:
/// the last stated one after "answer" wins, else unparsed.
/// More than kMostWritten bytes of text beside thinking state nothing: no model was asked for as
/// much.
WrittenAnswer parse_written(std::string_view reply, std::span<const Option> options);
inline constexpr std::size_t kMostWritten = std::size_t{32} * 1024;

/// run.py's rule: the first character that is any of the first n letters (NOTES.md defect 4).
WrittenAnswer parse_written_reference(std::string_view reply, std::size_t n);

}  // namespace deem::decision
