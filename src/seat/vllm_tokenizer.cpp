#include "seat/vllm_tokenizer.h"

#include <algorithm>

#include "codec/json.h"
#include "decision/question.h"

namespace deem::seat {
namespace {

using Ids = VllmTokenizer::Ids;

bool begins_with(const Ids& whole, const Ids& head) {
  return whole.size() >= head.size() && std::equal(head.begin(), head.end(), whole.begin());
}

}  // namespace

Result<const std::string*> VllmTokenizer::model() {
  return model_.get([&]() -> Result<std::string> {
    if (!remote_.spec().model.empty()) return remote_.spec().model;
    auto models = remote_.get("/v1/models", remote_.deadline());
    if (!models) return fail(models.error());
    auto entry = parse_model_entry(models->body, "");
    if (!entry) return remote_.fail_at("/v1/models", entry.error());
    return std::move(entry->id);
  });
}

Result<Ids> VllmTokenizer::tokenize(std::string_view body) {
  auto reply = remote_.exchange("POST", "/tokenize", body, remote_.deadline());
  if (!reply) return fail(reply.error());
  if (reply->status == 404 || reply->status == 405 || reply->status == 501) {
    return unsupported(remote_.refusal("/tokenize", *reply).message);
  }
  if (reply->status >= 300) return fail(remote_.refusal("/tokenize", *reply));
  auto list = parse_token_list(reply->body);
  if (!list) return remote_.fail_at("/tokenize", list.error());
  return std::move(list->ids);
}

Result<Ids> VllmTokenizer::tokenize_chat(std::string_view user, const std::string* reply) {
  const auto name = model();
  if (!name) return fail(name.error());
  Body body;
  body.text("model", **name).messages(user, reply);
  body.field("continue_final_message", reply == nullptr ? "false" : "true");
  if (form_ == TokenizerForm::Vllm) {
    body.field("add_generation_prompt", reply == nullptr ? "true" : "false");
    body.field("add_special_tokens", "false");
  }
  auto ids = tokenize(body.field("chat_template_kwargs", remote_.template_arguments()).close());
  if (!ids && form_ == TokenizerForm::Sglang && ids.error().code == Error::Code::BadInput) {
    return unsupported("counts no chat: " + ids.error().message);
  }
  // llama-server has a route of this name, knows no messages in it and answers with an empty list.
  if (ids && ids->empty()) {
    return unsupported("/tokenize counts no tokens in a chat; is this a vLLM server?");
  }
  return ids;
}

Result<Ids> VllmTokenizer::tokenize_text(std::string_view text, bool special) {
  const auto name = model();
  if (!name) return fail(name.error());
  Body body;
  body.text("model", **name).text("prompt", text);
  return tokenize(body.field("add_special_tokens", special ? "true" : "false").close());
}

Result<std::string> VllmTokenizer::detokenize(const Ids& ids) {
  const auto name = model();
  if (!name) return fail(name.error());
  const bool sglang = form_ == TokenizerForm::Sglang;
  Body body;
  body.text("model", **name).ids("tokens", ids);
  if (sglang) body.field("skip_special_tokens", "false");
  auto reply = remote_.post("/detokenize", body.close(), remote_.deadline());
  if (!reply) return fail(reply.error());
  auto text = parse_text_member(reply->body, sglang ? "text" : "prompt");
  if (!text) return remote_.fail_at("/detokenize", text.error());
  return text;
}

std::string VllmTokenizer::text_of(std::int64_t id) {
  {
    const std::scoped_lock lock(texts_mutex_);
    if (const auto found = texts_.find(id); found != texts_.end()) return found->second;
  }
  auto text = detokenize({id});
  if (!text) return "";
  const std::scoped_lock lock(texts_mutex_);
  return texts_[id] = *text;
}

Result<const LetterIds*> VllmTokenizer::letters() {
  return letters_.get([&] { return find_letters(); });
}

Result<LetterIds> VllmTokenizer::find_letters() {
  const auto before = tokenize_chat(kProbeTurn, nullptr);
  if (!before) return fail(before.error());
  const auto text = detokenize(*before);
  const auto again = text ? tokenize_text(*text, false) : Result<Ids>(fail(text.error()));
  const bool by_text = again && *again == *before;
  LetterIds out;
  for (std::size_t i = 0; i < decision::kLetters; ++i) {
    const std::string letter(1, decision::letter(i));
    const auto with =
        by_text ? tokenize_text(*text + letter, false) : tokenize_chat(kProbeTurn, &letter);
    if (!with) return fail(with.error());
    const bool one = begins_with(*with, *before) && with->size() == before->size() + 1;
    out.exact.push_back(one ? std::optional(with->back()) : std::nullopt);
    out.added.push_back(with->size() > before->size() ? with->size() - before->size() : 0);
    out.same.emplace_back();
    out.look_alike.emplace_back();
  }
  return out;
}

Result<const LetterIds*> VllmTokenizer::folded() {
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

Result<std::string> VllmTokenizer::render(const std::string& user) {
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

Result<Ids> VllmTokenizer::tokenize_closed(const std::string& reply) {
  const auto name = model();
  if (!name) return fail(name.error());
  Body body;
  body.text("model", **name);
  if (form_ == TokenizerForm::Sglang) {
    codec::Json turns = codec::Json::array();
    for (const auto& [role, text] :
         {std::pair{"user", kProbeTurn}, std::pair{"assistant", std::string_view(reply)},
          std::pair{"user", kProbeTurn}}) {
      turns.push(codec::Json::object({{"role", role}, {"content", text}}));
    }
    body.field("messages", codec::dump_json(turns));
  } else {
    body.messages(kProbeTurn, &reply).field("add_generation_prompt", "false");
    body.field("add_special_tokens", "false");
  }
  return tokenize(body.field("chat_template_kwargs", remote_.template_arguments()).close());
}

Result<const std::string*> VllmTokenizer::end_of_reply() {
  return end_of_reply_.get([&]() -> Result<std::string> {
    const std::string reply = "deem9876";
    const auto ids = tokenize_closed(reply);
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

Result<Ids> VllmTokenizer::scored_ids(const LikelihoodRequest& request, std::size_t& first) {
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
  while (first < head->size() && first < whole->size() && (*head)[first] == (*whole)[first])
    ++first;
  if (first == 0) return unsupported("nothing is given and the tokenizer sets no first token");
  if (first == whole->size()) {
    return fail(Error::Code::BadInput, "the text to score holds no token of this model");
  }
  return whole;
}

}  // namespace deem::seat
