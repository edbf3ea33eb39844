#include <cmath>
#include <cstddef>

#include "base/text.h"
#include "seat/fake/fake_dialect.h"

namespace deem::seat {
namespace {

using codec::Json;

class FakeLlamaServer : public FakeDialect {
 public:
  using FakeDialect::FakeDialect;

  bool generates(std::string_view path) const override {
    return path == "/v1/chat/completions" || path == "/completion";
  }

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
           {"model_path", root(request) + ".gguf"},
           {"model_ftype", "Q4_1"},
           {"chat_template", "{% for message in messages %}…{% endfor %}"},
           {"bos_token", sets_bos(request.faults) ? "<s>" : "<|im_start|>"},
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
      // The tokenizer sets a BOS of its own, so the template leaves it out, unless it fails to.
      const std::string head = request.faults.has(Fault::DoubleBos) ? "<s>" : "";
      const std::string prompt =
          model_.render(turns(body), FakeModel::Ending::Prompt, thinks(request));
      return ok(Json::object({{"prompt", head + prompt}}));
    }
    if (request.path == "/tokenize") return tokenize(request);
    if (request.path == "/detokenize") {
      return ok(Json::object({{"content", shown_text(ids_of(body.find("tokens")), request)}}));
    }
    if (request.path == "/slots") {
      return ok(Json::array({Json::object({{"id", 0},
                                           {"n_ctx", options_.context},
                                           {"speculative", options_.speculates},
                                           {"is_processing", false}})}));
    }
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

  net::ServerReply tokenize(const FakeRequest& request) const {
    const Json& body = request.body;
    const bool special = body.get_bool("parse_special").value_or(true);
    const std::string text = body.get_string("content").value_or("");
    FakeModel::Ids ids = special ? shown_ids(text, request) : model_.encode(text, false);
    if (body.get_bool("add_special").value_or(false) && sets_bos(request.faults)) {
      ids.insert(ids.begin(), FakeModel::kBos);
    }
    Json list = Json::array();
    for (const std::int64_t id : ids) {
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

  net::ServerReply overlong(std::size_t tokens, const FaultSet& faults) const {
    const std::int64_t context = told_context(faults);
    Json body = error_body(400, "exceed_context_size_error",
                           "request (" + std::to_string(tokens) +
                               " tokens) exceeds the available context size (" +
                               std::to_string(context) + " tokens), try increasing it");
    Json inner = *body.find("error");
    inner.set("n_prompt_tokens", static_cast<std::int64_t>(tokens)).set("n_ctx", context);
    net::ServerReply out;
    out.status = 400;
    out.body = codec::dump_json(Json::object({{"error", std::move(inner)}}));
    return out;
  }

  static Json timings(const Json& told, const FakeRequest& request) {
    const std::int64_t tokens = told.is_null() ? 0 : told.as_int();
    const bool cache = request.body.get_bool("cache_prompt").value_or(true);
    const std::int64_t cached = cache && request.traffic.seen ? tokens - 1 : 0;
    return Json::object({{"cache_n", cached},
                         {"prompt_n", tokens - cached},
                         {"prompt_ms", 4.5},
                         {"predicted_n", 1},
                         {"predicted_ms", 0.5}});
  }

  net::ServerReply completion(const FakeRequest& request) const {
    const Json& body = request.body;
    const auto ids = ids_of(body.find("prompt"));
    if (is_refused(ids.size(), 1, request.faults)) return overlong(ids.size(), request.faults);
    const auto most = body.get_int("n_predict").value_or(1);
    const std::string prompt = model_.decode(ids);
    const Json tokens = told_count(ids.size(), 1, request.faults);
    bool ended = false;
    std::string text;
    for (const std::int64_t id :
         model_.write(prompt, static_cast<std::size_t>(most), ended, mind_of(request.faults))) {
      if (!model_.is_special(id)) text += model_.piece(id);
    }
    Json reply = Json::object({{"content", text},
                               {"model", served_name(request.faults)},
                               {"tokens_predicted", 1},
                               {"tokens_evaluated", tokens},
                               {"truncated", false},
                               {"stop_type", "limit"},
                               {"timings", timings(tokens, request)}});
    if (const auto n = body.get_int("n_probs").value_or(0); n > 0) {
      Json list = positions(prompt, request, n, most, {.ids = true},
                            body.get_double("temperature").value_or(0.8));
      hide_special(list);
      place_logprobs(reply, "completion_probabilities", old_layout(std::move(list), request),
                     request.faults);
    }
    return ok(reply);
  }

  /// Control tokens have no text of their own here.
  void hide_special(Json& list) const {
    const auto hide = [&](Json& entry) {
      const auto id = entry.get_int("id").value_or(0);
      if (model_.is_special(id)) entry.set("token", "");
    };
    for (Json& position : list.items()) {
      hide(position);
      Json top = *position.find("top_logprobs");
      for (Json& entry : top.items()) hide(entry);
      position.set("top_logprobs", std::move(top));
    }
  }

  /// Layouts of other times and settings, of the first position.
  static Json old_layout(Json list, const FakeRequest& request) {
    const bool sampled = request.faults.has(Fault::SampledProbs);
    if (!sampled && !request.faults.has(Fault::OldProbs)) return list;
    const Json& first = list.items()[0];
    const auto prob = [](const Json& entry) {
      return std::exp(entry.get_double("logprob").value_or(-99));
    };
    Json entries = Json::array();
    for (const Json& entry : first.find("top_logprobs")->items()) {
      entries.push(Json::object(
          {{sampled ? "token" : "tok_str", *entry.find("token")}, {"prob", prob(entry)}}));
    }
    if (!sampled) {
      return Json::array({Json::object({{"content", *first.find("token")}, {"probs", entries}})});
    }
    return Json::array({Json::object({{"id", *first.find("id")},
                                      {"token", *first.find("token")},
                                      {"prob", prob(first)},
                                      {"top_probs", entries}})});
  }

  net::ServerReply chat(const FakeRequest& request) const {
    const Json& body = request.body;
    const std::string prompt = chat_prompt(request, thinks(request));
    const auto tokens = model_.encode(prompt, true).size();
    if (is_refused(tokens, 1, request.faults)) return overlong(tokens, request.faults);
    const auto most = body.get_int("max_tokens").value_or(16);
    const FakeText text =
        write_text(model_, prompt, static_cast<std::size_t>(most), mind_of(request.faults));
    Json message = Json::object({{"role", "assistant"}, {"content", text.text}});
    if (!text.thinking.empty()) message.set("reasoning_content", text.thinking);
    const Json told = told_count(tokens, 1, request.faults);
    const std::int64_t in = told.is_null() ? 0 : told.as_int();
    const auto out = static_cast<std::int64_t>(text.tokens);
    return ok(Json::object(
        {{"choices", Json::array({Json::object({{"finish_reason", text.ended ? "stop" : "length"},
                                                {"index", 0},
                                                {"message", std::move(message)}})})},
         {"model", served_name(request.faults)},
         {"object", "chat.completion"},
         {"usage",
          Json::object(
              {{"completion_tokens", out}, {"prompt_tokens", told}, {"total_tokens", in + out}})},
         {"timings", timings(told, request)}}));
  }
};

}  // namespace

std::unique_ptr<FakeDialect> make_fake_llama_server(const FakeOptions& options,
                                                    const FakeModel& model) {
  return std::make_unique<FakeLlamaServer>(options, model);
}

}  // namespace deem::seat
