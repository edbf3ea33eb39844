#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace deem::codec {

struct SseEvent {
  std::string event = "message";
  std::string data = {};  // "data:" lines joined with "\n"
  std::string id = {};    // the last one sent, by this event or an earlier one
  bool operator==(const SseEvent&) const = default;
};

/// Takes a stream of server-sent events apart (WHATWG HTML, section 9.2.6) as its bytes arrive, cut
/// anywhere. Comments (": ping"), unknown fields and events without data are skipped.
class SseParser {
 public:
  /// `limit`: the most bytes one line, or one event's data, may have.
  explicit SseParser(std::size_t limit = std::size_t{64} << 20) : limit_(limit) {}

  /// The events that these bytes complete. Errors: Corrupt past the limit; the stream can not be
  /// followed then.
  Result<std::vector<SseEvent>> feed(std::string_view bytes);

  /// The event that the stream's end cut off, when it has data: the standard drops it, but some
  /// servers leave out the last blank line.
  std::optional<SseEvent> finish();

 private:
  void end_line(std::vector<SseEvent>& done);
  void take_field(std::string_view name, std::string_view value);
  std::optional<SseEvent> dispatch();

  std::size_t limit_;
  std::string line_;        // of the line not yet ended
  bool after_cr_ = false;   // "\n" belongs to the "\r" before it
  bool first_line_ = true;  // may begin with a byte order mark
  bool has_data_ = false;
  SseEvent next_;
};

}  // namespace deem::codec
