#pragma once

#include <string>
#include <vector>

#include "board/board.h"
#include "codec/json.h"
#include "seat/seat.h"

namespace deem::bench {

/// What serves a seat on this machine, for run.json: {"runtimes": GPU libraries its processes have
/// mapped, "findings": what of them does not fit the driver of `boards`, "image": of the container
/// they run in, "weights": digest of the GGUF file a server names, by a receipt beside it or its
/// bytes}. What is not seen is absent; null where nothing is. `root`: a folder that stands for /,
/// for tests.
codec::Json process_receipt(const std::vector<board::BoardInfo>& boards, const seat::SeatSpec& spec,
                            const seat::Identity& identity, const std::string& root = "/");

}  // namespace deem::bench
