// Any bytes as text of a page: nothing of them may be read as markup, and what comes out is UTF-8.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "codec/json.h"
#include "report/html_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string text = deem::report::html(bytes);
  DEEM_CHECK(text.find_first_of("<>\"'") == std::string::npos);
  DEEM_CHECK(deem::is_utf8(text));
  // What is visible already stays as it is.
  const std::string once = deem::report::visible(bytes);
  DEEM_CHECK(deem::report::visible(once) == once);
  const std::string json = deem::report::script_json(deem::codec::Json(once));
  DEEM_CHECK(json.find_first_of("<>&") == std::string::npos);
  const auto back = deem::codec::parse_json(json);
  DEEM_CHECK(back && back->as_string() == once);
  for (const char c : deem::report::slug(bytes)) {
    DEEM_CHECK((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-');
  }
  return 0;
}
