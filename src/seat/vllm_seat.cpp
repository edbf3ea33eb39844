#include <algorithm>
#include <charconv>
#include <optional>

#include "decision/question.h"
#include "seat/metrics_text.h"
#include "seat/remote.h"
#include "seat/vllm_tokenizer.h"

namespace deem::seat {
namespace {

using decision::LetterPolicy;
using Ids = std::vector<std::int64_t>;

constexpr std::string_view kCompletions = "/v1/completions";
constexpr std::size_t kMostIds = 128;  // logprob_token_ids: more is a 400

/// vLLM: letters by exact ids, likelihoods by prompt log-probabilities, census by /tokenize.
class VllmSeat : public Seat {
 public:
  explicit VllmSeat(Remote remote) : remote_(std::move(remote)) {}

  Result<Identity> identify() override {
    auto models = remote_.get("/v1/models", remote_.deadline());
    if (!models) return fail(models.error());
    const auto entry = parse_model_entry(models->body, remote_.spec().model);
    if (!entry) return remote_.fail_at("/v1/models", entry.error());
    Identity out;
    out.kind = "vllm";
    out.address = remote_.address();
    out.model = entry->id;
    out.root = entry->root;
    out.context = entry->max_model_len;
    const auto version = remote_.exchange("GET", "/version", {}, remote_.deadline());
    if (version && version->status == 200) {
      if (auto text = parse_text_member(version->body, "version")) out.build = std::move(*text);
    }
    return out;
  }

  Result<Capabilities> capabilities() override {
    const auto probed = capabilities_.get([&] { return probe(); });
    if (!probed) return fail(probed.error());
    return **probed;
  }

  Result<LetterProof> prove_letters(std::size_t n) override {
    const auto letters = tokenizer_.letters();
    if (!letters) {
      if (letters.error().code != Error::Code::Unsupported) return fail(letters.error());
      return LetterProof{.ids = std::vector<Ids>(n), .how = "spelling only"};
    }
    return (*letters)->prove(n, "/tokenize");
  }

  Result<std::int64_t> count_chat(const std::string& user_turn) override {
    const auto ids = tokenizer_.tokenize_chat(user_turn, nullptr);
    if (!ids) return fail(ids.error());
    return static_cast<std::int64_t>(ids->size());
  }

  /// Prometheus text; the line of the process that serves HTTP.
  Result<std::int64_t> resident_bytes() override {
    const auto reply = remote_.get("/metrics", remote_.deadline());
    if (!reply) return fail(reply.error());
    constexpr std::string_view kName = "\nprocess_resident_memory_bytes ";
    const std::size_t at = reply->body.find(kName);
    if (at == std::string::npos) return unsupported("/metrics has no resident memory");
    const char* text = reply->body.data() + at + kName.size();
    double bytes = 0;
    const auto read = std::from_chars(text, reply->body.data() + reply->body.size(), bytes);
    if (read.ec != std::errc() || !(bytes > 0 && bytes < 1e18)) {
      return unsupported("/metrics gives no number of bytes");
    }
    return static_cast<std::int64_t>(bytes);
  }

  void give_up() override { remote_.give_up(); }

  Result<Lineage> lineage() override {
    auto models = remote_.get("/v1/models", remote_.deadline());
    if (!models) return fail(models.error());
    auto entry = parse_model_entry(models->body, remote_.spec().model);
    if (!entry) return remote_.fail_at("/v1/models", entry.error());
    Lineage out{.names = {entry->id}, .aliases = std::move(entry->aliases)};
    if (entry->parent) out.names.push_back(*entry->parent);
    if (entry->root) out.names.push_back(*entry->root);
    return out;
  }

  Result<bool> answers_to(const std::string& name) override {
    Body body;
    start_chat(body, name, kProbeTurn, 1);
    return is_answered(remote_, kChat, body.close());
  }

  Result<std::string> health() override { return ask_health(remote_, "/health"); }

  Result<Counters> counters() override {
    const auto reply = remote_.get("/metrics", remote_.deadline());
    if (!reply) return fail(reply.error());
    return read_vllm_counters(reply->body);
  }

  Result<TokenIds> chat_ids(const std::string& user_turn) override {
    return tokenizer_.tokenize_chat(user_turn, nullptr);
  }
  Result<TokenIds> text_ids(const std::string& text, bool special) override {
    return tokenizer_.tokenize_text(text, special);
  }
  Result<std::string> text_of(const TokenIds& ids) override { return tokenizer_.detokenize(ids); }

  Result<std::vector<decision::FirstPosition>> positions(const WriteRequest& request, int top_k,
                                                         const Schedule& schedule) override {
    const auto name = tokenizer_.model();
    if (!name) return fail(name.error());
    Body body;
    start_chat(body, **name, request.prompt, request.max_tokens);
    body.field("logprobs", "true").number("top_logprobs", top_k);
    return ask_positions(remote_, body.close(), schedule);
  }

