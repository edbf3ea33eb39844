#include <algorithm>
#include <cstddef>

#include "seat/fake/fake_dialect.h"

namespace deem::seat {
namespace {

using codec::Json;
using Ids = FakeModel::Ids;

Ids read_ids(const Json* list) {
  Ids out;
  if (list == nullptr || !list->is_array()) return out;
  for (const Json& id : list->items()) {
    if (id.is_int()) out.push_back(id.as_int());
  }
  return out;
}

/// SGLang: the OpenAI chat form, its tokenizer's routes, and /generate with ids.
class FakeSglang : public FakeDialect {
 public:
  using FakeDialect::FakeDialect;

  bool generates(std::string_view path) const override {
    return path == "/v1/chat/completions" || path == "/generate";
  }

  bool is_decision(std::string_view path, const Json& body) const override {
    if (!generates(path) || is_probe(body)) return false;
    if (path != "/generate") return true;
    const Ids ids = read_ids(body.find("input_ids"));
    return ids != model_.encode("Hello there.", true) &&
           model_.decode(ids).find("Which letter comes first?") == std::string::npos;
  }

  Json error_body(int status, std::string_view type, const std::string& message) const override {
    return Json::object(
        {{"error", Json::object({{"message", message}, {"type", type}, {"code", status}})}});
  }

  net::ServerReply answer(const FakeRequest& request) const override {
    const std::string& path = request.path;
    if (path == "/v1/models") return models();
    if (path == "/get_model_info" || (path == "/model_info" && options_.new_routes)) {
      return ok(Json::object({{"model_path", root(request)},
                              {"tokenizer_path", "/models/" + options_.model},
                              {"is_generation", true},
                              {"weight_version", "default"}}));
    }
    if (path == "/get_server_info" || (path == "/server_info" && options_.new_routes)) {
      return server_info();
    }
    if (path == "/health") return {};
    if (path == "/v1/chat/completions") return chat(request);
    if (path == "/generate") return generate(request);
    if (options_.tokenizer && path == "/tokenize") return tokenize(request);
    if (options_.tokenizer && path == "/detokenize") return detokenize(request);
    net::ServerReply out;
    out.status = 404;
    out.body = R"({"detail":"Not Found"})";
    return out;
  }

 private:
  net::ServerReply models() const {
    return ok(Json::object(
        {{"object", "list"},
         {"data", Json::array({Json::object({{"id", options_.model},
                                             {"object", "model"},
                                             {"root", options_.model},
                                             {"parent", nullptr},
                                             {"max_model_len", options_.context}})})}}));
  }

  net::ServerReply server_info() const {
    Json memory = Json::object({{"weight", 0.25}, {"kvcache", 1.5}, {"token_capacity", 65536}});
    return ok(Json::object(
        {{"version", "0.5.23"},
         {"dtype", "bfloat16"},
         {"quantization", nullptr},
         {"context_length", nullptr},
         {"speculative_algorithm", nullptr},
         {"internal_states", Json::array({Json::object({{"memory_usage", std::move(memory)}})})}}));
  }

  // ---- tokenizer

  net::ServerReply refuse(const std::string& words) const {
    return error(400, "BadRequestError", words);
  }

  net::ServerReply tokenize(const FakeRequest& request) const {
    const Json& body = request.body;
    std::string text;
    if (body.find("messages") != nullptr) {
      if (!options_.new_routes) return refuse("body.prompt: Field required");
      // As for a chat completion: a turn is opened, or the last one left open.
      const bool inside = body.get_bool("continue_final_message").value_or(false);
      text =
          chat_head(request.faults) +
          model_.render(turns(body), inside ? FakeModel::Ending::Inside : FakeModel::Ending::Prompt,
                        thinks(request));
    } else {
      const bool special = body.get_bool("add_special_tokens").value_or(true);
      text = special && sets_bos(request.faults) ? "<s>" : "";
      text += body.get_string("prompt").value_or("");
    }
    Json ids = Json::array();
    for (const std::int64_t id : shown_ids(text, request)) ids.push(id);
    const auto count = static_cast<std::int64_t>(ids.items().size());
    return ok(Json::object(
        {{"tokens", std::move(ids)}, {"count", count}, {"max_model_len", options_.context}}));
  }

  net::ServerReply detokenize(const FakeRequest& request) const {
    Ids ids = read_ids(request.body.find("tokens"));
    if (request.body.get_bool("skip_special_tokens").value_or(true)) {
      std::erase_if(ids, [&](std::int64_t id) { return model_.is_special(id); });
    }
    return ok(Json::object({{"text", shown_text(ids, request)}}));
  }

  // ---- generation

  net::ServerReply overlong(std::size_t tokens, const FaultSet& faults) const {
    return refuse("The input (" + std::to_string(tokens) +
                  " tokens) is longer than the model's context length (" +
                  std::to_string(told_context(faults)) + " tokens).");
  }

