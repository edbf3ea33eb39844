#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "kit/deem_items.h"
#include "kit/draft.h"

namespace deem::kit {

/// What kit.toml says beside what it puts into the draft's kit.
struct DeemToml {
  Roster roster;
  std::vector<TaskRules> tasks;  // in file order
};

/// Reads kit.toml: name, licence, layout and tasks go into the draft. Unknown members, wrong kinds
/// and bad templates are refused at their line.
DeemToml read_kit_toml(Draft& draft, std::size_t file, std::string_view text,
                       const LoadOptions& options);

}  // namespace deem::kit
