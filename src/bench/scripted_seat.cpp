#include "bench/scripted_seat.h"

#include <cmath>

#include "base/digest.h"
#include "decision/question.h"

namespace deem::bench {
namespace {

/// A number in (0, 1) from a text.
double unit(const std::string& text) { return (crc32c(text) + 0.5) / 4294967296.0; }

std::int64_t words(const std::string& text) {
  std::int64_t n = 1;
  for (const char c : text) n += c == ' ' || c == '\n' ? 1 : 0;
  return n;
}

}  // namespace

Result<seat::Identity> ScriptedSeat::identify() {
  if (script_.before_identity) script_.before_identity();
  if (script_.hangs_on_identity) {
    given_up_.wait(false);
    return fail(Error::Code::Unavailable, "given up");
  }
  seat::Identity identity;
  identity.kind = "scripted";
  identity.address = "nowhere";
  identity.build = script_.build;
  identity.context = script_.context;
  return identity;
}

Result<seat::Capabilities> ScriptedSeat::capabilities() {
  seat::Capabilities out;
  out.letters = seat::Capabilities::Letters::FullVocabulary;
  out.likelihood = true;
  out.census = script_.census;
  return out;
}

Result<seat::LetterProof> ScriptedSeat::prove_letters(std::size_t n) {
  seat::LetterProof proof;
  for (std::size_t i = 0; i < n; ++i) proof.ids.push_back({static_cast<std::int64_t>(i) + 32});
  proof.how = "tokenizer";
  return proof;
}

Result<std::int64_t> ScriptedSeat::count_chat(const std::string& user_turn) {
  ++calls_.counts;
  if (!script_.census) return fail(Error::Code::Unsupported, "not supported by this seat");
  return words(user_turn);
}

Result<std::int64_t> ScriptedSeat::count_plain(const std::string& text) { return count_chat(text); }

Result<seat::PositionReply> ScriptedSeat::first_position(const seat::PositionRequest& request,
                                                         const seat::Schedule&) {
  ++calls_.positions;
  if (script_.before_reply) script_.before_reply();
  if (script_.fails) {
    if (auto error = script_.fails(request.prompt)) return fail(std::move(*error));
  }
  seat::PositionReply reply;
  reply.usage.prompt_tokens = words(request.prompt) + script_.prompt_tokens_lie;
  reply.usage.truncated = script_.says_truncated;
  reply.timing = {0, 0.001, 0.001};
  if (script_.position) {
    reply.position = script_.position(request);
    return reply;
  }
  double total = 0.1;
  std::vector<double> weights;
  for (std::size_t i = 0; i < request.letters; ++i) {
    weights.push_back(unit(request.prompt + decision::letter(i)));
    total += weights.back();
  }
  for (const double weight : weights) reply.position.exact.emplace_back(std::log(weight / total));
  reply.position.logprobs_present = true;
  reply.position.sampled = decision::TokenScore{"A", 32, reply.position.exact[0]};
  reply.position.top = {*reply.position.sampled};
  return reply;
}

Result<seat::LikelihoodReply> ScriptedSeat::likelihood(const seat::LikelihoodRequest& request,
                                                       const seat::Schedule&) {
  ++calls_.likelihoods;
  if (script_.fails) {
    if (auto error = script_.fails(request.given)) return fail(std::move(*error));
  }
  seat::LikelihoodReply reply;
  reply.text = {-10 * unit(request.given + "\n" + request.score),
                static_cast<std::size_t>(words(request.score)), request.score.size()};
  reply.timing = {0, 0.001, 0.001};
  return reply;
}

Result<seat::WriteReply> ScriptedSeat::write(const seat::WriteRequest& request,
                                             const seat::Schedule&) {
  ++calls_.writes;
  if (script_.fails) {
    if (auto error = script_.fails(request.prompt)) return fail(std::move(*error));
  }
  seat::WriteReply reply;
  reply.text = script_.written;
  reply.usage.prompt_tokens = words(request.prompt) + script_.prompt_tokens_lie;
  reply.usage.truncated = script_.says_truncated;
  reply.timing = {0, 0.001, 0.002};
  return reply;
}

Result<seat::DecideReply> ScriptedSeat::decide(const seat::DecideRequest& request,
                                               const seat::Schedule& schedule) {
  ++calls_.decisions;
  if (!script_.decides) return Seat::decide(request, schedule);
  if (script_.fails) {
    if (auto error = script_.fails(request.state)) return fail(std::move(*error));
  }
  if (script_.refuses && script_.refuses(request)) {
    return fail(Error::Code::BadInput, "at most 26 options");
  }
  seat::DecideReply reply;
  for (std::size_t i = 0; i < request.questions.size(); ++i) {
    reply.answers.push_back(script_.decides(request, i));
  }
  reply.usage.prompt_tokens = 41 * static_cast<std::int64_t>(request.questions.size()) + 1;
  reply.usage.served_model = "scripted-1.13.0";
  reply.timing = {0, 0.006, 0.006};
  return reply;
}

}  // namespace deem::bench
