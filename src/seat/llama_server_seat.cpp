#include <algorithm>
#include <cmath>

#include "base/digest.h"
#include "codec/json.h"
#include "seat/llama_tokenizer.h"
#include "seat/metrics_text.h"
#include "seat/remote.h"

namespace deem::seat {
namespace {

using decision::LetterPolicy;
using Ids = std::vector<std::int64_t>;

constexpr std::string_view kCompletion = "/completion";
/// llama-server: the template and the tokenizer are asked of it, the scores of ids come from its
/// native route, whose entries carry ids.
class LlamaServerSeat : public Seat {
 public:
  explicit LlamaServerSeat(Remote remote) : remote_(std::move(remote)) {}

  Result<Identity> identify() override {
    const auto props = tokenizer_.get_json("/props");
    if (!props) return fail(props.error());
    auto models = remote_.get("/v1/models", remote_.deadline());
    if (!models) return fail(models.error());
    const auto entry = parse_model_entry(models->body, remote_.spec().model);
    if (!entry) return remote_.fail_at("/v1/models", entry.error());
    Identity out;
    out.kind = "llama-server";
    out.address = remote_.address();
    out.model = entry->id;
    out.root = props->get_string("model_path");
    out.build = props->get_string("build_info");
    if (const codec::Json* settings = props->find("default_generation_settings")) {
      out.context = size_in(*settings, "n_ctx");  // of one slot
    }
    if (const auto text = props->get_string("chat_template"))
      out.template_sha256 = sha256_hex(*text);
    std::string detail = props->get_string("model_ftype").value_or("");
    if (entry->n_params) {
      detail += (detail.empty() ? "" : ", ") + std::to_string(*entry->n_params) + " parameters";
    }
    if (!detail.empty()) out.detail = detail;
    return out;
  }

  Result<Capabilities> capabilities() override {
    const auto model = tokenizer_.model();
    if (!model) return fail(model.error());
    const auto letters = tokenizer_.letters();
    if (!letters) return fail(letters.error());
    Capabilities out;
    out.letters = (*letters)->whole_vocabulary ? Capabilities::Letters::FullVocabulary
                                               : Capabilities::Letters::ExactIds;
    out.likelihood = true;
    out.likelihood_note = "slow: one call a token";
    out.census = true;
    return out;
  }

  Result<LetterProof> prove_letters(std::size_t n) override {
    const auto letters = tokenizer_.letters();
    if (!letters) return fail(letters.error());
    return (*letters)->ids.prove(n, "/tokenize");
  }

  Result<std::int64_t> count_chat(const std::string& user_turn) override {
    const auto ids = tokenizer_.prompt_ids(user_turn, remote_.deadline(), nullptr);
    if (!ids) return fail(ids.error());
    return static_cast<std::int64_t>(ids->size());
  }

  void give_up() override { remote_.give_up(); }

  /// The name, other names, and the file. It answers to any name: only the file tells the weights.
  Result<Lineage> lineage() override {
    const auto props = tokenizer_.get_json("/props");
    if (!props) return fail(props.error());
    auto models = remote_.get("/v1/models", remote_.deadline());
    if (!models) return fail(models.error());
    auto entry = parse_model_entry(models->body, remote_.spec().model);
    if (!entry) return remote_.fail_at("/v1/models", entry.error());
    Lineage out{.names = {entry->id}, .aliases = std::move(entry->aliases)};
    for (const char* key : {"model_alias", "model_path"}) {
      const auto name = props->get_string(key);
      if (name && *name != out.names.back()) out.names.push_back(*name);
    }
    return out;
  }

  Result<std::string> health() override { return ask_health(remote_, "/health"); }

  Result<Counters> counters() override {
    const auto slots = tokenizer_.get_json("/slots");
    const auto metrics = remote_.get("/metrics", remote_.deadline());
    if (!slots && !metrics) return unsupported("/slots and /metrics are both off");
    Counters out;
    if (metrics) out = read_llama_counters(metrics->body);
    if (slots && slots->is_array() && !slots->items().empty()) {
      out.speculates = slots->items()[0].get_bool("speculative");
      out.text += out.text.empty() ? "/slots" : ", /slots";
    }
    return out;
  }

  Result<TokenIds> chat_ids(const std::string& user_turn) override {
    return tokenizer_.prompt_ids(user_turn, remote_.deadline(), nullptr);
  }
  Result<TokenIds> text_ids(const std::string& text, bool special) override {
    auto list = tokenizer_.tokenize(text, special, false, remote_.deadline());
    if (!list) return fail(list.error());
    return std::move(list->ids);
  }
  Result<std::string> text_of(const TokenIds& ids) override {
    return tokenizer_.detokenize(ids, remote_.deadline());
  }

  Result<std::vector<decision::FirstPosition>> positions(const WriteRequest& request, int top_k,
                                                         const Schedule& schedule) override {
    const TimePoint deadline = remote_.deadline(schedule);
    const auto prompt = tokenizer_.prompt_ids(request.prompt, deadline, nullptr);
    if (!prompt) return fail(prompt.error());
    net::HttpReply last;
    auto reply = tokenizer_.complete(
        *prompt, {}, {.depth = top_k, .cold = schedule.cold, .tokens = request.max_tokens},
        deadline, last);
    if (!reply) return fail(reply.error());
    return all_positions(std::move(*reply));
  }

