#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "seat/local/token.h"

struct llama_context;

namespace deem::seat::local {

/// How many rows llama.cpp's kernels for some quantisations take at a time.
inline constexpr std::size_t kRowsAtATime = 4;

/// Tokens on their way into one call of llama.cpp's decoder.
class Batch {
 public:
  /// `tag` comes back with the token's scores, in the order added.
  using OnRow = std::function<void(std::size_t tag, std::span<const float> logits)>;

  /// Requires whole fours of tokens and rows. `spare` is a sequence that nobody else uses; 0: there
  /// is none, batches run as they are.
  Batch(llama_context& context, std::size_t vocabulary, std::uint32_t most_tokens,
        std::uint32_t most_rows, std::int32_t spare);
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  bool full() const { return tokens_.size() >= most_tokens_ || rows_.size() >= most_rows_; }

  /// Adds `token` at `position` to all of `sequences`. Requires !full().
  void add(Token token, std::size_t position, std::span<const std::int32_t> sequences);
  /// Asks for the scores after the token added last.
  void want(std::size_t tag);

  /// Runs what was added, hands out the rows and empties the batch. Errors: Timeout past
  /// `deadline`, Unavailable; after one the context's memory is empty.
  /// `exact`: a token's scores shall not depend on what else is in the batch.
  Result<void> run(TimePoint deadline, bool exact, const OnRow& on_row);

 private:
  struct Row {
    std::size_t index = 0;
    std::size_t tag = 0;
  };
  void append(Token token, std::size_t position, std::span<const std::int32_t> sequences);
  void pad();
  int decode();
  void clear();

  llama_context* context_;
  std::int32_t spare_;
  std::size_t vocabulary_;
  std::size_t most_tokens_;
  std::size_t most_rows_;
  TimePoint deadline_ = TimePoint::max();
  std::vector<Token> tokens_;
  std::vector<std::int32_t> positions_;
  std::vector<std::int32_t> counts_;
  std::vector<std::int32_t> sequences_;  // of all tokens, one after another
  std::vector<std::int8_t> wanted_;
  std::vector<Row> rows_;
};

}  // namespace deem::seat::local
