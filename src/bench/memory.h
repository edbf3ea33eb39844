#pragma once

#include <string>

#include "codec/json.h"
#include "seat/seat.h"

namespace deem::bench {

/// Peak resident memory of what serves a seat, as run.json keeps it: {"status": "ok", "what",
/// "peak_bytes"} or {"status": "not measured (why)"}. A local seat: this process (VmHWM). A server
/// on this machine: the processes that listen on its port or socket, with all that descend from
/// them, each at its own peak. Else what the server says it holds now, where it does. `proc`: a
/// folder that stands for /proc, for tests.
codec::Json peak_memory(seat::Seat& seat, const seat::Identity& identity,
                        const std::string& proc = "/proc");

/// The larger of two measurements, of two sittings; a measured one before one that is not.
codec::Json larger_peak(const codec::Json& before, codec::Json now);

}  // namespace deem::bench
