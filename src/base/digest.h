#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace deem {

/// SHA-256 of `bytes` as 64 lower-case hex digits.
std::string sha256_hex(std::string_view bytes);

/// SHA-256 of a file's bytes, read in pieces. Errors: NotFound, Unavailable.
Result<std::string> sha256_file(const std::string& path);

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4): crc32c("123456789") == 0xe3069283.
std::uint32_t crc32c(std::string_view bytes);

}  // namespace deem
