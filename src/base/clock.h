#pragma once

#include <chrono>
#include <string>

namespace deem {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Seconds = std::chrono::duration<double>;

/// Wall time now as UTC, "2026-12-01T05:11:23Z".
std::string utc_stamp();

}  // namespace deem
