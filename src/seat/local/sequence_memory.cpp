#include "seat/local/sequence_memory.h"

#include <llama.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "seat/local/token_tree.h"

namespace deem::seat::local {

SequenceMemory::SequenceMemory(llama_context& context, std::int32_t sequences,
                               std::size_t residents)
    : context_(&context),
      sequences_(sequences),
      most_residents_(std::min(residents, static_cast<std::size_t>(sequences) - 1)),
      limit_(static_cast<std::size_t>(sequences) - most_residents_),
      window_(static_cast<std::size_t>(std::max(0, llama_model_n_swa(llama_get_model(&context))))) {
  clear();
}

SequenceMemory::Match SequenceMemory::longest(std::span<const Token> tokens) const {
  Match best;
  for (const Resident& resident : residents_) {
    const std::size_t length = common_prefix(resident.tokens, tokens);
    if (length <= best.length) continue;
    if (window_ > 0) {
      // Cells outside the window of a sequence's end may have been given to others.
      const llama_pos oldest =
          llama_memory_seq_pos_min(llama_get_memory(context_), resident.sequence);
      if (oldest > 0 && length < static_cast<std::size_t>(oldest) + window_) continue;
    }
    best = {resident.sequence, length};
  }
  return best;
}

std::int32_t SequenceMemory::take() {
  if (free_.empty()) evict();
  DEEM_CHECK(!free_.empty());
  const std::int32_t sequence = free_.back();
  free_.pop_back();
  return sequence;
}

std::int32_t SequenceMemory::fork(const Match& match, std::size_t length) {
  const std::int32_t sequence = take();
  if (length == 0) return sequence;
  DEEM_CHECK(length <= match.length);
  llama_memory_seq_cp(llama_get_memory(context_), match.sequence, sequence, 0,
                      static_cast<llama_pos>(length));
  for (Resident& resident : residents_) {
    if (resident.sequence == match.sequence) resident.used = ++clock_;
  }
  return sequence;
}

void SequenceMemory::keep(std::int32_t sequence, std::span<const Token> tokens) {
  while (residents_.size() >= std::max<std::size_t>(1, most_residents_) && evict()) {
  }
  if (most_residents_ == 0) return drop(sequence);
  residents_.push_back({sequence, Tokens(tokens.begin(), tokens.end()), ++clock_});
}

void SequenceMemory::drop(std::int32_t sequence) {
  llama_memory_seq_rm(llama_get_memory(context_), sequence, -1, -1);
  free_.push_back(sequence);
}

bool SequenceMemory::evict() {
  if (residents_.empty()) return false;
  std::size_t victim = 0;
  bool victim_lives_on = false;
  for (std::size_t i = 0; i < residents_.size(); ++i) {
    const Tokens& tokens = residents_[i].tokens;
    const bool lives_on = std::ranges::any_of(residents_, [&](const Resident& other) {
      return other.sequence != residents_[i].sequence &&
             common_prefix(other.tokens, tokens) * 2 >= tokens.size();
    });
    const bool older = residents_[i].used < residents_[victim].used;
    if (i == 0 || (lives_on && !victim_lives_on) || (lives_on == victim_lives_on && older)) {
      victim = i;
      victim_lives_on = lives_on;
    }
  }
  drop(residents_[victim].sequence);
  residents_.erase(residents_.begin() + static_cast<std::ptrdiff_t>(victim));
  return true;
}

void SequenceMemory::clear() {
  llama_memory_clear(llama_get_memory(context_), /*data=*/false);
  residents_.clear();
  free_.clear();
  for (std::int32_t sequence = sequences_; sequence-- > 0;) free_.push_back(sequence);
}

}  // namespace deem::seat::local
