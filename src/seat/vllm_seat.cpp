#include <algorithm>
#include <unordered_map>

#include "codec/json.h"
#include "decision/question.h"
#include "seat/remote.h"

namespace deem::seat {
namespace {

using decision::LetterPolicy;
using Ids = std::vector<std::int64_t>;

constexpr std::string_view kChat = "/v1/chat/completions";
constexpr std::string_view kCompletions = "/v1/completions";
constexpr std::size_t kMostIds = 128;  // logprob_token_ids: more is a 400

bool begins_with(const Ids& whole, const Ids& head) {
  return whole.size() >= head.size() && std::equal(head.begin(), head.end(), whole.begin());
}

/// vLLM: letters by exact ids, likelihoods by prompt log-probabilities, census by /tokenize.
class VllmSeat : public Seat {
 public:
  explicit VllmSeat(Remote remote) : remote_(std::move(remote)) {}

  Result<Identity> identify() override {
    auto models = remote_.get("/v1/models", remote_.deadline());
    if (!models) return fail(models.error());
    const auto entry = parse_model_entry(models->body, remote_.spec().model);
    if (!entry) return remote_.fail_at("/v1/models", entry.error());
    Identity out{.kind = "vllm", .address = remote_.address(), .model = entry->id};
    out.root = entry->root;
    out.context = entry->max_model_len;
    auto version = remote_.exchange("GET", "/version", {}, remote_.deadline());
    if (!version) return fail(version.error());
    if (version->status == 200) {
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
    const auto letters = this->letters();
    if (!letters) {
      if (letters.error().code != Error::Code::Unsupported) return fail(letters.error());
      return LetterProof{.ids = std::vector<Ids>(n), .how = "spelling only"};
    }
    return (*letters)->prove(n, "/tokenize");
  }

  Result<std::int64_t> count_chat(const std::string& user_turn) override {
    const auto ids = tokenize_chat(user_turn, nullptr);
    if (!ids) return fail(ids.error());
    return static_cast<std::int64_t>(ids->size());
  }

  Result<std::int64_t> count_plain(const std::string& text) override {
    const auto ids = tokenize_text(text, true);
    if (!ids) return fail(ids.error());
    return static_cast<std::int64_t>(ids->size());
  }

  Result<PositionReply> first_position(const PositionRequest& request,
                                       const Schedule& schedule) override {
    const auto can = capabilities_.get([&] { return probe(); });
    if (!can) return fail(can.error());
    if ((*can)->letters == Capabilities::Letters::None) {
      return unsupported("this server returns no logprobs");
    }
    if ((*can)->letters != Capabilities::Letters::ExactIds || request.policy == LetterPolicy::Reference) {
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
    std::size_t first = 0;
    const auto ids = scored_ids(request, first);
    if (!ids) return fail(ids.error());
    auto reply = remote_.post(kCompletions, scores_body(*model(), *ids), remote_.deadline(schedule));
    if (!reply) return fail(reply.error());
    auto scores = parse_prompt_scores(reply->body, *ids, first);
    if (!scores) return remote_.fail_at(kCompletions, scores.error());
    LikelihoodReply out;
    out.text.tokens = scores->logprobs.size();
    out.text.bytes = request.score.size();
    for (std::size_t i = 0; i < scores->logprobs.size(); ++i) {
      if (!scores->logprobs[i]) {
        return remote_.fail_at(kCompletions, {Error::Code::Corrupt, "no log-probability of scored token " +
                                                                        std::to_string(i)});
      }
      out.text.sum += *scores->logprobs[i];
    }
    out.usage = std::move(scores->usage);
    out.timing = timing_of(schedule, *reply, *reply);
    return out;
  }

  Result<WriteReply> write(const WriteRequest& request, const Schedule& schedule) override {
    const auto name = model_.get([&] { return find_model(); });
    if (!name) return fail(name.error());
    Body body;
    start_chat(body, **name, request.prompt, request.max_tokens);
    auto reply = remote_.post(kChat, body.close(), remote_.deadline(schedule));
    if (!reply) return fail(reply.error());
    auto parsed = parse_chat_reply(reply->body);
    if (!parsed) return remote_.fail_at(kChat, parsed.error());
    return WriteReply{std::move(parsed->text), std::move(parsed->thinking), std::move(parsed->usage),
                      timing_of(schedule, *reply, *reply)};
  }

 private:
  // ---- names and bodies

  Result<std::string> find_model() {
    if (!remote_.spec().model.empty()) return remote_.spec().model;
    auto identity = identify();
    if (!identity) return fail(identity.error());
    return identity->model;
  }

  Result<std::string> model() {
    const auto name = model_.get([&] { return find_model(); });
    if (!name) return fail(name.error());
    return **name;
  }

  void start_chat(Body& body, const std::string& name, std::string_view prompt, int tokens) const {
    body.text("model", name).messages(prompt).number("max_tokens", tokens).number("temperature", 0);
    body.field("stream", "false").field("chat_template_kwargs", remote_.template_arguments());
  }

  static std::string scores_body(const std::string& name, const Ids& ids) {
    Body body;
    body.text("model", name).ids("prompt", ids).number("max_tokens", 1).number("temperature", 0);
    return std::string(body.number("prompt_logprobs", 1).field("stream", "false").close());
  }

  // ---- the server's tokenizer

  Result<Ids> tokenize(std::string_view body) {
    auto reply = remote_.exchange("POST", "/tokenize", body, remote_.deadline());
    if (!reply) return fail(reply.error());
    if (reply->status == 404 || reply->status == 405 || reply->status == 501) {
      return unsupported(remote_.refusal("/tokenize", *reply).message);
    }
    if (reply->status >= 400) return fail(remote_.refusal("/tokenize", *reply));
    auto list = parse_token_list(reply->body);
    if (!list) return remote_.fail_at("/tokenize", list.error());
    return std::move(list->ids);
  }

  /// The user's turn up to where the assistant begins, or inside the assistant's turn after `reply`.
  Result<Ids> tokenize_chat(std::string_view user, const std::string* reply) {
    const auto name = model();
    if (!name) return fail(name.error());
    Body body;
    body.text("model", *name).messages(user, reply);
    body.field("add_generation_prompt", reply == nullptr ? "true" : "false");
    body.field("continue_final_message", reply == nullptr ? "false" : "true");
    body.field("add_special_tokens", "false");
    return tokenize(body.field("chat_template_kwargs", remote_.template_arguments()).close());
  }

  Result<Ids> tokenize_text(std::string_view text, bool special) {
    const auto name = model();
    if (!name) return fail(name.error());
    Body body;
    body.text("model", *name).text("prompt", text);
    return tokenize(body.field("add_special_tokens", special ? "true" : "false").close());
  }

  Result<std::string> detokenize(const Ids& ids) {
    const auto name = model();
    if (!name) return fail(name.error());
    Body body;
    auto reply = remote_.post("/detokenize", body.text("model", *name).ids("tokens", ids).close(),
                              remote_.deadline());
    if (!reply) return fail(reply.error());
    auto text = parse_text_member(reply->body, "prompt");
    if (!text) return remote_.fail_at("/detokenize", text.error());
    return text;
  }

  /// A token's text, asked once per id; "" when the server does not say.
  std::string text_of(std::int64_t id) {
    {
      const std::scoped_lock lock(texts_mutex_);
      if (const auto found = texts_.find(id); found != texts_.end()) return found->second;
    }
    auto text = detokenize({id});
    if (!text) return "";
    const std::scoped_lock lock(texts_mutex_);
    return texts_[id] = *text;
  }

  // ---- letters

  Result<const LetterIds*> letters() {
    return letters_.get([&] { return find_letters(); });
  }

  /// Each letter after the template: as text where the template's text tokenizes back to itself,
  /// else as the start of the assistant's reply.
  Result<LetterIds> find_letters() {
    const auto before = tokenize_chat(kProbeTurn, nullptr);
    if (!before) return fail(before.error());
    const auto text = detokenize(*before);
    const auto again = text ? tokenize_text(*text, false) : Result<Ids>(fail(text.error()));
    const bool by_text = again && *again == *before;
    LetterIds out;
    for (std::size_t i = 0; i < decision::kLetters; ++i) {
      const std::string letter(1, decision::letter(i));
      const auto with = by_text ? tokenize_text(*text + letter, false) : tokenize_chat(kProbeTurn, &letter);
      if (!with) return fail(with.error());
      const bool one = begins_with(*with, *before) && with->size() == before->size() + 1;
      out.exact.push_back(one ? std::optional(with->back()) : std::nullopt);
      out.added.push_back(with->size() > before->size() ? with->size() - before->size() : 0);
      out.same.emplace_back();
      out.look_alike.emplace_back();
    }
    return out;
  }

  /// The letters' ids with the look-alikes the fold policy counts: " A", and "A" as the tokenizer
  /// writes it at the start of a text.
  Result<const LetterIds*> folded() {
    return folded_.get([&]() -> Result<LetterIds> {
      const auto plain = letters();
      if (!plain) return fail(plain.error());
      LetterIds out = **plain;
      for (std::size_t i = 0; i < decision::kLetters; ++i) {
        const std::string letter(1, decision::letter(i));
        for (const std::string& form : {" " + letter, letter}) {
          const auto ids = tokenize_text(form, false);
          if (!ids) return fail(ids.error());
          auto& forms = out.look_alike[i];
          if (ids->size() != 1 || out.exact[i] == ids->front()) continue;
          if (std::ranges::find(forms, ids->front()) == forms.end()) forms.push_back(ids->front());
        }
      }
      return out;
    });
  }

  Result<PositionReply> by_ids(const PositionRequest& request, const Schedule& schedule) {
    const auto known = request.policy == LetterPolicy::Fold ? folded() : letters();
    const auto name = model_.get([&] { return find_model(); });
    if (!known) return fail(known.error());
    if (!name) return fail(name.error());
    std::vector<Ids> ids(request.letters);
    Ids all;
    for (std::size_t i = 0; i < request.letters; ++i) {
      ids[i] = (*known)->of(i, request.policy);
      if (ids[i].empty()) return fail((*known)->prove(i + 1, "").error());
      all.insert(all.end(), ids[i].begin(), ids[i].end());
    }
    if (all.size() > kMostIds) {
      return fail(Error::Code::Unsupported, "letters and look-alikes are " + std::to_string(all.size()) +
                                                " ids, this server takes " + std::to_string(kMostIds));
    }
    Body body;
    start_chat(body, **name, request.prompt, 1);
    body.field("logprobs", "true").ids("logprob_token_ids", all).field("return_tokens_as_token_ids", "true");
    auto reply = remote_.post(kChat, body.close(), remote_.deadline(schedule));
    if (!reply) return fail(reply.error());
    auto parsed = parse_chat_reply(reply->body);
    if (!parsed) return remote_.fail_at(kChat, parsed.error());
    auto& position = parsed->position;
    position.asked_k = static_cast<int>(all.size());
    if (position.logprobs_present) {
      for (const Ids& letter : ids) position.exact.push_back(sum_of_ids(position.top, letter));
      const auto spell = [&](decision::TokenScore& entry) {
        if (!entry.id || !entry.token.empty()) return;
        const auto letter = std::ranges::find_if(
            ids, [&](const Ids& of) { return std::ranges::find(of, *entry.id) != of.end(); });
        if (letter == ids.end()) {
          entry.token = text_of(*entry.id);
          return;
        }
        entry.token = std::string(1, decision::letter(static_cast<std::size_t>(letter - ids.begin())));
        if (letter->front() != *entry.id) entry.token.insert(0, " ");
      };
      for (auto& entry : position.top) spell(entry);
      if (position.sampled) spell(*position.sampled);
    }
    return PositionReply{std::move(position), std::move(parsed->usage), timing_of(schedule, *reply, *reply)};
  }

  Result<PositionReply> by_top_k(const PositionRequest& request, const Schedule& schedule, int cap) {
    const auto name = model_.get([&] { return find_model(); });
    if (!name) return fail(name.error());
    const int k = std::clamp(request.top_k, 1, std::max(1, cap));
    Body body;
    start_chat(body, **name, request.prompt, 1);
    body.field("logprobs", "true").number("top_logprobs", k);
    auto reply = remote_.post(kChat, body.close(), remote_.deadline(schedule));
    if (!reply) return fail(reply.error());
    auto parsed = parse_chat_reply(reply->body);
    if (!parsed) return remote_.fail_at(kChat, parsed.error());
    parsed->position.asked_k = k;
    return PositionReply{std::move(parsed->position), std::move(parsed->usage),
                         timing_of(schedule, *reply, *reply)};
  }

  // ---- likelihoods

  /// The rendered user's turn. Options of one item share it, so the last one is kept.
  Result<std::string> render(const std::string& user) {
    {
      const std::scoped_lock lock(texts_mutex_);
      if (rendered_user_ == user && !rendered_.empty()) return rendered_;
    }
    const auto ids = tokenize_chat(user, nullptr);
    if (!ids) return fail(ids.error());
    auto text = detokenize(*ids);
    if (!text) return fail(text.error());
    const std::scoped_lock lock(texts_mutex_);
    rendered_user_ = user;
    return rendered_ = *text;
  }

  /// What the template writes after a reply, up to the token that ends the turn: the first one
  /// spelled like a special token, "<…>", else the first.
  Result<const std::string*> end_of_reply() {
    return end_of_reply_.get([&]() -> Result<std::string> {
      const std::string reply = "deem9876";
      const auto name = model();
      if (!name) return fail(name.error());
      Body body;
      body.text("model", *name).messages(kProbeTurn, &reply).field("add_generation_prompt", "false");
      body.field("add_special_tokens", "false");
      const auto ids = tokenize(body.field("chat_template_kwargs", remote_.template_arguments()).close());
      if (!ids) return fail(ids.error());
      const auto text = detokenize(*ids);
      if (!text) return fail(text.error());
      const auto at = text->rfind(reply);
      if (at == std::string::npos) return unsupported("the template does not keep the reply's text");
      const std::string after = text->substr(at + reply.size());
      const auto open = after.find('<');
      const auto close = after.find('>', open == std::string::npos ? 0 : open);
      if (open != std::string::npos && close != std::string::npos) return after.substr(0, close + 1);
      const auto tail = tokenize_text(after, false);
      if (!tail) return fail(tail.error());
      if (tail->empty()) return unsupported("the template does not end a turn");
      return detokenize({tail->front()});
    });
  }

  /// Ids of given and score as one text; `first` is where the score begins: after the tokens that
  /// the given text alone begins with too. A token across the boundary is scored whole.
  Result<Ids> scored_ids(const LikelihoodRequest& request, std::size_t& first) {
    std::string given = request.given, end;
    if (request.chat) {
      auto rendered = render(request.given);
      const auto closing = end_of_reply();
      if (!rendered) return fail(rendered.error());
      if (!closing) return fail(closing.error());
      given = std::move(*rendered);
      end = **closing;
    }
    const bool special = !request.chat;  // a rendered template holds its own BOS
    const auto head = tokenize_text(given, special);
    if (!head) return fail(head.error());
    auto whole = tokenize_text(given + request.score + end, special);
    if (!whole) return fail(whole.error());
    first = 0;
    while (first < head->size() && first < whole->size() && (*head)[first] == (*whole)[first]) ++first;
    if (first == 0) return unsupported("nothing is given and the tokenizer sets no first token");
    if (first == whole->size()) {
      return fail(Error::Code::BadInput, "the text to score holds no token of this model");
    }
    return whole;
  }

  // ---- what it can do

  Result<Capabilities> probe() {
    const auto name = model_.get([&] { return find_model(); });
    if (!name) return fail(name.error());
    Capabilities out;
    const auto letters = this->letters();
    if (!letters && letters.error().code != Error::Code::Unsupported) return fail(letters.error());
    out.census = letters.has_value();
    auto exact = letters ? takes_ids(**name, **letters) : Result<bool>(false);
    if (!exact) return fail(exact.error());
    auto depth = top_k(**name);
    if (!depth) return fail(depth.error());
    out.top_k = *depth;
    out.letters = *exact ? Capabilities::Letters::ExactIds
                         : out.top_k > 0 ? Capabilities::Letters::TopK : Capabilities::Letters::None;
    if (!letters) {
      out.likelihood_note = "needs /tokenize, which this server does not answer";
      return out;
    }
    auto ids = tokenize_text("Hello there.", true);
    if (!ids) return fail(ids.error());
    auto reply = remote_.exchange("POST", kCompletions, scores_body(**name, *ids), remote_.deadline());
    if (!reply) return fail(reply.error());
    const auto scores = reply->status < 400 ? parse_prompt_scores(reply->body, *ids, 1)
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
    body.field("logprobs", "true").ids("logprob_token_ids", asked).field("return_tokens_as_token_ids", "true");
    auto reply = remote_.exchange("POST", kChat, body.close(), remote_.deadline());
    if (!reply) return fail(reply.error());
    if (reply->status == 400 || reply->status == 422) return false;  // a server that knows no such field
    if (reply->status >= 400) return fail(remote_.refusal(kChat, *reply));
    const auto parsed = parse_chat_reply(reply->body);
    if (!parsed) return remote_.fail_at(kChat, parsed.error());
    return std::ranges::all_of(asked, [&](std::int64_t id) {
      return sum_of_ids(parsed->position.top, {id}).has_value();
    });
  }

  /// The deepest list the server grants: over its --max-logprobs it answers 400.
  Result<int> top_k(const std::string& name) {
    std::optional<Error> last;
    for (const int k : {128, 64, 20, 5, 1}) {
      Body body;
      start_chat(body, name, kProbeTurn, 1);
      body.field("logprobs", "true").number("top_logprobs", k);
      auto reply = remote_.exchange("POST", kChat, body.close(), remote_.deadline());
      if (!reply) return fail(reply.error());
      if (reply->status == 400 || reply->status == 422) {
        if (reply->body.find("logprobs") == std::string::npos) return fail(remote_.refusal(kChat, *reply));
        continue;
      }
      if (reply->status >= 400) return fail(remote_.refusal(kChat, *reply));
      const auto parsed = parse_chat_reply(reply->body);
      if (!parsed) return remote_.fail_at(kChat, parsed.error());
      return static_cast<int>(std::min<std::size_t>(parsed->position.top.size(), static_cast<std::size_t>(k)));
    }
    return 0;
  }

  Remote remote_;
  Once<std::string> model_;
  Once<Capabilities> capabilities_;
  Once<LetterIds> letters_, folded_;
  Once<std::string> end_of_reply_;
  std::mutex texts_mutex_;  // guards what follows
  std::unordered_map<std::int64_t, std::string> texts_;
  std::string rendered_user_, rendered_;
};

}  // namespace

Result<std::unique_ptr<Seat>> make_vllm_seat(const SeatSpec& spec) {
  auto remote = Remote::make(spec);
  if (!remote) return fail(remote.error());
  return std::make_unique<VllmSeat>(std::move(*remote));
}

}  // namespace deem::seat
