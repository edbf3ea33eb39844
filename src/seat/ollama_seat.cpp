#include <algorithm>

#include "base/digest.h"
#include "codec/json.h"
#include "seat/remote.h"

namespace deem::seat {
namespace {

constexpr std::string_view kChat = "/api/chat";
constexpr int kMostEntries = 20;  // over it: 400

/// The entry of /api/tags or /api/ps for `model`; a name without a tag means ":latest".
const codec::Json* find_model(const codec::Json& root, const std::string& model) {
  const codec::Json* models = root.find("models");
  if (models == nullptr || !models->is_array()) return nullptr;
  const std::string latest = model.find(':') == std::string::npos ? model + ":latest" : model;
  for (const codec::Json& entry : models->items()) {
    for (const char* key : {"name", "model"}) {
      const auto name = entry.get_string(key);
      if (name == model || name == latest) return &entry;
    }
  }
  return nullptr;
}

/// Ollama by its own API: the only route that takes num_ctx and refuses to truncate.
class OllamaSeat : public Seat {
 public:
  explicit OllamaSeat(Remote remote) : remote_(std::move(remote)) {}

  Result<Identity> identify() override {
    auto tags = get_json("/api/tags");
    if (!tags) return fail(tags.error());
    Identity out;
    out.kind = "ollama";
    out.address = remote_.address();
    const auto name = model_name(*tags);
    if (!name) return fail(name.error());
    out.model = *name;
    const codec::Json* entry = find_model(*tags, out.model);
    if (entry == nullptr) {
      return remote_.fail_at("/api/tags",
                             {Error::Code::Unavailable, "has no model \"" + out.model + "\""});
    }
    if (const auto digest = entry->get_string("digest")) {
      out.digest = digest->starts_with("sha256:") ? *digest : "sha256:" + *digest;
    }
    if (auto version = get_json("/api/version")) out.build = version->get_string("version");
    auto show = post_json("/api/show", Body().text("model", out.model).take());
    if (!show) return fail(show.error());
    if (const auto text = show->get_string("template")) out.template_sha256 = sha256_hex(*text);
    if (const codec::Json* details = show->find("details")) {
      out.detail = details->get_string("parameter_size").value_or("") + " " +
                   details->get_string("quantization_level").value_or("");
    }
    const auto context = this->context(out.model);
    if (!context) return fail(context.error());
    out.context = **context;
    return out;
  }

  Result<Capabilities> capabilities() override {
    const auto probed = capabilities_.get([&]() -> Result<Capabilities> {
      auto reply = first_position(
          {.prompt = std::string(kProbeTurn), .letters = 2, .top_k = kMostEntries}, {});
      if (!reply) return fail(reply.error());
      Capabilities out;
      out.asked_k = kMostEntries;
      out.top_k = static_cast<int>(reply->position.top.size());
      out.letters_note = reply->shape;
      out.letters = out.top_k > 0 ? Capabilities::Letters::TopK : Capabilities::Letters::None;
      out.likelihood_note = "not supported by this seat: Ollama scores no given text";
      return out;
    });
    if (!probed) return fail(probed.error());
    return **probed;
  }

  Result<LetterProof> prove_letters(std::size_t n) override {
    return LetterProof{.ids = std::vector<std::vector<std::int64_t>>(n), .how = "spelling only"};
  }

  Result<std::int64_t> count_chat(const std::string&) override {
    return unsupported("Ollama has no tokenizer route");
  }
  void give_up() override { remote_.give_up(); }

  /// size_vram is what Ollama planned, not what any board holds, and names no board.
  Result<Claim> claim() override {
    const auto model = served_model();
    if (!model) return fail(model.error());
    auto running = get_json("/api/ps");
    if (!running) return fail(running.error());
    const codec::Json* entry = find_model(*running, **model);
    if (entry == nullptr) return unsupported("/api/ps does not list the model: it is not loaded");
    Claim out{.total_bytes = entry->get_int("size"),
              .vram_bytes = entry->get_int("size_vram"),
              .context = size_in(*entry, "context_length"),
              .text = "/api/ps:"};
    const auto say = [&](const char* what, const std::optional<std::int64_t>& value) {
      out.text += std::string(" ") + what + " " + (value ? std::to_string(*value) : "not told");
    };
    say("size", out.total_bytes);
    say("size_vram", out.vram_bytes);
    say("context_length", out.context);
    return out;
  }

  Result<std::int64_t> count_plain(const std::string&) override {
    return unsupported("Ollama has no tokenizer route");
  }

  /// The digest a name means now, and of what is loaded: a pull changes the first alone.
  Result<Lineage> lineage() override {
    const auto model = served_model();
    if (!model) return fail(model.error());
    auto tags = get_json("/api/tags");
    if (!tags) return fail(tags.error());
    Lineage out{.names = {**model}};
    const codec::Json* named = find_model(*tags, **model);
    if (named == nullptr) return out;
    out.digest = named->get_string("digest");
    const std::string full = named->get_string("name").value_or(**model);
    if (full != **model) out.names.push_back(full);
    for (const codec::Json& other : tags->find("models")->items()) {
      const auto name = other.get_string("name");
      if (name && *name != full && out.digest && other.get_string("digest") == out.digest)
        out.aliases.push_back(*name);
    }
    if (out.digest) out.names.push_back(*out.digest);
    if (auto running = get_json("/api/ps")) {
      const codec::Json* loaded = find_model(*running, **model);
      if (loaded != nullptr) out.loaded = loaded->get_string("digest");
    }
    return out;
  }

