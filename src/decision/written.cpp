#include "decision/written.h"

#include <algorithm>

#include "base/check.h"
#include "decision/statement.h"

namespace deem::decision {
namespace {

/// The last statement behind "answer" if there is one; else the one all agree on.
WrittenAnswer resolve(std::span<const Statement> statements) {
  const Statement* last = nullptr;
  for (const Statement& statement : statements) {
    if (statement.after_answer && (last == nullptr || statement.at > last->at)) last = &statement;
  }
  const Statement& chosen = last != nullptr ? *last : statements.front();
  const bool agreed = last != nullptr || std::ranges::all_of(statements, [&](const Statement& s) {
                        return s.option == chosen.option;
                      });
  if (!agreed || !chosen.option) return {};
  return {.option = chosen.option, .how = chosen.how};
}

}  // namespace

std::string_view to_string(WrittenHow how) {
  switch (how) {
    case WrittenHow::Unparsed:
      return "unparsed";
    case WrittenHow::Letter:
      return "letter";
    case WrittenHow::StatedLetter:
      return "stated_letter";
    case WrittenHow::Key:
      return "key";
    case WrittenHow::Words:
      return "words";
    case WrittenHow::YesNo:
      return "yes_no";
    case WrittenHow::Reference:
      return "reference";
  }
  DEEM_CHECK(false);
}

WrittenAnswer parse_written(std::string_view reply, std::span<const Option> options) {
  const std::string text = clean_reply(reply);
  if (text.size() > kMostWritten) return {};
  const std::vector<Word> words = split_words(text);
  if (options.empty() || words.empty()) return {};
  const std::size_t letters = std::min(options.size(), kLetters);
  const Phrases phrases(options);
  const std::string whole = normal_words(text);

  const bool lettered = words[0].text.size() == 1 && words.size() > 1 &&
                        words[0].after.find_first_not_of(" \t") != std::string_view::npos;
  const bool lone = words.size() == 1 && words[0].text.size() == 1;
  if (!lone && !lettered) {
    // A reply that is an option's words from end to end, commas and all.
    if (const auto said = phrases.find(whole)) return *said;
  }
  const auto statements = find_statements(text, words, phrases, letters);
  if (lone && (statements.empty() || !statements[0].option)) {
    return phrases.find(whole).value_or(WrittenAnswer{});
  }
  if (!statements.empty()) return resolve(statements);
  return phrases.find_cut(whole).value_or(WrittenAnswer{});
}

WrittenAnswer parse_written_reference(std::string_view reply, std::size_t n) {
  for (const char c : reply) {
    if (const auto option = letter_index(c, n)) {
      return {.option = option, .how = WrittenHow::Reference};
    }
  }
  return {};
}

}  // namespace deem::decision