  Result<std::int64_t> count_plain(const std::string& text) override {
    const auto ids = tokenizer_.tokenize_text(text, true);
    if (!ids) return fail(ids.error());
    return static_cast<std::int64_t>(ids->size());
  }

  Result<PositionReply> first_position(const PositionRequest& request,
                                       const Schedule& schedule) override {
    if (auto asked = check_letters(request.letters); !asked) return fail(asked.error());
    const auto can = capabilities_.get([&] { return probe(); });
    if (!can) return fail(can.error());
    if ((*can)->letters == Capabilities::Letters::None) {
      return unsupported("this server returns no logprobs");
    }
    if ((*can)->letters != Capabilities::Letters::ExactIds ||
        request.policy == LetterPolicy::Reference) {
      return by_top_k(request, schedule, (*can)->top_k);
    }
    return by_ids(request, schedule);
  }

  Result<LikelihoodReply> likelihood(const LikelihoodRequest& request,
                                     const Schedule& schedule) override {
    const auto can = capabilities_.get([&] { return probe(); });
    if (!can) return fail(can.error());
    if (!(*can)->likelihood) return unsupported((*can)->likelihood_note);
    if (request.score.empty()) return fail(Error::Code::BadInput, "the text to score is empty");
    const auto name = tokenizer_.model();
    if (!name) return fail(name.error());
    std::size_t first = 0;
    const auto ids = tokenizer_.scored_ids(request, first);
    if (!ids) return fail(ids.error());
    auto reply = remote_.post(kCompletions, scores_body(**name, *ids), remote_.deadline(schedule));
    if (!reply) return fail(reply.error());
    auto scores = parse_prompt_scores(reply->body, *ids, first);
    if (!scores) return remote_.fail_at(kCompletions, scores.error());
    LikelihoodReply out;
    out.text.tokens = scores->logprobs.size();
    out.text.bytes = request.score.size();
    for (std::size_t i = 0; i < scores->logprobs.size(); ++i) {
      if (!scores->logprobs[i]) {
        return remote_.fail_at(
            kCompletions,
            {Error::Code::Corrupt, "no log-probability of scored token " + std::to_string(i)});
      }
      out.text.sum += *scores->logprobs[i];
    }
    out.usage = std::move(scores->usage);
    out.timing = timing_of(schedule, *reply, *reply);
    return out;
  }

  Result<WriteReply> write(const WriteRequest& request, const Schedule& schedule) override {
    const auto name = tokenizer_.model();
    if (!name) return fail(name.error());
    Body body;
    start_chat(body, **name, request.prompt, request.max_tokens);
    return ask_text(remote_, body.close(), schedule);
  }

 private:
  // ---- names and bodies

  void start_chat(Body& body, const std::string& name, std::string_view prompt, int tokens,
                  double temperature = 0) const {
    body.text("model", name).messages(prompt).number("max_tokens", tokens);
    body.real("temperature", temperature);
    body.field("stream", "false").field("chat_template_kwargs", remote_.template_arguments());
  }

  static std::string scores_body(const std::string& name, const Ids& ids) {
    Body body;
    body.text("model", name).ids("prompt", ids).number("max_tokens", 1).number("temperature", 0);
    return body.number("prompt_logprobs", 1).field("stream", "false").take();
  }

  // ---- letters

  Result<PositionReply> by_ids(const PositionRequest& request, const Schedule& schedule) {
    const auto known =
        request.policy == LetterPolicy::Fold ? tokenizer_.folded() : tokenizer_.letters();
    const auto name = tokenizer_.model();
    if (!known) return fail(known.error());
    if (!name) return fail(name.error());
    if (auto sound = (*known)->check(request.letters); !sound) return fail(sound.error());
    std::vector<Ids> ids(request.letters);
    Ids all;
    for (std::size_t i = 0; i < request.letters; ++i) {
      ids[i] = (*known)->of(i, request.policy);
      all.insert(all.end(), ids[i].begin(), ids[i].end());
    }
    if (all.size() > kMostIds) {
      return fail(Error::Code::Unsupported,
                  "letters and look-alikes are " + std::to_string(all.size()) +
                      " ids, this server takes " + std::to_string(kMostIds));
    }
    Body body;
    start_chat(body, **name, request.prompt, 1, request.temperature);
    body.field("logprobs", "true")
        .ids("logprob_token_ids", all)
        .field("return_tokens_as_token_ids", "true");
    auto reply = ask_position(remote_, body.close(), static_cast<int>(all.size()), schedule);
    if (!reply) return reply;
    auto& position = reply->position;
    if (position.logprobs_present) {
      for (const Ids& letter : ids) position.exact.push_back(sum_of_ids(position.top, letter));
      const auto spell = [&](decision::TokenScore& entry) {
        if (!entry.id || !entry.token.empty()) return;
        const auto letter = std::ranges::find_if(
            ids, [&](const Ids& of) { return std::ranges::find(of, *entry.id) != of.end(); });
        if (letter == ids.end()) {
          entry.token = tokenizer_.text_of(*entry.id);
          return;
        }
        entry.token =
            std::string(1, decision::letter(static_cast<std::size_t>(letter - ids.begin())));
        if (letter->front() != *entry.id) entry.token.insert(0, " ");
      };
      for (auto& entry : position.top) spell(entry);
      if (position.sampled) spell(*position.sampled);
    }
    return reply;
  }

