#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "seat/local/token.h"

struct llama_model;
struct llama_vocab;

namespace deem::seat::local {

/// A model's tokenizer. The model must outlive it. Any number of threads may call.
class Vocabulary {
 public:
  explicit Vocabulary(const llama_model& model);

  /// Tokens of `text` without BOS or EOS; spellings of special tokens become those tokens, as
  /// inference servers read prompts too.
  Tokens tokenize(std::string_view text) const;

  /// How `token` is spelled, special tokens included; may be a part of a UTF-8 character.
  std::string piece(Token token) const;
  /// As `piece`, but empty for control tokens.
  std::string plain_piece(Token token) const;

  std::size_t size() const { return size_; }
  bool ends_turn(Token token) const;
  /// The token to set before every prompt; none where the model was trained without one.
  std::optional<Token> leading() const { return leading_; }
  /// What stands before a text scored from its first token: BOS, else EOS, though the model does
  /// not ask for one (lm-evaluation-harness: prefix_token_id).
  std::optional<Token> prefix_token() const { return prefix_; }
  std::string bos_text() const;
  std::string eos_text() const;
  /// Spelling of the token that ends an assistant's turn, where the vocabulary names one.
  std::optional<Token> end_of_turn() const;

  /// Every token that decodes to exactly `letter`, and those that do so but for spaces around it.
  struct LetterTokens {
    std::vector<Token> exact;
    std::vector<Token> spaced;
  };
  /// For A–Z then a–z. Made once, when the vocabulary is.
  const LetterTokens& letter_tokens(std::size_t letter) const { return letters_[letter]; }

 private:
  std::string spell(Token token, bool special) const;

  const llama_vocab* vocab_;
  std::size_t size_ = 0;
  std::optional<Token> leading_;
  std::optional<Token> prefix_;
  std::vector<LetterTokens> letters_;
};

/// How many leading tokens of `whole` lie inside the first `bytes` bytes of the text they spell. A
/// token that straddles the boundary is not counted.
std::size_t tokens_within(const Vocabulary& vocabulary, std::string_view text, const Tokens& whole,
                          std::size_t bytes);

}  // namespace deem::seat::local
