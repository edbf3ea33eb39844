#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decision/layout.h"
#include "kit/draft.h"

namespace deem::kit {

/// What kit.toml says about one task's items.
struct TaskRules {
  enum class From { Nowhere, Sections, Roster };
  std::size_t task = 0;  // index in the draft
  std::optional<decision::Template> instructions;
  std::vector<decision::Option> options;  // of items that list none
  bool options_refused = false;           // then items that list none are passed over
  From options_from = From::Nowhere;      // where bare option keys are looked up
  Origin at;
};
using Roster = std::map<std::string, std::string, std::less<>>;

/// states.jsonl of our own format.
void read_states(Draft& draft, std::size_t file, std::string_view bytes);

/// items/<task>.jsonl of our own format; the states must have been read.
void read_items(Draft& draft, const TaskRules& rules, const Roster& roster, std::size_t file,
                std::string_view bytes);

}  // namespace deem::kit
