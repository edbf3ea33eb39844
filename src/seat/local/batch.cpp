#include "seat/local/batch.h"

#include <llama.h>

#include <array>

#include "base/check.h"
#include "seat/local/model.h"

namespace deem::seat::local {

Batch::Batch(llama_context& context, std::size_t vocabulary, std::uint32_t most_tokens,
             std::uint32_t most_rows, std::int32_t spare)
    : context_(&context),
      spare_(spare),
      vocabulary_(vocabulary),
      most_tokens_(most_tokens),
      most_rows_(most_rows) {
  DEEM_CHECK(most_tokens % kRowsAtATime == 0 && most_rows % kRowsAtATime == 0);
  llama_set_abort_callback(
      context_,
      [](void* deadline) { return Clock::now() >= *static_cast<const TimePoint*>(deadline); },
      &deadline_);
}

Batch::~Batch() { llama_set_abort_callback(context_, nullptr, nullptr); }

void Batch::add(Token token, std::size_t position, std::span<const std::int32_t> sequences) {
  DEEM_CHECK(!full());
  append(token, position, sequences);
}

void Batch::append(Token token, std::size_t position, std::span<const std::int32_t> sequences) {
  tokens_.push_back(token);
  positions_.push_back(static_cast<std::int32_t>(position));
  counts_.push_back(static_cast<std::int32_t>(sequences.size()));
  sequences_.insert(sequences_.end(), sequences.begin(), sequences.end());
  wanted_.push_back(0);
}

void Batch::want(std::size_t tag) {
  wanted_.back() = 1;
  rows_.push_back({tokens_.size() - 1, tag});
}

void Batch::clear() {
  tokens_.clear();
  positions_.clear();
  counts_.clear();
  sequences_.clear();
  wanted_.clear();
  rows_.clear();
}

int Batch::decode() {
  std::vector<std::int32_t*> lists;
  lists.reserve(counts_.size());
  std::int32_t* next = sequences_.data();
  for (const std::int32_t count : counts_) {
    lists.push_back(next);
    next += count;
  }
  llama_batch batch{};
  batch.n_tokens = static_cast<std::int32_t>(tokens_.size());
  batch.token = tokens_.data();
  batch.pos = positions_.data();
  batch.n_seq_id = counts_.data();
  batch.seq_id = lists.data();
  batch.logits = wanted_.data();
  return llama_decode(context_, batch);
}

// Kernels for some quantisations take four rows at a time and the rest one by one, with sums in
// another order. With whole fours a token's scores do not depend on its place in the batch.
void Batch::pad() {
  const std::array<std::int32_t, 1> nobody = {spare_};
  for (std::size_t position = 0; tokens_.size() % kRowsAtATime != 0; ++position) {
    append(tokens_.back(), position, nobody);
  }
  std::size_t missing = (kRowsAtATime - rows_.size() % kRowsAtATime) % kRowsAtATime;
  for (std::size_t i = tokens_.size(); i-- > 0 && missing > 0;) {
    if (wanted_[i] == 0) {
      wanted_[i] = 1;
      --missing;
    }
  }
}

Result<void> Batch::run(TimePoint deadline, bool exact, const OnRow& on_row) {
  constexpr int kAborted = 2;
  if (tokens_.empty()) return {};
  if (exact && spare_ > 0) pad();
  deadline_ = deadline;
  take_complaint();
  const int code = Clock::now() >= deadline ? kAborted : decode();
  llama_memory_t memory = llama_get_memory(context_);
  if (code == 0) {
    for (const Row& row : rows_) {
      const float* logits = llama_get_logits_ith(context_, static_cast<std::int32_t>(row.index));
      DEEM_CHECK(logits != nullptr);
      on_row(row.tag, {logits, vocabulary_});
    }
    if (spare_ > 0) llama_memory_seq_rm(memory, spare_, -1, -1);
    clear();
    return {};
  }
  clear();
  llama_memory_clear(memory, /*data=*/false);
  if (code == kAborted) return fail(Error::Code::Timeout, "local model: deadline passed");
  const std::string why = take_complaint();
  return fail(Error::Code::Unavailable,
              "local model: evaluation failed: " +
                  (why.empty() ? "llama_decode gave " + std::to_string(code) : why));
}

}  // namespace deem::seat::local
