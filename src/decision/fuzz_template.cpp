#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "decision/layout.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace deem::decision;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = Template::parse(text);
  if (!parsed) {
    DEEM_CHECK(!parsed.error().message.empty());
    return 0;
  }
  DEEM_CHECK(parsed->text() == text);
  const Option option{"k", "d", text.empty() ? "" : "t"};
  const std::map<std::string, std::string> meta = {{"a", "1"}};
  const Template::Fields fields{.state = text, .option = &option, .meta = &meta};
  // What was filled in is never read as a template, so filling is at most linear in its fields.
  DEEM_CHECK(parsed->fill(fields).size() <= text.size() * (text.size() + 1));
  return 0;
}
