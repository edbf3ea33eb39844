#pragma once

#include <cstddef>

namespace deem::record {

// What a power file may hold. Beyond these a line is no measurement but damage or malice: a sum
// over 1e308 W would be infinite, a board list of millions would eat the reader.
inline constexpr double kMaxWatts = 1e6;
inline constexpr double kMaxJoules = 1e15;  // a counter of 1 MW for 30 years
inline constexpr double kMaxMebibytes = 1e9;
inline constexpr double kMinCelsius = -273.15, kMaxCelsius = 1e4;
inline constexpr double kMaxMegahertz = 1e6;
inline constexpr double kMaxSeconds = 1e11;  // of any clock
inline constexpr double kMaxPeriod = 86'400;
inline constexpr std::size_t kMaxBoards = 1'024;
inline constexpr std::size_t kMaxPowerLine = std::size_t{1} << 20;

}  // namespace deem::record
