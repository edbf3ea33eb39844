#pragma once

#include <memory>

#include "base/result.h"
#include "seat/seat.h"

namespace deem::seat {

inline constexpr int kMostThreads = 1024;

/// Loads the model file `spec.address` into this process. Errors: NotFound, Corrupt ("FILE: not a
/// GGUF file"), BadInput (no regular file, threads, context, chat template or its arguments),
/// Unavailable (memory).
Result<std::unique_ptr<Seat>> make_local_seat(const SeatSpec& spec);

}  // namespace deem::seat
