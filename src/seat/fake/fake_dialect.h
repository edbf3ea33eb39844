#pragma once

// Private to seat/fake: what the scripted servers share.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codec/json.h"
#include "net/http_server.h"
#include "seat/fake/fake_model.h"
#include "seat/fake/fake_server.h"

namespace deem::seat {

/// One entry of a list of log-probabilities, before it is printed.
struct FakeEntry {
  std::string token;
  std::int64_t id = 0;
  codec::Json logprob;
};

/// A first position: what was sampled, and the whole vocabulary from the likeliest down.
struct FakePosition {
  FakeEntry sampled;
  std::vector<FakeEntry> entries;
};

/// The faults that strike one request.
class FaultSet {
 public:
  void add(Fault fault) {
    if (!has(fault)) faults_.push_back(fault);
  }
  bool has(Fault fault) const { return std::ranges::find(faults_, fault) != faults_.end(); }
  const std::vector<Fault>& all() const { return faults_; }

 private:
  std::vector<Fault> faults_;
};

/// What else the server has seen and is doing.
struct FakeTraffic {
  std::uint64_t turn = 0;      // requests before this one
  std::uint64_t asked = 0;     // of those, for tokens
  bool seen = false;           // one with this very body among them
  bool others = false;         // in flight beside this one
  bool unlike = false;         // among those, one with another body
  bool others_by_ids = false;  // among those, one that asked exact ids
};

struct FakeRequest {
  std::string path;
  codec::Json body;
  FaultSet faults;
  FakeTraffic traffic;
};

/// How entries are printed.
struct FakeStyle {
  bool ids = false;           // every entry carries "id", as llama-server's
  bool as_token_ids = false;  // the text is "token_id:N", as vLLM's on request
};

/// One kind of server: routes and shapes. Called from any thread.
class FakeDialect {
 public:
  FakeDialect(const FakeOptions& options, const FakeModel& model)
      : options_(options), model_(model) {}
  virtual ~FakeDialect() = default;

  /// Whether a request makes the model run.
  virtual bool generates(std::string_view path) const = 0;
  /// Whether it is one of those and no probe of an adapter.
  virtual bool is_decision(std::string_view path, const codec::Json& body) const = 0;
  virtual net::ServerReply answer(const FakeRequest& request) const = 0;
  /// An error body in this server's layout.
  virtual codec::Json error_body(int status, std::string_view type,
                                 const std::string& message) const = 0;

 protected:
  net::ServerReply error(int status, std::string_view type, const std::string& message) const;
  net::ServerReply ok(const codec::Json& body) const;

  std::vector<FakeModel::Turn> turns(const codec::Json& body) const;
  /// Whether a chat_template_kwargs object leaves thinking on.
  static bool thinks(const FakeRequest& request);
  /// What is set before a chat prompt, and before a plain text where special tokens are asked.
  std::string chat_head(const FaultSet& faults) const;
  bool sets_bos(const FaultSet& faults) const;
  std::string chat_prompt(const FakeRequest& request, bool thinking) const;
  /// Ids of a text as a tokenizer's route shows them.
  FakeModel::Ids shown_ids(std::string_view text, const FakeRequest& request) const;
  /// The text of ids as a route for that shows it.
  std::string shown_text(const FakeModel::Ids& ids, const FakeRequest& request) const;

  FakePosition position(std::string_view text, const FakeRequest& request,
                        double temperature = 0) const;
  /// One position of each of the first `most` tokens written after `prompt`, `k` entries each.
  codec::Json positions(const std::string& prompt, const FakeRequest& request, std::int64_t k,
                        std::int64_t most, const FakeStyle& style, double temperature) const;

  std::string served_name(const FaultSet& faults) const;
  /// The file behind the name.
  std::string root(const FakeRequest& request) const;
  bool is_served(const FakeRequest& request) const;
  std::int64_t counted(std::size_t tokens, const FaultSet& faults) const;
  /// Whether a prompt is refused as too long, and by which context.
  bool is_refused(std::size_t tokens, std::int64_t most, const FaultSet& faults) const;
  std::int64_t told_context(const FaultSet& faults) const;
  /// The count of a prompt as a reply tells it; null where an over-long one was let through.
  codec::Json told_count(std::size_t tokens, std::int64_t most, const FaultSet& faults) const;

  const FakeOptions& options_;
  const FakeModel& model_;
};

std::unique_ptr<FakeDialect> make_fake_vllm(const FakeOptions& options, const FakeModel& model);
std::unique_ptr<FakeDialect> make_fake_ollama(const FakeOptions& options, const FakeModel& model);
std::unique_ptr<FakeDialect> make_fake_llama_server(const FakeOptions& options,
                                                    const FakeModel& model);
std::unique_ptr<FakeDialect> make_fake_openai(const FakeOptions& options, const FakeModel& model);
std::unique_ptr<FakeDialect> make_fake_sglang(const FakeOptions& options, const FakeModel& model);
std::unique_ptr<FakeDialect> make_fake_lmstudio(const FakeOptions& options, const FakeModel& model);
std::unique_ptr<FakeDialect> make_fake_native(ServerKind kind, const FakeOptions& options,
                                              const FakeModel& model);

/// One position of a chat reply: {"token","logprob","bytes","top_logprobs":[…]}.
codec::Json print_position(const FakeEntry& sampled, const std::vector<FakeEntry>& entries,
                           const FakeStyle& style);

/// The `k` likeliest entries; 5 of them under FewerEntries, none under EmptyTop.
std::vector<FakeEntry> top_entries(const FakePosition& position, std::size_t k,
                                   const FaultSet& faults);

/// Changes a position as `request`'s faults do. `begins_reply`: it is the first of an assistant's.
void distort_position(FakePosition& position, const FakeModel& model, const FakeRequest& request,
                      double temperature, bool begins_reply);

/// An assistant's text with its thinking apart, as servers with a reasoning parser split it.
struct FakeText {
  std::string text, thinking;
  std::size_t tokens = 0;
  bool ended = false;
};
FakeText write_text(const FakeModel& model, const std::string& prompt, std::size_t most,
                    FakeMind mind);

FakeMind mind_of(const FaultSet& faults);

/// Whether a body is one of the adapters' own probes.
bool is_probe(const codec::Json& body);

/// Puts the list of positions where the faults say: in place, null, empty or nowhere.
void place_logprobs(codec::Json& parent, std::string_view key, codec::Json list,
                    const FaultSet& faults);
/// The same as "logprobs" of a choice of the OpenAI chat form, old layouts included.
void place_chat_logprobs(codec::Json& choice, codec::Json list, const FaultSet& faults);

}  // namespace deem::seat
