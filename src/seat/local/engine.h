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
class SequenceMemory;

/// Runs token paths through a model, each distinct prefix once, within a call and across calls.
///
/// Every path is one sequence of llama.cpp; a token that several paths share is one cell of the
/// key-value memory which belongs to all their sequences. After a call some paths stay resident,
/// and later ones start from the longest prefix found there. The batch a token rides in changes
/// its scores in the last digits only. Models whose memory can not fork (recurrent, hybrid) run
/// path by path. One caller at a time.
class Engine {
 public:
  /// `model` must outlive the engine. Errors: as plan_context and make_context.
  static Result<Engine> make(llama_model& model, std::int64_t context, int threads);
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  /// Tokens one path may have.
  std::int64_t context() const { return shape_.context; }

  /// Whether prefixes are shared; on at first where the model can.
  void share_prefixes(bool share);

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
  std::vector<Member> next_wave(const TokenTree& tree, std::size_t first) const;
  Result<std::size_t> run_wave(const TokenTree& tree, std::vector<Member>& wave, TimePoint deadline,
                               const OnScores& on_scores);
  Result<void> evaluate_tree(const TokenTree& tree, TimePoint deadline, const OnScores& on_scores,
                             Evaluated& done, std::span<const std::size_t> names);

  ContextPtr context_;
  ContextShape shape_;
  bool share_ = true;
  std::unique_ptr<SequenceMemory> memory_;
  std::unique_ptr<Batch> batch_;
};

}  // namespace deem::seat::local
