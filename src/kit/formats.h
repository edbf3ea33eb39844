#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kit/draft.h"
#include "kit/kit.h"

namespace deem::kit {

// One loader a format; each fills the draft and refuses what it can not read. `folder` and `bytes`
// come from load_kit; `file` is the draft's index of the file the bytes came from.

void load_deem(Draft& draft, const std::string& folder, const LoadOptions& options);
void load_reference(Draft& draft, const std::string& folder, const LoadOptions& options);
void load_jsonl(Draft& draft, std::size_t file, std::string_view bytes, const LoadOptions& options);
void load_squad(Draft& draft, std::size_t file, std::string_view bytes, const LoadOptions& options);
void load_table(Draft& draft, std::size_t file, std::string_view bytes, char separator,
                const LoadOptions& options);

/// The task name of a one-file format: the option, or the file's stem made a task name.
std::string one_file_task_name(const Draft& draft, const LoadOptions& options);

/// Whether a name can be a task's: 1 to 64 of a–z, A–Z, 0–9, "_" and "-", first a letter or digit.
bool is_task_name(std::string_view name);

/// A template for instructions; none when `text` is empty, or refused.
std::optional<decision::Template> parse_instructions(Draft& draft, Origin at,
                                                     std::string_view text);

/// What `common` says for an item with its question, state and metadata filled in.
std::string fill_instructions(const decision::Template& common, std::string_view state,
                              const Item& item);

/// yes and no, as a noul item without options has them.
std::vector<decision::Option> yes_no();

/// Fills the bodies of `sections` from a text's parts: what stands below the line "## Heading" up
/// to the next line that begins with "# " or "## ". Of equal headings the first unclaimed one
/// counts; a section without such a line keeps no body.
void fill_bodies(std::string_view state, std::vector<Section>& sections);

/// A text's parts as sections, their ids made of their headings.
std::vector<Section> sections_of(std::string_view state);

/// "Super_Bowl_50" → "super-bowl-50": an id made of a title. Bytes outside ASCII stay.
std::string slug_of(std::string_view title);

/// Heading and body as they stand for a section in readings by likelihood.
std::string section_text(const Section& section);

// The reference bench's words for its two questions about an article; SQuAD shapes use them too.
inline constexpr std::string_view kAnsweredInstructions =
    "Does the article in the state answer this reader's question? Question: ";
inline constexpr std::string_view kSectionInstructions =
    "Which section of the article in the state contains the answer to this reader's question? "
    "Question: ";
std::vector<decision::Option> answered_options();

}  // namespace deem::kit
