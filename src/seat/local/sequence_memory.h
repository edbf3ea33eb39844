#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "seat/local/token.h"

struct llama_context;

namespace deem::seat::local {

/// Which token paths a context's key-value memory holds. A sequence is one path; paths that share
/// a prefix share its cells. Sequences are either working (handed out by `fork`, owned by the
/// caller until `keep` or `drop`) or resident (kept for later calls, evicted by need).
class SequenceMemory {
 public:
  /// `context` must outlive this and have `sequences` of them; at most `residents` stay.
  SequenceMemory(llama_context& context, std::int32_t sequences, std::size_t residents);

  struct Match {
    std::int32_t sequence = -1;
    std::size_t length = 0;  // leading tokens that are there
  };
  /// The resident that shares the longest usable prefix with `tokens`.
  Match longest(std::span<const Token> tokens) const;

  /// A new working sequence that holds the first `length` tokens of `match`.
  std::int32_t fork(const Match& match, std::size_t length);
  /// Working sequences there can be beside a full house of residents.
  std::size_t working_limit() const { return limit_; }

  /// Makes a working sequence that holds `tokens` resident, evicting others where too many stay.
  void keep(std::int32_t sequence, std::span<const Token> tokens);
  void drop(std::int32_t sequence);

  /// Evicts one resident: of those whose better half lives on in another one the longest unused,
  /// else the longest unused of all. False when there is none.
  bool evict();
  /// Forgets every sequence, working ones too.
  void clear();

 private:
  struct Resident {
    std::int32_t sequence = 0;
    Tokens tokens;
    std::uint64_t used = 0;  // by `clock_`
  };
  std::int32_t take();

  llama_context* context_;
  std::int32_t sequences_;
  std::size_t most_residents_;
  std::size_t limit_;
  std::size_t window_;  // of sliding-window attention; 0: none
  std::vector<Resident> residents_;
  std::vector<std::int32_t> free_;
  std::uint64_t clock_ = 0;
};

}  // namespace deem::seat::local
