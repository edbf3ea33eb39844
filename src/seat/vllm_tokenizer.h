#pragma once

// Private to seat: vLLM's tokenizer and template, and SGLang's, asked over HTTP.

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "seat/remote.h"
#include "seat/seat.h"

namespace deem::seat {

/// How the routes are spoken. SGLang renders messages as its chat route does unless told
/// otherwise (older builds take no messages at all), and gives back the text of ids as "text",
/// without special tokens unless they are asked for.
enum class TokenizerForm { Vllm, Sglang };

/// Any number of threads may call. What does not change is asked once. Errors: Unsupported where
/// the server has no /tokenize, and as Remote's.
class VllmTokenizer {
 public:
  using Ids = std::vector<std::int64_t>;

  /// `remote` must outlive this.
  explicit VllmTokenizer(Remote& remote, TokenizerForm form = TokenizerForm::Vllm)
      : form_(form), remote_(remote) {}

  /// The served name: the spec's, or the server's only one.
  Result<const std::string*> model();

  /// The user's turn up to where the assistant begins, or inside the assistant's turn after
  /// `reply`.
  Result<Ids> tokenize_chat(std::string_view user, const std::string* reply);
  /// `special`: with the tokens the tokenizer sets around a text.
  Result<Ids> tokenize_text(std::string_view text, bool special);
  Result<std::string> detokenize(const Ids& ids);
  /// A token's text, asked once per id; "" when the server does not say.
  std::string text_of(std::int64_t id);

  /// The letters after the template.
  Result<const LetterIds*> letters();
  /// The same with the look-alikes the fold policy counts: " A", and "A" as the tokenizer writes it
  /// at the start of a text.
  Result<const LetterIds*> folded();

  /// Ids of given and score as one text; `first` is where the score begins: after the tokens that
  /// the given text alone begins with too. A token across the boundary is scored whole.
  Result<Ids> scored_ids(const LikelihoodRequest& request, std::size_t& first);

 private:
  Result<Ids> tokenize(std::string_view body);
  /// Each letter after the template: as text where the template's text tokenizes back to itself,
  /// else as the start of the assistant's reply.
  Result<LetterIds> find_letters();
  /// The rendered user's turn. Options of one item share it, so the last one is kept.
  Result<std::string> render(const std::string& user);
  /// Ids of a chat that does not end with `reply` left open.
  Result<Ids> tokenize_closed(const std::string& reply);
  /// What the template writes after a reply, up to the token that ends the turn: the first one
  /// spelled like a special token, "<…>", else the first.
  Result<const std::string*> end_of_reply();

  const TokenizerForm form_;
  Remote& remote_;
  Once<std::string> model_;
  Once<LetterIds> letters_, folded_;
  Once<std::string> end_of_reply_;
  std::mutex texts_mutex_;  // guards what follows
  std::unordered_map<std::int64_t, std::string> texts_;
  std::string rendered_user_, rendered_;
};

}  // namespace deem::seat
