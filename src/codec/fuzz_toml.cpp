// What parses has a place for each of its keys; what does not is told on one line.
#include <cstdint>

#include "base/check.h"
#include "codec/toml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const auto doc = deem::codec::parse_toml(text, "f");
  if (!doc) {
    DEEM_CHECK(doc.error().message.starts_with("f:"));
    DEEM_CHECK(doc.error().message.find('\n') == std::string::npos);
    return 0;
  }
  DEEM_CHECK(doc->root.is_object());
  for (const auto& [key, value] : doc->root.members()) {
    DEEM_CHECK(doc->line(key) > 0);
  }
  return 0;
}