  Result<bool> answers_to(const std::string& name) override {
    Body body;
    body.text("model", name).messages(kProbeTurn).field("stream", "false");
    body.field("options", Body().number("num_predict", 1).take());
    return is_answered(remote_, kChat, body.close());
  }

  Result<std::string> health() override { return ask_health(remote_, "/api/version"); }

  Result<std::vector<decision::FirstPosition>> positions(const WriteRequest& request, int top_k,
                                                         const Schedule& schedule) override {
    net::HttpReply reply;
    auto parsed = chat(request, std::clamp(top_k, 1, kMostEntries), schedule, reply);
    if (!parsed) return fail(parsed.error());
    return all_positions(std::move(*parsed));
  }

  Result<PositionReply> first_position(const PositionRequest& request,
                                       const Schedule& schedule) override {
    const int k = std::clamp(request.top_k, 1, kMostEntries);
    net::HttpReply reply;
    auto parsed = chat({request.prompt, 1}, k, schedule, reply, request.temperature);
    if (!parsed) return fail(parsed.error());
    parsed->position.asked_k = k;
    return PositionReply{std::move(parsed->position), std::move(parsed->shape),
                         std::move(parsed->usage), timing_of(schedule, reply, reply)};
  }

  Result<LikelihoodReply> likelihood(const LikelihoodRequest&, const Schedule&) override {
    return unsupported("Ollama scores no given text");
  }

  Result<WriteReply> write(const WriteRequest& request, const Schedule& schedule) override {
    net::HttpReply reply;
    auto parsed = chat(request, 0, schedule, reply);
    if (!parsed) return fail(parsed.error());
    return WriteReply{std::move(parsed->text), std::move(parsed->thinking),
                      std::move(parsed->usage), timing_of(schedule, reply, reply)};
  }

 private:
  Result<Reply> chat(const WriteRequest& request, int k, const Schedule& schedule,
                     net::HttpReply& reply, double temperature = 0) {
    const auto model = served_model();
    if (!model) return fail(model.error());
    const auto context = this->context(**model);
    if (!context) return fail(context.error());
    Body options;
    options.number("num_ctx", **context)
        .number("num_predict", request.max_tokens)
        .real("temperature", temperature)
        .number("seed", 0);
    Body body;
    body.text("model", **model).messages(request.prompt).field("stream", "false");
    body.field("think", remote_.thinks() ? "true" : "false");
    body.field("truncate", "false").field("shift", "false");
    if (k > 0) body.field("logprobs", "true").number("top_logprobs", k);
    body.field("options", options.close());
    auto sent = remote_.post(kChat, body.close(), remote_.deadline(schedule));
    if (!sent) return fail(sent.error());
    reply = std::move(*sent);
    auto parsed = parse_ollama_reply(reply.body);
    if (!parsed) return remote_.fail_at(kChat, parsed.error());
    return parsed;
  }

  Result<std::string> model_name(const codec::Json& tags) const {
    if (!remote_.spec().model.empty()) return remote_.spec().model;
    const codec::Json* models = tags.find("models");
    if (models != nullptr && models->is_array() && models->items().size() == 1) {
      return models->items()[0].get_string("name").value_or("");
    }
    return fail(Error::Code::Unavailable,
                remote_.address() + ": has several models or none, name one");
  }

  Result<const std::string*> served_model() {
    return model_.get([&]() -> Result<std::string> {
      if (!remote_.spec().model.empty()) return remote_.spec().model;
      auto tags = get_json("/api/tags");
      if (!tags) return fail(tags.error());
      return model_name(*tags);
    });
  }

  /// The num_ctx sent with every request. Unless the spec says, the one the server itself chose
  /// for the model: loading it with an empty chat makes /api/ps tell.
  Result<const std::int64_t*> context(const std::string& model) {
    return context_.get([&]() -> Result<std::int64_t> {
      if (remote_.spec().context > 0) return remote_.spec().context;
      for (const bool load : {false, true}) {
        if (load) {
          Body body;
          body.text("model", model).field("messages", "[]").field("stream", "false");
          auto loaded = remote_.post(kChat, body.close(), remote_.deadline());
          if (!loaded) return fail(loaded.error());
        }
        auto running = get_json("/api/ps");
        if (!running) return fail(running.error());
        const codec::Json* entry = find_model(*running, model);
        const auto length = entry == nullptr ? std::nullopt : size_in(*entry, "context_length");
        if (length && *length > 0) return *length;
      }
      return fail(Error::Code::Unavailable, remote_.address() +
                                                "/api/ps: does not tell the context length of \"" +
                                                model + "\": give it as the seat's context");
    });
  }

  Result<codec::Json> get_json(std::string_view path) {
    return as_json(path, remote_.get(path, remote_.deadline()));
  }
  Result<codec::Json> post_json(std::string_view path, const std::string& body) {
    return as_json(path, remote_.post(path, body, remote_.deadline()));
  }
  Result<codec::Json> as_json(std::string_view path, Result<net::HttpReply> reply) const {
    if (!reply) return fail(reply.error());
    auto json = codec::parse_json(reply->body, codec::JsonMode::Python);
    if (!json) return remote_.fail_at(path, json.error());
    return std::move(*json);
  }

  Remote remote_;
  Once<std::string> model_;
  Once<std::int64_t> context_;
  Once<Capabilities> capabilities_;
};

}  // namespace

Result<std::unique_ptr<Seat>> make_ollama_seat(const SeatSpec& spec) {
  auto remote = Remote::make(spec);
  if (!remote) return fail(remote.error());
  return std::make_unique<OllamaSeat>(std::move(*remote));
}

}  // namespace deem::seat
