#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "seat/local/logits.h"
#include "seat/local/model.h"
#include "seat/local/token.h"
#include "seat/local/token_tree.h"

namespace deem::seat::local {

class Batch;

/// Runs token paths through a model, each distinct prefix once, within a call and across calls.
///
/// Paths that are under way together are sequences of llama.cpp; a token they share is one cell of
/// the key-value memory that belongs to all of them. Memory is used as a stack: the path held from
/// before is cut back to what the next one shares with it, and new cells go on top. So the cells
/// of every path lie in the order of its tokens, and attention on CPUs adds them up in that order
/// whatever lies between: a token's scores are the same shared or alone, but for the last digits.
/// Models whose memory can not fork (recurrent, hybrid) run path by path. One caller at a time.
class Engine {
 public:
  /// The model must outlive the engine. Errors: as plan_context and make_context.
  static Result<Engine> make(const LoadedModel& loaded, std::int64_t context, int threads);
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  /// Tokens one path may have.
  std::int64_t context() const { return shape_.context; }

  /// Whether prefixes are shared; on at first where the model can.
  void share_prefixes(bool share);
  bool shares_prefixes() const { return share_; }

  /// Called once for each path and wanted index, in no stated order; the row is gone afterwards.
  using OnScores = std::function<void(std::size_t path, std::size_t index, const ScoreRow& row)>;

  struct Evaluated {
    std::vector<std::size_t> cached;  // per path: tokens not run on its own behalf, because they
                                      // were resident or another path of this call brought them
    std::size_t run = 0;              // tokens run through the model
  };
  /// Requires every path to have 1..context() tokens. Errors: Timeout past `deadline`; Unavailable.
  Result<Evaluated> evaluate(std::span<const TokenPath> paths, TimePoint deadline,
                             const OnScores& on_scores);

  /// Greedy continuation of `prompt`, without the token that ended it.
  struct Written {
    Tokens tokens;
    std::size_t cached = 0;
    bool ended = false;  // by a token for which `is_end` holds; else `most` or the context did
  };
  /// Requires 1..context() tokens. Errors: as `evaluate`.
  Result<Written> write(const Tokens& prompt, std::size_t most, TimePoint deadline,
                        const std::function<bool(Token)>& is_end);

 private:
  struct Member;

  Engine(ContextPtr context, const ContextShape& shape, std::size_t vocabulary);
  std::size_t rewind(std::size_t length);
  std::vector<Member> next_wave(const TokenTree& tree, std::size_t first, std::size_t held) const;
  Result<std::size_t> run_wave(const TokenTree& tree, std::span<const Member> wave,
                               TimePoint deadline, const OnScores& on_scores);
  Result<void> run_tree(const TokenTree& tree, TimePoint deadline, const OnScores& on_scores,
                        std::span<std::size_t> cached, std::size_t& run);

  ContextPtr context_;
  ContextShape shape_;
  bool share_ = true;
  Tokens held_;  // the path that sequence 0 holds, in the lowest cells
  std::unique_ptr<Batch> batch_;
};

}  // namespace deem::seat::local
