#include <algorithm>
#include <atomic>

#include "seat/remote.h"

namespace deem::seat {
namespace {

/// What of the chat form this endpoint takes, learnt by asking.
struct Dialect {
  std::string model;
  bool template_arguments = true;  // takes chat_template_kwargs
  bool completion_tokens = false;  // wants max_completion_tokens
  bool temperature = true;         // takes temperature 0
  int top_k = 0;                   // entries it returns; 0: no logprobs
  int asked_k = 0;                 // entries asked then
  std::string note{};              // what came in place of a list, or why it was refused
};

/// Any OpenAI-style chat endpoint: letters by spelling among the top k, no tokenizer.
class OpenAiSeat : public Seat {
 public:
  explicit OpenAiSeat(Remote remote) : remote_(std::move(remote)) {}

  Result<Identity> identify() override {
    Identity out;
    out.kind = "openai";
    out.address = remote_.address();
    out.model = remote_.spec().model;
    auto reply = remote_.exchange("GET", "/v1/models", {}, remote_.deadline());
    if (!reply) return fail(reply.error());
    if (reply->status == 404 && !out.model.empty()) return out;  // endpoints without the list
    if (reply->status >= 300) {
      return fail(Error::Code::Unavailable, remote_.refusal("/v1/models", *reply).message);
    }
    auto entry = parse_model_entry(reply->body, out.model);
    if (!entry) return remote_.fail_at("/v1/models", entry.error());
    out.model = entry->id;
    out.root = entry->root;
    out.context = entry->max_model_len;
    return out;
  }

  Result<Capabilities> capabilities() override {
    const auto dialect = this->dialect();
    if (!dialect) return fail(dialect.error());
    Capabilities out;
    out.letters = (*dialect)->top_k > 0 ? Capabilities::Letters::TopK : Capabilities::Letters::None;
    out.top_k = (*dialect)->top_k;
    out.asked_k = (*dialect)->asked_k;
    out.letters_note = (*dialect)->note;
    out.likelihood_note = "not supported by this seat: the chat form scores no given text";
    return out;
  }

  Result<LetterProof> prove_letters(std::size_t n) override {
    return LetterProof{.ids = std::vector<std::vector<std::int64_t>>(n), .how = "spelling only"};
  }

  Result<std::int64_t> count_chat(const std::string&) override {
    return unsupported("no tokenizer route");
  }
  void give_up() override { remote_.give_up(); }

  Result<std::int64_t> count_plain(const std::string&) override {
    return unsupported("no tokenizer route");
  }

  Result<PositionReply> first_position(const PositionRequest& request,
                                       const Schedule& schedule) override {
    const auto dialect = this->dialect();
    if (!dialect) return fail(dialect.error());
    const int k = std::min(request.top_k, (*dialect)->top_k);
    if (k <= 0) return unsupported("this endpoint returns no logprobs");
    if (request.temperature != 0 && !(*dialect)->temperature) {
      return unsupported("this endpoint takes no temperature");
    }
    return ask_position(remote_, chat_body(**dialect, {request.prompt, 1}, k, request.temperature),
                        k, schedule);
  }

  Result<LikelihoodReply> likelihood(const LikelihoodRequest&, const Schedule&) override {
    return unsupported("the chat form scores no given text");
  }

  Result<WriteReply> write(const WriteRequest& request, const Schedule& schedule) override {
    const auto dialect = this->dialect();
    if (!dialect) return fail(dialect.error());
    return ask_text(remote_, chat_body(**dialect, request, 0), schedule);
  }

  Result<Lineage> lineage() override {
    Lineage out;
    const auto identity = identify();
    if (!identity) return fail(identity.error());
    out.names = {identity->model};
    if (identity->root) out.names.push_back(*identity->root);
    out.looks_like = find_likeness();
    return out;
  }

