#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/certificate.h"
#include "seat/fake/fake_model.h"
#include "seat/seat.h"

namespace deem::seat {

enum class ServerKind { Vllm, Ollama, LlamaServer, OpenAi, Sglang, LmStudio, SystemOne, Decisions };

/// Ways a server goes wrong, each seen in the wild.
enum class Fault {
  // The list of log-probabilities.
  NullLogprobs,     // "logprobs": null
  EmptyLogprobs,    // an empty list
  MissingLogprobs,  // no such member
  EmptyTop,         // the written token alone
  LegacyLayout,     // chat: as /v1/completions lists them
  OldProbs,         // llama-server: "probs", as before December 2024
  SampledProbs,     // llama-server: "prob", after sampling
  NullEntries,      // every logprob null
  FewerEntries,     // 5 entries however many were asked
  IdsDropped,       // vLLM: the last id asked for does not come back
  // Its numbers.
  Sentinel,       // −9999.0 for the letters and the sampled token
  PadSentinel,    // the list is "<pad>" at −9999.0 (vllm#51789)
  PadInMix,       // the same of a top-k request while one by ids is in flight
  AllZero,        // every logprob 0 (vllm#17876)
  NanBody,        // a bare NaN: no JSON
  MinusInfinity,  // "-Infinity" as a string for the letters
  AboveOne,       // probabilities that sum to over 1
  Probabilities,  // not their logarithms
  Logits,         // before the softmax
  LogTen,         // to the base of 10
  LogTwo,         // to the base of 2
  Processed,      // after the temperature
  OneHot,         // the likeliest has all at temperature 0
  Jitter,         // never the same twice
  CrowdJitter,    // another while others are in flight
  CrossTalk,      // another's while unlike ones are in flight
  CacheDrift,     // another when the prompt was seen before
  LaterZeros,     // 0.0 and no list after the first position (llama.cpp#27972)
  // What stands at position 0.
  ThinkingFirst,     // <think> takes position 0, letters far below
  OpenThinking,      // the template can not close the thinking channel
  MultiCharacter,    // "Based" leads
  LookAlike,         // " A" instead of "A"
  LowMass,           // letters at some 13 nats below
  SampledNotListed,  // the written token is not in its own list
  SampledDiffers,    // it has another number there
  SampledUnlikely,   // it is not the likeliest at temperature 0
  FarSampled,        // at others it is none of the list, with −9999 (OpenAI; no fault)
  // What is answered to the items of a diagnosis.
  Wanders,      // as if another prompt had been asked
  FirstOption,  // the first option, whatever is asked
  AllAlike,     // every letter the same
  // Prompts and names.
  Truncated,         // the prompt was cut: the count is small, the status 200
  OverlongCut,       // the same of one over the context alone
  OverlongInvented,  // one over the context is answered without a count
  OverlongSmaller,   // refused with another context than is told
  DoubleBos,         // two of them before a chat prompt
  MissingBos,        // vLLM: the tokenizer sets one, the chat template does not
  HiddenBos,         // one more token is run than the tokenizer's route shows
  LossyTokenizer,    // a text does not come back
  SharedLetter,      // A and B are one token
  WrongModel,        // the reply names another model
  AnyName,           // a name that is not served is answered
  StaleWeights,      // Ollama: the name means another digest than is loaded
  SwappedWeights,    // another file behind the name after some requests
  // The reply as a whole.
  Chunked,          // nothing wrong, sent in chunks
  InvalidJson,      // cut-off JSON with a whole HTTP reply
  NotJson,          // an HTML page with status 200
  BadRequest,       // 400 with the server's words
  TooManyRequests,  // 429 with Retry-After
  ServerError,      // 500
  Loading,          // 503 while the model loads
  PlainTextError,   // 502 from a proxy, no JSON
  Hang,             // no reply
  Close,            // closed without a byte
  CloseMidReply,    // closed inside the body
  Stall,            // half a reply, then silence
};

/// Faults strike decision requests (chat, completion, likelihood), counted from 0 in the order they
/// come in, those from `first` on, `count` of them, whose body holds `contains`. All that match
/// strike together. Probes of a server are left alone unless `everywhere`, which strikes every
/// request there is.
struct FaultRule {
  Fault fault = Fault::ServerError;
  std::uint64_t first = 0;
  std::uint64_t count = ~std::uint64_t{0};
  std::string contains{};
  bool everywhere = false;
};

/// The forms in which decision endpoints are asked.
struct Form {
  const char* name;
  ServerKind kind;
  bool sglang;  // FakeOptions::sglang_form
};
inline constexpr Form kForms[] = {{"systemone", ServerKind::SystemOne, false},
                                  {"decisions", ServerKind::Decisions, false},
                                  {"sglang_decisions", ServerKind::Decisions, true}};

/// Ways a decision endpoint's answer goes wrong, all of the time. Those after CutsState are none.
enum class AnswerFault {
  RenamedId,      // the answers stand under other ids
  NoAnswers,      // "answers" is empty
  NullAnswer,     // the answer is null
  WrongType,      // of another type than asked for
  Declined,       // "refusal"
  MissingOption,  // the first option is left out
  NullOption,     // its probability is null
  NanOption,      // a bare NaN: no JSON
  TextOption,     // a string
  Negative,
  Percent,  // 0 to 100
  SumLow,   // all at nine tenths
  AllZero,
  ChoiceDiffers,  // names the last of its own probabilities
  ChoiceUnknown,  // names no option
  LowMass,        // the labels' mass is a millionth
  Duplicate,      // one option twice
  ScoreDiffers,   // the score is not what its levels' probabilities say
  ReadsIds,       // a question's id changes its answer
  ReadsCompany,   // so do the others of its request
  Jitters,        // so does when it is asked
  TakesAnything,  // a choice without options is answered
  CutsState,      // an over-long state is answered, with the count of what was read
  Skewed,         // of one question in three, another option is answered: only another seat tells
  ColdDrift,      // answers hang a little on how much of their prompt was kept (no fault)
  Rounded,        // to two decimals
  Reordered,      // answers and options from the last to the first
  ExtraOption,    // one more option, at 0
  ExtraAnswer,    // one more answer
  ExtraMembers,   // members nobody asked for
  NoConfidence,   // left out
};

struct FakeOptions {
  std::string model = "fake-model";
  std::int64_t context = 16384;         // tokens, which are about bytes here
  int max_top_k = 20;                   // over it: 400
  bool exact_ids = true;                // vLLM: takes logprob_token_ids (false: 400, as older ones)
  bool tokenizer = true;                // vLLM, SGLang: answers /tokenize
  bool new_routes = true;               // SGLang: /model_info, chats in /tokenize; LM Studio: all
                                        // but the chat form (false: older)
  bool completion_tokens_only = false;  // OpenAI: refuses max_tokens, as reasoning models do
  bool returns_logprobs = true;         // OpenAI: false refuses logprobs
  bool resident = true;                 // Ollama, LM Studio: the model is loaded already
  bool thinks = false;                  // LM Studio: unless reasoning effort is none
  std::vector<std::string> refuses{};   // LM Studio: members of a request it answers 400
  std::vector<AnswerFault> answers{};   // SystemOne, Decisions
  std::shared_ptr<std::atomic<bool>> answers_on{};  // while false: none of them; null: always
  bool sglang_form = false;                         // Decisions: SGLang's own form, not OpenAI's
  std::string served{};                             // model a reply names; "": as asked
  bool bos = false;                                 // the tokenizer sets <s>, the chat template too
  bool speculates = false;                          // vLLM, llama-server: counts drafts
  std::string key{};                                // bearer key it wants
  std::vector<FaultRule> faults{};
  FakeModelOptions scores{};
  std::chrono::nanoseconds delay{0};  // of each request that runs the model
  std::string address = "http://127.0.0.1:0";
  std::optional<net::Certificate> certificate{};
  int threads = 1;
};

/// A scripted server on loopback that speaks as the real one does. Stops when destroyed.
class FakeServer {
 public:
  static Result<FakeServer> start(ServerKind kind, FakeOptions options = {});
  FakeServer(FakeServer&&) noexcept;
  FakeServer& operator=(FakeServer&&) noexcept;
  ~FakeServer();

  const std::string& address() const;
  /// How to reach it, without the model's name.
  SeatSpec seat() const;

  /// Replaces the rules and counts decisions from 0 again.
  void set_faults(std::vector<FaultRule> faults);
  /// Decision requests since the start or the last set_faults.
  std::uint64_t decisions() const;
  /// The body of the last request to `path`; "" when there was none.
  std::string last_body(const std::string& path) const;
  /// All requests to `path` so far.
  std::uint64_t count(const std::string& path) const;

 private:
  struct Impl;
  explicit FakeServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace deem::seat
