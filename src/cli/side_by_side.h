#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/run.h"

namespace deem::cli {

/// Why figures of two runs say nothing beside each other.
struct Hindrance {
  enum class What { Kit, Version, Harness };
  What what = What::Kit;
  std::string text = {};  // names both runs
};

/// A run by its path; none: rows without a run.json.
struct NamedRun {
  std::string path = {};
  std::optional<record::RunRecord> run = {};
};

/// What differs between two runs, or is not told, of kit, version of deem and harness (the sources
/// that decide what is asked, read and scored). Rows without run.json tell no harness.
std::vector<Hindrance> side_by_side(const NamedRun& a, const NamedRun& b);

}  // namespace deem::cli
