#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "decision/written.h"

// First byte: how many of the options are asked. The rest is the reply.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace deem::decision;
  static const std::vector<Option> kOptions = [] {
    std::vector<Option> options = {{"yes", "The article answers it.", ""},
                                   {"no", "The article does not.", ""},
                                   {"tide_mill", "Tide mill, the old one", "Tide mill\n\nTurns."}};
    while (options.size() < 60) options.push_back({std::to_string(options.size()), "", ""});
    return options;
  }();
  if (size == 0) return 0;
  const std::span<const Option> options = std::span(kOptions).first(data[0] % 61);
  const std::string_view reply(reinterpret_cast<const char*>(data) + 1, size - 1);
  const WrittenAnswer answer = parse_written(reply, options);
  DEEM_CHECK(answer.option.has_value() == (answer.how != WrittenHow::Unparsed));
  DEEM_CHECK(!answer.option || *answer.option < options.size());
  const WrittenAnswer first = parse_written_reference(reply, options.size());
  DEEM_CHECK(!first.option || *first.option < options.size());
  return 0;
}
