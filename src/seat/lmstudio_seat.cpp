#include <algorithm>

#include "base/text.h"
#include "codec/json.h"
#include "seat/remote.h"

namespace deem::seat {
namespace {

using codec::Json;

constexpr std::string_view kResponses = "/v1/responses";
constexpr std::string_view kList = "/api/v0/models";

/// What of its routes this version takes, learnt by asking.
struct Dialect {
  std::string model;
  bool responses = true;   // /v1/responses, else the chat form
  int least_tokens = 1;    // of an answer
  bool penalties = true;   // takes frequency_penalty and presence_penalty
  bool truncation = true;  // takes truncation: "disabled"
  bool store = true;       // takes store: false
  bool no_effort = false;  // reasoning effort "none" keeps it from thinking
  int top_k = 0;           // entries it returns; 0: no logprobs
  int asked_k = 0;         // entries asked then
  std::string note{};      // what came in place of a list
};

bool says(const net::HttpReply& reply, std::string_view word) {
  return reply.body.find(word) != std::string::npos;
}

/// A route it does not have is answered 404, or 200 with these words.
bool is_missing(const net::HttpReply& reply) {
  return reply.status == 404 || reply.status == 405 ||
         (reply.status < 300 && says(reply, "Unexpected endpoint"));
}

bool is_loaded(const Json& entry) { return entry.get_string("state") == "loaded"; }

bool writes_text(const Json& entry) {
  const auto type = entry.get_string("type");
  return !type || *type == "llm" || *type == "vlm";
}

/// LM Studio: letters by spelling from the log-probabilities of /v1/responses (its chat form has
/// none), identity from its own list of models.
class LmStudioSeat : public Seat {
 public:
  explicit LmStudioSeat(Remote remote) : remote_(std::move(remote)) {}

  /// Loads the model where it is not: only then is its context told.
  Result<Identity> identify() override {
    auto entry = find_entry();
    if (!entry) return fail(entry.error());
    if (entry->get_string("state") && !is_loaded(*entry)) {
      if (auto loaded = load(entry->get_string("id").value_or("")); !loaded) {
        return fail(loaded.error());
      }
      entry = find_entry();
      if (!entry) return fail(entry.error());
    }
    Identity out;
    out.kind = "lmstudio";
    out.address = remote_.address();
    out.model = entry->get_string("id").value_or("");
    out.context = size_in(*entry, "loaded_context_length");
    std::string detail;
    for (const char* key : {"publisher", "arch", "compatibility_type", "quantization"}) {
      const auto text = entry->get_string(key);
      if (text && !text->empty()) detail += (detail.empty() ? "" : " ") + *text;
    }
    if (!detail.empty()) out.detail = detail;
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
    out.likelihood_note = "not supported by this seat: LM Studio scores no given text";
    return out;
  }

  Result<LetterProof> prove_letters(std::size_t n) override {
    return LetterProof{.ids = std::vector<std::vector<std::int64_t>>(n), .how = "spelling only"};
  }

  Result<std::int64_t> count_chat(const std::string&) override {
    return unsupported("LM Studio has no tokenizer route");
  }
  Result<std::int64_t> count_plain(const std::string&) override {
    return unsupported("LM Studio has no tokenizer route");
  }

  /// It tells the context a model was loaded with, and no memory.
  Result<Claim> claim() override {
    const auto entry = find_entry();
    if (!entry) return fail(entry.error());
    if (!is_loaded(*entry)) return unsupported("the list does not show the model loaded");
    Claim out{.context = size_in(*entry, "loaded_context_length")};
    out.text = std::string(kList) + ": loaded_context_length " +
               (out.context ? std::to_string(*out.context) : "not told");
    return out;
  }

  void give_up() override { remote_.give_up(); }

  Result<Lineage> lineage() override {
    const auto identity = identify();
    if (!identity) return fail(identity.error());
    return Lineage{.names = {identity->model}};
  }

  Result<bool> answers_to(const std::string& name) override {
    const auto dialect = this->dialect();
    if (!dialect) return fail(dialect.error());
    Dialect other = **dialect;
    other.model = name;
    return is_answered(remote_, route_of(other), body_of(other, {std::string(kProbeTurn), 1}, 0));
  }

  Result<std::string> health() override { return ask_health(remote_, "/v1/models"); }

  Result<std::vector<decision::FirstPosition>> positions(const WriteRequest& request, int top_k,
                                                         const Schedule& schedule) override {
    const auto dialect = this->dialect();
    if (!dialect) return fail(dialect.error());
    const int k = std::min(top_k, (*dialect)->top_k);
    if (k <= 0) return unsupported("this server returns no logprobs");
    net::HttpReply sent;
    auto reply = ask(**dialect, request, k, schedule, sent);
    if (!reply) return fail(reply.error());
    return all_positions(std::move(*reply));
  }

