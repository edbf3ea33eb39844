#include "codec/sse.h"

namespace deem::codec {

Result<std::vector<SseEvent>> SseParser::feed(std::string_view bytes) {
  std::vector<SseEvent> done;
  while (!bytes.empty()) {
    if (after_cr_ && bytes.front() == '\n') bytes.remove_prefix(1);
    after_cr_ = false;
    const std::size_t end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    if (line_.size() > limit_ || next_.data.size() > limit_) {
      return fail(Error::Code::Corrupt,
                  "an event of more than " + std::to_string(limit_) + " bytes");
    }
    if (end == std::string_view::npos) break;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    end_line(done);
  }
  return done;
}

std::optional<SseEvent> SseParser::finish() {
  std::vector<SseEvent> done;
  if (!line_.empty()) end_line(done);
  return dispatch();
}

void SseParser::end_line(std::vector<SseEvent>& done) {
  std::string_view line = line_;
  if (first_line_ && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  first_line_ = false;
  if (line.empty()) {
    if (auto event = dispatch()) done.push_back(std::move(*event));
  } else if (const std::size_t colon = line.find(':'); colon != 0) {
    const std::string_view name = line.substr(0, colon);
    std::string_view value;
    if (colon != std::string_view::npos) value = line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    take_field(name, value);
  }
  line_.clear();
}

void SseParser::take_field(std::string_view name, std::string_view value) {
  if (name == "data") {
    if (has_data_) next_.data += '\n';
    has_data_ = true;
    next_.data += value;
  } else if (name == "event") {
    next_.event = value;
  } else if (name == "id" && value.find('\0') == std::string_view::npos) {
    next_.id = value;
  }
}

std::optional<SseEvent> SseParser::dispatch() {
  std::optional<SseEvent> event;
  if (has_data_) event = next_;
  if (event && event->event.empty()) event->event = "message";
  has_data_ = false;
  next_.event = "message";
  next_.data.clear();
  return event;
}

}  // namespace deem::codec
