#include "decision/reply_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace deem::decision {
namespace {

constexpr auto kThinkingEnds = std::to_array<std::string_view>(
    {"</think>", "</thinking>", "</thought>", "</reasoning>", "</reason>", "[/think]", "<channel|>",
     "<|message|>", "<|end_thinking|>", "<|end_of_thought|>", "</seed:think>",
     "\xe2\x97\x81/think\xe2\x96\xb7"});
constexpr auto kThinkingStarts = std::to_array<std::string_view>(
    {"<think>", "<thinking>", "<thought>", "<reasoning>", "<reason>", "[think]", "<|channel>",
     "<|channel|>", "<|think|>", "<|start_thinking|>", "<|begin_of_thought|>", "<seed:think>",
     "\xe2\x97\x81think\xe2\x96\xb7"});
constexpr auto kTurnEnds = std::to_array<std::string_view>(
    {"<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end|>", "<|end_of_text|>", "<|return|>",
     "<|eom_id|>", "<|end_of_turn|>", "<end_of_turn>", "<turn|>", "<eos>", "</s>", "[/inst]",
     "<|user|>", "<|im_start|>",
     "<\xef\xbd\x9c"
     "end\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>"});

using Pair = std::pair<std::string_view, std::string_view>;
constexpr auto kPlain = std::to_array<Pair>({
    {"\xe2\x80\x98", "'"},   {"\xe2\x80\x99", "'"},   {"\xe2\x80\x9c", "\""},
    {"\xe2\x80\x9d", "\""},  {"\xe2\x80\x9e", "\""},  {"\xc2\xab", "\""},
    {"\xc2\xbb", "\""},      {"\xe2\x80\x93", " - "}, {"\xe2\x80\x94", " - "},
    {"\xe2\x86\x92", " - "}, {"\xe2\x80\xa6", "..."}, {"\xe2\x80\xa2", "\n"},
    {"\xc2\xa0", " "},       {"\xe2\x80\xaf", " "},   {"\xe2\x80\x8b", ""},
    {"\xef\xbb\xbf", ""},    {"\xe2\x96\x81", " "},   {"\xe3\x80\x80", " "},
    {"\xef\xbc\x9a", ": "},  {"\xef\xbc\x88", "("},   {"\xef\xbc\x89", ")"},
    {"\xef\xbc\x8c", ", "},  {"\xe3\x80\x81", ", "},  {"\xe3\x80\x82", ". "},
    {"\xe3\x80\x8c", "\""},  {"\xe3\x80\x8d", "\""},  {"\xe3\x80\x90", "["},
    {"\xe3\x80\x91", "]"},
});
constexpr auto kLatexFonts = std::to_array<std::string_view>(
    {"text", "textbf", "textit", "textrm", "mathrm", "mathbf", "mathsf", "bf", "rm"});

bool is_ascii_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_word_byte(char c) {
  return is_ascii_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80;
}

/// Cuts thinking and end marks. Marks are ASCII-folded, so offsets in `lower` are `text`'s.
std::string_view answer_part(std::string_view text) {
  std::string lower = to_lower(text);
  std::size_t from = 0;
  for (const std::string_view mark : kThinkingEnds) {
    const std::size_t at = lower.rfind(mark);
    if (at != std::string::npos) from = std::max(from, at + mark.size());
  }
  text.remove_prefix(from);
  lower.erase(0, from);
  std::size_t to = text.size();
  for (const std::string_view mark : kThinkingStarts) to = std::min(to, lower.find(mark));
  for (const std::string_view mark : kTurnEnds) to = std::min(to, lower.find(mark));
  return text.substr(0, to);
}

/// Length of a full-width Latin letter at the front of `text`, and the ASCII letter it stands for.
char full_width_letter(std::string_view text) {
  if (text.size() < 3 || text[0] != '\xef') return '\0';
  const auto last = static_cast<unsigned char>(text[2]);
  if (text[1] == '\xbc' && last >= 0xa1 && last <= 0xba)
    return static_cast<char>('A' + last - 0xa1);
  if (text[1] == '\xbd' && last >= 0x81 && last <= 0x9a)
    return static_cast<char>('a' + last - 0x81);
  return '\0';
}

/// Whether the character at `i` joins two word bytes into one word.
bool joins(std::string_view text, std::size_t i) {
  if (i + 1 >= text.size() || !is_word_byte(text[i + 1])) return false;
  switch (text[i]) {
    case '\'':
    case '_':
    case '-':
    case '/':
    case '+':
    case '&':
      return true;
    case '.':  // "3.5" and "U.S", but not "B.The"
      return is_digit(text[i + 1]) || i + 2 >= text.size() || !is_word_byte(text[i + 2]);
    default:
      return false;
  }
}

}  // namespace

std::string clean_reply(std::string_view reply) {
  std::string_view rest = answer_part(reply);
  std::string out;
  while (!rest.empty()) {
    if (const char plain = full_width_letter(rest)) {
      out += plain;
      rest.remove_prefix(3);
      continue;
    }
    const auto* known = std::ranges::find_if(
        kPlain, [&](const Pair& pair) { return rest.starts_with(pair.first); });
    if (known != kPlain.end()) {
      out += known->second;
      rest.remove_prefix(known->first.size());
      continue;
    }
    if (rest[0] == '\\') {
      std::size_t end = 1;
      while (end < rest.size() && is_ascii_letter(rest[end])) ++end;
      const std::string_view command = rest.substr(1, end - 1);
      if (std::ranges::find(kLatexFonts, command) == kLatexFonts.end()) out += command;
      rest.remove_prefix(end);
      continue;
    }
    out += rest[0] == '\r' ? '\n' : rest[0];
    rest.remove_prefix(1);
  }
  return out;
}

std::string normal_words(std::string_view text) {
  std::string out;
  bool gap = false;
  for (const char c : text) {
    if (!is_word_byte(c)) {
      gap = true;
      continue;
    }
    if (gap && !out.empty()) out += ' ';
    gap = false;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

std::vector<Word> split_words(std::string_view text) {
  std::vector<Word> words;
  std::size_t gap = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_word_byte(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    while (end < text.size() && (is_word_byte(text[end]) || joins(text, end))) ++end;
    const std::string_view before = text.substr(gap, i - gap);
    if (!words.empty()) words.back().after = before;
    const std::string_view word = text.substr(i, end - i);
    words.push_back({.text = word, .lower = to_lower(word), .before = before, .after = {}});
    gap = i = end;
  }
  if (!words.empty()) words.back().after = text.substr(gap);
  return words;
}

}  // namespace deem::decision
