#include <algorithm>
#include <cstddef>

#include "seat/fake/fake_dialect.h"

namespace deem::seat {
namespace {

using codec::Json;

FakeModel::Ids read_ids(const Json* list) {
  FakeModel::Ids out;
  if (list == nullptr || !list->is_array()) return out;
  for (const Json& id : list->items()) {
    if (id.is_int()) out.push_back(id.as_int());
  }
  return out;
}

class FakeVllm : public FakeDialect {
 public:
  using FakeDialect::FakeDialect;

  bool generates(std::string_view path) const override {
    return path == "/v1/chat/completions" || path == "/v1/completions";
  }

  bool is_decision(std::string_view path, const Json& body) const override {
    if (path == "/v1/chat/completions") return !is_probe(body);
    return path == "/v1/completions" &&
           read_ids(body.find("prompt")) != model_.encode("Hello there.", true);
  }

  Json error_body(int status, std::string_view type, const std::string& message) const override {
    return Json::object(
        {{"error",
          Json::object(
              {{"message", message}, {"type", type}, {"param", nullptr}, {"code", status}})}});
  }

  net::ServerReply answer(const FakeRequest& request) const override {
    if (request.path == "/v1/models") {
      return ok(Json::object(
          {{"object", "list"},
           {"data", Json::array({Json::object({{"id", options_.model},
                                               {"object", "model"},
                                               {"root", root(request)},
                                               {"parent", nullptr},
                                               {"max_model_len", options_.context}})})}}));
    }
    if (request.path == "/version") return ok(Json::object({{"version", "0.32.0"}}));
    if (request.path == "/health") return {};
    if (request.path == "/metrics") return metrics();
    const bool tokenizer = request.path == "/tokenize" || request.path == "/detokenize";
    if (tokenizer && !options_.tokenizer) {
      net::ServerReply out;
      out.status = 404;
      out.body = R"({"detail":"Not Found"})";
      return out;
    }
    if (!tokenizer && request.path != "/v1/chat/completions" && request.path != "/v1/completions") {
      return error(404, "NotFoundError", "Not Found");
    }
    if (!is_served(request)) {
      return error(
          404, "NotFoundError",
          "The model `" + request.body.get_string("model").value_or("") + "` does not exist.");
    }
    if (request.path == "/tokenize") return tokenize(request);
    if (request.path == "/detokenize") {
      return ok(
          Json::object({{"prompt", shown_text(read_ids(request.body.find("tokens")), request)}}));
    }
    return request.path == "/v1/completions" ? completions(request) : chat(request);
  }

 private:
  net::ServerReply metrics() const {
    net::ServerReply out;
    out.content_type = "text/plain";
    out.body =
        "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine=\"0\"} 0.0\n"
        "vllm:prefix_cache_queries_total{engine=\"0\"} 640.0\n"
        "vllm:prefix_cache_hits_total{engine=\"0\"} 320.0\n";
    if (options_.speculates) {
      out.body +=
          "vllm:spec_decode_num_drafts_total{engine=\"0\"} 10.0\n"
          "vllm:spec_decode_num_draft_tokens_total{engine=\"0\"} 30.0\n"
          "vllm:spec_decode_num_accepted_tokens_total{engine=\"0\"} 21.0\n";
    }
    return out;
  }

  net::ServerReply tokenize(const FakeRequest& request) const {
    const Json& body = request.body;
    std::string text;
    if (body.find("messages") != nullptr) {
      const bool inside = body.get_bool("continue_final_message").value_or(false);
      const bool opened = body.get_bool("add_generation_prompt").value_or(true);
      if (inside && opened) {
        return error(
            400, "BadRequestError",
            "Cannot set both `continue_final_message` and `add_generation_prompt` to True.");
      }
      const auto ending = inside   ? FakeModel::Ending::Inside
                          : opened ? FakeModel::Ending::Prompt
                                   : FakeModel::Ending::Turn;
      text = chat_head(request.faults) + model_.render(turns(body), ending, thinks(request));
    } else {
      const bool special = body.get_bool("add_special_tokens").value_or(true);
      text = special && sets_bos(request.faults) ? "<s>" : "";
      text += body.get_string("prompt").value_or("");
    }
    Json ids = Json::array();
    for (const std::int64_t id : shown_ids(text, request)) ids.push(id);
    const auto count = static_cast<std::int64_t>(ids.items().size());
    return ok(Json::object({{"count", count},
                            {"max_model_len", options_.context},
                            {"tokens", std::move(ids)},
                            {"token_strs", nullptr}}));
  }

  net::ServerReply overlong(std::size_t tokens, std::int64_t most, const FaultSet& faults) const {
    return error(400, "BadRequestError",
                 "This model's maximum context length is " + std::to_string(told_context(faults)) +
                     " tokens. However, you requested " + std::to_string(most) +
                     " output tokens and your prompt contains at least " + std::to_string(tokens) +
                     " input tokens, for a total of at least " +
                     std::to_string(static_cast<std::int64_t>(tokens) + most) +
                     " tokens. Please reduce the length of the input prompt or the number of "
                     "requested output tokens. "
                     "(parameter=input_tokens, value=" +
                     std::to_string(tokens) + ")");
  }

