#include "seat/local/letter_reader.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "decision/question.h"
#include "seat/local/token_tree.h"

namespace deem::seat::local {

LetterReader::LetterReader(const Vocabulary& vocabulary, const ChatTemplate& chat)
    : vocabulary_(&vocabulary), exact_(decision::kLetters) {
  const auto prompt = chat.render_prompt("Hello.");
  if (!prompt) return;
  const Tokens before = vocabulary.tokenize(*prompt);
  for (std::size_t i = 0; i < decision::kLetters; ++i) {
    const Tokens with = vocabulary.tokenize(*prompt + decision::letter(i));
    if (with.size() == before.size() + 1 && common_prefix(before, with) == before.size()) {
      exact_[i] = with.back();
    }
  }
}

Result<LetterReader::Ids> LetterReader::ids(std::size_t n, decision::LetterPolicy policy) const {
  if (n == 0 || n > decision::kLetters) {
    return fail(Error::Code::BadInput, "letters: " + std::to_string(n) + " asked, 1 to " +
                                           std::to_string(decision::kLetters) + " there are");
  }
  Ids ids;
  std::set<Token> exact;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string name = std::string("letter ") + decision::letter(i);
    if (!exact_[i]) {
      return fail(Error::Code::Unsupported,
                  name + " is not exactly one token after this model's chat template");
    }
    if (!exact.insert(*exact_[i]).second) {
      return fail(Error::Code::Unsupported, name + " has the same token as another letter");
    }
    const Vocabulary::LetterTokens& tokens = vocabulary_->letter_tokens(i);
    std::vector<Token> chosen = {*exact_[i]};
    const auto add = [&](const std::vector<Token>& more) {
      for (const Token token : more) {
        if (token != *exact_[i]) chosen.push_back(token);
      }
    };
    if (policy != decision::LetterPolicy::Exact) add(tokens.exact);
    if (policy == decision::LetterPolicy::Fold) add(tokens.spaced);
    ids.push_back(std::move(chosen));
  }
  return ids;
}

Result<LetterProof> LetterReader::prove(std::size_t n) const {
  const auto tokens = ids(n, decision::LetterPolicy::SumExact);
  if (!tokens) return fail(tokens.error());
  LetterProof proof{.ids = {}, .how = "tokenizer"};
  for (const std::vector<Token>& letter : *tokens) {
    proof.ids.emplace_back(letter.begin(), letter.end());
  }
  return proof;
}

decision::FirstPosition LetterReader::read(const ScoreRow& row, const PositionRequest& request,
                                           const Ids& ids) const {
  decision::FirstPosition position;
  position.logprobs_present = true;
  if (request.policy == decision::LetterPolicy::Reference) {
    position.asked_k = request.top_k;
  } else {
    for (const std::vector<Token>& letter : ids) {
      double sum = 0;
      for (const Token token : letter) sum += std::exp(row.logprob(token));
      position.exact.emplace_back(letter.size() == 1 ? row.logprob(letter[0]) : std::log(sum));
    }
  }
  double mass = 0;
  const auto k = static_cast<std::size_t>(std::max(1, request.top_k));
  for (const Token token : top_tokens(row.logits, k)) {
    const double logprob = row.logprob(token);
    position.top.push_back({.token = vocabulary_->piece(token), .id = token, .logprob = logprob});
    mass += std::exp(logprob);
  }
  position.top_mass = mass;
  position.sampled = position.top.front();
  return position;
}

}  // namespace deem::seat::local
