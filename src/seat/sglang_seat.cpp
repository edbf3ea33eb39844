#include <algorithm>

#include "codec/json.h"
#include "decision/question.h"
#include "seat/remote.h"
#include "seat/vllm_tokenizer.h"

namespace deem::seat {
namespace {

using decision::LetterPolicy;
using Ids = std::vector<std::int64_t>;

constexpr std::string_view kGenerate = "/generate";
constexpr int kProbeDepth = 20;

/// SGLang: the prompt's ids by its tokenizer route, letters by id and likelihoods from its native
/// one. A build whose tokenizer takes no messages is read by spelling, through the chat route.
class SglangSeat : public Seat {
 public:
  explicit SglangSeat(Remote remote) : remote_(std::move(remote)) {}

  Result<Identity> identify() override {
    auto models = remote_.get("/v1/models", remote_.deadline());
    if (!models) return fail(models.error());
    const auto entry = parse_model_entry(models->body, remote_.spec().model);
    if (!entry) return remote_.fail_at("/v1/models", entry.error());
    Identity out;
    out.kind = "sglang";
    out.address = remote_.address();
    out.model = entry->id;
    out.root = entry->root;
    out.context = entry->max_model_len;
    const auto model = get_info("/model_info");
    if (!model) return fail(model.error());
    if (const auto path = model->get_string("model_path")) out.root = path;
    const auto server = get_info("/server_info");
    if (!server) return fail(server.error());
    out.build = server->get_string("version");
    if (!out.context) out.context = size_in(*server, "context_length");
    out.detail = describe(*model, *server);
    return out;
  }

  Result<Capabilities> capabilities() override {
    const auto probed = capabilities_.get([&] { return probe(); });
    if (!probed) return fail(probed.error());
    return **probed;
  }

  Result<LetterProof> prove_letters(std::size_t n) override {
    const auto letters = tokenizer_.letters();
    if (letters) return (*letters)->prove(n, "/tokenize");
    if (letters.error().code != Error::Code::Unsupported) return fail(letters.error());
    return LetterProof{.ids = std::vector<Ids>(n), .how = "spelling only"};
  }

  Result<std::int64_t> count_chat(const std::string& user_turn) override {
    const auto ids = tokenizer_.tokenize_chat(user_turn, nullptr);
    if (!ids) return fail(ids.error());
    return static_cast<std::int64_t>(ids->size());
  }

  Result<std::int64_t> count_plain(const std::string& text) override {
    const auto ids = tokenizer_.tokenize_text(text, true);
    if (!ids) return fail(ids.error());
    return static_cast<std::int64_t>(ids->size());
  }

  /// Gigabytes of the first scheduler, as it counted them while loading.
  Result<Claim> claim() override {
    const auto server = get_info("/server_info");
    if (!server) return fail(server.error());
    const codec::Json* states = server->find("internal_states");
    const bool any = states != nullptr && states->is_array() && !states->items().empty();
    const codec::Json* memory = any ? states->items()[0].find("memory_usage") : nullptr;
    if (memory == nullptr) return unsupported("/server_info tells no memory");
    Claim out{.text = "/server_info: memory_usage " + codec::dump_json(*memory)};
    out.context = size_in(*server, "context_length");
    return out;
  }

  void give_up() override { remote_.give_up(); }

  Result<Lineage> lineage() override {
    const auto identity = identify();
    if (!identity) return fail(identity.error());
    Lineage out{.names = {identity->model}};
    if (identity->root && *identity->root != identity->model) out.names.push_back(*identity->root);
    return out;
  }

  /// It serves one model and looks at no name; who it is stands in /model_info.
  Result<bool> answers_to(const std::string&) override {
    return unsupported("SGLang answers to any name");
  }

  Result<std::string> health() override { return ask_health(remote_, "/health"); }

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
    return ask_positions(remote_, chat_body(**name, request, top_k, 0), schedule);
  }

  Result<PositionReply> first_position(const PositionRequest& request,
                                       const Schedule& schedule) override {
    if (auto asked = check_letters(request.letters); !asked) return fail(asked.error());
    const auto can = capabilities_.get([&] { return probe(); });
    if (!can) return fail(can.error());
    if ((*can)->letters == Capabilities::Letters::None) {
      return unsupported("this server returns no logprobs");
    }
    if ((*can)->letters == Capabilities::Letters::ExactIds) return by_ids(request, schedule);
    const int k = std::clamp(request.top_k, 1, std::max(1, (*can)->top_k));
    const auto name = tokenizer_.model();
    if (!name) return fail(name.error());
    return ask_position(remote_, chat_body(**name, {request.prompt, 1}, k, request.temperature), k,
                        schedule);
  }

