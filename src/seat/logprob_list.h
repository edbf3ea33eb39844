#pragma once

// Private to seat: a reply's list of log-probabilities, and what is odd about it. Heavy: only for
// parse_*.cpp.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decision/letters.h"
#include "seat/document.h"

namespace deem::seat {

struct LogprobList {
  decision::FirstPosition first;
  std::vector<decision::FirstPosition> more;  // the positions after it
  std::string shape;                          // as PositionReply's
};

/// Reads the member `key` of `parent`, a list of positions: [{"token","logprob","id",
/// "top_logprobs":[…]}, …].
LogprobList read_logprob_list(const std::optional<Element>& parent, std::string_view key);

/// The same of a choice of the OpenAI chat form: its "logprobs" holds the list as "content".
LogprobList read_chat_logprobs(const Element& choice);

}  // namespace deem::seat
