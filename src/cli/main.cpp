#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <system_error>

#include "cli/verbs.h"

int main(int argc, char** argv) {
  // A file at its size limit is a write that fails, with a message, as on a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    const int code = deem::cli::run_command_line({argv + 1, argv + argc});
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      std::fprintf(stderr, "deem: stdout: can not write: %s\n", std::strerror(errno));
      return code == deem::cli::kDone ? deem::cli::kOutsideFailed : code;
    }
    return code;
  } catch (const std::system_error& error) {
    // What fmt throws when a stream can not be written.
    std::fprintf(stderr, "deem: output: %s\n", error.what());
    return deem::cli::kOutsideFailed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "deem: bug: %s\n", error.what());
    return deem::cli::kOurBug;
  }
}
