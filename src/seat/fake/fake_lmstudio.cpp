#include <atomic>
#include <cstddef>

#include "seat/fake/fake_dialect.h"

namespace deem::seat {
namespace {

using codec::Json;

/// LM Studio: its own list of models, /v1/responses with log-probabilities, a chat form without.
class FakeLmStudio : public FakeDialect {
 public:
  using FakeDialect::FakeDialect;

  bool generates(std::string_view path) const override {
    return path == "/v1/chat/completions" || path == "/v1/responses";
  }

  bool is_decision(std::string_view path, const Json& body) const override {
    return generates(path) && !is_probe(body);
  }

  Json error_body(int, std::string_view type, const std::string& message) const override {
    return Json::object(
        {{"error",
          Json::object(
              {{"message", message}, {"type", type}, {"param", nullptr}, {"code", nullptr}})}});
  }

  net::ServerReply answer(const FakeRequest& request) const override {
    if (request.path == "/api/v0/models" && options_.new_routes) return list();
    if (request.path == "/v1/models") {
      return ok(Json::object(
          {{"object", "list"},
           {"data", Json::array({Json::object({{"id", options_.model}, {"object", "model"}})})}}));
    }
    const bool responses = request.path == "/v1/responses" && options_.new_routes;
    if (!responses && request.path != "/v1/chat/completions") {
      return ok(
          Json::object({{"error", "Unexpected endpoint or method. (POST " + request.path + ")"}}));
    }
    if (!is_served(request)) {
      return refuse("Invalid model identifier \"" + request.body.get_string("model").value_or("") +
                    "\".");
    }
    loaded_ = true;
    for (const std::string& member : options_.refuses) {
      if (request.body.find(member) != nullptr) {
        return refuse("Unrecognized or unsupported value for '" + member + "'");
      }
    }
    return generate(request, responses);
  }

 private:
  net::ServerReply refuse(const std::string& words) const {
    return error(400, "invalid_request_error", words);
  }

  net::ServerReply list() const {
    const bool loaded = options_.resident || loaded_;
    Json model = Json::object({{"id", options_.model},
                               {"object", "model"},
                               {"type", "llm"},
                               {"publisher", "lmstudio-community"},
                               {"arch", "llama"},
                               {"compatibility_type", "gguf"},
                               {"quantization", "Q4_1"},
                               {"state", loaded ? "loaded" : "not-loaded"},
                               {"max_context_length", 131072}});
    if (loaded) model.set("loaded_context_length", options_.context);
    Json other = Json::object({{"id", "other-model"},
                               {"object", "model"},
                               {"type", "llm"},
                               {"state", "not-loaded"},
                               {"max_context_length", 2048}});
    Json embedder = Json::object({{"id", "text-embedding-x"},
                                  {"object", "model"},
                                  {"type", "embeddings"},
                                  {"state", "loaded"},
                                  {"max_context_length", 2048}});
    return ok(Json::object(
        {{"object", "list"},
         {"data", Json::array({std::move(other), std::move(model), std::move(embedder)})}}));
  }

  net::ServerReply generate(const FakeRequest& request, bool responses) const {
    const Json& body = request.body;
    const auto k = body.get_int("top_logprobs").value_or(0);
    if (k > options_.max_top_k) {
      return refuse("'top_logprobs' must be at most " + std::to_string(options_.max_top_k));
    }
    const Json* reasoning = body.find("reasoning");
    const bool silent = reasoning != nullptr && reasoning->get_string("effort") == "none";
    const std::vector<FakeModel::Turn> said =
        responses ? std::vector<FakeModel::Turn>{{"user", body.get_string("input").value_or("")}}
                  : turns(body);
    const std::string prompt =
        chat_head(request.faults) +
        model_.render(said, FakeModel::Ending::Prompt,
                      (options_.thinks && !silent) || request.faults.has(Fault::OpenThinking));
    const auto tokens = model_.encode(prompt, true).size();
    const auto most = body.get_int(responses ? "max_output_tokens" : "max_tokens").value_or(64);
    if (is_refused(tokens, most, request.faults)) {
      return refuse(
          "The number of tokens to keep from the initial prompt is greater than the "
          "context length (" +
          std::to_string(told_context(request.faults)) + ")");
    }
    const FakeText text =
        write_text(model_, prompt, static_cast<std::size_t>(most), mind_of(request.faults));
    const Json told = told_count(tokens, most, request.faults);
    return responses ? respond(request, prompt, text, told) : chat(request, text, told);
  }

  net::ServerReply respond(const FakeRequest& request, const std::string& prompt,
                           const FakeText& text, const Json& told) const {
    Json part = Json::object(
        {{"type", "output_text"}, {"text", text.text}, {"annotations", Json::array()}});
    const bool wanted = request.body.find("include") != nullptr && options_.returns_logprobs;
    if (wanted) {
      const auto k = request.body.get_int("top_logprobs").value_or(0);
      const auto most = request.body.get_int("max_output_tokens").value_or(64);
      const double temperature = request.body.get_double("temperature").value_or(1);
      place_logprobs(part, "logprobs",
                     positions(prompt, request, k, most, FakeStyle{}, temperature), request.faults);
    } else {
      part.set("logprobs", Json::array());
    }
    Json output = Json::array();
    if (!text.thinking.empty()) {
      output.push(Json::object(
          {{"type", "reasoning"},
           {"summary", Json::array()},
           {"content",
            Json::array({Json::object({{"type", "reasoning_text"}, {"text", text.thinking}})})}}));
    }
    output.push(Json::object(
        {{"type", "message"}, {"role", "assistant"}, {"content", Json::array({std::move(part)})}}));
    Json cut = Json::object({{"reason", "max_output_tokens"}});
    return ok(Json::object(
        {{"id", "resp_1"},
         {"object", "response"},
         {"status", text.ended ? "completed" : "incomplete"},
         {"incomplete_details", text.ended ? Json() : std::move(cut)},
         {"model", served_name(request.faults)},
         {"output", std::move(output)},
         {"error", nullptr},
         {"usage",
          Json::object({{"input_tokens", told},
                        {"output_tokens", static_cast<std::int64_t>(text.tokens)},
                        {"input_tokens_details", Json::object({{"cached_tokens", 0}})}})}}));
  }

  net::ServerReply chat(const FakeRequest& request, const FakeText& text, const Json& told) const {
    return ok(Json::object(
        {{"id", "chatcmpl-1"},
         {"object", "chat.completion"},
         {"model", served_name(request.faults)},
         {"choices", Json::array({Json::object(
                         {{"index", 0},
                          {"message", Json::object({{"role", "assistant"},
                                                    {"content", text.text},
                                                    {"reasoning_content", text.thinking}})},
                          {"logprobs", nullptr},
                          {"finish_reason", text.ended ? "stop" : "length"}})})},
         {"usage",
          Json::object({{"prompt_tokens", told},
                        {"completion_tokens", static_cast<std::int64_t>(text.tokens)}})}}));
  }

  mutable std::atomic<bool> loaded_ = false;
};

}  // namespace

std::unique_ptr<FakeDialect> make_fake_lmstudio(const FakeOptions& options,
                                                const FakeModel& model) {
  return std::make_unique<FakeLmStudio>(options, model);
}

}  // namespace deem::seat
