#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kit/kit.h"

namespace deem::kit {

/// What `kit show` tells of one task.
struct TaskSummary {
  std::string name;
  decision::QuestionType type = decision::QuestionType::Choice;
  std::size_t items = 0;
  std::size_t labelled = 0;
  std::size_t states = 0;  // distinct
  std::size_t options_min = 0, options_max = 0;
  std::vector<std::pair<std::string, std::size_t>> labels;    // most frequent first, then by name
  std::vector<std::size_t> gold_positions;                    // labelled items by position
  std::vector<std::pair<std::string, std::size_t>> kinds;     // as labels
  std::vector<std::pair<std::string, std::string>> readings;  // name, digest
};

struct KitSummary {
  std::string name, version, licence, source, path, format, digest, layout_digest;
  std::size_t items = 0;
  std::size_t states = 0;
  std::size_t state_bytes_min = 0, state_bytes_median = 0, state_bytes_max = 0;
  std::string longest_state;  // its id
  std::vector<TaskSummary> tasks;
};

KitSummary summarise(const Kit& kit);

/// The summary as text for a terminal, ending in a newline; of one task when `task` names it.
std::string describe(const Kit& kit, std::string_view task = {});

/// Errors: NotFound for an unknown task, with a guess.
Result<const Task*> find_task(const Kit& kit, std::string_view name);

/// Errors: NotFound for an unknown task or item, with a guess.
Result<const Item*> find_item(const Kit& kit, std::string_view task, std::string_view id);

/// Everything about one item as text: its prompts as they would be sent, with their sha256, the
/// label, and each reading's texts. Errors: NotFound for an unknown task or item, with a guess.
Result<std::string> describe_item(const Kit& kit, std::string_view task, std::string_view id);

/// One finding as one line: "FILE:LINE: refused: what" or "FILE: warning: what".
std::string to_string(const Finding& finding);

}  // namespace deem::kit
