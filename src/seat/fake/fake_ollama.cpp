#include <atomic>
#include <cstddef>

#include "seat/fake/fake_dialect.h"

namespace deem::seat {
namespace {

using codec::Json;

/// Ollama: flat logprobs at the root, no ids, and a prompt too long is cut unless told not to.
class FakeOllama : public FakeDialect {
 public:
  using FakeDialect::FakeDialect;

  bool generates(std::string_view path) const override { return path == "/api/chat"; }

  bool is_decision(std::string_view path, const Json& body) const override {
    return path == "/api/chat" && !is_probe(body) && !turns(body).empty();
  }

  Json error_body(int, std::string_view, const std::string& message) const override {
    return Json::object({{"error", message}});
  }

  net::ServerReply answer(const FakeRequest& request) const override {
    const std::string name = options_.model + ":latest";
    const Json details = Json::object({{"parameter_size", "0.1B"}, {"quantization_level", "Q4_1"}});
    Json entry = Json::object(
        {{"name", name}, {"model", name}, {"digest", std::string(64, 'd')}, {"details", details}});
    if (request.path == "/api/version") return ok(Json::object({{"version", "0.35.1"}}));
    if (request.path == "/api/tags") return ok(Json::object({{"models", Json::array({entry})}}));
    if (request.path == "/api/ps") {
      Json running = Json::array();
      entry.set("size", 98'000'000);
      if (request.faults.has(Fault::StaleWeights)) entry.set("digest", std::string(64, 'e'));
      entry.set("size_vram", 98'000'000);
      if (options_.resident || loaded_) running.push(entry.set("context_length", options_.context));
      return ok(Json::object({{"models", std::move(running)}}));
    }
    if (request.path != "/api/show" && request.path != "/api/chat") {
      net::ServerReply out;
      out.status = 404;
      out.body = "404 page not found";
      out.content_type = "text/plain";
      return out;
    }
    const std::string asked = request.body.get_string("model").value_or("");
    if (asked != name && !is_served(request))
      return error(404, "", "model '" + asked + "' not found");
    if (request.path == "/api/show") {
      return ok(Json::object({{"details", details},
                              {"template", "{{ .Prompt }}"},
                              {"model_info", Json::object({{"llama.context_length", 131072}})},
                              {"capabilities", Json::array({"completion"})}}));
    }
    return chat(request);
  }

 private:
  net::ServerReply chat(const FakeRequest& request) const {
    const Json& body = request.body;
    const auto conversation = turns(body);
    if (conversation.empty()) {
      loaded_ = true;
      return ok(
          Json::object({{"model", options_.model},
                        {"done", true},
                        {"done_reason", "load"},
                        {"message", Json::object({{"role", "assistant"}, {"content", ""}})}}));
    }
    const auto k = body.get_int("top_logprobs").value_or(0);
    if (k < 0 || k > 20) return error(400, "", "top_logprobs must be between 0 and 20");
    const Json none = Json::object();
    const Json* given = body.find("options");
    const Json& settings = given == nullptr ? none : *given;
    const auto context = settings.get_int("num_ctx").value_or(4096);
    const bool thinking =
        body.get_bool("think").value_or(true) || request.faults.has(Fault::OpenThinking);
    const std::string prompt = chat_prompt(request, thinking);
    const auto tokens = model_.encode(prompt, true).size();
    const bool over = static_cast<std::int64_t>(tokens) > context;
    const bool cut = over && (body.get_bool("truncate").value_or(true) ||
                              request.faults.has(Fault::OverlongCut));
    if (over && !cut && !request.faults.has(Fault::OverlongInvented)) {
      return error(400, "", "the input length exceeds the context length");
    }
    const auto most = settings.get_int("num_predict").value_or(16);
    const FakeText text =
        write_text(model_, prompt, static_cast<std::size_t>(most), mind_of(request.faults));
    Json message = Json::object({{"role", "assistant"}, {"content", text.text}});
    if (!text.thinking.empty()) message.set("thinking", text.thinking);
    Json reply = Json::object({{"model", served_name(request.faults)},
                               {"created_at", "2026-08-21T00:00:00Z"},
                               {"message", std::move(message)},
                               {"done", true},
                               {"done_reason", text.ended ? "stop" : "length"},
                               {"total_duration", 5'000'000},
                               {"load_duration", 1'000'000},
                               {"prompt_eval_count", counted(tokens, request.faults)},
                               {"prompt_eval_duration", 2'500'000},
                               {"eval_count", static_cast<std::int64_t>(text.tokens)},
                               {"eval_duration", 1'000'000}});
    if (cut) reply.set("prompt_eval_count", context);
    if (over && request.faults.has(Fault::OverlongInvented)) {
      reply.set("prompt_eval_count", nullptr);
    }
    if (body.get_bool("logprobs").value_or(false)) {
      const double temperature = settings.get_double("temperature").value_or(0.8);
      place_logprobs(reply, "logprobs", positions(prompt, request, k, most, {}, temperature),
                     request.faults);
    }
    return ok(reply);
  }

  mutable std::atomic<bool> loaded_ = false;
};

}  // namespace

std::unique_ptr<FakeDialect> make_fake_ollama(const FakeOptions& options, const FakeModel& model) {
  return std::make_unique<FakeOllama>(options, model);
}

}  // namespace deem::seat