  Result<PositionReply> first_position(const PositionRequest& request,
                                       const Schedule& schedule) override {
    const auto dialect = this->dialect();
    if (!dialect) return fail(dialect.error());
    const int k = std::min(request.top_k, (*dialect)->top_k);
    if (k <= 0) return unsupported("this server returns no logprobs");
    net::HttpReply sent;
    auto reply = ask(**dialect, {request.prompt, 1}, k, schedule, sent, request.temperature);
    if (!reply) return fail(reply.error());
    reply->position.asked_k = k;
    return PositionReply{.position = std::move(reply->position),
                         .shape = std::move(reply->shape),
                         .usage = std::move(reply->usage),
                         .timing = timing_of(schedule, sent, sent)};
  }

  Result<LikelihoodReply> likelihood(const LikelihoodRequest&, const Schedule&) override {
    return unsupported("LM Studio scores no given text");
  }

  Result<WriteReply> write(const WriteRequest& request, const Schedule& schedule) override {
    const auto dialect = this->dialect();
    if (!dialect) return fail(dialect.error());
    net::HttpReply sent;
    auto reply = ask(**dialect, request, 0, schedule, sent);
    if (!reply) return fail(reply.error());
    return WriteReply{std::move(reply->text), std::move(reply->thinking), std::move(reply->usage),
                      timing_of(schedule, sent, sent)};
  }

 private:
  // ---- who it is

  /// Its own list of models; the OpenAI one where it has none.
  Result<Json> list_models() {
    std::string_view route = kList;
    auto reply = remote_.exchange("GET", route, {}, remote_.deadline());
    if (reply && is_missing(*reply)) {
      route = "/v1/models";
      reply = remote_.exchange("GET", route, {}, remote_.deadline());
    }
    if (!reply) return fail(reply.error());
    if (reply->status >= 300) {
      return fail(Error::Code::Unavailable, remote_.refusal(route, *reply).message);
    }
    auto json = codec::parse_json(reply->body, codec::JsonMode::Python);
    if (!json) return remote_.fail_at(route, json.error());
    const Json* data = json->find("data");
    if (data == nullptr || !data->is_array()) {
      return remote_.fail_at(route, {Error::Code::Corrupt, "no \"data\" in the list of models"});
    }
    return *data;
  }

  /// The entry of the model asked for; without a name the only one loaded, else the only one.
  Result<Json> find_entry() {
    auto list = list_models();
    if (!list) return fail(list.error());
    const std::string& wanted = remote_.spec().model;
    std::string names;
    const Json *only = nullptr, *loaded = nullptr;
    std::size_t usable = 0, in_memory = 0;
    for (const Json& entry : list->items()) {
      const std::string id = entry.get_string("id").value_or("");
      if (id.empty() || !writes_text(entry)) continue;
      if (id == wanted) return entry;
      ++usable;
      only = &entry;
      if (is_loaded(entry)) ++in_memory, loaded = &entry;
      names += (names.empty() ? "" : ", ") + printable(id, 80);
    }
    if (wanted.empty() && in_memory == 1) return *loaded;
    if (wanted.empty() && usable == 1) return *only;
    std::string why = usable == 0 ? "has no model that writes"
                      : wanted.empty()
                          ? "has several models, name one of: " + printable(names, 400)
                          : "does not have \"" + wanted + "\", but: " + printable(names, 400);
    return fail(Error::Code::Unavailable, remote_.address() + ": " + why);
  }

  /// A first request makes it load a model.
  Result<void> load(const std::string& model) {
    const Dialect plain{.model = model, .responses = false};
    auto reply = remote_.post(kChat, chat_body(plain, {std::string(kProbeTurn), 1}, 0, 0),
                              remote_.deadline());
    if (!reply) return fail(reply.error());
    return {};
  }

  // ---- asking

  static std::string chat_body(const Dialect& dialect, const WriteRequest& request, int k,
                               double temperature) {
    Body body;
    body.text("model", dialect.model).messages(request.prompt);
    body.number("max_tokens", request.max_tokens).real("temperature", temperature);
    if (k > 0) body.field("logprobs", "true").number("top_logprobs", k);
    return body.field("stream", "false").take();
  }

  /// Presets of the app hold penalties, which change the numbers: they are sent as 0.
  static std::string responses_body(const Dialect& dialect, const WriteRequest& request, int k,
                                    double temperature) {
    Body body;
    body.text("model", dialect.model).text("input", request.prompt);
    body.number("max_output_tokens", std::max(request.max_tokens, dialect.least_tokens));
    body.real("temperature", temperature);
    if (k > 0) {
      body.field("include", R"(["message.output_text.logprobs"])").number("top_logprobs", k);
    }
    if (dialect.penalties) body.number("frequency_penalty", 0).number("presence_penalty", 0);
    if (dialect.truncation) body.text("truncation", "disabled");
    if (dialect.store) body.field("store", "false");
    if (dialect.no_effort) body.field("reasoning", R"({"effort":"none"})");
    return body.field("stream", "false").take();
  }

