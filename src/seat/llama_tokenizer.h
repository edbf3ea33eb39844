#pragma once

// Private to seat: llama-server's template, tokenizer and scores, asked over HTTP.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json.h"
#include "seat/remote.h"
#include "seat/seat.h"

namespace deem::seat {

/// Any number of threads may call. What does not change is asked once. Errors: as Remote's.
class LlamaTokenizer {
 public:
  using Ids = std::vector<std::int64_t>;

  /// Entries asked at first; a wanted id that is not among them is looked for in the whole
  /// vocabulary. Scores do not depend on how many are listed.
  static constexpr std::int64_t kDepth = 1024;

  /// What /props and /v1/models tell once and for all.
  struct Model {
    std::string name;
    std::int64_t n_vocab = 0;
    std::string bos;
  };
  struct Letters {
    LetterIds ids;
    bool whole_vocabulary = false;  // `same` and `look_alike` were looked for
  };

  /// `remote` must outlive this.
  explicit LlamaTokenizer(Remote& remote) : remote_(remote) {}

  Result<const Model*> model();
  Result<codec::Json> get_json(std::string_view path);

  /// `special`: with the tokens the tokenizer sets around a text.
  Result<TokenList> tokenize(std::string_view text, bool special, bool pieces, TimePoint deadline);
  /// The prompt as its chat route would run it: the template leaves out a BOS that the tokenizer
  /// sets. `first`, when not null, gets the first exchange.
  Result<Ids> prompt_ids(const std::string& user, TimePoint deadline, net::HttpReply* first);
  /// The text of tokens, control tokens included.
  Result<std::string> detokenize(const Ids& ids, TimePoint deadline);
  /// The same of one; "" when the server does not say.
  std::string text_of(std::int64_t id, TimePoint deadline);

  /// The letters after the template.
  Result<const Letters*> letters();

  /// One step after a prompt, or several.
  struct Step {
    std::int64_t depth = kDepth;  // entries listed at least
    bool cold = false;            // the server is told to use nothing it evaluated before
    double temperature = 0;
    int tokens = 1;
  };
  /// Lists those of `wanted` in any case.
  Result<Reply> complete(const Ids& prompt, const Ids& wanted, const Step& step, TimePoint deadline,
                         net::HttpReply& last);

  /// Ids of given and score as one text; the score begins at `begin`, a token across the boundary
  /// included.
  Result<Ids> scored_ids(const LikelihoodRequest& request, TimePoint deadline, std::size_t& begin);

 private:
  /// With `reply`: a conversation of three turns, so that the reply's end is written too.
  Result<std::string> apply_template(std::string_view user, const std::string* reply,
                                     TimePoint deadline, net::HttpReply* first);
  Result<Letters> find_letters();
  /// What the template writes after a reply, up to its first special token: the one that does not
  /// come back when its spelling is tokenized as plain text.
  Result<const std::string*> end_of_reply();

  Remote& remote_;
  Once<Model> model_;
  Once<Letters> letters_;
  Once<std::string> end_of_reply_;
};

}  // namespace deem::seat
