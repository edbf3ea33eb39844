#pragma once

#include <string>

#include "codec/json.h"

namespace deem::bench {

/// What this box and this build are, for run.json's `receipt`: harness and build digests, kernel,
/// distribution, CPU governors, memory, and whether we run in a container. What can not be read is
/// absent. `root`: a folder that stands for /, for tests.
codec::Json host_receipt(const std::string& root = "/");

}  // namespace deem::bench
