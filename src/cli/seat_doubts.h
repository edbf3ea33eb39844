#pragma once

#include <functional>
#include <string>

#include "record/run.h"
#include "report/report.h"

namespace deem::cli {

/// What run.json keeps of the diagnoses of a run's seats: a line an arm, and the doubts about
/// readings it takes, which are notes too. `name_arm`: as the columns are named.
void tell_doctor(const record::RunRecord& run,
                 const std::function<std::string(const std::string&)>& name_arm,
                 report::Heading& heading);

}  // namespace deem::cli
