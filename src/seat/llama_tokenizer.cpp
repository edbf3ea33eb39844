#include "seat/llama_tokenizer.h"

#include <algorithm>
#include <utility>

#include "decision/question.h"

namespace deem::seat {
namespace {

using Ids = LlamaTokenizer::Ids;

std::string_view without_space(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// How many leading tokens lie inside the first `bytes` bytes of `text`, as the local engine
/// counts: a token across the boundary is not inside. `skip` tokens were set before the text.
std::optional<std::size_t> tokens_within(const TokenList& list, std::size_t skip,
                                         std::string_view text, std::size_t bytes) {
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

}  // namespace

Result<codec::Json> LlamaTokenizer::get_json(std::string_view path) {
  auto reply = remote_.get(path, remote_.deadline());
  if (!reply) return fail(reply.error());
  auto json = codec::parse_json(reply->body, codec::JsonMode::Python);
  if (!json) return remote_.fail_at(path, json.error());
  return std::move(*json);
}

Result<const LlamaTokenizer::Model*> LlamaTokenizer::model() {
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

Result<std::string> LlamaTokenizer::apply_template(std::string_view user, const std::string* reply,
                                                   TimePoint deadline, net::HttpReply* first) {
  Body body;
  if (reply == nullptr) {
    body.messages(user);
  } else {
    codec::Json turns = codec::Json::array();
    for (const auto& [role, text] :
         {std::pair{"user", user}, std::pair{"assistant", std::string_view(*reply)},
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

Result<TokenList> LlamaTokenizer::tokenize(std::string_view text, bool special, bool pieces,
                                           TimePoint deadline) {
  Body body;
  body.text("content", text)
      .field("add_special", special ? "true" : "false")
      .field("parse_special", "true");
  body.field("with_pieces", pieces ? "true" : "false");
  auto reply = remote_.post("/tokenize", body.close(), deadline);
  if (!reply) return fail(reply.error());
  auto list = parse_token_list(reply->body);
  if (!list) return remote_.fail_at("/tokenize", list.error());
  return list;
}

Result<Ids> LlamaTokenizer::prompt_ids(const std::string& user, TimePoint deadline,
                                       net::HttpReply* first) {
  const auto text = apply_template(user, nullptr, deadline, first);
  if (!text) return fail(text.error());
  auto list = tokenize(*text, true, false, deadline);
  if (!list) return fail(list.error());
  return std::move(list->ids);
}

Result<std::string> LlamaTokenizer::detokenize(const Ids& ids, TimePoint deadline) {
  Body body;
  auto reply = remote_.post("/detokenize", body.ids("tokens", ids).close(), deadline);
  if (!reply) return fail(reply.error());
  auto text = parse_text_member(reply->body, "content");
  if (!text) return remote_.fail_at("/detokenize", text.error());
  return text;
}

std::string LlamaTokenizer::text_of(std::int64_t id, TimePoint deadline) {
  return detokenize({id}, deadline).value_or("");
}

Result<Reply> LlamaTokenizer::complete(const Ids& prompt, const Ids& wanted, const Step& step,
                                       TimePoint deadline, net::HttpReply& last) {
  const auto model = this->model();
  if (!model) return fail(model.error());
  const std::int64_t whole = (*model)->n_vocab;
  for (std::int64_t n = whole > 0 ? std::min(step.depth, whole) : step.depth;;) {
    Body body;
    body.ids("prompt", prompt).number("n_predict", step.tokens).number("n_probs", n);
    body.real("temperature", step.temperature)
        .field("post_sampling_probs", "false")
        .field("cache_prompt", step.cold ? "false" : "true")
        .field("stream", "false");
    body.field(
        "response_fields",
        R"(["content","completion_probabilities","tokens_evaluated","tokens_predicted","stop_type","model","truncated","timings"])");
    auto sent = remote_.post("/completion", body.close(), deadline);
    if (!sent) return fail(sent.error());
    last = std::move(*sent);
    auto reply = parse_completion_reply(last.body);
    if (!reply) return remote_.fail_at("/completion", reply.error());
    const auto& top = reply->position.top;
    const bool complete = std::ranges::all_of(wanted, [&](std::int64_t id) {
      return std::ranges::any_of(top, [&](const auto& entry) { return entry.id == id; });
    });
    const bool all = whole <= n || !reply->position.logprobs_present;
    if (complete || all) return reply;
    n = whole;
  }
}

Result<const LlamaTokenizer::Letters*> LlamaTokenizer::letters() {
  return letters_.get([&] { return find_letters(); });
}

Result<LlamaTokenizer::Letters> LlamaTokenizer::find_letters() {
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
    const bool one = with->ids.size() == n + 1 &&
                     std::equal(before->ids.begin(), before->ids.end(), with->ids.begin());
    out.ids.exact.push_back(one ? std::optional(with->ids.back()) : std::nullopt);
    out.ids.added.push_back(with->ids.size() > n ? with->ids.size() - n : 0);
    out.ids.same.emplace_back();
    out.ids.look_alike.emplace_back();
  }
  if ((*model)->n_vocab <= 0) return out;
  net::HttpReply last;
  const auto whole =
      complete(before->ids, {}, {.depth = (*model)->n_vocab}, remote_.deadline(), last);
  if (!whole) return fail(whole.error());
  for (const auto& entry : whole->position.top) {
    const std::string_view spelled = without_space(entry.token);
    const auto i =
        spelled.size() == 1 ? decision::letter_index(spelled[0], decision::kLetters) : std::nullopt;
    if (!i || !entry.id || entry.id == out.ids.exact[*i]) continue;
    (spelled.size() == entry.token.size() ? out.ids.same : out.ids.look_alike)[*i].push_back(
        *entry.id);
  }
  out.whole_vocabulary = static_cast<std::int64_t>(whole->position.top.size()) >= (*model)->n_vocab;
  return out;
}

Result<const std::string*> LlamaTokenizer::end_of_reply() {
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
      body.text("content", list->pieces[i])
          .field("add_special", "false")
          .field("parse_special", "false");
      auto plain = remote_.post("/tokenize", body.close(), remote_.deadline());
      if (!plain) return fail(plain.error());
      const auto ids = parse_token_list(plain->body);
      if (!ids) return remote_.fail_at("/tokenize", ids.error());
      if (ids->ids != Ids{list->ids[i]}) return out;
    }
    return unsupported("the template does not end a turn");
  });
}

Result<Ids> LlamaTokenizer::scored_ids(const LikelihoodRequest& request, TimePoint deadline,
                                       std::size_t& begin) {
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
    while (begin < head->ids.size() && begin < whole->ids.size() &&
           head->ids[begin] == whole->ids[begin])
      ++begin;
  }
  if (begin == 0) {
    const auto model = this->model();
    if (!model) return fail(model.error());
    const auto bos = tokenize((*model)->bos, false, false, deadline);
    if (!bos) return fail(bos.error());
    if (bos->ids.size() != 1)
      return unsupported("nothing is given and the model has no token to begin with");
    whole->ids.insert(whole->ids.begin(), bos->ids[0]);
    begin = 1;
  }
  if (begin >= whole->ids.size()) {
    return fail(Error::Code::BadInput, "the text to score holds no token of this model");
  }
  return std::move(whole->ids);
}

}  // namespace deem::seat
