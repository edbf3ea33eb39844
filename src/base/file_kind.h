#pragma once

#include <string>

namespace deem {

bool is_regular_file(const std::string& path);

/// A FIFO in a folder: opening it waits until somebody opens its other end. Not a pipe that this
/// process holds open, as behind /dev/stdin or a shell's <(…).
bool is_named_pipe(const std::string& path);

}  // namespace deem
