#pragma once

// Private to bench: what an Asker writes into a reading whichever way it asks.

#include <string>

#include "base/result.h"
#include "record/row.h"
#include "seat/seat.h"

namespace deem::bench {

/// Adds one call's cost to a reading. `model`: the name the seat goes by.
void add_cost(record::ReadingRecord& record, const std::string& model, const seat::Usage& usage,
              const seat::Timing& timing);

void set_error(record::ReadingRecord& record, const Error& error);

/// The prompt's digest and length.
void set_prompt(record::ReadingRecord& record, const std::string& prompt);

}  // namespace deem::bench