  /// It tells its slots and their context, and no memory.
  Result<Claim> claim() override {
    const auto props = tokenizer_.get_json("/props");
    if (!props) return fail(props.error());
    Claim out{.slots = props->get_int("total_slots"), .text = "/props:"};
    if (const codec::Json* settings = props->find("default_generation_settings")) {
      out.context = size_in(*settings, "n_ctx");
    }
    out.text += " n_ctx " + (out.context ? std::to_string(*out.context) : "not told") +
                " a slot, total_slots " + (out.slots ? std::to_string(*out.slots) : "not told");
    if (const auto slots = tokenizer_.get_json("/slots"); slots && slots->is_array()) {
      out.text += "; /slots: " + std::to_string(slots->items().size());
    }
    return out;
  }

  Result<std::int64_t> count_plain(const std::string& text) override {
    const auto list = tokenizer_.tokenize(text, true, false, remote_.deadline());
    if (!list) return fail(list.error());
    return static_cast<std::int64_t>(list->ids.size());
  }

  Result<PositionReply> first_position(const PositionRequest& request,
                                       const Schedule& schedule) override {
    if (auto asked = check_letters(request.letters); !asked) return fail(asked.error());
    const auto known = tokenizer_.letters();
    if (!known) return fail(known.error());
    const TimePoint deadline = remote_.deadline(schedule);
    net::HttpReply first;
    const auto prompt = tokenizer_.prompt_ids(request.prompt, deadline, &first);
    if (!prompt) return fail(prompt.error());

    const bool reference = request.policy == LetterPolicy::Reference;
    if (auto sound = (*known)->ids.check(reference ? 0 : request.letters); !sound) {
      return fail(sound.error());
    }
    std::vector<Ids> ids;
    Ids all;
    for (std::size_t i = 0; !reference && i < request.letters; ++i) {
      ids.push_back((*known)->ids.of(i, request.policy));
      all.insert(all.end(), ids[i].begin(), ids[i].end());
    }
    net::HttpReply last;
    const std::int64_t top_k = std::max(1, request.top_k);
    auto reply =
        tokenizer_.complete(*prompt, all,
                            {.depth = reference ? top_k : std::max(top_k, LlamaTokenizer::kDepth),
                             .cold = schedule.cold,
                             .temperature = request.temperature},
                            deadline, last);
    if (!reply) return fail(reply.error());
    auto& position = reply->position;
    position.asked_k = reference ? static_cast<int>(top_k) : 0;
    if (position.logprobs_present) {
      for (const Ids& letter : ids) position.exact.push_back(sum_of_ids(position.top, letter));
      if (position.sampled && position.sampled->token.empty() && position.sampled->id) {
        position.sampled->token = tokenizer_.text_of(*position.sampled->id, deadline);
      }
      shorten(position, static_cast<std::size_t>(top_k));
    }
    return PositionReply{std::move(position), std::move(reply->shape), std::move(reply->usage),
                         timing_of(schedule, first, last)};
  }

  Result<LikelihoodReply> likelihood(const LikelihoodRequest& request,
                                     const Schedule& schedule) override {
    if (request.score.empty()) return fail(Error::Code::BadInput, "the text to score is empty");
    const TimePoint deadline = remote_.deadline(schedule);
    std::size_t begin = 0;
    net::HttpReply first;
    first.sent = Clock::now();
    const auto whole = tokenizer_.scored_ids(request, deadline, begin);
    if (!whole) return fail(whole.error());
    LikelihoodReply out;
    out.text.tokens = whole->size() - begin;
    out.text.bytes = request.score.size();
    net::HttpReply last;
    double prompt_ms = 0;
    for (std::size_t i = begin; i < whole->size(); ++i) {
      const Ids before(whole->begin(), whole->begin() + static_cast<std::ptrdiff_t>(i));
      const Ids wanted = {(*whole)[i]};
      const auto reply =
          tokenizer_.complete(before, wanted, {.cold = schedule.cold}, deadline, last);
      if (!reply) return fail(reply.error());
      const auto logprob = sum_of_ids(reply->position.top, wanted);
      if (!logprob) {
        return remote_.fail_at(kCompletion, {Error::Code::Corrupt, "no log-probability of token " +
                                                                       std::to_string(wanted[0])});
      }
      out.text.sum += *logprob;
      prompt_ms += reply->usage.prompt_ms.value_or(0);
      if (i == begin) out.usage = reply->usage;
    }
    out.usage.prompt_tokens = static_cast<std::int64_t>(whole->size());
    out.usage.output_tokens = 0;
    out.usage.prompt_ms = prompt_ms;
    out.usage.total_ms.reset();
    out.usage.finish_reason.reset();
    out.timing = timing_of(schedule, first, last);
    return out;
  }

  Result<WriteReply> write(const WriteRequest& request, const Schedule& schedule) override {
    const auto model = tokenizer_.model();
    if (!model) return fail(model.error());
    Body body;
    body.text("model", (*model)->name)
        .messages(request.prompt)
        .number("max_tokens", request.max_tokens);
    body.number("temperature", 0).field("stream", "false");
    if (schedule.cold) body.field("cache_prompt", "false");
    body.field("chat_template_kwargs", remote_.template_arguments());
    return ask_text(remote_, body.close(), schedule);
  }

 private:
  /// Keeps the likeliest `k` entries in the order sent; the mass is of those.
  static void shorten(decision::FirstPosition& position, std::size_t k) {
    if (position.top.size() <= k) return;
    position.top.resize(k);
    double mass = 0;
    for (const auto& entry : position.top) mass += entry.logprob ? std::exp(*entry.logprob) : 0;
    position.top_mass = mass;
  }

  Remote remote_;
  LlamaTokenizer tokenizer_{remote_};
};

}  // namespace

Result<std::unique_ptr<Seat>> make_llama_server_seat(const SeatSpec& spec) {
  auto remote = Remote::make(spec);
  if (!remote) return fail(remote.error());
  return std::make_unique<LlamaServerSeat>(std::move(*remote));
}

}  // namespace deem::seat
