#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "seat/local/chat_template.h"
#include "seat/local/engine.h"
#include "seat/local/letter_reader.h"
#include "seat/local/model.h"
#include "seat/local/vocabulary.h"
#include "seat/seat.h"

namespace deem::seat::local {

/// A model file in this process. Requests of one call share their prefixes, later calls start
/// from what earlier ones left. Calls from several threads take turns.
class InProcessSeat final : public Seat {
 public:
  static Result<std::unique_ptr<InProcessSeat>> make(const SeatSpec& spec);

  Result<Identity> identify() override;
  Result<Capabilities> capabilities() override;
  Result<LetterProof> prove_letters(std::size_t n) override;
  Result<std::int64_t> count_chat(const std::string& user_turn) override;
  Result<std::int64_t> count_plain(const std::string& text) override;
  Result<TokenIds> chat_ids(const std::string& user_turn) override;
  Result<TokenIds> text_ids(const std::string& text, bool special) override;
  Result<std::string> text_of(const TokenIds& ids) override;
  Result<Lineage> lineage() override;
  Result<Counters> counters() override;
  Result<PositionReply> first_position(const PositionRequest& request,
                                       const Schedule& schedule) override;
  Result<LikelihoodReply> likelihood(const LikelihoodRequest& request,
                                     const Schedule& schedule) override;
  Result<WriteReply> write(const WriteRequest& request, const Schedule& schedule) override;
  std::vector<Result<PositionReply>> first_positions(std::span<const PositionRequest> requests,
                                                     const Schedule& schedule) override;
  std::vector<Result<LikelihoodReply>> likelihoods(std::span<const LikelihoodRequest> requests,
                                                   const Schedule& schedule) override;

  /// For tests and benches: every request alone, from its first token, when not `share`.
  void share_prefixes(bool share);
  /// Tokens run through the model since the seat was made.
  std::size_t tokens_run() const { return tokens_run_; }
  const ChatTemplate& chat() const { return chat_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  InProcessSeat(SeatSpec spec, LoadedModel loaded, Vocabulary vocabulary, ChatTemplate chat,
                Engine engine);
  Result<Tokens> chat_tokens(const std::string& user_turn) const;
  Result<void> check_length(std::size_t tokens) const;
  struct Shared {
    Timing timing;
    Engine::Evaluated evaluated;
  };
  Result<Shared> run_together(std::span<const TokenPath> paths, const Schedule& schedule,
                              const Engine::OnScores& on_scores);

  std::mutex mutex_;  // over all that follows
  SeatSpec spec_;
  LoadedModel loaded_;
  Vocabulary vocabulary_;
  ChatTemplate chat_;
  LetterReader letters_;
  Engine engine_;
  std::optional<std::string> digest_;
  std::size_t tokens_run_ = 0;
};

}  // namespace deem::seat::local
