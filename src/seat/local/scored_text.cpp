#include "seat/local/scored_text.h"

#include <numeric>

namespace deem::seat::local {

TokenPath ScoredText::path() const {
  TokenPath path;
  path.tokens.assign(tokens.begin(), tokens.end() - 1);
  path.wanted.resize(scored());
  std::iota(path.wanted.begin(), path.wanted.end(), first - 1);
  return path;
}

Tokens prompt_tokens(const Vocabulary& vocabulary, std::string_view text) {
  Tokens tokens = vocabulary.tokenize(text);
  if (const auto leading = vocabulary.leading()) tokens.insert(tokens.begin(), *leading);
  return tokens;
}

Result<ScoredText> make_scored_text(const Vocabulary& vocabulary, const ChatTemplate& chat,
                                    const LikelihoodRequest& request) {
  if (request.score.empty()) return fail(Error::Code::BadInput, "the text to score is empty");
  std::string text = request.given;
  if (request.chat) {
    auto prompt = chat.render_prompt(request.given);
    if (!prompt) return fail(prompt.error());
    text = std::move(*prompt);
  }
  const std::size_t boundary = text.size();
  text += request.score;
  if (request.chat) text += chat.end_of_reply();

  ScoredText scored;
  scored.bytes = request.score.size();
  scored.tokens = vocabulary.tokenize(text);
  scored.first = tokens_within(vocabulary, text, scored.tokens, boundary);
  auto before = vocabulary.leading();
  if (!before && scored.first == 0) before = vocabulary.prefix_token();
  if (before) {
    scored.tokens.insert(scored.tokens.begin(), *before);
    ++scored.first;
  }
  if (scored.first == 0) {
    return fail(Error::Code::Unsupported,
                "nothing is given and the model has no token to begin a text with");
  }
  if (scored.scored() == 0) {
    return fail(Error::Code::BadInput, "the text to score holds no token of this model");
  }
  return scored;
}

}  // namespace deem::seat::local