  Result<LikelihoodReply> likelihood(const LikelihoodRequest& request,
                                     const Schedule& schedule) override {
    const auto can = capabilities_.get([&] { return probe(); });
    if (!can) return fail(can.error());
    if (!(*can)->likelihood) return unsupported((*can)->likelihood_note);
    if (request.score.empty()) return fail(Error::Code::BadInput, "the text to score is empty");
    net::HttpReply begun;
    begun.sent = Clock::now();
    std::size_t first = 0;
    const auto ids = tokenizer_.scored_ids(request, first);
    if (!ids) return fail(ids.error());
    auto reply = remote_.post(kGenerate, scores_body(*ids, first), remote_.deadline(schedule));
    if (!reply) return fail(reply.error());
    auto scores = parse_generate_scores(reply->body, *ids, first);
    if (!scores) return remote_.fail_at(kGenerate, scores.error());
    LikelihoodReply out;
    out.text.tokens = scores->logprobs.size();
    out.text.bytes = request.score.size();
    for (std::size_t i = 0; i < scores->logprobs.size(); ++i) {
      if (!scores->logprobs[i]) {
        return remote_.fail_at(
            kGenerate,
            {Error::Code::Corrupt, "no log-probability of scored token " + std::to_string(i)});
      }
      out.text.sum += *scores->logprobs[i];
    }
    out.usage = std::move(scores->usage);
    out.timing = timing_of(schedule, begun, *reply);
    return out;
  }

  Result<WriteReply> write(const WriteRequest& request, const Schedule& schedule) override {
    const auto name = tokenizer_.model();
    if (!name) return fail(name.error());
    return ask_text(remote_, chat_body(**name, request, 0, 0), schedule);
  }

 private:
  // ---- who it is

  /// /model_info and /server_info, which older builds call /get_model_info and /get_server_info.
  Result<codec::Json> get_info(const std::string& path) {
    std::string used = path;
    auto reply = remote_.exchange("GET", used, {}, remote_.deadline());
    if (reply && reply->status == 404) {
      used = "/get_" + path.substr(1);
      reply = remote_.exchange("GET", used, {}, remote_.deadline());
    }
    if (!reply) return fail(reply.error());
    if (reply->status >= 300) {
      return fail(Error::Code::Unavailable, remote_.refusal(used, *reply).message);
    }
    auto json = codec::parse_json(reply->body, codec::JsonMode::Python);
    if (!json) return remote_.fail_at(used, json.error());
    return std::move(*json);
  }

  /// What else decides its numbers: quant, type, a weights' version set by hand, drafting.
  static std::optional<std::string> describe(const codec::Json& model, const codec::Json& server) {
    std::string out;
    const auto add = [&](const std::optional<std::string>& text) {
      if (text && !text->empty()) out += (out.empty() ? "" : ", ") + *text;
    };
    add(server.get_string("quantization"));
    add(server.get_string("dtype"));
    if (const auto version = model.get_string("weight_version"); version && version != "default") {
      add("weights " + *version);
    }
    if (const auto drafts = server.get_string("speculative_algorithm")) add("drafts " + *drafts);
    return out.empty() ? std::nullopt : std::optional(out);
  }

  // ---- bodies

  std::string chat_body(const std::string& name, const WriteRequest& request, int k,
                        double temperature) const {
    Body body;
    body.text("model", name).messages(request.prompt).number("max_tokens", request.max_tokens);
    body.real("temperature", temperature);
    if (k > 0) body.field("logprobs", "true").number("top_logprobs", k);
    body.field("stream", "false").field("chat_template_kwargs", remote_.template_arguments());
    return body.take();
  }

  /// token_ids_logprob is sent with every request for log-probabilities: builds have been seen to
  /// fall over a batch in which some requests name ids and others do not (sglang#34719). At
  /// temperature 0 the numbers are those of temperature 1.
  static std::string generate_body(const Ids& prompt, const Ids& wanted, int k, std::int64_t from,
                                   double temperature = 0) {
    Body body, sampling;
    body.ids("input_ids", prompt);
    sampling.number("max_new_tokens", 1).real("temperature", temperature);
    body.field("sampling_params", sampling.close());
    body.field("return_logprob", "true").number("logprob_start_len", from);
    body.number("top_logprobs_num", k).ids("token_ids_logprob", wanted);
    body.field("return_text_in_logprobs", "true").field("stream", "false");
    return body.take();
  }

  /// The list of a prompt's scores begins with one that has no number: what nothing stands before.
  static std::string scores_body(const Ids& ids, std::size_t first) {
    return generate_body(ids, {ids.back()}, 0, static_cast<std::int64_t>(first) - 1);
  }

  // ---- letters

