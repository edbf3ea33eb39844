#pragma once

// Private to seat/fake: what the scripted servers share.

#include <memory>
#include <optional>
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

struct FakeRequest {
  std::string path;
  codec::Json body;
  std::optional<Fault> fault;  // strikes this request
};

/// One kind of server: routes and shapes. Called from any thread.
class FakeDialect {
 public:
  FakeDialect(const FakeOptions& options, const FakeModel& model)
      : options_(options), model_(model) {}
  virtual ~FakeDialect() = default;

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
  static bool thinks(const codec::Json& body);
  FakePosition position(std::string_view text, std::optional<Fault> fault) const;
  std::string served_name(std::optional<Fault> fault) const;
  std::int64_t counted(std::size_t tokens, std::optional<Fault> fault) const;

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

/// How entries are printed.
struct FakeStyle {
  bool ids = false;           // every entry carries "id", as llama-server's
  bool as_token_ids = false;  // the text is "token_id:N", as vLLM's on request
};

/// One position of a chat reply: {"token","logprob","bytes","top_logprobs":[…]}.
codec::Json print_position(const FakeEntry& sampled, const std::vector<FakeEntry>& entries,
                           const FakeStyle& style);

/// The `k` likeliest entries; 5 of them under FewerEntries.
std::vector<FakeEntry> top_entries(const FakePosition& position, std::size_t k,
                                   std::optional<Fault> fault);

/// An assistant's text with its thinking apart, as servers with a reasoning parser split it.
struct FakeText {
  std::string text, thinking;
  std::size_t tokens = 0;
  bool ended = false;
};
FakeText write_text(const FakeModel& model, const std::string& prompt, std::size_t most);

/// Whether a body is one of the adapters' own probes.
bool is_probe(const codec::Json& body);

/// Puts the list of positions where `fault` says: in place, null, empty or nowhere.
void place_logprobs(codec::Json& parent, std::string_view key, codec::Json list,
                    std::optional<Fault> fault);

}  // namespace deem::seat
