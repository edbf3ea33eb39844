#include <cstddef>
#include <cstdint>
#include <string_view>

#include "record/fit.h"

// Any bytes: no crash; and a fit that reads must print to a fit that reads the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto fit = deem::record::parse_fit(bytes);
  if (!fit) return 0;
  const auto again = deem::record::parse_fit(std::string_view(deem::record::format_fit(*fit)));
  if (!again || !(*again == *fit)) __builtin_trap();
  const double scores[] = {-0.5, -1.5, -2.5};
  for (const auto& entry : fit->entries) {
    for (std::size_t n = 1; n <= 3; ++n)
      (void)deem::decision::apply_calibrator(entry.calibrator, {scores, n});
  }
  return 0;
}
