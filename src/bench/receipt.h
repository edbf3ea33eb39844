#pragma once

#include <string>

#include "codec/json.h"

namespace deem::bench {

/// What this box and this build are, for run.json's `receipt`: harness and build digests, kernel,
/// distribution, CPU governors, memory, and whether we run in a container. What can not be read is
/// absent. `root`: a folder that stands for /, for tests.
codec::Json host_receipt(const std::string& root = "/");

/// The boards of this box for the receipt: id, name, caps, driver of each; null where there is
/// none.
codec::Json board_receipt();

/// Why a run has no joules: {"status": "not measured (why)"}.
codec::Json energy_status(const codec::Json& boards);

}  // namespace deem::bench
