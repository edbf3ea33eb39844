#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "seat/seat.h"

namespace deem::bench {

/// A seat for tests: answers by rule, counts its calls, fails where told to. Letters get
/// logprobs from a hash of the prompt, so that the same prompt always reads the same.
class ScriptedSeat : public seat::Seat {
 public:
  struct Script {
    std::int64_t context = 4096;
    bool census = true;
    std::string build = "scripted 1";
    bool says_truncated = false;
    std::int64_t prompt_tokens_lie = 0;  // added to the count a reply reports
    std::function<std::optional<Error>(const std::string& prompt)> fails = nullptr;
    std::function<void()> before_reply = nullptr;
    std::function<void()> before_identity = nullptr;
    bool hangs_on_identity = false;  // until it is told to give up
    std::function<decision::FirstPosition(const seat::PositionRequest&)> position = nullptr;
    std::string written = "A";
    std::optional<seat::Claim> claim = std::nullopt;
  };
  struct Calls {
    std::atomic<int> positions = 0, likelihoods = 0, writes = 0, counts = 0;
  };

  /// Both must outlive the seat.
  ScriptedSeat(const Script& script, Calls& calls) : script_(script), calls_(calls) {}

  Result<seat::Identity> identify() override;
  Result<seat::Capabilities> capabilities() override;
  Result<seat::LetterProof> prove_letters(std::size_t n) override;
  Result<std::int64_t> count_chat(const std::string& user_turn) override;
  Result<std::int64_t> count_plain(const std::string& text) override;
  Result<seat::PositionReply> first_position(const seat::PositionRequest& request,
                                             const seat::Schedule& schedule) override;
  Result<seat::LikelihoodReply> likelihood(const seat::LikelihoodRequest& request,
                                           const seat::Schedule& schedule) override;
  Result<seat::WriteReply> write(const seat::WriteRequest& request,
                                 const seat::Schedule& schedule) override;
  Result<seat::Claim> claim() override {
    return script_.claim ? Result<seat::Claim>(*script_.claim) : Seat::claim();
  }
  void give_up() override {
    given_up_ = true;
    given_up_.notify_all();
  }

 private:
  std::atomic<bool> given_up_ = false;
  const Script& script_;
  Calls& calls_;
};

}  // namespace deem::bench
