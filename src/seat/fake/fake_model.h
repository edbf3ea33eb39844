#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deem::seat {

/// What answers to the items of a diagnosis (doctor/sanity_items.h) come from.
enum class FakeMind {
  Knows,    // the items: their labels get nearly all
  Wanders,  // some other prompt: any option gets nearly all
  First,    // the first of the options listed
  Even,     // nothing: all letters alike
};

/// A deterministic stand-in for a language model: a byte-level tokenizer with special tokens and a
/// ChatML template, and scores that depend on nothing but the text before them.
///
/// Vocabulary, in order of id: the 256 bytes; the special tokens; " A".." z" (the letters after a
/// space); a few words that begin with a letter; BOS. Longest match wins when encoding.
struct FakeModelOptions {
  /// Log-probabilities of the letters that `user_turn` lists, for a chat prompt; absent: a hash.
  std::function<std::vector<double>(std::string_view user_turn, std::size_t letters)> letters{};
  double letter_mass = 0.95;  // of the listed letters together, at the first position
  bool space_before_reply =
      false;  // template ends in a space, so no letter stays a token of its own
};

class FakeModel {
 public:
  using Ids = std::vector<std::int64_t>;
  struct Turn {
    std::string role;
    std::string text;
  };
  static constexpr std::int64_t kTurnStart = 256;  // <|im_start|>
  static constexpr std::int64_t kTurnEnd = 257;    // <|im_end|>
  static constexpr std::int64_t kThink = 258;      // <think>
  static constexpr std::int64_t kThinkEnd = 259;   // </think>
  static constexpr std::int64_t kBos = 316;        // <s>, set by no one unless told

  explicit FakeModel(FakeModelOptions options = {});

  std::size_t size() const { return pieces_.size(); }
  const std::string& piece(std::int64_t id) const {
    return pieces_.at(static_cast<std::size_t>(id));
  }
  bool is_special(std::int64_t id) const {
    return (id >= kTurnStart && id <= kThinkEnd) || id == kBos;
  }
  /// The spellings of special tokens become those tokens when `special`.
  Ids encode(std::string_view text, bool special) const;
  std::string decode(const Ids& ids) const;

  enum class Ending {
    Turn,
    Prompt,
    Inside
  };  // nothing added; the assistant's turn opened; the
      // last turn left open
  /// `thinking`: the prompt does not close the thinking channel.
  std::string render(const std::vector<Turn>& turns, Ending ending, bool thinking) const;

  /// Whether `text` ends where the assistant's turn, or its thinking, was opened or closed.
  bool begins_reply(std::string_view text) const;
  /// Log-probabilities of every token after `text`; they sum to probability 1.
  std::vector<double> next(std::string_view text, FakeMind mind = FakeMind::Knows) const;
  /// Log-probabilities of the `n` letters listed in a prompt about an item; none: about another.
  std::optional<std::vector<double>> letters_of_item(std::string_view user_turn, std::size_t n,
                                                     FakeMind mind) const;
  /// Greedy continuation, at most `most` tokens, without the end of turn; `ended` says it came.
  Ids write(std::string text, std::size_t most, bool& ended, FakeMind mind = FakeMind::Knows) const;

 private:
  FakeModelOptions options_;
  std::string opening_;  // of the assistant's turn
  std::vector<std::string> pieces_;
  std::map<std::string, std::int64_t, std::less<>> long_pieces_;  // of more than one byte
  std::array<bool, 256> begins_{};  // whether one of those begins with a byte
  std::size_t longest_ = 1;
};

}  // namespace deem::seat