  Result<PositionReply> by_ids(const PositionRequest& request, const Schedule& schedule) {
    const auto known =
        request.policy == LetterPolicy::Fold ? tokenizer_.folded() : tokenizer_.letters();
    if (!known) return fail(known.error());
    const bool listed = request.policy == LetterPolicy::Reference;  // read by spelling
    const auto sound = (*known)->check(request.letters);
    if (!sound && !listed) return fail(sound.error());
    std::vector<Ids> ids(request.letters);
    Ids all;
    for (std::size_t i = 0; i < request.letters; ++i) {
      ids[i] = (*known)->of(i, request.policy);
      all.insert(all.end(), ids[i].begin(), ids[i].end());
    }
    net::HttpReply begun;
    begun.sent = Clock::now();
    const auto prompt = tokenizer_.tokenize_chat(request.prompt, nullptr);
    if (!prompt) return fail(prompt.error());
    if (all.empty()) all = {prompt->back()};
    const int k = std::max(1, request.top_k);
    auto sent = remote_.post(kGenerate, generate_body(*prompt, all, k, -1, request.temperature),
                             remote_.deadline(schedule));
    if (!sent) return fail(sent.error());
    auto generated = parse_generate_reply(sent->body);
    if (!generated) return remote_.fail_at(kGenerate, generated.error());
    decision::FirstPosition position = std::move(generated->reply.position);
    if (listed) {
      position.asked_k = k;
    } else if (generated->has_ids) {
      for (const Ids& letter : ids) position.exact.push_back(sum_of_ids(generated->by_id, letter));
    } else {
      position.logprobs_present = false;  // not what was asked for
    }
    return PositionReply{.position = std::move(position),
                         .shape = std::move(generated->reply.shape),
                         .usage = std::move(generated->reply.usage),
                         .timing = timing_of(schedule, begun, *sent)};
  }

  // ---- what it can do

  Result<Capabilities> probe() {
    Capabilities out;
    const auto letters = tokenizer_.letters();
    if (!letters && letters.error().code != Error::Code::Unsupported) return fail(letters.error());
    out.census = letters.has_value();
    if (letters) {
      if (auto read = probe_ids(**letters, out); !read) return fail(read.error());
      if (auto scored = probe_scores(out); !scored) return fail(scored.error());
    } else {
      out.likelihood_note = letters.error().message;
    }
    if (out.letters != Capabilities::Letters::ExactIds) {
      if (auto listed = probe_chat(out); !listed) return fail(listed.error());
    }
    return out;
  }

  /// Asks for two letters by id and looks whether those ids come back with numbers.
  Result<void> probe_ids(const LetterIds& letters, Capabilities& out) {
    if (!letters.exact[0] || !letters.exact[1]) return {};
    const Ids asked = {*letters.exact[0], *letters.exact[1]};
    const auto prompt = tokenizer_.tokenize_chat(kProbeTurn, nullptr);
    if (!prompt) return fail(prompt.error());
    auto reply = remote_.exchange("POST", kGenerate, generate_body(*prompt, asked, kProbeDepth, -1),
                                  remote_.deadline());
    if (!reply) return fail(reply.error());
    if (reply->status == 400 || reply->status == 404 || reply->status == 422) return {};
    if (reply->status >= 300) return fail(remote_.refusal(kGenerate, *reply));
    const auto parsed = parse_generate_reply(reply->body);
    if (!parsed) return remote_.fail_at(kGenerate, parsed.error());
    const bool all = std::ranges::all_of(
        asked, [&](std::int64_t id) { return sum_of_ids(parsed->by_id, {id}).has_value(); });
    if (!all) return {};
    out.letters = Capabilities::Letters::ExactIds;
    out.asked_k = kProbeDepth;
    out.top_k = static_cast<int>(parsed->reply.position.top.size());
    return {};
  }

  Result<void> probe_scores(Capabilities& out) {
    const auto ids = tokenizer_.tokenize_text("Hello there.", true);
    if (!ids) return fail(ids.error());
    auto reply = remote_.exchange("POST", kGenerate, scores_body(*ids, 1), remote_.deadline());
    if (!reply) return fail(reply.error());
    const auto scores = reply->status < 300 ? parse_generate_scores(reply->body, *ids, 1)
                                            : fail(remote_.refusal(kGenerate, *reply));
    out.likelihood = scores.has_value();
    if (!scores) out.likelihood_note = scores.error().message;
    return {};
  }

  Result<void> probe_chat(Capabilities& out) {
    const auto name = tokenizer_.model();
    if (!name) return fail(name.error());
    auto reply = remote_.exchange("POST", kChat,
                                  chat_body(**name, {std::string(kProbeTurn), 1}, kProbeDepth, 0),
                                  remote_.deadline());
    if (!reply) return fail(reply.error());
    if (reply->status == 400 || reply->status == 422) return {};
    if (reply->status >= 300) return fail(remote_.refusal(kChat, *reply));
    const auto parsed = parse_chat_reply(reply->body);
    if (!parsed) return remote_.fail_at(kChat, parsed.error());
    out.asked_k = kProbeDepth;
    out.letters_note = parsed->shape;
    out.top_k = static_cast<int>(parsed->position.top.size());
    if (out.top_k > 0) out.letters = Capabilities::Letters::TopK;
    return {};
  }

  Remote remote_;
  VllmTokenizer tokenizer_{remote_, TokenizerForm::Sglang};
  Once<Capabilities> capabilities_;
};

}  // namespace

Result<std::unique_ptr<Seat>> make_sglang_seat(const SeatSpec& spec) {
  auto remote = Remote::make(spec);
  if (!remote) return fail(remote.error());
  return std::make_unique<SglangSeat>(std::move(*remote));
}

}  // namespace deem::seat
