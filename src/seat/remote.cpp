#include "seat/remote.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "base/text.h"
#include "codec/json.h"
#include "decision/question.h"
#include "net/url.h"
#include "seat/document.h"

namespace deem::seat {
namespace {

/// Servers are named with or without the version their routes begin with.
void drop_version(net::Url& url) {
  if (url.base == "/v1" || url.base.ends_with("/v1")) url.base.resize(url.base.size() - 3);
}

Result<std::string> arguments_of(const SeatSpec& spec) {
  std::string out = "{";
  const auto add = [&](std::string_view key, std::string_view value) {
    if (out.size() > 1) out += ',';
    codec::append_json_string(out, key);
    out.append(":").append(value);
  };
  if (!spec.chat_template_kwargs.contains("enable_thinking")) add("enable_thinking", "false");
  for (const auto& [key, value] : spec.chat_template_kwargs) {
    if (const auto parsed = codec::parse_json(value); !parsed) {
      return fail("chat_template_kwargs: " + key, parsed.error());
    }
    add(key, value);
  }
  return out + "}";
}

ModelEntry read_entry(const codec::Json& entry) {
  ModelEntry out;
  out.id = entry.get_string("id").value_or("");
  out.root = entry.get_string("root");
  out.parent = entry.get_string("parent");
  out.max_model_len = size_in(entry, "max_model_len");
  if (const codec::Json* meta = entry.find("meta"); meta != nullptr) {
    out.n_vocab = meta->get_int("n_vocab");
    out.n_params = meta->get_int("n_params");
  }
  const codec::Json* aliases = entry.find("aliases");
  if (aliases == nullptr || !aliases->is_array()) return out;
  for (const codec::Json& alias : aliases->items()) {
    if (alias.is_string() && alias.as_string() != out.id) out.aliases.push_back(alias.as_string());
  }
  return out;
}

double seconds_from(TimePoint from, TimePoint to) { return Seconds(to - from).count(); }

}  // namespace

Result<Remote> Remote::make(const SeatSpec& spec) {
  auto url = net::parse_url(spec.address);
  if (!url) return fail(url.error());
  drop_version(*url);
  auto key = net::load_secret(spec.key_env, spec.key_file);
  if (!key) return fail(key.error());
  auto arguments = arguments_of(spec);
  if (!arguments) return fail(Error{Error::Code::BadInput, arguments.error().message});
  net::HttpOptions options;
  options.url = std::move(*url);
  options.bearer = std::move(*key);
  options.ca_file = spec.ca_file;
  auto client = net::HttpClient::make(std::move(options));
  if (!client) return fail(client.error());
  Remote out(spec, std::move(*client));
  out.template_arguments_ = std::move(*arguments);
  const auto thinking = spec.chat_template_kwargs.find("enable_thinking");
  out.thinks_ = thinking != spec.chat_template_kwargs.end() && thinking->second != "false";
  return out;
}

Result<net::HttpReply> Remote::exchange(std::string_view method, std::string_view path,
                                        std::string_view body, TimePoint deadline) {
  return client_.send({.method = method,
                       .path = path,
                       .body = body,
                       .deadline = deadline,
                       .reply_limit = method == "GET" ? kPageLimit : kReplyLimit});
}

Result<net::HttpReply> Remote::post(std::string_view path, std::string_view body,
                                    TimePoint deadline) {
  auto reply = exchange("POST", path, body, deadline);
  if (reply && reply->status >= 300) return fail(refusal(path, *reply));
  return reply;
}

Result<net::HttpReply> Remote::get(std::string_view path, TimePoint deadline) {
  auto reply = exchange("GET", path, {}, deadline);
  if (reply && reply->status >= 300) {
    // Whatever it says, there was no input of ours to blame.
    return fail(Error::Code::Unavailable, refusal(path, *reply).message);
  }
  return reply;
}

Error Remote::refusal(std::string_view path, const net::HttpReply& reply) const {
  std::string message = address() + std::string(path) + ": HTTP " + std::to_string(reply.status);
  const std::string sentence = parse_error_sentence(reply.body);
  if (reply.status < 400) {
    message += ": a redirect, which is not followed; name the address it leads to";
  } else if (!sentence.empty()) {
    message += ": " + sentence;
  }
  if (reply.status == 401 || reply.status == 403) {
    if (!spec_.key_env.empty()) {
      message += " (the key in " + spec_.key_env + " was refused)";
    } else if (!spec_.key_file.empty()) {
      message += " (the key in " + spec_.key_file + " was refused)";
    } else {
      message +=
          " (no key was sent: name an environment variable that holds it by --key-env, or as "
          "key-env)";
    }
  }
  if (!reply.retry_after.empty()) {
    message += " (retry after " + printable(reply.retry_after, 40) + ")";
  }
  const bool ours = reply.status == 400 || reply.status == 413 || reply.status == 422;
  return {ours ? Error::Code::BadInput : Error::Code::Unavailable, std::move(message)};
}

std::unexpected<Error> Remote::fail_at(std::string_view path, const Error& cause) const {
  return fail(address() + std::string(path), cause);
}

TimePoint Remote::deadline(const Schedule& schedule) const {
  const auto own = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      Seconds(std::clamp(spec_.timeout_s, 0.0, 1e8)));
  return std::min(schedule.deadline, own);
}

