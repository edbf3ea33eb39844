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
                                               {"root", "/models/" + options_.model},
                                               {"parent", nullptr},
                                               {"max_model_len", options_.context}})})}}));
    }
    if (request.path == "/version") return ok(Json::object({{"version", "0.32.0"}}));
    if (request.path == "/health") return {};
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
    if (request.body.get_string("model") != options_.model) {
      return error(
          404, "NotFoundError",
          "The model `" + request.body.get_string("model").value_or("") + "` does not exist.");
    }
    if (request.path == "/tokenize") return tokenize(request.body);
    if (request.path == "/detokenize") {
      return ok(Json::object({{"prompt", model_.decode(read_ids(request.body.find("tokens")))}}));
    }
    return request.path == "/v1/completions" ? completions(request) : chat(request);
  }

 private:
  net::ServerReply tokenize(const Json& body) const {
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
      text = model_.render(turns(body), ending, thinks(body));
    } else {
      text = body.get_string("prompt").value_or("");
    }
    Json ids = Json::array();
    for (const std::int64_t id : model_.encode(text, true)) ids.push(id);
    const auto count = static_cast<std::int64_t>(ids.items().size());
    return ok(Json::object({{"count", count},
                            {"max_model_len", options_.context},
                            {"tokens", std::move(ids)},
                            {"token_strs", nullptr}}));
  }

  net::ServerReply overlong(std::size_t tokens, std::int64_t most) const {
    return error(400, "BadRequestError",
                 "This model's maximum context length is " + std::to_string(options_.context) +
                     " tokens. However, you requested " + std::to_string(most) +
                     " output tokens and your prompt contains at least " + std::to_string(tokens) +
                     " input tokens, for a total of at least " +
                     std::to_string(static_cast<std::int64_t>(tokens) + most) +
                     " tokens. Please reduce the length of the input prompt or the number of "
                     "requested output tokens. "
                     "(parameter=input_tokens, value=" +
                     std::to_string(tokens) + ")");
  }

  bool fits(std::size_t tokens, std::int64_t most) const {
    return static_cast<std::int64_t>(tokens) + most <= options_.context;
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
    const std::string prompt = model_.render(turns(body), FakeModel::Ending::Prompt, thinks(body));
    const auto tokens = model_.encode(prompt, true).size();
    const auto most = body.get_int("max_tokens").value_or(16);
    if (!fits(tokens, most)) return overlong(tokens, most);
    const FakeText text = write_text(model_, prompt, static_cast<std::size_t>(most));
    Json message = Json::object({{"role", "assistant"}, {"content", text.text}});
    message.set("reasoning", text.thinking.empty() ? Json() : Json(text.thinking));
    Json choice = Json::object({{"index", 0}, {"message", std::move(message)}});
    if (wanted) {
      const FakePosition first = position(prompt, request.fault);
      const FakeStyle style{
          .ids = false,
          .as_token_ids = body.get_bool("return_tokens_as_token_ids").value_or(false)};
      const auto entries = asked == nullptr
                               ? top_entries(first, static_cast<std::size_t>(k), request.fault)
                               : by_id(first, ids, request.fault);
      Json list = Json::array({print_position(first.sampled, entries, style)});
      if (request.fault == Fault::NullLogprobs) {
        choice.set("logprobs", nullptr);
      } else {
        Json logprobs = Json::object();
        place_logprobs(logprobs, "content", std::move(list), request.fault);
        choice.set("logprobs", std::move(logprobs));
      }
    } else {
      choice.set("logprobs", nullptr);
    }
    choice.set("finish_reason", text.ended ? "stop" : "length");
    return reply(request, "chat.completion", std::move(choice), tokens, text.tokens);
  }

  /// The sampled token first, then the ids asked for, each once.
  static std::vector<FakeEntry> by_id(const FakePosition& position, const FakeModel::Ids& ids,
                                      std::optional<Fault> fault) {
    if (fault == Fault::PadSentinel) return position.entries;
    std::vector<FakeEntry> out = {position.sampled};
    for (const std::int64_t id : ids) {
      if (id == position.sampled.id) continue;
      const auto found = std::ranges::find(position.entries, id, &FakeEntry::id);
      if (found != position.entries.end()) out.push_back(*found);
      if (fault == Fault::FewerEntries && out.size() == 2) break;
    }
    return out;
  }

  net::ServerReply completions(const FakeRequest& request) const {
    const Json& body = request.body;
    const Json* prompt = body.find("prompt");
    const FakeModel::Ids ids = prompt != nullptr && prompt->is_string()
                                   ? model_.encode(prompt->as_string(), true)
                                   : read_ids(prompt);
    const auto most = body.get_int("max_tokens").value_or(16);
    if (!fits(ids.size(), most)) return overlong(ids.size(), most);
    Json choice = Json::object(
        {{"index", 0}, {"text", ""}, {"logprobs", nullptr}, {"finish_reason", "length"}});
    if (body.find("prompt_logprobs") != nullptr) {
      Json list = Json::array({nullptr});  // nothing stands before the first
      std::string before;
      for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
        before += model_.piece(ids[i]);
        const auto scores = model_.next(before);
        const auto best = std::ranges::max_element(scores) - scores.begin();
        Json entry = Json::object();
        for (const std::int64_t id : {ids[i + 1], static_cast<std::int64_t>(best)}) {
          const double lp = scores[static_cast<std::size_t>(id)];
          entry.set(std::to_string(id),
                    Json::object({{"logprob", lp}, {"rank", 1}, {"decoded_token", "?"}}));
        }
        list.push(std::move(entry));
      }
      place_logprobs(choice, "prompt_logprobs", std::move(list), request.fault);
    }
    return reply(request, "text_completion", std::move(choice), ids.size(), 1);
  }

  net::ServerReply reply(const FakeRequest& request, const char* object, Json choice,
                         std::size_t tokens, std::size_t written) const {
    const std::int64_t in = counted(tokens, request.fault);
    const auto out = static_cast<std::int64_t>(written);
    return ok(Json::object(
        {{"id", "cmpl-1"},
         {"object", object},
         {"model", served_name(request.fault)},
         {"choices", Json::array({std::move(choice)})},
         {"usage", Json::object({{"prompt_tokens", in},
                                 {"total_tokens", in + out},
                                 {"completion_tokens", out},
                                 {"prompt_tokens_details",
                                  Json::object({{"cached_tokens", in / 16 * 16}})}})}}));
  }
};

}  // namespace

std::unique_ptr<FakeDialect> make_fake_vllm(const FakeOptions& options, const FakeModel& model) {
  return std::make_unique<FakeVllm>(options, model);
}

}  // namespace deem::seat
