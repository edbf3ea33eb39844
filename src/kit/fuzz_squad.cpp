#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kit/formats.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace deem::kit;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Draft draft;
  draft.kit.path = "fuzz.json";
  load_squad(draft, draft.add_file("fuzz.json"), bytes, {});
  finish_draft(draft);
  return 0;
}
