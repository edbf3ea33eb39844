#pragma once

#include <cstdint>
#include <string_view>

namespace deem::detail {

/// crc32c() without the CPU's instruction: what other processors run, and the tests' second method.
std::uint32_t crc32c_by_table(std::string_view bytes);

}  // namespace deem::detail
