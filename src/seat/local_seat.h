#pragma once

#include <memory>

#include "base/result.h"
#include "seat/seat.h"

namespace deem::seat {

/// Loads the model file `spec.address` into this process. Errors: NotFound, Corrupt ("FILE: not a
/// GGUF file"), BadInput (context, chat template or its arguments), Unavailable (memory).
Result<std::unique_ptr<Seat>> make_local_seat(const SeatSpec& spec);

}  // namespace deem::seat
