#pragma once

#include <optional>
#include <string>

#include "bench/asking.h"
#include "bench/run.h"
#include "bench/run_boards.h"
#include "bench/setup.h"
#include "record/run.h"

namespace deem::bench {

/// The outcome of a run whose arm has a pin that is required and not proved. None where it is
/// proved, or none is required.
std::optional<Outcome> refuse_pin(const Config& config, const std::string& arm,
                                  const std::optional<board::PinVerdict>& pin);

/// What is announced of a sitting's joules: "of GPU-…, 10 s at rest before and after".
std::string words_of(const codec::Json& energy, const RunBoards& boards, const Config& config);

/// What a further sitting found of pins and power: a pin holds for a run when it held each time.
void add_sitting(record::RunRecord& run, const record::RunRecord& now);

/// Says where a further sitting reads other boards than the run began with, or none.
void tell_other_boards(const record::RunRecord& run, const record::RunRecord& now,
                       Observer& observer);

/// Writes into a run's record that the joules of some arms were lost.
void tell_unmeasured(const Config& config, const Setup& setup, const Asking& asking,
                     record::RunRecord& run);

}  // namespace deem::bench
