// What parses prints, and what is printed parses to the same value.
#include <cstdint>

#include "base/check.h"
#include "codec/json.h"

namespace {

using deem::codec::Json;
using deem::codec::JsonMode;

// NaN is not equal to itself, so texts are compared too where there may be one.
void check(std::string_view text, JsonMode mode) {
  const auto value = deem::codec::parse_json(text, mode);
  if (!value) return;
  for (const deem::codec::JsonStyle& style :
       {deem::codec::JsonStyle{}, {.ascii = false}, {.compact = true}, {.indent = 1}}) {
    const std::string printed = deem::codec::dump_json(*value, style);
    const auto again = deem::codec::parse_json(printed, mode);
    DEEM_CHECK(again.has_value());
    DEEM_CHECK(deem::codec::dump_json(*again, style) == printed);
    DEEM_CHECK(mode == JsonMode::Python || *again == *value);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  check(text, JsonMode::Strict);
  check(text, JsonMode::Python);
  return 0;
}
