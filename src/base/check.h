#pragma once

#include <cstdio>
#include <cstdlib>

/// Aborts with file and line when `condition` is false: for bugs of ours, never for user input.
#define DEEM_CHECK(condition)                                                         \
  do {                                                                                \
    if (!(condition)) {                                                               \
      std::fprintf(stderr, "deem: bug: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                   \
    }                                                                                 \
  } while (false)
