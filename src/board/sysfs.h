#pragma once

// Private to board: small files of one value, as the kernel shows them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace deem::board {

/// A file's text without its newline; absent when it can not be read or is over 4 kB.
std::optional<std::string> read_text(const std::string& path);
/// A decimal whole number, times `scale`; absent when the text is none.
std::optional<double> parse_number(std::string_view text, double scale = 1);
/// A file's one number, times `scale`; absent too when it is none.
std::optional<double> read_number(const std::string& path, double scale = 1);
std::optional<std::uint64_t> read_hex(const std::string& path);  // "0x1002"

/// One display controller of the bus (class 0x03….), or AMD's processing accelerator (0x12….: an
/// MI300X shows as no display).
struct PciBoard {
  std::string address;  // "0000:03:00.0"
  std::uint64_t vendor = 0;
};
constexpr std::uint64_t kNvidia = 0x10de, kAmd = 0x1002;

/// Those of NVIDIA and AMD below SYSFS/bus/pci/devices, in the order of their addresses.
/// Errors: NotFound, Unavailable.
Result<std::vector<PciBoard>> list_pci_boards(const std::string& sysfs);

}  // namespace deem::board
