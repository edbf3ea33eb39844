#pragma once

#include <string>
#include <string_view>

namespace deem::seat::local {

/// A reply with its thinking channel apart. Neither has surrounding white space of the channel.
struct SplitReply {
  std::string thinking;
  std::string answer;
};

/// Splits what a model wrote: <think>…</think>, [THINK]…[/THINK], <seed:think>…, gpt-oss's
/// "<|channel|>analysis<|message|>…<|channel|>final<|message|>", Gemma 4's
/// "<|channel>thought…<channel|>". A channel that is never closed is all thinking. `inside`: the
/// prompt opened the channel.
SplitReply split_thinking(std::string_view reply, bool inside);

/// Whether `prompt` ends in a thinking channel it opened and did not close.
bool ends_inside_thinking(std::string_view prompt);

}  // namespace deem::seat::local