  Result<PositionReply> by_top_k(const PositionRequest& request, const Schedule& schedule,
                                 int cap) {
    const auto name = tokenizer_.model();
    if (!name) return fail(name.error());
    const int k = std::clamp(request.top_k, 1, std::max(1, cap));
    Body body;
    start_chat(body, **name, request.prompt, 1, request.temperature);
    body.field("logprobs", "true").number("top_logprobs", k);
    return ask_position(remote_, body.close(), k, schedule);
  }

  // ---- what it can do

  Result<Capabilities> probe() {
    const auto name = tokenizer_.model();
    if (!name) return fail(name.error());
    Capabilities out;
    const auto letters = tokenizer_.letters();
    if (!letters && letters.error().code != Error::Code::Unsupported) return fail(letters.error());
    out.census = letters.has_value();
    auto exact = letters ? takes_ids(**name, **letters) : Result<bool>(false);
    if (!exact) return fail(exact.error());
    if (auto counted = count_top(**name, out); !counted) return fail(counted.error());
    out.letters = *exact          ? Capabilities::Letters::ExactIds
                  : out.top_k > 0 ? Capabilities::Letters::TopK
                                  : Capabilities::Letters::None;
    if (!letters) {
      out.likelihood_note = "needs /tokenize, which this server does not answer";
      return out;
    }
    auto ids = tokenizer_.tokenize_text("Hello there.", true);
    if (!ids) return fail(ids.error());
    auto reply =
        remote_.exchange("POST", kCompletions, scores_body(**name, *ids), remote_.deadline());
    if (!reply) return fail(reply.error());
    const auto scores = reply->status < 300 ? parse_prompt_scores(reply->body, *ids, 1)
                                            : fail(remote_.refusal(kCompletions, *reply));
    out.likelihood = scores.has_value();
    if (!scores) out.likelihood_note = scores.error().message;
    return out;
  }

  /// Asks for two letters by id and looks whether those ids come back with numbers.
  Result<bool> takes_ids(const std::string& name, const LetterIds& letters) {
    if (!letters.exact[0] || !letters.exact[1]) return false;
    const Ids asked = {*letters.exact[0], *letters.exact[1]};
    Body body;
    start_chat(body, name, kProbeTurn, 1);
    body.field("logprobs", "true")
        .ids("logprob_token_ids", asked)
        .field("return_tokens_as_token_ids", "true");
    auto reply = remote_.exchange("POST", kChat, body.close(), remote_.deadline());
    if (!reply) return fail(reply.error());
    if (reply->status == 400 || reply->status == 422)
      return false;  // a server that knows no such field
    if (reply->status >= 300) return fail(remote_.refusal(kChat, *reply));
    const auto parsed = parse_chat_reply(reply->body);
    if (!parsed) return remote_.fail_at(kChat, parsed.error());
    return std::ranges::all_of(
        asked, [&](std::int64_t id) { return sum_of_ids(parsed->position.top, {id}).has_value(); });
  }

  /// The deepest list the server grants: over its --max-logprobs it answers 400.
  Result<void> count_top(const std::string& name, Capabilities& out) {
    for (const int k : {128, 64, 20, 5, 1}) {
      Body body;
      start_chat(body, name, kProbeTurn, 1);
      body.field("logprobs", "true").number("top_logprobs", k);
      auto reply = remote_.exchange("POST", kChat, body.close(), remote_.deadline());
      if (!reply) return fail(reply.error());
      if (reply->status == 400 || reply->status == 422) {
        const Error refusal = remote_.refusal(kChat, *reply);
        if (reply->body.find("logprobs") == std::string::npos) return fail(refusal);
        out.letters_note = refusal.message;
        continue;
      }
      if (reply->status >= 300) return fail(remote_.refusal(kChat, *reply));
      const auto parsed = parse_chat_reply(reply->body);
      if (!parsed) return remote_.fail_at(kChat, parsed.error());
      out.asked_k = k;
      out.top_k = static_cast<int>(
          std::min<std::size_t>(parsed->position.top.size(), static_cast<std::size_t>(k)));
      out.letters_note = parsed->shape;
      return {};
    }
    return {};
  }

  Remote remote_;
  VllmTokenizer tokenizer_{remote_};
  Once<Capabilities> capabilities_;
};

}  // namespace

Result<std::unique_ptr<Seat>> make_vllm_seat(const SeatSpec& spec) {
  auto remote = Remote::make(spec);
  if (!remote) return fail(remote.error());
  return std::make_unique<VllmSeat>(std::move(*remote));
}

}  // namespace deem::seat
