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

class SequenceMemory;

/// Tokens on their way into one call of llama.cpp's decoder.
class Batch {
 public:
  /// `tag` comes back with the token's scores, in the order added.
  using OnRow = std::function<void(std::size_t tag, std::span<const float> logits)>;

  Batch(llama_context& context, SequenceMemory& memory, std::size_t vocabulary,
        std::uint32_t most_tokens, std::uint32_t most_rows);
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  bool full() const { return tokens_.size() >= most_tokens_ || rows_.size() >= most_rows_; }
  std::size_t size() const { return tokens_.size(); }

  /// Adds `token` at `position` to all of `sequences`. Requires !full().
  void add(Token token, std::size_t position, std::span<const std::int32_t> sequences);
  /// Asks for the scores after the token added last.
  void want(std::size_t tag);
  void clear();

  /// Runs what was added, hands out the rows and empties the batch. Evicts residents where memory
  /// is short. Errors: Timeout past `deadline`, Unavailable; after one the memory is cleared.
  Result<void> run(TimePoint deadline, const OnRow& on_row);

 private:
  struct Row {
    std::size_t index = 0;
    std::size_t tag = 0;
  };
  int decode();

  llama_context* context_;
  SequenceMemory* memory_;
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
