#pragma once

#include <cstddef>

#include "base/result.h"
#include "seat/local/chat_template.h"
#include "seat/local/token_tree.h"
#include "seat/local/vocabulary.h"
#include "seat/seat.h"

namespace deem::seat::local {

/// A text to score as tokens. The sum over the scored tokens is ln P(tokens) − ln P(the first
/// `first` of them): `given` and `score` are tokenized as one text, and every token that spells a
/// byte of `score` is scored. Where a token straddles the boundary (given "Answer: ", score "yes",
/// token " yes") it is scored whole; lm-evaluation-harness moves the space over for the same
/// reason.
struct ScoredText {
  Tokens tokens;          // BOS included where the tokenizer sets one, or where nothing is given
  std::size_t first = 0;  // index of the first scored token; ≥ 1
  std::size_t bytes = 0;  // of `score`

  std::size_t scored() const { return tokens.size() - first; }
  /// What has to run: all but the last token, scores wanted before every scored one.
  TokenPath path() const;
};

/// A chat request scores the reply and what the template puts up to the end of turn. Errors:
/// BadInput for an empty `score`; Unsupported when there is no token to condition the first on.
Result<ScoredText> make_scored_text(const Vocabulary& vocabulary, const ChatTemplate& chat,
                                    const LikelihoodRequest& request);

/// Tokens of a prompt, after the token the tokenizer sets before every prompt.
Tokens prompt_tokens(const Vocabulary& vocabulary, std::string_view text);

}  // namespace deem::seat::local
