#include "seat/local/engine.h"

#include <llama.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "seat/local/batch.h"
#include "seat/local/sequence_memory.h"

namespace deem::seat::local {
namespace {

constexpr std::size_t kResidents = 8;

}  // namespace

// A leaf in the wave under way. `resident` of its tokens are in memory; it runs those from `first`
// on, and members before it bring what lies between.
struct Engine::Member {
  std::size_t leaf = 0;
  std::size_t resident = 0;
  std::size_t first = 0;
  SequenceMemory::Match source;
  std::int32_t sequence = -1;
};

Engine::Engine(ContextPtr context, const ContextShape& shape, std::size_t vocabulary)
    : context_(std::move(context)),
      shape_(shape),
      share_(shape.shares_prefixes),
      memory_(std::make_unique<SequenceMemory>(
          *context_, static_cast<std::int32_t>(shape.sequences), kResidents)),
      batch_(
          std::make_unique<Batch>(*context_, *memory_, vocabulary, kBatchTokens, shape.outputs)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

Result<Engine> Engine::make(llama_model& model, std::int64_t context, int threads) {
  const auto shape = plan_context(model, context);
  if (!shape) return fail(shape.error());
  auto made = make_context(model, *shape, threads);
  if (!made) return fail(made.error());
  const int vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(&model));
  return Engine(std::move(*made), *shape, static_cast<std::size_t>(vocabulary));
}

void Engine::share_prefixes(bool share) {
  share_ = share && shape_.shares_prefixes;
  memory_->clear();
}

// Takes leaves in order while their new tokens fit in one batch, or fill up the last batch of a
// first leaf that needs several. Small waves keep memory short, which attention goes through
// whole: once a wave is done, only what later leaves start from stays.
std::vector<Engine::Member> Engine::next_wave(const TokenTree& tree, std::size_t first) const {
  std::vector<Member> wave;
  std::size_t run = 0;
  std::size_t limit = 0;
  for (std::size_t i = first; i < tree.leaves().size(); ++i) {
    if (wave.size() >= memory_->working_limit()) break;
    const TokenTree::Leaf& leaf = tree.leaves()[i];
    Member member{.leaf = i, .source = memory_->longest(leaf.tokens)};
    // A token whose scores are wanted has to run, resident or not, and all after it with it.
    const std::size_t wish = leaf.wishes.empty() ? leaf.tokens.size() : leaf.wishes[0].index;
    member.resident = std::min(member.source.length, wish);
    if (wave.empty()) {
      member.first = member.resident;
    } else {
      // Sequences that share a token of a batch must have held the same tokens before it.
      const std::size_t before = wave.back().resident;
      member.resident = before < leaf.shared ? before : std::max(leaf.shared, member.resident);
      member.first = std::max(leaf.shared, member.resident);
    }
    const std::size_t fresh = leaf.tokens.size() - member.first;
    if (wave.empty()) {
      limit = (std::max<std::size_t>(1, fresh) + kBatchTokens - 1) / kBatchTokens * kBatchTokens;
    } else if (run + fresh > limit || member.resident > member.source.length) {
      break;  // the second: a sliding window has lost what only this leaf needs
    }
    run += fresh;
    wave.push_back(member);
  }
  return wave;
}

Result<std::size_t> Engine::run_wave(const TokenTree& tree, std::vector<Member>& wave,
                                     TimePoint deadline, const OnScores& on_scores) {
  for (Member& member : wave) {
    member.sequence = memory_->fork(member.source, member.resident);
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
      sequences.assign(1, wave[m].sequence);
      for (std::size_t n = m + 1; n < wave.size(); ++n) {
        if (tree.leaves()[wave[n].leaf].shared <= at) break;
        sequences.push_back(wave[n].sequence);
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
        if (auto done = batch_->run(deadline, on_row); !done) return fail(done.error());
      }
    }
    DEEM_CHECK(wishes.empty());
  }
  if (auto done = batch_->run(deadline, on_row); !done) return fail(done.error());

