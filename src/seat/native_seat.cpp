#include <array>
#include <span>
#include <utility>

#include "base/text.h"
#include "codec/json.h"
#include "seat/native_form.h"
#include "seat/remote.h"

namespace deem::seat {
namespace {

/// Where requests go: a server, and the route on it.
struct Place {
  std::string address, route;
};

/// An address may end with the route itself, as "https://host/api/alpha/decisions".
Place place_of(const SeatSpec& spec) {
  Place out{.address = spec.address, .route = "/v1/" + spec.kind};
  if (spec.address.starts_with("unix:")) return out;
  for (const std::string_view end : {"/systemone", "/decisions"}) {
    if (!spec.address.ends_with(end)) continue;
    out.address.resize(spec.address.size() - end.size());
    constexpr std::string_view kVersion = "/v1";  // which every address may end with or not
    out.route = (out.address.ends_with(kVersion) ? std::string(kVersion) : "") + std::string(end);
  }
  return out;
}

/// A question with an answer, to find out who and what answers.
DecideRequest probe_request() {
  DecideRequest out;
  out.state = "The letters A and B.";
  out.questions = {{.id = "q1",
                    .question = {.type = decision::QuestionType::Choice,
                                 .instructions = "Which letter comes first?",
                                 .question = {},
                                 .options = {{.key = "a", .description = "the letter A"},
                                             {.key = "b", .description = "the letter B"}}}}};
  return out;
}

/// The only name in a list of models: {"data":[{"id"}]}, or System One's {"models":[{"name"}]}.
std::string only_name(const codec::Json& list) {
  std::string out;
  for (const auto& [member, key] : {std::pair{"data", "id"}, std::pair{"models", "name"}}) {
    const codec::Json* models = list.find(member);
    if (models == nullptr || !models->is_array() || models->items().size() != 1) continue;
    out = models->items()[0].get_string(key).value_or("");
    if (!out.empty()) break;
  }
  return out;
}

/// An endpoint that answers decisions itself: it is given the state and the question, not a prompt,
/// and its probabilities are its own.
class NativeSeat : public Seat {
 public:
  NativeSeat(Remote remote, std::string route)
      : remote_(std::move(remote)), route_(std::move(route)) {}

  /// Asked anew each time, as the name may be an alias: what answers under it now is the root.
  Result<Identity> identify() override {
    const auto name = model();
    if (!name) return fail(name.error());
    const auto form = this->form();
    if (!form) return fail(form.error());
    const auto reply = ask(**form, probe_request(), {});
    if (!reply) return fail(reply.error());
    Identity out;
    out.kind = remote_.spec().kind;
    out.address = remote_.address();
    out.model = **name;
    out.root = reply->usage.served_model;
    if (route_ != "/v1/" + out.kind) out.address += route_;
    return out;
  }

  Result<Capabilities> capabilities() override {
    const auto form = this->form();
    if (!form) return fail(form.error());
    Capabilities out;
    out.likelihood_note = "not supported by this seat: a decision endpoint scores no given text";
    out.written = false;
    out.native = true;
    return out;
  }

  Result<DecideReply> decide(const DecideRequest& request, const Schedule& schedule) override {
    const auto form = this->form();
    if (!form) return fail(form.error());
    return ask(**form, request, schedule);
  }

  Result<bool> answers_to(const std::string& name) override {
    const auto form = this->form();
    if (!form) return fail(form.error());
    return is_answered(remote_, route_, native_body(**form, name, probe_request()));
  }

  void give_up() override { remote_.give_up(); }

  Result<LetterProof> prove_letters(std::size_t) override { return no_prompt(); }
  Result<std::int64_t> count_chat(const std::string&) override { return no_prompt(); }
  Result<std::int64_t> count_plain(const std::string&) override { return no_prompt(); }
  Result<PositionReply> first_position(const PositionRequest&, const Schedule&) override {
    return no_prompt();
  }
  Result<LikelihoodReply> likelihood(const LikelihoodRequest&, const Schedule&) override {
    return no_prompt();
  }
  Result<WriteReply> write(const WriteRequest&, const Schedule&) override { return no_prompt(); }

 private:
  static std::unexpected<Error> no_prompt() {
    return fail(Error::Code::Unsupported,
                "not supported by this seat: a decision endpoint makes its own prompts");
  }

  Result<const std::string*> model() {
    return model_.get([&]() -> Result<std::string> {
      if (!remote_.spec().model.empty()) return remote_.spec().model;
      const auto list = remote_.get("/v1/models", remote_.deadline());
      if (!list) return fail("no model is named, and the list of them fails", list.error());
      const auto json = codec::parse_json(list->body, codec::JsonMode::Python);
      if (!json) return remote_.fail_at("/v1/models", json.error());
      std::string name = only_name(*json);
      if (!name.empty()) return name;
      return remote_.fail_at("/v1/models", {Error::Code::Unavailable,
                                            "does not list one model alone; name the one to ask"});
    });
  }

  Result<DecideReply> ask(NativeForm form, const DecideRequest& request, const Schedule& schedule) {
    const auto name = model();
    if (!name) return fail(name.error());
    auto reply =
        remote_.post(route_, native_body(form, **name, request), remote_.deadline(schedule));
    if (!reply) return fail(reply.error());
    auto parsed = parse_native_reply(reply->body, form, request);
    if (!parsed) return remote_.fail_at(route_, parsed.error());
    return DecideReply{.answers = std::move(parsed->answers),
                       .usage = std::move(parsed->usage),
                       .timing = timing_of(schedule, *reply, *reply)};
  }

  /// /v1/decisions is spoken in several ways: the first that is neither refused nor answered in
  /// another shape.
  Result<const NativeForm*> form() {
    return form_.get([&]() -> Result<NativeForm> {
      constexpr std::array kForms = {NativeForm::OpenAi, NativeForm::Sglang, NativeForm::SystemOne};
      const bool one = remote_.spec().kind == "systemone";
      Error refused{Error::Code::BadInput, ""};
      for (const NativeForm form : one ? std::span(kForms).last(1) : std::span(kForms)) {
        const auto reply = ask(form, probe_request(), {});
        if (reply) return form;
        const Error& error = reply.error();
        const bool unread = error.code == Error::Code::Corrupt;
        if (one || (error.code != Error::Code::BadInput && !unread)) return fail(error);
        if (unread) refused.code = error.code;
        refused.message += (refused.message.empty() ? "" : "; ") + std::string(to_string(form)) +
                           " form: " + error.message;
      }
      return fail(refused);
    });
  }

  Remote remote_;
  const std::string route_;
  Once<std::string> model_;
  Once<NativeForm> form_;
};

}  // namespace

Result<std::unique_ptr<Seat>> make_native_seat(const SeatSpec& spec) {
  const Place place = place_of(spec);
  SeatSpec at = spec;
  at.address = place.address;
  auto remote = Remote::make(at);
  if (!remote) return fail(remote.error());
  return std::make_unique<NativeSeat>(std::move(*remote), place.route);
}

}  // namespace deem::seat
