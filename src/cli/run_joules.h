#pragma once

#include <functional>
#include <span>
#include <string>

#include "record/power.h"
#include "record/row.h"
#include "record/run.h"
#include "report/energy.h"

namespace deem::cli {

/// Joules of a run folder, by its power.jsonl and by what run.json says of it.
struct LoadedJoules {
  report::RunJoules joules = {};
  record::PowerFile power = {};  // empty where there is none
};

/// What run.json tells of the place of an arm that is to be known as `name`.
report::ArmPin pin_of(const record::ArmRecord& arm, const std::string& name);

/// `rows` are the run's, with arms named by `name_arm`, which makes a column's arm of an arm's
/// name. What can not be read is not measured, and why is its status.
LoadedJoules load_joules(const std::string& folder, const record::RunRecord& run,
                         std::span<const record::Row> rows,
                         const std::function<std::string(const std::string&)>& name_arm);

}  // namespace deem::cli
