#include "seat/local/thinking.h"

#include <array>

#include "base/text.h"

namespace deem::seat::local {
namespace {

struct Channel {
  std::string_view open;
  std::string_view close;
};
constexpr std::array<Channel, 5> kChannels = {{
    {"<think>", "</think>"},
    {"[THINK]", "[/THINK]"},
    {"<seed:think>", "</seed:think>"},
    {"<|channel>thought", "<channel|>"},
    {"<|channel|>analysis<|message|>", "<|channel|>final<|message|>"},
}};

std::string without(std::string text, std::string_view mark) {
  for (std::size_t at; (at = text.find(mark)) != text.npos;) text.erase(at, mark.size());
  return text;
}

SplitReply split_at(std::string_view rest, std::string_view close) {
  const std::size_t end = rest.find(close);
  SplitReply parts;
  parts.thinking = trim(rest.substr(0, end));
  if (end != rest.npos) parts.answer = trim(rest.substr(end + close.size()));
  // gpt-oss ends one channel's message and starts the assistant again before the next.
  parts.thinking = trim(without(without(parts.thinking, "<|end|>"), "<|start|>assistant"));
  return parts;
}

}  // namespace

SplitReply split_thinking(std::string_view reply, bool inside) {
  const std::string_view start = trim(reply);
  for (const Channel& channel : kChannels) {
    if (start.starts_with(channel.open)) {
      return split_at(start.substr(channel.open.size()), channel.close);
    }
  }
  if (inside) {
    for (const Channel& channel : kChannels) {
      if (reply.find(channel.close) != reply.npos) return split_at(reply, channel.close);
    }
    return {.thinking = std::string(trim(reply)), .answer = {}};
  }
  constexpr std::string_view kFinal = "<|channel|>final<|message|>";
  if (start.starts_with(kFinal))
    return {.thinking = {}, .answer = std::string(start.substr(kFinal.size()))};
  return {.thinking = {}, .answer = std::string(reply)};
}

bool ends_inside_thinking(std::string_view prompt) {
  for (const Channel& channel : kChannels) {
    const std::size_t open = prompt.rfind(channel.open);
    if (open == prompt.npos) continue;
    if (trim(prompt.substr(open + channel.open.size())).empty()) return true;
  }
  return false;
}

}  // namespace deem::seat::local
