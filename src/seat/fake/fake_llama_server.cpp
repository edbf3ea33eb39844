#include <cstddef>

#include "base/text.h"
#include "seat/fake/fake_dialect.h"

namespace deem::seat {
namespace {

using codec::Json;

class FakeLlamaServer : public FakeDialect {
 public:
  using FakeDialect::FakeDialect;

  bool is_decision(std::string_view path, const Json& body) const override {
    if (path == "/v1/chat/completions") return !is_probe(body);
    if (path != "/completion") return false;
    const auto text = model_.decode(ids_of(body.find("prompt")));
    return text.find("Which letter comes first?") == std::string::npos;
  }

  Json error_body(int status, std::string_view type, const std::string& message) const override {
    return Json::object(
        {{"error", Json::object({{"code", status}, {"message", message}, {"type", type}})}});
  }

  net::ServerReply answer(const FakeRequest& request) const override {
    const Json& body = request.body;
    if (request.path == "/health") return ok(Json::object({{"status", "ok"}}));
    if (request.path == "/props") {
      return ok(Json::object(
          {{"default_generation_settings", Json::object({{"n_ctx", options_.context}})},
           {"total_slots", 1},
           {"model_path", "/models/" + options_.model + ".gguf"},
           {"model_ftype", "Q4_1"},
           {"chat_template", "{% for message in messages %}…{% endfor %}"},
           {"bos_token", "<|im_start|>"},
           {"eos_token", "<|im_end|>"},
           {"build_info", "b11361-0c1e570"}}));
    }
    if (request.path == "/v1/models") {
      const Json meta = Json::object({{"n_vocab", static_cast<std::int64_t>(model_.size())},
                                      {"n_ctx_train", 8192},
                                      {"n_params", 134515008}});
      return ok(Json::object(
          {{"object", "list"},
           {"data", Json::array({Json::object({{"id", options_.model}, {"meta", meta}})})}}));
    }
    if (request.path == "/apply-template") {
      return ok(Json::object(
          {{"prompt", model_.render(turns(body), FakeModel::Ending::Prompt, thinks(body))}}));
    }
    if (request.path == "/tokenize") return tokenize(body);
    if (request.path == "/detokenize")
      return ok(Json::object({{"content", model_.decode(ids_of(body.find("tokens")))}}));
    if (request.path == "/completion") return completion(request);
    if (request.path == "/v1/chat/completions") return chat(request);
    return error(404, "not_found_error", "File Not Found");
  }

 private:
  FakeModel::Ids ids_of(const Json* prompt) const {
    FakeModel::Ids out;
    if (prompt == nullptr) return out;
    if (prompt->is_string()) return model_.encode(prompt->as_string(), true);
    if (!prompt->is_array()) return out;
    for (const Json& id : prompt->items()) {
      if (id.is_int() && id.as_int() >= 0 && static_cast<std::size_t>(id.as_int()) < model_.size())
        out.push_back(id.as_int());
    }
    return out;
  }

  net::ServerReply tokenize(const Json& body) const {
    const bool special = body.get_bool("parse_special").value_or(true);
    Json list = Json::array();
    for (const std::int64_t id : model_.encode(body.get_string("content").value_or(""), special)) {
      if (!body.get_bool("with_pieces").value_or(false)) {
        list.push(id);
        continue;
      }
      const std::string& piece = model_.piece(id);
      Json bytes = Json::array();
      for (const char c : piece) bytes.push(static_cast<int>(static_cast<unsigned char>(c)));
      list.push(Json::object({{"id", id}, {"piece", is_utf8(piece) ? Json(piece) : bytes}}));
    }
    return ok(Json::object({{"tokens", std::move(list)}}));
  }

  net::ServerReply overlong(std::size_t tokens) const {
    Json body = error_body(400, "exceed_context_size_error",
                           "request (" + std::to_string(tokens) +
                               " tokens) exceeds the available context size (" +
                               std::to_string(options_.context) + " tokens), try increasing it");
    Json inner = *body.find("error");
    inner.set("n_prompt_tokens", static_cast<std::int64_t>(tokens)).set("n_ctx", options_.context);
    net::ServerReply out;
    out.status = 400;
    out.body = codec::dump_json(Json::object({{"error", std::move(inner)}}));
    return out;
  }

  static Json timings(std::size_t tokens) {
    return Json::object({{"cache_n", static_cast<std::int64_t>(tokens / 2)},
                         {"prompt_n", static_cast<std::int64_t>(tokens - tokens / 2)},
                         {"prompt_ms", 4.5},
                         {"predicted_n", 1},
                         {"predicted_ms", 0.5}});
  }

  net::ServerReply completion(const FakeRequest& request) const {
    const Json& body = request.body;
    const auto ids = ids_of(body.find("prompt"));
    if (static_cast<std::int64_t>(ids.size()) >= options_.context) return overlong(ids.size());
    FakePosition first = position(model_.decode(ids), request.fault);
    // Control tokens have no text of their own here.
    const auto hide = [&](FakeEntry& entry) {
      if (model_.is_special(entry.id)) entry.token.clear();
    };
    hide(first.sampled);
    for (FakeEntry& entry : first.entries) hide(entry);
    const auto n = body.get_int("n_probs").value_or(0);
    const auto tokens = static_cast<std::size_t>(counted(ids.size(), request.fault));
    Json reply = Json::object({{"content", first.sampled.token},
                               {"model", served_name(request.fault)},
                               {"tokens_predicted", 1},
                               {"tokens_evaluated", static_cast<std::int64_t>(tokens)},
                               {"truncated", false},
                               {"stop_type", "limit"},
                               {"timings", timings(tokens)}});
    if (n > 0) {
      const auto entries = top_entries(first, static_cast<std::size_t>(n), request.fault);
      place_logprobs(reply, "completion_probabilities",
                     Json::array({print_position(first.sampled, entries, {.ids = true})}),
                     request.fault);
    }
    return ok(reply);
  }

  net::ServerReply chat(const FakeRequest& request) const {
    const Json& body = request.body;
    const std::string prompt = model_.render(turns(body), FakeModel::Ending::Prompt, thinks(body));
    const auto tokens = model_.encode(prompt, true).size();
    if (static_cast<std::int64_t>(tokens) >= options_.context) return overlong(tokens);
    const auto most = body.get_int("max_tokens").value_or(16);
    const FakeText text = write_text(model_, prompt, static_cast<std::size_t>(most));
    Json message = Json::object({{"role", "assistant"}, {"content", text.text}});
    if (!text.thinking.empty()) message.set("reasoning_content", text.thinking);
    const std::int64_t in = counted(tokens, request.fault);
    const auto out = static_cast<std::int64_t>(text.tokens);
    return ok(Json::object(
        {{"choices", Json::array({Json::object({{"finish_reason", text.ended ? "stop" : "length"},
                                                {"index", 0},
                                                {"message", std::move(message)}})})},
         {"model", served_name(request.fault)},
         {"object", "chat.completion"},
         {"usage",
          Json::object(
              {{"completion_tokens", out}, {"prompt_tokens", in}, {"total_tokens", in + out}})},
         {"timings", timings(tokens)}}));
  }
};

}  // namespace

std::unique_ptr<FakeDialect> make_fake_llama_server(const FakeOptions& options,
                                                    const FakeModel& model) {
  return std::make_unique<FakeLlamaServer>(options, model);
}

}  // namespace deem::seat
