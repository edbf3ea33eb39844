#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "record/power.h"

namespace {

using namespace deem::record;

/// What stands alone under its heading must read back as it was printed.
template <class T, class Format>
void check(const std::string& heading, const T& value, std::vector<T> PowerSegment::* list,
           Format format) {
  const std::string line = format(value);
  const PowerFile file = parse_power(heading + "\n" + line + "\n");
  if (file.segments.size() != 1 || !file.problems.empty()) __builtin_trap();
  const std::vector<T>& read = file.segments[0].*list;
  if (read.size() != 1 || format(read[0]) != line) __builtin_trap();
}

}  // namespace

// Any bytes: no crash; and what reads must print to what reads the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const PowerSegment& segment : parse_power(bytes).segments) {
    const std::string heading = format_power_heading(segment);
    for (const PowerSample& sample : segment.samples) {
      check(heading, sample, &PowerSegment::samples,
            [&](const PowerSample& s) { return format_power_sample(s, segment.boot_id); });
    }
    for (const PowerMark& mark : segment.marks) {
      check(heading, mark, &PowerSegment::marks, format_power_mark);
    }
    for (const PowerEvent& event : segment.events) {
      check(heading, event, &PowerSegment::events, format_power_event);
    }
  }
  (void)parse_reference_watts(bytes);
  return 0;
}
