#include "decision/spelling.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"

namespace deem::decision {
namespace {

constexpr std::array<std::string_view, 28> kSpaces = {
    "\t",           "\n",           "\v",           "\f",           "\r",
    "\x1c",         "\x1d",         "\x1e",         "\x1f",         " ",
    "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81",
    "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86",
    "\xe2\x80\x87", "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8",
    "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f"};
constexpr std::string_view kIdeographicSpace = "\xe3\x80\x80";
constexpr std::array<std::string_view, 4> kTokenizerSpaces = {"\xe2\x96\x81", "\xc4\xa0",
                                                              "\xc4\x8a", "\xc4\x89"};

// Marks of thinking channels as chat templates of current open models spell them.
constexpr std::array<std::string_view, 24> kThinkingMarks = {"<think>",
                                                             "</think>",
                                                             "<thinking>",
                                                             "</thinking>",
                                                             "<thought>",
                                                             "</thought>",
                                                             "<reasoning>",
                                                             "</reasoning>",
                                                             "<reason>",
                                                             "<reflection>",
                                                             "<analysis>",
                                                             "<|channel>",
                                                             "<|channel|>",
                                                             "<channel|>",
                                                             "<|think|>",
                                                             "<|think>",
                                                             "<|thinking|>",
                                                             "<seed:think>",
                                                             "<|start_thinking|>",
                                                             "<|end_thinking|>",
                                                             "[think]",
                                                             "[/think]",
                                                             "<|begin_of_thought|>",
                                                             "\xe2\x97\x81think\xe2\x96\xb7"};

std::size_t space_at_front(std::string_view text, bool tokenizer) {
  const auto leads = [&](std::string_view space) { return text.starts_with(space); };
  if (const auto* it = std::ranges::find_if(kSpaces, leads); it != kSpaces.end()) return it->size();
  if (leads(kIdeographicSpace)) return kIdeographicSpace.size();
  if (!tokenizer) return 0;
  const auto* it = std::ranges::find_if(kTokenizerSpaces, leads);
  return it != kTokenizerSpaces.end() ? it->size() : 0;
}

std::size_t space_at_back(std::string_view text, bool tokenizer) {
  const auto ends = [&](std::string_view space) { return text.ends_with(space); };
  if (const auto* it = std::ranges::find_if(kSpaces, ends); it != kSpaces.end()) return it->size();
  if (ends(kIdeographicSpace)) return kIdeographicSpace.size();
  if (!tokenizer) return 0;
  const auto* it = std::ranges::find_if(kTokenizerSpaces, ends);
  return it != kTokenizerSpaces.end() ? it->size() : 0;
}

std::string_view strip(std::string_view text, bool tokenizer) {
  while (const std::size_t n = space_at_front(text, tokenizer)) text.remove_prefix(n);
  while (const std::size_t n = space_at_back(text, tokenizer)) text.remove_suffix(n);
  return text;
}

}  // namespace

std::string_view strip_python(std::string_view text) { return strip(text, false); }

std::string_view strip_look_alike(std::string_view text) { return strip(text, true); }

bool is_thinking_mark(std::string_view token) {
  constexpr std::size_t kLeastPiece = 3;  // "<th"; "<|" alone begins many other marks
  const std::string text = to_lower(strip_look_alike(token));
  if (text.size() < kLeastPiece) return false;
  return std::ranges::any_of(kThinkingMarks, [&](std::string_view mark) {
    return text.starts_with(mark) || mark.starts_with(text);
  });
}

}  // namespace deem::decision
