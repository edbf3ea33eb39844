#include "seat/local/engine.h"

#include <llama.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "seat/local/batch.h"

namespace deem::seat::local {

// A leaf in the wave under way, by its place there also its sequence. Of its tokens `resident` are
// in memory and those from `first` on are its own to run; members before it bring the others.
struct Engine::Member {
  std::size_t leaf = 0;
  std::size_t resident = 0;
  std::size_t first = 0;
};

Engine::Engine(ContextPtr context, const ContextShape& shape, std::size_t vocabulary)
    : context_(std::move(context)),
      shape_(shape),
      share_(shape.shares_prefixes),
      batch_(std::make_unique<Batch>(*context_, vocabulary, kBatchTokens, shape.outputs,
                                     static_cast<std::int32_t>(shape.sequences) - 1)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

Result<Engine> Engine::make(const LoadedModel& loaded, std::int64_t context, int threads) {
  const auto shape = plan_context(loaded, context);
  if (!shape) return fail(shape.error());
  auto made = make_context(loaded, *shape, threads);
  if (!made) return fail(made.error());
  const int vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(loaded.model.get()));
  return Engine(std::move(*made), *shape, static_cast<std::size_t>(vocabulary));
}

void Engine::share_prefixes(bool share) {
  share_ = share && shape_.shares_prefixes;
  rewind(0);
}

// Cuts the held path to its first `length` tokens, or to none where the memory can not be cut
// there. Returns what is left.
std::size_t Engine::rewind(std::size_t length) {
  llama_memory_t memory = llama_get_memory(context_.get());
  const bool cut = length > 0 && share_ && llama_memory_seq_pos_min(memory, 0) == 0 &&
                   llama_memory_seq_rm(memory, 0, static_cast<llama_pos>(length), -1);
  if (!cut) {
    llama_memory_clear(memory, /*data=*/false);
    length = 0;
  }
  held_.resize(length);
  return length;
}

// Takes leaves in order while their new tokens fill up the last batch that the first of them needs.
// Small waves keep memory short, which attention goes through whole. A wave ends only before a
// leaf that loses nothing by it: what it shares with the wave lies on the first leaf's path, which
// stays in memory.
std::vector<Engine::Member> Engine::next_wave(const TokenTree& tree, std::size_t first,
                                              std::size_t held) const {
  const std::vector<TokenTree::Leaf>& leaves = tree.leaves();
  std::vector<Member> wave = {{.leaf = first, .resident = held, .first = held}};
  std::size_t run = leaves[first].tokens.size() - held;
  const std::size_t limit =
      (std::max<std::size_t>(1, run) + kBatchTokens - 1) / kBatchTokens * kBatchTokens;
  const std::size_t most = std::max(2U, shape_.sequences) - 1;  // the last is for padding
  std::size_t with_first = leaves[first].tokens.size();  // what the leaf before shares with `first`
  std::size_t end = 1;
  for (std::size_t i = first + 1; i < leaves.size(); ++i) {
    const std::size_t shared = leaves[i].shared;
    if (shared <= with_first) end = wave.size();
    run += leaves[i].tokens.size() - shared;
    if (run > limit || wave.size() >= most) {
      wave.resize(end);
      return wave;
    }
    with_first = std::min(with_first, shared);
    wave.push_back(
        {.leaf = i, .resident = std::min(wave.back().resident, shared), .first = shared});
  }
  return wave;
}

Result<std::size_t> Engine::run_wave(const TokenTree& tree, std::span<const Member> wave,
                                     TimePoint deadline, const OnScores& on_scores) {
  llama_memory_t memory = llama_get_memory(context_.get());
  for (std::size_t m = 1; m < wave.size(); ++m) {
    if (wave[m].resident == 0) continue;
    llama_memory_seq_cp(memory, 0, static_cast<llama_seq_id>(m), 0,
                        static_cast<llama_pos>(wave[m].resident));
  }
  std::vector<std::span<const TokenTree::Wish>> asked;  // by tag
  const auto on_row = [&](std::size_t tag, std::span<const float> logits) {
    const ScoreRow row{logits, log_sum_exp(logits)};
    for (const TokenTree::Wish& wish : asked[tag]) on_scores(wish.path, wish.index, row);
  };

  std::size_t run = 0;
  std::vector<std::int32_t> sequences;
  for (std::size_t m = 0; m < wave.size(); ++m) {
    const TokenTree::Leaf& leaf = tree.leaves()[wave[m].leaf];
    std::span<const TokenTree::Wish> wishes = leaf.wishes;
    for (std::size_t at = wave[m].first; at < leaf.tokens.size(); ++at, ++run) {
      sequences.clear();
      for (std::size_t n = m; n < wave.size(); ++n) {
        if (n > m && tree.leaves()[wave[n].leaf].shared <= at) break;
        sequences.push_back(static_cast<std::int32_t>(n));
      }
      batch_->add(leaf.tokens[at], at, sequences);
      std::size_t here = 0;
      while (here < wishes.size() && wishes[here].index == at) ++here;
      if (here > 0) {
        batch_->want(asked.size());
        asked.push_back(wishes.first(here));
        wishes = wishes.subspan(here);
      }
      if (batch_->full()) {
        if (auto done = batch_->run(deadline, /*exact=*/true, on_row); !done)
          return fail(done.error());
      }
    }
    DEEM_CHECK(wishes.empty());
  }
  if (auto done = batch_->run(deadline, /*exact=*/true, on_row); !done) return fail(done.error());
  for (std::size_t m = 1; m < wave.size(); ++m) {
    llama_memory_seq_rm(memory, static_cast<llama_seq_id>(m), -1, -1);
  }
  const std::span<const Token> held = tree.leaves()[wave[0].leaf].tokens;
  held_.assign(held.begin(), held.end());
  return run;
}

Result<void> Engine::run_tree(const TokenTree& tree, TimePoint deadline, const OnScores& on_scores,
                              std::span<std::size_t> cached, std::size_t& run) {
  for (std::size_t next = 0; next < tree.leaves().size();) {
    const TokenTree::Leaf& leaf = tree.leaves()[next];
    // A token whose scores are wanted has to run, in memory or not, and all after it with it.
    const std::size_t wish = leaf.wishes.empty() ? leaf.tokens.size() : leaf.wishes[0].index;
    const std::size_t left = rewind(std::min(common_prefix(held_, leaf.tokens), wish));
    const std::vector<Member> wave = next_wave(tree, next, left);
    const auto done = run_wave(tree, wave, deadline, on_scores);
    if (!done) {
      held_.clear();
      return fail(done.error());
    }
    run += *done;
    next += wave.size();
    for (const Member& member : wave) {
      for (const std::size_t path : tree.leaves()[member.leaf].paths) {
        cached[path] = std::max(tree.shared_by_path()[path], member.first);
      }
    }
  }
  return {};
}

Result<Engine::Evaluated> Engine::evaluate(std::span<const TokenPath> paths, TimePoint deadline,
                                           const OnScores& on_scores) {
  Evaluated done;
  done.cached.resize(paths.size());
  const std::span<std::size_t> cached = done.cached;
  if (share_) {
    const TokenTree tree(paths, held_);
    auto ran = run_tree(tree, deadline, on_scores, cached, done.run);
    if (!ran) return fail(ran.error());
  }
  for (std::size_t i = 0; !share_ && i < paths.size(); ++i) {
    rewind(0);
    const auto renamed = [&](std::size_t, std::size_t index, const ScoreRow& row) {
      on_scores(i, index, row);
    };
    const TokenTree tree(paths.subspan(i, 1));
    auto ran = run_tree(tree, deadline, renamed, cached.subspan(i, 1), done.run);
    if (!ran) return fail(ran.error());
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    cached[i] = std::min(cached[i], paths[i].tokens.size());
  }
  return done;
}

Result<Engine::Written> Engine::write(const Tokens& prompt, std::size_t most, TimePoint deadline,
                                      const std::function<bool(Token)>& is_end) {
  Written written;
  written.cached = rewind(std::min(common_prefix(held_, prompt), prompt.size() - 1));
  const std::array<std::int32_t, 1> sequence = {0};
  Token next = 0;
  const auto take_best = [&](std::size_t, std::span<const float> logits) {
    next = top_tokens(logits, 1)[0];
  };
  const auto run = [&](bool exact) {
    auto done = batch_->run(deadline, exact, take_best);
    if (!done) held_.clear();
    return done;
  };

  for (std::size_t at = written.cached; at < prompt.size(); ++at) {
    batch_->add(prompt[at], at, sequence);
    if (at + 1 == prompt.size()) batch_->want(0);
    if (batch_->full() || at + 1 == prompt.size()) {
      if (auto done = run(/*exact=*/true); !done) return fail(done.error());
    }
  }
  held_ = prompt;
  while (written.tokens.size() < most) {
    written.ended = is_end(next);
    if (written.ended) break;
    written.tokens.push_back(next);
    const bool room = held_.size() < static_cast<std::size_t>(shape_.context);
    if (written.tokens.size() == most || !room) break;
    batch_->add(next, held_.size(), sequence);
    batch_->want(0);
    if (auto done = run(/*exact=*/false); !done) return fail(done.error());
    held_.push_back(next);
  }
  return written;
}

}  // namespace deem::seat::local