Timing timing_of(const Schedule& schedule, const net::HttpReply& first,
                 const net::HttpReply& last) {
  return {.sent_s = seconds_from(schedule.planned, first.sent),
          .first_byte_s = seconds_from(schedule.planned, last.first_byte),
          .done_s = seconds_from(schedule.planned, last.done)};
}

Result<PositionReply> ask_position(Remote& remote, std::string_view body, int k,
                                   const Schedule& schedule) {
  auto reply = remote.post(kChat, body, remote.deadline(schedule));
  if (!reply) return fail(reply.error());
  auto parsed = parse_chat_reply(reply->body);
  if (!parsed) return remote.fail_at(kChat, parsed.error());
  parsed->position.asked_k = k;
  return PositionReply{std::move(parsed->position), std::move(parsed->shape),
                       std::move(parsed->usage), timing_of(schedule, *reply, *reply)};
}

Result<WriteReply> ask_text(Remote& remote, std::string_view body, const Schedule& schedule) {
  auto reply = remote.post(kChat, body, remote.deadline(schedule));
  if (!reply) return fail(reply.error());
  auto parsed = parse_chat_reply(reply->body);
  if (!parsed) return remote.fail_at(kChat, parsed.error());
  return WriteReply{std::move(parsed->text), std::move(parsed->thinking), std::move(parsed->usage),
                    timing_of(schedule, *reply, *reply)};
}

std::vector<decision::FirstPosition> all_positions(Reply reply) {
  std::vector<decision::FirstPosition> out;
  if (!reply.position.logprobs_present) return out;
  out.push_back(std::move(reply.position));
  std::ranges::move(reply.more, std::back_inserter(out));
  return out;
}

Result<std::vector<decision::FirstPosition>> ask_positions(Remote& remote, std::string_view body,
                                                           const Schedule& schedule) {
  auto reply = remote.post(kChat, body, remote.deadline(schedule));
  if (!reply) return fail(reply.error());
  auto parsed = parse_chat_reply(reply->body);
  if (!parsed) return remote.fail_at(kChat, parsed.error());
  return all_positions(std::move(*parsed));
}

int http_status(const Error& error) {
  constexpr std::string_view kMark = ": HTTP ";
  const auto mark = error.message.find(kMark);
  if (mark == std::string::npos) return 0;
  const char* const first = error.message.data() + mark + kMark.size();
  int status = 0;
  std::from_chars(first, error.message.data() + error.message.size(), status);
  return status;
}

std::optional<std::int64_t> size_in(const codec::Json& object, std::string_view key) {
  const auto size = object.get_int(key);
  return size && *size >= 1 && *size <= kMostTokens ? size : std::nullopt;
}

Result<bool> is_answered(Remote& remote, std::string_view path, std::string_view body) {
  const auto reply = remote.exchange("POST", path, body, remote.deadline());
  if (!reply) return fail(reply.error());
  constexpr int kLater[] = {408, 425, 429};  // says nothing of the name
  if (std::ranges::find(kLater, reply->status) != std::end(kLater))
    return fail(remote.refusal(path, *reply));
  if (reply->status >= 400 && reply->status < 500) return false;
  if (reply->status >= 300) return fail(remote.refusal(path, *reply));
  return true;
}

Result<std::string> ask_health(Remote& remote, std::string_view path) {
  const auto reply = remote.exchange("GET", path, {}, remote.deadline());
  if (!reply) return fail(reply.error());
  return "GET " + std::string(path) + ": HTTP " + std::to_string(reply->status);
}

void Body::begin(std::string_view key) {
  if (out_.size() > 1) out_ += ',';
  out_.append("\"").append(key).append("\":");
}

Body& Body::field(std::string_view key, std::string_view json) {
  begin(key);
  out_ += json;
  return *this;
}

Body& Body::text(std::string_view key, std::string_view value) {
  begin(key);
  codec::append_json_string(out_, value, false);
  return *this;
}

Body& Body::number(std::string_view key, std::int64_t value) {
  begin(key);
  out_ += std::to_string(value);
  return *this;
}

Body& Body::real(std::string_view key, double value) {
  begin(key);
  char digits[32];
  out_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  return *this;
}

Body& Body::ids(std::string_view key, const std::vector<std::int64_t>& values) {
  begin(key);
  out_ += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, values[i]).ptr;
    if (i > 0) out_ += ',';
    out_.append(digits, end);
  }
  out_ += ']';
  return *this;
}