  static std::string body_of(const Dialect& dialect, const WriteRequest& request, int k,
                             double temperature = 0) {
    return dialect.responses ? responses_body(dialect, request, k, temperature)
                             : chat_body(dialect, request, k, temperature);
  }
  static std::string_view route_of(const Dialect& dialect) {
    return dialect.responses ? kResponses : kChat;
  }
  static Result<Reply> parse(const Dialect& dialect, std::string_view bytes) {
    return dialect.responses ? parse_responses_reply(bytes) : parse_chat_reply(bytes);
  }

  Result<Reply> ask(const Dialect& dialect, const WriteRequest& request, int k,
                    const Schedule& schedule, net::HttpReply& sent, double temperature = 0) {
    const std::string_view route = route_of(dialect);
    auto reply =
        remote_.post(route, body_of(dialect, request, k, temperature), remote_.deadline(schedule));
    if (!reply) return fail(reply.error());
    sent = std::move(*reply);
    auto parsed = parse(dialect, sent.body);
    if (!parsed) return remote_.fail_at(route, parsed.error());
    return parsed;
  }

  // ---- what it takes

  Result<const Dialect*> dialect() {
    return dialect_.get([&] { return learn(); });
  }

  /// The chat form lists no log-probabilities in any version seen so far; asked all the same where
  /// the other route has none.
  Result<Dialect> learn() {
    const auto entry = find_entry();
    if (!entry) return fail(entry.error());
    Dialect responses{.model = entry->get_string("id").value_or("")};
    const auto there = learn_route(responses);
    if (!there) return fail(there.error());
    if (*there && responses.top_k > 0) return responses;
    Dialect chat{.model = responses.model, .responses = false};
    const auto chats = learn_route(chat);
    if (!chats) return fail(chats.error());
    return *there && chat.top_k == 0 ? responses : chat;
  }

  /// Asks one token and drops what is refused, one thing at a time; false: no such route. A reply
  /// that thinks, or whose one token is no text, is asked for again without thinking.
  Result<bool> learn_route(Dialect& out) {
    constexpr int kDepths[] = {20, 10, 5, 1, 0};
    const std::string_view route = route_of(out);
    bool tried_effort = remote_.thinks() || !out.responses;
    for (const int* depth = kDepths;;) {
      auto reply = remote_.exchange(
          "POST", route, body_of(out, {std::string(kProbeTurn), 1}, *depth), remote_.deadline());
      if (!reply) return fail(reply.error());
      if (is_missing(*reply)) return false;
      if (reply->status < 300) {
        const auto parsed = parse(out, reply->body);
        if (!parsed) return remote_.fail_at(route, parsed.error());
        if (!tried_effort && (!parsed->thinking.empty() || parsed->text.empty())) {
          tried_effort = out.no_effort = true;
          continue;
        }
        if (*depth == 0) return true;
        out.asked_k = *depth;
        out.top_k = static_cast<int>(parsed->position.top.size());
        out.note = parsed->shape;
        return true;
      }
      const Error error = remote_.refusal(route, *reply);
      if (error.code != Error::Code::BadInput) return fail(error);
      if (drop_refused(out, *reply)) continue;
      if (!says(*reply, "logprobs") || *depth == 0) return fail(error);
      ++depth;
    }
  }

  static bool drop_refused(Dialect& out, const net::HttpReply& reply) {
    constexpr int kLeast = 16;  // of max_output_tokens by the specification
    if (out.no_effort && says(reply, "reasoning")) {
      out.no_effort = false;
    } else if (out.penalties && says(reply, "penalty")) {
      out.penalties = false;
    } else if (out.truncation && says(reply, "truncation")) {
      out.truncation = false;
    } else if (out.store && says(reply, "store")) {
      out.store = false;
    } else if (out.least_tokens < kLeast && says(reply, "max_output_tokens")) {
      out.least_tokens = kLeast;
    } else {
      return false;
    }
    return true;
  }

  Remote remote_;
  Once<Dialect> dialect_;
};

}  // namespace

Result<std::unique_ptr<Seat>> make_lmstudio_seat(const SeatSpec& spec) {
  auto remote = Remote::make(spec);
  if (!remote) return fail(remote.error());
  return std::make_unique<LmStudioSeat>(std::move(*remote));
}

}  // namespace deem::seat
