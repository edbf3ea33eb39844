#include "seat/local/vocabulary.h"

#include <llama.h>

#include <array>

#include "base/check.h"
#include "base/text.h"
#include "decision/question.h"

namespace deem::seat::local {

Vocabulary::Vocabulary(const llama_model& model)
    : vocab_(llama_model_get_vocab(&model)),
      size_(static_cast<std::size_t>(llama_vocab_n_tokens(vocab_))),
      letters_(decision::kLetters) {
  const Token bos = llama_vocab_bos(vocab_);
  const Token eos = llama_vocab_eos(vocab_);
  if (bos != LLAMA_TOKEN_NULL && llama_vocab_get_add_bos(vocab_)) leading_ = bos;
  if (bos != LLAMA_TOKEN_NULL) {
    prefix_ = bos;
  } else if (eos != LLAMA_TOKEN_NULL) {
    prefix_ = eos;
  }
  for (Token token = 0; token < static_cast<Token>(size_); ++token) {
    const std::string spelled = plain_piece(token);
    const std::string_view bare = trim(spelled);
    if (bare.size() != 1) continue;
    if (const auto letter = decision::letter_index(bare[0], decision::kLetters)) {
      LetterTokens& tokens = letters_[*letter];
      (spelled.size() == 1 ? tokens.exact : tokens.spaced).push_back(token);
    }
  }
}

Tokens Vocabulary::tokenize(std::string_view text) const {
  Tokens tokens(text.size() + 2);
  for (;;) {
    const int n = llama_tokenize(vocab_, text.data(), static_cast<std::int32_t>(text.size()),
                                 tokens.data(), static_cast<std::int32_t>(tokens.size()),
                                 /*add_special=*/false, /*parse_special=*/true);
    DEEM_CHECK(n != INT32_MIN);
    if (n >= 0) {
      tokens.resize(static_cast<std::size_t>(n));
      return tokens;
    }
    tokens.resize(static_cast<std::size_t>(-n));
  }
}

std::string Vocabulary::spell(Token token, bool special) const {
  std::array<char, 64> small{};
  int n = llama_token_to_piece(vocab_, token, small.data(), small.size(), 0, special);
  if (n >= 0) return std::string(small.data(), static_cast<std::size_t>(n));
  std::string large(static_cast<std::size_t>(-n), '\0');
  n = llama_token_to_piece(vocab_, token, large.data(), -n, 0, special);
  large.resize(static_cast<std::size_t>(std::max(0, n)));
  return large;
}

std::string Vocabulary::piece(Token token) const { return spell(token, true); }
std::string Vocabulary::plain_piece(Token token) const { return spell(token, false); }

bool Vocabulary::ends_turn(Token token) const { return llama_vocab_is_eog(vocab_, token); }

std::string Vocabulary::bos_text() const {
  const Token bos = llama_vocab_bos(vocab_);
  return bos == LLAMA_TOKEN_NULL ? "" : piece(bos);
}

std::string Vocabulary::eos_text() const {
  const Token eos = llama_vocab_eos(vocab_);
  return eos == LLAMA_TOKEN_NULL ? "" : piece(eos);
}

std::optional<Token> Vocabulary::end_of_turn() const {
  for (const Token token : {llama_vocab_eot(vocab_), llama_vocab_eos(vocab_)}) {
    if (token != LLAMA_TOKEN_NULL) return token;
  }
  return std::nullopt;
}

std::size_t tokens_within(const Vocabulary& vocabulary, std::string_view text, const Tokens& whole,
                          std::size_t bytes) {
  std::string spelled;
  std::vector<std::size_t> ends;
  ends.reserve(whole.size());
  for (const Token token : whole) {
    spelled += vocabulary.piece(token);
    ends.push_back(spelled.size());
  }
  // Some tokenizers set a space before the text. It belongs to the first token.
  const std::size_t added = spelled.size() == text.size() + 1 && spelled[0] == ' ' ? 1 : 0;
  if (std::string_view(spelled).substr(added) == text) {
    std::size_t n = 0;
    while (n < ends.size() && ends[n] <= bytes + added) ++n;
    return n;
  }
  // The tokenizer rewrites text (normal forms, folded spaces), so bytes do not tell. What the
  // beginning alone and the whole have in common lies before the boundary.
  const Tokens head = vocabulary.tokenize(text.substr(0, bytes));
  std::size_t n = 0;
  while (n < head.size() && n < whole.size() && head[n] == whole[n]) ++n;
  return n;
}

}  // namespace deem::seat::local