Body& Body::messages(std::string_view user, const std::string* assistant) {
  begin("messages");
  out_.reserve(out_.size() + user.size() + user.size() / 8 + 512);  // and what follows
  out_ += R"([{"role":"user","content":)";
  codec::append_json_string(out_, user, false);
  if (assistant != nullptr) {
    out_ += R"(},{"role":"assistant","content":)";
    codec::append_json_string(out_, *assistant, false);
  }
  out_ += "}]";
  return *this;
}

std::string_view Body::close() {
  out_ += '}';
  return out_;
}

std::string Body::take() {
  out_ += '}';
  return std::move(out_);
}

Result<ModelEntry> parse_model_entry(std::string_view bytes, const std::string& wanted) {
  const auto root = codec::parse_json(bytes, codec::JsonMode::Python);
  if (!root) return fail("the list of models is not JSON", root.error());
  const codec::Json* data = root->find("data");
  if (data == nullptr || !data->is_array()) {
    return fail(Error::Code::Corrupt, "no \"data\" in the list of models");
  }
  std::string names;
  std::vector<ModelEntry> entries;
  for (const codec::Json& entry : data->items()) {
    ModelEntry out = read_entry(entry);
    if (out.id.empty()) continue;
    names += (names.empty() ? "" : ", ") + printable(out.id, 80);
    entries.push_back(std::move(out));
  }
  if (entries.empty()) return fail(Error::Code::Unavailable, "serves no model");
  const auto found = wanted.empty() && entries.size() == 1
                         ? entries.begin()
                         : std::ranges::find(entries, wanted, &ModelEntry::id);
  if (found != entries.end() && !found->id.empty()) {
    ModelEntry out = *found;
    for (const ModelEntry& other : entries) {
      if (other.id != out.id && other.root && other.root == out.root && !other.parent)
        out.aliases.push_back(other.id);
    }
    return out;
  }
  return fail(Error::Code::Unavailable,
              wanted.empty() ? "serves several models, name one of: " + printable(names, 400)
                             : "does not serve \"" + wanted + "\", but: " + printable(names, 400));
}

std::vector<std::int64_t> LetterIds::of(std::size_t i, decision::LetterPolicy policy) const {
  std::vector<std::int64_t> out;
  if (i >= exact.size()) return out;
  if (exact[i]) out.push_back(*exact[i]);
  if (policy == decision::LetterPolicy::Exact) return out;
  out.insert(out.end(), same[i].begin(), same[i].end());
  if (policy == decision::LetterPolicy::Fold) {
    out.insert(out.end(), look_alike[i].begin(), look_alike[i].end());
  }
  return out;
}

Result<void> LetterIds::check(std::size_t n) const {
  for (std::size_t i = 0; i < n; ++i) {
    const std::string name(1, decision::letter(i));
    if (!exact[i]) {
      return fail(Error::Code::Unsupported,
                  "the letter " + name + " is not one token of its own after this template" +
                      (added[i] > 0 ? " but adds " + std::to_string(added[i]) : ""));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (exact[j] == exact[i]) {
        return fail(Error::Code::Unsupported, "the letters " + std::string(1, decision::letter(j)) +
                                                  " and " + name + " are the same token");
      }
    }
  }
  return {};
}

Result<LetterProof> LetterIds::prove(std::size_t n, std::string how) const {
  if (auto asked = check_letters(n); !asked) return fail(asked.error());
  if (auto sound = check(n); !sound) return fail(sound.error());
  LetterProof proof{.ids = {}, .how = std::move(how)};
  for (std::size_t i = 0; i < n; ++i) {
    proof.ids.push_back(of(i, decision::LetterPolicy::SumExact));
  }
  return proof;
}

Result<void> check_letters(std::size_t n) {
  if (n >= 1 && n <= decision::kLetters) return {};
  return fail(Error::Code::BadInput, "letters: " + std::to_string(n) + " asked, 1 to " +
                                         std::to_string(decision::kLetters) + " there are");
}

std::optional<double> sum_of_ids(const std::vector<decision::TokenScore>& entries,
                                 const std::vector<std::int64_t>& ids) {
  std::optional<double> out;
  for (const std::int64_t id : ids) {
    const auto entry = std::ranges::find_if(entries, [&](const auto& e) { return e.id == id; });
    if (entry == entries.end() || !entry->logprob) continue;
    const double value = *entry->logprob;
    if (!out) {
      out = value;
      if (std::isnan(value)) return out;
    } else if (std::isnan(value)) {
      return value;
    } else if (value > -9999.0) {
      const double top = std::max(*out, value);
      out = *out > -9999.0 ? top + std::log1p(std::exp(std::min(*out, value) - top)) : *out;
    }
  }
  return out;
}

std::unexpected<Error> unsupported(std::string_view what) {
  return fail(Error::Code::Unsupported, "not supported by this seat: " + std::string(what));
}

}  // namespace deem::seat
