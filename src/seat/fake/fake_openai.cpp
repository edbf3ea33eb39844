#include <cstddef>

#include "seat/fake/fake_dialect.h"

namespace deem::seat {
namespace {

using codec::Json;

/// An OpenAI-style endpoint that refuses what its interface does not name.
class FakeOpenAi : public FakeDialect {
 public:
  using FakeDialect::FakeDialect;

  bool generates(std::string_view path) const override { return path == "/v1/chat/completions"; }

  bool is_decision(std::string_view path, const Json& body) const override {
    return path == "/v1/chat/completions" && !is_probe(body);
  }

  Json error_body(int, std::string_view type, const std::string& message) const override {
    return Json::object(
        {{"error",
          Json::object(
              {{"message", message}, {"type", type}, {"param", nullptr}, {"code", nullptr}})}});
  }

  net::ServerReply answer(const FakeRequest& request) const override {
    if (request.path == "/v1/models") {
      return ok(Json::object(
          {{"object", "list"},
           {"data", Json::array({Json::object({{"id", options_.model}, {"object", "model"}})})}}));
    }
    if (request.path == "/v1/chat/completions") return chat(request);
    return error(404, "invalid_request_error", "Unknown request URL");
  }

 private:
  net::ServerReply chat(const FakeRequest& request) const {
    const Json& body = request.body;
    const auto refuse = [&](const std::string& words) {
      return error(400, "invalid_request_error", words);
    };
    if (!is_served(request)) {
      return error(404, "invalid_request_error",
                   "The model `" + body.get_string("model").value_or("") + "` does not exist");
    }
    if (body.find("chat_template_kwargs") != nullptr) {
      return refuse("Unrecognized request argument supplied: chat_template_kwargs");
    }
    if (options_.completion_tokens_only && body.find("max_tokens") != nullptr) {
      return refuse(
          "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
          "'max_completion_tokens' instead.");
    }
    const bool wanted = body.get_bool("logprobs").value_or(false);
    if (wanted && !options_.returns_logprobs)
      return refuse("logprobs are not supported with this model");
    const auto k = body.get_int("top_logprobs").value_or(0);
    if (k > options_.max_top_k) {
      return refuse("Invalid value for 'top_logprobs': must be less than or equal to " +
                    std::to_string(options_.max_top_k));
    }
    const std::string prompt = chat_prompt(request, request.faults.has(Fault::OpenThinking));
    const auto tokens = model_.encode(prompt, true).size();
    const auto most =
        body.get_int(options_.completion_tokens_only ? "max_completion_tokens" : "max_tokens")
            .value_or(64);
    if (is_refused(tokens, most, request.faults)) {
      return refuse("This model's maximum context length is " +
                    std::to_string(told_context(request.faults)) +
                    " tokens. However, your messages resulted in " + std::to_string(tokens) +
                    " tokens. Please reduce the length of the messages.");
    }
    const FakeText text =
        write_text(model_, prompt, static_cast<std::size_t>(most), mind_of(request.faults));
    Json choice = Json::object(
        {{"index", 0},
         {"message",
          Json::object({{"role", "assistant"}, {"content", text.text}, {"refusal", nullptr}})}});
    if (wanted) {
      place_chat_logprobs(
          choice,
          positions(prompt, request, k, most, {}, body.get_double("temperature").value_or(1)),
          request.faults);
    }
    choice.set("finish_reason", text.ended ? "stop" : "length");
    const Json told = told_count(tokens, most, request.faults);
    const std::int64_t in = told.is_null() ? 0 : told.as_int();
    const auto out = static_cast<std::int64_t>(text.tokens);
    return ok(Json::object({{"id", "chatcmpl-1"},
                            {"object", "chat.completion"},
                            {"model", served_name(request.faults)},
                            {"choices", Json::array({std::move(choice)})},
                            {"usage", Json::object({{"prompt_tokens", told},
                                                    {"completion_tokens", out},
                                                    {"total_tokens", in + out},
                                                    {"prompt_tokens_details",
                                                     Json::object({{"cached_tokens", 0}})}})}}));
  }
};

}  // namespace

std::unique_ptr<FakeDialect> make_fake_openai(const FakeOptions& options, const FakeModel& model) {
  return std::make_unique<FakeOpenAi>(options, model);
}

}  // namespace deem::seat
