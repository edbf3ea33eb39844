#pragma once

#include <string>

#include "board/board.h"
#include "codec/json.h"

namespace deem::bench {

/// What this box and this build are, for run.json's `receipt`: harness and build digests, kernel,
/// distribution, CPU governors, memory, and whether we run in a container. What can not be read is
/// absent. `root`: a folder that stands for /, for tests.
codec::Json host_receipt(const std::string& root = "/");

/// The boards of this box as a run's record keeps them.
struct BoardReceipt {
  codec::Json boards;  // id, name, caps, driver of each; null where there is none
  codec::Json energy;  // {"status": "not measured (why)"}
};
BoardReceipt board_receipt(const board::BoardOptions& options);

}  // namespace deem::bench
