#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace deem::record {

/// A stamp of nvidia-smi, "2026/12/01 05:11:23.920" and whatever else Python's
/// strptime("%Y/%m/%d %H:%M:%S.%f") takes: one digit where two stand, 1 to 6 of a fraction, any
/// white space between day and hour.
struct Stamp {
  std::int64_t seconds = 0;  // since 1970, the stamp taken as UTC
  int microseconds = 0;
  /// As Python's datetime.timestamp() adds them up.
  double unix_s() const { return static_cast<double>(seconds) + microseconds / 1e6; }
};

/// None when it is no such stamp, or no such day.
std::optional<Stamp> parse_stamp(std::string_view text);

}  // namespace deem::record
