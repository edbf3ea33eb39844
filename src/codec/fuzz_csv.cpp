// Every row is as wide as the header, and lines rise.
#include <cstdint>

#include "base/check.h"
#include "codec/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  for (const char separator : {',', '\t'}) {
    const auto table = deem::codec::parse_csv(text, separator);
    if (!table) continue;
    std::size_t line = 0;
    for (const auto& row : table->rows) {
      DEEM_CHECK(row.fields.size() == table->names.size());
      DEEM_CHECK(row.line > line);
      line = row.line;
    }
  }
  return 0;
}
