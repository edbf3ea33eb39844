#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"

namespace deem::seat::local {

/// What a GGUF file says of its weights.
struct Weights {
  std::int64_t count = 0;
  bool quantised = false;  // some are neither 32-bit nor 16-bit floats
  bool plain = false;      // all are 32-bit floats
};
/// None when the file can not be read as GGUF.
std::optional<Weights> read_weights(const std::string& path);

/// The same model with its weights as 32-bit floats, in memory that has no name on disk. The
/// values are those the file stands for; what changes is that llama.cpp no longer rounds
/// activations to 8 bits to multiply them with quantised weights. That rounding makes the
/// scores of one prompt differ by several percent with the batch it rides in, and on CPUs is
/// slower. None when llama.cpp can not convert the file.
struct WidenedFile {
  Fd fd;
  std::string path;  // valid while `fd` is open
};
std::optional<WidenedFile> widen(const std::string& path, int threads);

}  // namespace deem::seat::local
