#include <algorithm>
#include <cmath>

#include "base/digest.h"
#include "codec/json.h"
#include "decision/question.h"
#include "seat/remote.h"

namespace deem::seat {
namespace {

using decision::LetterPolicy;
using Ids = std::vector<std::int64_t>;

constexpr std::string_view kCompletion = "/completion";
constexpr std::string_view kChat = "/v1/chat/completions";
/// Entries asked at first; a wanted id that is not among them is looked for in the whole
/// vocabulary. Scores do not depend on how many are listed.
constexpr std::int64_t kDepth = 1024;

/// What /props and /v1/models tell once and for all.
struct Model {
  std::string name;
  std::int64_t n_vocab = 0;
  std::string bos;
};

struct Letters {
  LetterIds ids;
  bool whole_vocabulary = false;  // `same` and `look_alike` were looked for
};

std::string_view without_space(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// How many leading tokens lie inside the first `bytes` bytes of `text`, as the local engine counts:
/// a token across the boundary is not inside. `skip` tokens were set before the text.
std::optional<std::size_t> tokens_within(const TokenList& list, std::size_t skip, std::string_view text,
                                         std::size_t bytes) {
  if (list.pieces.size() != list.ids.size() || skip > list.pieces.size()) return std::nullopt;
  std::string spelled;
  std::vector<std::size_t> ends;
  for (std::size_t i = skip; i < list.pieces.size(); ++i) {
    spelled += list.pieces[i];
    ends.push_back(spelled.size());
  }
  // Some tokenizers set a space before the text; it belongs to the first token.
  const std::size_t added = spelled.size() == text.size() + 1 && spelled[0] == ' ' ? 1 : 0;
  if (std::string_view(spelled).substr(added) != text) return std::nullopt;
  std::size_t n = 0;
  while (n < ends.size() && ends[n] <= bytes + added) ++n;
  return skip + n;
}

/// llama-server: the template and the tokenizer are asked of it, the scores of ids come from its
/// native route, whose entries carry ids.
class LlamaServerSeat : public Seat {
 public:
  explicit LlamaServerSeat(Remote remote) : remote_(std::move(remote)) {}

  Result<Identity> identify() override {
    const auto props = get_json("/props");
    if (!props) return fail(props.error());
    auto models = remote_.get("/v1/models", remote_.deadline());
    if (!models) return fail(models.error());
    const auto entry = parse_model_entry(models->body, remote_.spec().model);
    if (!entry) return remote_.fail_at("/v1/models", entry.error());
    Identity out{.kind = "llama-server", .address = remote_.address(), .model = entry->id};
    out.root = props->get_string("model_path");
    out.build = props->get_string("build_info");
    if (const codec::Json* settings = props->find("default_generation_settings")) {
      out.context = settings->get_int("n_ctx");  // of one slot
    }
    if (const auto text = props->get_string("chat_template")) out.template_sha256 = sha256_hex(*text);
    std::string detail = props->get_string("model_ftype").value_or("");
    if (entry->n_params) {
      detail += (detail.empty() ? "" : ", ") + std::to_string(*entry->n_params) + " parameters";
    }
    if (!detail.empty()) out.detail = detail;
    return out;
  }

  Result<Capabilities> capabilities() override {
    const auto model = this->model();
    if (!model) return fail(model.error());
    const auto letters = this->letters();
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
    const auto letters = this->letters();
    if (!letters) return fail(letters.error());
    return (*letters)->ids.prove(n, "/tokenize");
  }

  Result<std::int64_t> count_chat(const std::string& user_turn) override {
    const auto ids = prompt_ids(user_turn, remote_.deadline(), nullptr);
    if (!ids) return fail(ids.error());
    return static_cast<std::int64_t>(ids->size());
  }

  Result<std::int64_t> count_plain(const std::string& text) override {
    const auto list = tokenize(text, true, false, remote_.deadline());
    if (!list) return fail(list.error());
    return static_cast<std::int64_t>(list->ids.size());
  }

  Result<PositionReply> first_position(const PositionRequest& request,
                                       const Schedule& schedule) override {
    const auto known = letters();
    if (!known) return fail(known.error());
    const TimePoint deadline = remote_.deadline(schedule);
    net::HttpReply first;
    const auto prompt = prompt_ids(request.prompt, deadline, &first);
    if (!prompt) return fail(prompt.error());

    const bool reference = request.policy == LetterPolicy::Reference;
    std::vector<Ids> ids;
    Ids all;
    for (std::size_t i = 0; !reference && i < request.letters; ++i) {
      ids.push_back((*known)->ids.of(i, request.policy));
      if (!(*known)->ids.exact[i]) return fail((*known)->ids.prove(i + 1, "").error());
      all.insert(all.end(), ids[i].begin(), ids[i].end());
    }
    net::HttpReply last;
    const std::int64_t top_k = std::max(1, request.top_k);
    auto reply = complete(*prompt, all, reference ? top_k : std::max(top_k, kDepth), deadline, last);
    if (!reply) return fail(reply.error());
    auto& position = reply->position;
    position.asked_k = reference ? static_cast<int>(top_k) : 0;
    if (position.logprobs_present) {
      for (const Ids& letter : ids) position.exact.push_back(sum_of_ids(position.top, letter));
      if (position.sampled && position.sampled->token.empty() && position.sampled->id) {
        position.sampled->token = text_of(*position.sampled->id, deadline);
      }
      shorten(position, static_cast<std::size_t>(top_k));
    }
    return PositionReply{std::move(position), std::move(reply->usage), timing_of(schedule, first, last)};
  }

  Result<LikelihoodReply> likelihood(const LikelihoodRequest& request,
                                     const Schedule& schedule) override {
    if (request.score.empty()) return fail(Error::Code::BadInput, "the text to score is empty");
    const TimePoint deadline = remote_.deadline(schedule);
    std::size_t begin = 0;
    net::HttpReply first;
    first.sent = Clock::now();
    const auto whole = scored_ids(request, deadline, begin);
    if (!whole) return fail(whole.error());
    LikelihoodReply out;
    out.text.tokens = whole->size() - begin;
    out.text.bytes = request.score.size();
    net::HttpReply last;
    double prompt_ms = 0;
    for (std::size_t i = begin; i < whole->size(); ++i) {
      const Ids before(whole->begin(), whole->begin() + static_cast<std::ptrdiff_t>(i));
      const Ids wanted = {(*whole)[i]};
      const auto reply = complete(before, wanted, kDepth, deadline, last);
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
    const auto model = this->model();
    if (!model) return fail(model.error());
    Body body;
    body.text("model", (*model)->name).messages(request.prompt).number("max_tokens", request.max_tokens);
    body.number("temperature", 0).field("stream", "false");
    body.field("chat_template_kwargs", remote_.template_arguments());
    auto reply = remote_.post(kChat, body.close(), remote_.deadline(schedule));
    if (!reply) return fail(reply.error());
    auto parsed = parse_chat_reply(reply->body);
    if (!parsed) return remote_.fail_at(kChat, parsed.error());
    return WriteReply{std::move(parsed->text), std::move(parsed->thinking), std::move(parsed->usage),
                      timing_of(schedule, *reply, *reply)};
  }

 private:
  // ---- the server's template and tokenizer

  Result<codec::Json> get_json(std::string_view path) {
    auto reply = remote_.get(path, remote_.deadline());
    if (!reply) return fail(reply.error());
    auto json = codec::parse_json(reply->body, codec::JsonMode::Python);
    if (!json) return remote_.fail_at(path, json.error());
    return std::move(*json);
  }

  Result<const Model*> model() {
    return model_.get([&]() -> Result<Model> {
      auto models = remote_.get("/v1/models", remote_.deadline());
      if (!models) return fail(models.error());
      const auto entry = parse_model_entry(models->body, remote_.spec().model);
      if (!entry) return remote_.fail_at("/v1/models", entry.error());
      const auto props = get_json("/props");
      if (!props) return fail(props.error());
      return Model{.name = entry->id,
                   .n_vocab = entry->n_vocab.value_or(0),
                   .bos = props->get_string("bos_token").value_or("")};
    });
  }

  /// `turns` after the user's: the assistant's, and a closing turn of the user.
  Result<std::string> apply_template(std::string_view user, const std::string* reply, TimePoint deadline,
                                     net::HttpReply* first) {
    Body body;
    if (reply == nullptr) {
      body.messages(user);
    } else {
      codec::Json turns = codec::Json::array();
      for (const auto& [role, text] : {std::pair{"user", user}, std::pair{"assistant", std::string_view(*reply)},
                                       std::pair{"user", user}}) {
        turns.push(codec::Json::object({{"role", role}, {"content", text}}));
      }
      body.field("messages", codec::dump_json(turns));
    }
    body.field("chat_template_kwargs", remote_.template_arguments());
    auto sent = remote_.post("/apply-template", body.close(), deadline);
    if (!sent) return fail(sent.error());
    auto prompt = parse_text_member(sent->body, "prompt");
    if (!prompt) return remote_.fail_at("/apply-template", prompt.error());
    if (first != nullptr) *first = std::move(*sent);
    return prompt;
  }

  Result<TokenList> tokenize(std::string_view text, bool special, bool pieces, TimePoint deadline) {
    Body body;
    body.text("content", text).field("add_special", special ? "true" : "false").field("parse_special", "true");
    body.field("with_pieces", pieces ? "true" : "false");
    auto reply = remote_.post("/tokenize", body.close(), deadline);
    if (!reply) return fail(reply.error());
    auto list = parse_token_list(reply->body);
    if (!list) return remote_.fail_at("/tokenize", list.error());
    return list;
  }

  /// The prompt as its chat route would run it: the template leaves out a BOS that the tokenizer sets.
  Result<Ids> prompt_ids(const std::string& user, TimePoint deadline, net::HttpReply* first) {
    const auto text = apply_template(user, nullptr, deadline, first);
    if (!text) return fail(text.error());
    auto list = tokenize(*text, true, false, deadline);
    if (!list) return fail(list.error());
    return std::move(list->ids);
  }

  std::string text_of(std::int64_t id, TimePoint deadline) {
    Body body;
    auto reply = remote_.post("/detokenize", body.ids("tokens", {id}).close(), deadline);
    if (!reply) return "";
    return parse_text_member(reply->body, "content").value_or("");
  }

  // ---- scores

  /// One step after `prompt`, listing at least `depth` entries and in any case those of `wanted`.
  Result<Reply> complete(const Ids& prompt, const Ids& wanted, std::int64_t depth, TimePoint deadline,
                         net::HttpReply& last) {
    const auto model = this->model();
    if (!model) return fail(model.error());
    for (std::int64_t n = depth;;) {
      Body body;
      body.ids("prompt", prompt).number("n_predict", 1).number("n_probs", n).number("temperature", 0);
      body.field("post_sampling_probs", "false").field("cache_prompt", "true").field("stream", "false");
      body.field("response_fields",
                 R"(["content","completion_probabilities","tokens_evaluated","tokens_predicted","stop_type","model","truncated","timings"])");
      auto sent = remote_.post(kCompletion, body.close(), deadline);
      if (!sent) return fail(sent.error());
      last = std::move(*sent);
      auto reply = parse_completion_reply(last.body);
      if (!reply) return remote_.fail_at(kCompletion, reply.error());
      const auto& top = reply->position.top;
      const bool complete = std::ranges::all_of(wanted, [&](std::int64_t id) {
        return std::ranges::any_of(top, [&](const auto& entry) { return entry.id == id; });
      });
      const bool all = (*model)->n_vocab <= n || !reply->position.logprobs_present;
      if (complete || all) return reply;
      n = (*model)->n_vocab;
    }
  }

  /// Keeps the likeliest `k` entries in the order sent; the mass is of those.
  static void shorten(decision::FirstPosition& position, std::size_t k) {
    if (position.top.size() <= k) return;
    position.top.resize(k);
    double mass = 0;
    for (const auto& entry : position.top) mass += entry.logprob ? std::exp(*entry.logprob) : 0;
    position.top_mass = mass;
  }

  // ---- letters

  Result<const Letters*> letters() {
    return letters_.get([&] { return find_letters(); });
  }

  Result<Letters> find_letters() {
    const auto model = this->model();
    if (!model) return fail(model.error());
    const TimePoint deadline = remote_.deadline();
    const auto text = apply_template(kProbeTurn, nullptr, deadline, nullptr);
    if (!text) return fail(text.error());
    const auto before = tokenize(*text, true, false, deadline);
    if (!before) return fail(before.error());
    const std::size_t n = before->ids.size();
    Letters out;
    for (std::size_t i = 0; i < decision::kLetters; ++i) {
      const auto with = tokenize(*text + decision::letter(i), true, false, remote_.deadline());
      if (!with) return fail(with.error());
      const bool one = with->ids.size() == n + 1 && std::equal(before->ids.begin(), before->ids.end(), with->ids.begin());
      out.ids.exact.push_back(one ? std::optional(with->ids.back()) : std::nullopt);
      out.ids.added.push_back(with->ids.size() > n ? with->ids.size() - n : 0);
      out.ids.same.emplace_back();
      out.ids.look_alike.emplace_back();
    }
    if ((*model)->n_vocab <= 0) return out;
    net::HttpReply last;
    const auto whole = complete(before->ids, {}, (*model)->n_vocab, remote_.deadline(), last);
    if (!whole) return fail(whole.error());
    for (const auto& entry : whole->position.top) {
      const std::string_view spelled = without_space(entry.token);
      const auto i = spelled.size() == 1 ? decision::letter_index(spelled[0], decision::kLetters) : std::nullopt;
      if (!i || !entry.id || entry.id == out.ids.exact[*i]) continue;
      (spelled.size() == entry.token.size() ? out.ids.same : out.ids.look_alike)[*i].push_back(*entry.id);
    }
    out.whole_vocabulary = static_cast<std::int64_t>(whole->position.top.size()) >= (*model)->n_vocab;
    return out;
  }

  // ---- likelihoods

  /// What the template writes after a reply, up to its first special token: the one that does not
  /// come back when its spelling is tokenized as plain text.
  Result<const std::string*> end_of_reply() {
    return end_of_reply_.get([&]() -> Result<std::string> {
      const std::string mark = "deem9876";
      const auto text = apply_template(kProbeTurn, &mark, remote_.deadline(), nullptr);
      if (!text) return fail(text.error());
      const auto at = text->find(mark);
      if (at == std::string::npos) return unsupported("the template does not keep the reply's text");
      const std::string after = text->substr(at + mark.size());
      const auto list = tokenize(after, false, true, remote_.deadline());
      if (!list) return fail(list.error());
      std::string out;
      for (std::size_t i = 0; i < list->pieces.size(); ++i) {
        out += list->pieces[i];
        Body body;
        body.text("content", list->pieces[i]).field("add_special", "false").field("parse_special", "false");
        auto plain = remote_.post("/tokenize", body.close(), remote_.deadline());
        if (!plain) return fail(plain.error());
        const auto ids = parse_token_list(plain->body);
        if (!ids) return remote_.fail_at("/tokenize", ids.error());
        if (ids->ids != Ids{list->ids[i]}) return out;
      }
      return unsupported("the template does not end a turn");
    });
  }

  Result<Ids> scored_ids(const LikelihoodRequest& request, TimePoint deadline, std::size_t& begin) {
    std::string text = request.given, end;
    if (request.chat) {
      auto rendered = apply_template(request.given, nullptr, deadline, nullptr);
      if (!rendered) return fail(rendered.error());
      const auto closing = end_of_reply();
      if (!closing) return fail(closing.error());
      text = std::move(*rendered);
      end = **closing;
    }
    const std::size_t boundary = text.size();
    const std::string given = text;
    text += request.score + end;
    auto plain = tokenize(text, false, true, deadline);
    auto whole = tokenize(text, true, true, deadline);
    if (!plain) return fail(plain.error());
    if (!whole) return fail(whole.error());
    // Special tokens set before the text: what tokenizing with and without them differs by.
    const std::size_t skip = whole->ids.size() - std::min(whole->ids.size(), plain->ids.size());
    if (const auto within = tokens_within(*whole, skip, text, boundary)) {
      begin = *within;
    } else {
      const auto head = tokenize(given, true, false, deadline);
      if (!head) return fail(head.error());
      begin = 0;
      while (begin < head->ids.size() && begin < whole->ids.size() && head->ids[begin] == whole->ids[begin]) ++begin;
    }
    if (begin == 0) {
      const auto model = this->model();
      if (!model) return fail(model.error());
      const auto bos = tokenize((*model)->bos, false, false, deadline);
      if (!bos) return fail(bos.error());
      if (bos->ids.size() != 1) return unsupported("nothing is given and the model has no token to begin with");
      whole->ids.insert(whole->ids.begin(), bos->ids[0]);
      begin = 1;
    }
    if (begin >= whole->ids.size()) {
      return fail(Error::Code::BadInput, "the text to score holds no token of this model");
    }
    return std::move(whole->ids);
  }

  Remote remote_;
  Once<Model> model_;
  Once<Letters> letters_;
  Once<std::string> end_of_reply_;
};

}  // namespace

Result<std::unique_ptr<Seat>> make_llama_server_seat(const SeatSpec& spec) {
  auto remote = Remote::make(spec);
  if (!remote) return fail(remote.error());
  return std::make_unique<LlamaServerSeat>(std::move(*remote));
}

}  // namespace deem::seat