  // The last leaf carries what the next wave starts from; of the others those stay that share
  // less than half with their neighbour.
  for (std::size_t m = 0; m < wave.size(); ++m) {
    const TokenTree::Leaf& leaf = tree.leaves()[wave[m].leaf];
    const bool last = m + 1 == wave.size();
    const bool own = last || tree.leaves()[wave[m + 1].leaf].shared * 2 < leaf.tokens.size();
    if (own && share_) {
      memory_->keep(wave[m].sequence, leaf.tokens);
    } else {
      memory_->drop(wave[m].sequence);
    }
  }
  return run;
}

Result<void> Engine::evaluate_tree(const TokenTree& tree, TimePoint deadline,
                                   const OnScores& on_scores, Evaluated& done,
                                   std::span<const std::size_t> names) {
  for (std::size_t next = 0; next < tree.leaves().size();) {
    std::vector<Member> wave = next_wave(tree, next);
    const auto run = run_wave(tree, wave, deadline, on_scores);
    if (!run) return fail(run.error());
    done.run += *run;
    next += wave.size();
    for (const Member& member : wave) {
      for (const std::size_t path : tree.leaves()[member.leaf].paths) {
        done.cached[names[path]] = std::max(tree.shared_by_path()[path], member.first);
      }
    }
  }
  return {};
}

Result<Engine::Evaluated> Engine::evaluate(std::span<const TokenPath> paths, TimePoint deadline,
                                           const OnScores& on_scores) {
  Evaluated done;
  done.cached.resize(paths.size());
  std::vector<std::size_t> names(paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) names[i] = i;
  if (share_) {
    const TokenTree tree(paths);
    auto evaluated = evaluate_tree(tree, deadline, on_scores, done, names);
    if (!evaluated) return fail(evaluated.error());
    for (std::size_t i = 0; i < paths.size(); ++i) {
      done.cached[i] = std::min(done.cached[i], paths[i].tokens.size());
    }
    return done;
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    memory_->clear();
    const TokenTree tree(paths.subspan(i, 1));
    const auto renamed = [&](std::size_t, std::size_t index, const ScoreRow& row) {
      on_scores(i, index, row);
    };
    const std::array<std::size_t, 1> name = {i};
    auto evaluated = evaluate_tree(tree, deadline, renamed, done, name);
    if (!evaluated) return fail(evaluated.error());
  }
  return done;
}

Result<Engine::Written> Engine::write(const Tokens& prompt, std::size_t most, TimePoint deadline,
                                      const std::function<bool(Token)>& is_end) {
  if (!share_) memory_->clear();
  const SequenceMemory::Match source = memory_->longest(prompt);
  Written written;
  written.cached = std::min(source.length, prompt.size() - 1);
  const std::array<std::int32_t, 1> sequence = {memory_->fork(source, written.cached)};
  Token next = 0;
  const auto take_best = [&](std::size_t, std::span<const float> logits) {
    next = top_tokens(logits, 1)[0];
  };

  for (std::size_t at = written.cached; at < prompt.size(); ++at) {
    batch_->add(prompt[at], at, sequence);
    if (at + 1 == prompt.size()) batch_->want(0);
    if (batch_->full() || at + 1 == prompt.size()) {
      if (auto done = batch_->run(deadline, take_best); !done) return fail(done.error());
    }
  }
  Tokens held = prompt;
  while (written.tokens.size() < most) {
    if (is_end(next)) {
      written.ended = true;
      break;
    }
    written.tokens.push_back(next);
    const bool room = held.size() < static_cast<std::size_t>(shape_.context);
    if (written.tokens.size() == most || !room) break;
    batch_->add(next, held.size(), sequence);
    batch_->want(0);
    held.push_back(next);
    if (auto done = batch_->run(deadline, take_best); !done) return fail(done.error());
  }
  if (share_) {
    memory_->keep(sequence[0], held);
  } else {
    memory_->drop(sequence[0]);
  }
  return written;
}

}  // namespace deem::seat::local
