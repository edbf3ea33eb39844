#include <cstdio>
#include <exception>

#include "cli/verbs.h"

int main(int argc, char** argv) {
  try {
    return deem::cli::run_command_line({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "deem: bug: %s\n", error.what());
    return deem::cli::kOurBug;
  }
}
