// The first byte is the size of the pieces; the events do not depend on it. The lines helper is
// tried on the same bytes: its lines and their ends make up the text.
#include <algorithm>
#include <cstdint>

#include "base/check.h"
#include "codec/jsonl.h"
#include "codec/sse.h"

namespace {

std::vector<deem::codec::SseEvent> read(std::string_view stream, std::size_t piece) {
  deem::codec::SseParser parser;
  std::vector<deem::codec::SseEvent> events;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    const auto done = parser.feed(stream.substr(at, piece));
    DEEM_CHECK(done.has_value());
    events.insert(events.end(), done->begin(), done->end());
  }
  if (auto last = parser.finish()) events.push_back(*last);
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string stream(data + 1, data + size);
  const std::size_t piece = std::max<std::size_t>(data[0], 1);
  DEEM_CHECK(read(stream, piece) == read(stream, std::max<std::size_t>(stream.size(), 1)));

  std::size_t end = 0;
  for (deem::codec::Lines lines(stream); const auto line = lines.next();) {
    const std::size_t gap = line->offset - end;
    DEEM_CHECK(gap <= 2 && (gap > 0 || line->number == 1));
    DEEM_CHECK(line->text.find_first_of("\r\n") == std::string_view::npos);
    end = line->offset + line->text.size();
  }
  DEEM_CHECK(stream.size() - end <= 2);
  return 0;
}
