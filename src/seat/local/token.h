#pragma once

#include <cstdint>
#include <vector>

namespace deem::seat::local {

/// A vocabulary id; llama.cpp's llama_token.
using Token = std::int32_t;
using Tokens = std::vector<Token>;

}  // namespace deem::seat::local