  net::ServerReply chat(const FakeRequest& request) const {
    const Json& body = request.body;
    const auto refuse = [&](const std::string& words) {
      return error(400, "BadRequestError", words);
    };
    const bool wanted = body.get_bool("logprobs").value_or(false);
    const auto k = body.get_int("top_logprobs").value_or(0);
    const Json* asked = body.find("logprob_token_ids");
    if (asked != nullptr && !options_.exact_ids)
      return refuse("Extra inputs are not permitted: logprob_token_ids");
    if (k > options_.max_top_k && options_.max_top_k >= 0) {
      return refuse("Requested sample logprobs of " + std::to_string(k) +
                    ", which is greater than max allowed: " + std::to_string(options_.max_top_k));
    }
    const FakeModel::Ids ids = read_ids(asked);
    if (ids.size() > 128) return refuse("logprob_token_ids: at most 128 ids are allowed");
    for (const std::int64_t id : ids) {
      if (id < 0 || static_cast<std::size_t>(id) >= model_.size())
        return refuse("token id " + std::to_string(id) + " is not in the vocabulary");
    }
    const std::string prompt = chat_prompt(request, thinks(request));
    const auto tokens = model_.encode(prompt, true).size();
    const auto most = body.get_int("max_tokens").value_or(16);
    if (is_refused(tokens, most, request.faults)) return overlong(tokens, most, request.faults);
    const FakeText text =
        write_text(model_, prompt, static_cast<std::size_t>(most), mind_of(request.faults));
    Json message = Json::object({{"role", "assistant"}, {"content", text.text}});
    message.set("reasoning", text.thinking.empty() ? Json() : Json(text.thinking));
    Json choice = Json::object({{"index", 0}, {"message", std::move(message)}});
    choice.set("logprobs", nullptr);
    if (wanted) {
      const FakeStyle style{
          .ids = false,
          .as_token_ids = body.get_bool("return_tokens_as_token_ids").value_or(false)};
      const double temperature = body.get_double("temperature").value_or(1);
      if (asked == nullptr) {
        place_chat_logprobs(choice, positions(prompt, request, k, most, style, temperature),
                            request.faults);
      } else {
        const FakePosition first = position(prompt, request, temperature);
        const auto entries = by_id(first, ids, request.faults);
        place_chat_logprobs(choice, Json::array({print_position(first.sampled, entries, style)}),
                            request.faults);
      }
    }
    choice.set("finish_reason", text.ended ? "stop" : "length");
    return reply(request, "chat.completion", std::move(choice),
                 told_count(tokens, most, request.faults), text.tokens);
  }

  /// The sampled token first, then the ids asked for, each once.
  static std::vector<FakeEntry> by_id(const FakePosition& position, const FakeModel::Ids& ids,
                                      const FaultSet& faults) {
    if (position.entries.size() < 2) return position.entries;  // <pad> alone
    if (faults.has(Fault::EmptyTop)) return {};
    std::vector<FakeEntry> out;
    if (!faults.has(Fault::SampledNotListed)) out.push_back(position.sampled);
    for (const std::int64_t id : ids) {
      if (faults.has(Fault::IdsDropped) && id == ids.back() && ids.size() > 2) break;
      if (id == position.sampled.id && !faults.has(Fault::SampledDiffers)) continue;
      const auto found = std::ranges::find(position.entries, id, &FakeEntry::id);
      if (found != position.entries.end()) out.push_back(*found);
      if (faults.has(Fault::FewerEntries) && out.size() == 2) break;
    }
    if (faults.has(Fault::SampledDiffers)) out.erase(out.begin());
    return out;
  }

  net::ServerReply completions(const FakeRequest& request) const {
    const Json& body = request.body;
    const Json* prompt = body.find("prompt");
    const FakeModel::Ids ids = prompt != nullptr && prompt->is_string()
                                   ? model_.encode(prompt->as_string(), true)
                                   : read_ids(prompt);
    const auto most = body.get_int("max_tokens").value_or(16);
    if (is_refused(ids.size(), most, request.faults)) {
      return overlong(ids.size(), most, request.faults);
    }
    Json choice = Json::object(
        {{"index", 0}, {"text", ""}, {"logprobs", nullptr}, {"finish_reason", "length"}});
    if (body.find("prompt_logprobs") != nullptr) {
      Json list = Json::array({nullptr});  // nothing stands before the first
      std::string before;
      for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
        before += model_.piece(ids[i]);
        const auto scores = model_.next(before, mind_of(request.faults));
        const auto best = std::ranges::max_element(scores) - scores.begin();
        Json entry = Json::object();
        for (const std::int64_t id : {ids[i + 1], static_cast<std::int64_t>(best)}) {
          const double lp = scores[static_cast<std::size_t>(id)];
          entry.set(std::to_string(id),
                    Json::object({{"logprob", lp}, {"rank", 1}, {"decoded_token", "?"}}));
        }
        list.push(std::move(entry));
      }
      place_logprobs(choice, "prompt_logprobs", std::move(list), request.faults);
    }
    return reply(request, "text_completion", std::move(choice),
                 told_count(ids.size(), most, request.faults), 1);
  }

  net::ServerReply reply(const FakeRequest& request, const char* object, Json choice,
                         const Json& tokens, std::size_t written) const {
    const auto out = static_cast<std::int64_t>(written);
    const std::int64_t in = tokens.is_null() ? 0 : tokens.as_int();
    const std::int64_t cached = request.traffic.seen ? in / 16 * 16 : 0;
    Json usage =
        Json::object({{"prompt_tokens", tokens},
                      {"total_tokens", in + out},
                      {"completion_tokens", out},
                      {"prompt_tokens_details", Json::object({{"cached_tokens", cached}})}});
    return ok(Json::object({{"id", "cmpl-1"},
                            {"object", object},
                            {"model", served_name(request.faults)},
                            {"choices", Json::array({std::move(choice)})},
                            {"usage", std::move(usage)}}));
  }
};

}  // namespace

std::unique_ptr<FakeDialect> make_fake_vllm(const FakeOptions& options, const FakeModel& model) {
  return std::make_unique<FakeVllm>(options, model);
}

}  // namespace deem::seat
