// What parses has a place for each of its keys.
#include <cstdint>

#include "base/check.h"
#include "codec/toml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const auto doc = deem::codec::parse_toml(text, "f");
  if (!doc) return 0;
  DEEM_CHECK(doc->root.is_object());
  for (const auto& [key, value] : doc->root.members()) {
    DEEM_CHECK(doc->line(key) > 0);
  }
  return 0;
}