  /// Any name is answered, whatever "model" says.
  net::ServerReply chat(const FakeRequest& request) const {
    const Json& body = request.body;
    const std::string prompt = chat_prompt(request, thinks(request));
    const auto tokens = model_.encode(prompt, true).size();
    const auto most = body.get_int("max_tokens").value_or(16);
    if (is_refused(tokens, most, request.faults)) return overlong(tokens, request.faults);
    const FakeText text =
        write_text(model_, prompt, static_cast<std::size_t>(most), mind_of(request.faults));
    Json message = Json::object({{"role", "assistant"}, {"content", text.text}});
    message.set("reasoning_content", text.thinking.empty() ? Json() : Json(text.thinking));
    Json choice = Json::object({{"index", 0}, {"message", std::move(message)}});
    choice.set("logprobs", nullptr);
    if (body.get_bool("logprobs").value_or(false) && options_.returns_logprobs) {
      const auto k = body.get_int("top_logprobs").value_or(0);
      const double temperature = body.get_double("temperature").value_or(1);
      place_chat_logprobs(choice, positions(prompt, request, k, most, FakeStyle{}, temperature),
                          request.faults);
    }
    choice.set("finish_reason", text.ended ? "stop" : "length");
    Json usage = Json::object({{"prompt_tokens", told_count(tokens, most, request.faults)},
                               {"completion_tokens", static_cast<std::int64_t>(text.tokens)}});
    return ok(Json::object({{"id", "1"},
                            {"object", "chat.completion"},
                            {"model", served_name(request.faults)},
                            {"choices", Json::array({std::move(choice)})},
                            {"usage", std::move(usage)}}));
  }

  static Json triple(const FakeEntry& entry) {
    return Json::array({entry.logprob, entry.id, entry.token});
  }

  /// Entries of the ids asked for, in their order; two of them under FewerEntries.
  static Json by_id(const FakePosition& position, const Ids& ids, const FaultSet& faults) {
    if (position.entries.size() < 2) return Json::array({triple(position.entries[0])});  // <pad>
    Json out = Json::array();
    for (const std::int64_t id : ids) {
      const auto found = std::ranges::find(position.entries, id, &FakeEntry::id);
      if (faults.has(Fault::IdsDropped) && id == ids.back() && ids.size() > 2) break;
      if (found != position.entries.end()) out.push(triple(*found));
      if (faults.has(Fault::FewerEntries) && out.items().size() == 2) break;
    }
    return out;
  }

  /// The prompt's own scores from token `from` on; the first has none.
  Json input_scores(const Ids& ids, std::size_t from, FakeMind mind) const {
    Json out = Json::array();
    std::string before;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (i == from) out.push(Json::array({nullptr, ids[i], nullptr}));
      if (i > from) {
        const double lp = model_.next(before, mind)[static_cast<std::size_t>(ids[i])];
        out.push(Json::array({lp, ids[i], nullptr}));
      }
      before += model_.piece(ids[i]);
    }
    return out;
  }

  net::ServerReply generate(const FakeRequest& request) const {
    const Json& body = request.body;
    const Ids ids = read_ids(body.find("input_ids"));
    if (ids.empty()) return refuse("The input_ids should not be empty");
    if (is_refused(ids.size(), 1, request.faults)) return overlong(ids.size(), request.faults);
    const std::string prompt = model_.decode(ids);
    const Json* sampling = body.find("sampling_params");
    const double temperature =
        sampling == nullptr ? 1 : sampling->get_double("temperature").value_or(1);
    Json meta = Json::object({{"id", "1"},
                              {"finish_reason", Json::object({{"type", "length"}, {"length", 1}})},
                              {"prompt_tokens", told_count(ids.size(), 1, request.faults)},
                              {"cached_tokens", 0},
                              {"completion_tokens", 1},
                              {"e2e_latency", 0.002}});
    if (body.get_bool("return_logprob").value_or(false)) {
      const auto k = static_cast<std::size_t>(body.get_int("top_logprobs_num").value_or(0));
      const FakePosition first = position(prompt, request, temperature);
      place_logprobs(meta, "output_token_logprobs", Json::array({triple(first.sampled)}),
                     request.faults);
      if (k > 0) {
        Json top = Json::array();
        for (const FakeEntry& entry : top_entries(first, k, request.faults))
          top.push(triple(entry));
        place_logprobs(meta, "output_top_logprobs", Json::array({std::move(top)}), request.faults);
      }
      const Ids asked = read_ids(body.find("token_ids_logprob"));
      if (!asked.empty() && options_.exact_ids) {
        place_logprobs(meta, "output_token_ids_logprobs",
                       Json::array({by_id(first, asked, request.faults)}), request.faults);
      }
      if (const auto from = body.get_int("logprob_start_len").value_or(-1); from >= 0) {
        meta.set("input_token_logprobs",
                 input_scores(ids, static_cast<std::size_t>(from), mind_of(request.faults)));
      }
    }
    return ok(Json::object(
        {{"text", first_token(prompt, mind_of(request.faults))}, {"meta_info", std::move(meta)}}));
  }

  std::string first_token(const std::string& prompt, FakeMind mind) const {
    bool ended = false;
    return model_.decode(model_.write(prompt, 1, ended, mind));
  }
};

}  // namespace

std::unique_ptr<FakeDialect> make_fake_sglang(const FakeOptions& options, const FakeModel& model) {
  return std::make_unique<FakeSglang>(options, model);
}

}  // namespace deem::seat
