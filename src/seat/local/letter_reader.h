#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/result.h"
#include "decision/letters.h"
#include "seat/local/chat_template.h"
#include "seat/local/logits.h"
#include "seat/local/vocabulary.h"
#include "seat/seat.h"

namespace deem::seat::local {

/// The letters as one model with one chat template writes them at the first output position.
class LetterReader {
 public:
  /// A letter's exact id is the one token that the tokenizer adds when the letter follows the
  /// template's opening of the assistant's turn. Both must outlive this.
  LetterReader(const Vocabulary& vocabulary, const ChatTemplate& chat);

  /// Errors: BadInput unless 1..52 are asked; Unsupported for a letter that adds more or less than
  /// one token, or another letter's.
  Result<LetterProof> prove(std::size_t n) const;

  /// The ids counted for each letter under `policy`. Errors: as `prove`.
  using Ids = std::vector<std::vector<Token>>;
  Result<Ids> ids(std::size_t n, decision::LetterPolicy policy) const;

  /// Reads one row of scores. Under Reference only the `top_k` list is filled, as a server that
  /// knows no ids would send it.
  decision::FirstPosition read(const ScoreRow& row, const PositionRequest& request,
                               const Ids& ids) const;

 private:
  const Vocabulary* vocabulary_;
  std::vector<std::optional<Token>> exact_;
};

}  // namespace deem::seat::local
