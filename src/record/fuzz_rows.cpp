#include <cstddef>
#include <cstdint>
#include <string_view>

#include "record/rows_file.h"
#include "record/run.h"

// Any bytes: no crash; and a row that reads must print to a row that reads the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const deem::record::RowsFile rows = deem::record::parse_rows(bytes);
  for (const auto& row : rows.rows) {
    const std::string line = deem::record::format_row(row);
    const auto again = deem::record::parse_row(line);
    if (!again || deem::record::format_row(*again) != line) __builtin_trap();
  }
  (void)deem::record::parse_row(bytes, deem::record::Checksum::Ignore);
  (void)deem::record::parse_run(bytes);
  return 0;
}