  Result<bool> answers_to(const std::string& name) override {
    const auto known = dialect();
    if (!known) return fail(known.error());
    Dialect other = **known;
    other.model = name;
    return is_answered(remote_, kChat, chat_body(other, {std::string(kProbeTurn), 1}, 0));
  }

  Result<std::string> health() override { return ask_health(remote_, "/v1/models"); }

  Result<std::vector<decision::FirstPosition>> positions(const WriteRequest& request, int top_k,
                                                         const Schedule& schedule) override {
    const auto dialect = this->dialect();
    if (!dialect) return fail(dialect.error());
    const int k = std::min(top_k, (*dialect)->top_k);
    if (k <= 0) return unsupported("this endpoint returns no logprobs");
    return ask_positions(remote_, chat_body(**dialect, request, k), schedule);
  }

 private:
  /// Another kind of server that answers a route of its own here; "" when none shows.
  std::string find_likeness() {
    constexpr std::pair<const char*, const char*> kRoutes[] = {
        {"/props", "llama-server"}, {"/version", "vllm"}, {"/api/version", "ollama"}};
    for (const auto& [route, kind] : kRoutes) {
      const auto reply = remote_.exchange("GET", route, {}, remote_.deadline());
      if (reply && reply->status == 200 && reply->body.starts_with('{')) {
        return std::string(kind) + " (it answers " + route + ")";
      }
    }
    return "";
  }

  std::string chat_body(const Dialect& dialect, const WriteRequest& request, int k,
                        double temperature = 0) const {
    Body body;
    body.text("model", dialect.model).messages(request.prompt);
    body.number(dialect.completion_tokens ? "max_completion_tokens" : "max_tokens",
                request.max_tokens);
    if (dialect.temperature) body.real("temperature", temperature);
    if (k > 0) body.field("logprobs", "true").number("top_logprobs", k);
    body.field("stream", "false");
    if (dialect.template_arguments) {
      body.field("chat_template_kwargs", remote_.template_arguments());
    }
    return body.take();
  }

  Result<const Dialect*> dialect() {
    return dialect_.get([&] { return learn(); });
  }

  /// Asks one token and drops what the endpoint says it does not take, one thing at a time.
  Result<Dialect> learn() {
    Dialect out;
    auto identity = identify();
    if (!identity) return fail(identity.error());
    out.model = identity->model;
    constexpr int kDepths[] = {20, 10, 5, 1, 0};
    for (const int* depth = kDepths;;) {
      auto reply = remote_.exchange(
          "POST", kChat, chat_body(out, {std::string(kProbeTurn), 1}, *depth), remote_.deadline());
      if (!reply) return fail(reply.error());
      if (reply->status < 300) {
        auto parsed = parse_chat_reply(reply->body);
        if (!parsed) return remote_.fail_at(kChat, parsed.error());
        if (*depth == 0) return out;
        out.asked_k = *depth;
        out.top_k = static_cast<int>(parsed->position.top.size());
        out.note = parsed->shape;
        return out;
      }
      const Error error = remote_.refusal(kChat, *reply);
      const auto says = [&](std::string_view word) {
        return reply->body.find(word) != std::string::npos;
      };
      if (error.code != Error::Code::BadInput) return fail(error);
      if (out.template_arguments && says("chat_template_kwargs")) {
        out.template_arguments = false;
      } else if (!out.completion_tokens && says("max_completion_tokens")) {
        out.completion_tokens = true;
      } else if (out.temperature && says("temperature")) {
        out.temperature = false;
      } else if (says("logprobs") && *depth > 0) {
        out.note = error.message;
        ++depth;
      } else {
        return fail(error);
      }
    }
  }

  Remote remote_;
  Once<Dialect> dialect_;
};

}  // namespace

Result<std::unique_ptr<Seat>> make_openai_seat(const SeatSpec& spec) {
  auto remote = Remote::make(spec);
  if (!remote) return fail(remote.error());
  return std::make_unique<OpenAiSeat>(std::move(*remote));
}

}  // namespace deem::seat
