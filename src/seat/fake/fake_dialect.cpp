#include "seat/fake/fake_dialect.h"

#include <cmath>
#include <numeric>

#include "base/text.h"

namespace deem::seat {

using codec::Json;

net::ServerReply FakeDialect::error(int status, std::string_view type,
                                    const std::string& message) const {
  net::ServerReply out;
  out.status = status;
  out.body = codec::dump_json(error_body(status, type, message));
  return out;
}

net::ServerReply FakeDialect::ok(const Json& body) const {
  net::ServerReply out;
  out.body = codec::dump_json(body);
  return out;
}

std::vector<FakeModel::Turn> FakeDialect::turns(const Json& body) const {
  std::vector<FakeModel::Turn> out;
  const Json* messages = body.find("messages");
  if (messages == nullptr || !messages->is_array()) return out;
  for (const Json& message : messages->items()) {
    out.push_back(
        {message.get_string("role").value_or("user"), message.get_string("content").value_or("")});
  }
  return out;
}

bool FakeDialect::thinks(const FakeRequest& request) {
  if (request.faults.has(Fault::OpenThinking)) return true;
  const Json* arguments = request.body.find("chat_template_kwargs");
  return arguments == nullptr || arguments->get_bool("enable_thinking").value_or(true);
}

bool FakeDialect::sets_bos(const FaultSet& faults) const {
  return options_.bos || faults.has(Fault::DoubleBos) || faults.has(Fault::MissingBos);
}

std::string FakeDialect::chat_head(const FaultSet& faults) const {
  if (faults.has(Fault::DoubleBos)) return "<s><s>";
  return options_.bos && !faults.has(Fault::MissingBos) ? "<s>" : "";
}

std::string FakeDialect::chat_prompt(const FakeRequest& request, bool thinking) const {
  return chat_head(request.faults) +
         model_.render(turns(request.body), FakeModel::Ending::Prompt, thinking);
}

FakeModel::Ids FakeDialect::shown_ids(std::string_view text, const FakeRequest& request) const {
  FakeModel::Ids ids = model_.encode(text, true);
  if (request.faults.has(Fault::SharedLetter) && !ids.empty() && ids.back() == 'B') {
    ids.back() = 'A';
  }
  return ids;
}

std::string FakeDialect::shown_text(const FakeModel::Ids& ids, const FakeRequest& request) const {
  const std::string text = model_.decode(ids);
  return request.faults.has(Fault::LossyTokenizer) ? to_lower(text) : text;
}

FakePosition FakeDialect::position(std::string_view text, const FakeRequest& request,
                                   double temperature) const {
  const auto scores = model_.next(text, mind_of(request.faults));
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  FakePosition out;
  out.entries.reserve(order.size());
  for (const std::size_t id : order) {
    const auto& piece = model_.piece(static_cast<std::int64_t>(id));
    out.entries.push_back(
        {is_utf8(piece) ? piece : "\xEF\xBF\xBD", static_cast<std::int64_t>(id), Json(scores[id])});
  }
  out.sampled = out.entries[0];
  distort_position(out, model_, request, temperature, model_.begins_reply(text));
  return out;
}

Json FakeDialect::positions(const std::string& prompt, const FakeRequest& request, std::int64_t k,
                            std::int64_t most, const FakeStyle& style, double temperature) const {
  const auto entries = static_cast<std::size_t>(std::max<std::int64_t>(0, k));
  const FakePosition first = position(prompt, request, temperature);
  Json out = Json::array(
      {print_position(first.sampled, top_entries(first, entries, request.faults), style)});
  if (most <= 1) return out;
  bool ended = false;
  std::string text = prompt;
  const auto written =
      model_.write(prompt, static_cast<std::size_t>(most), ended, mind_of(request.faults));
  FakeRequest plain = request;
  plain.faults = {};
  for (std::size_t i = 0; i + 1 < written.size(); ++i) {
    text += model_.piece(written[i]);
    FakePosition next = position(text, plain, temperature);
    if (request.faults.has(Fault::LaterZeros)) {
      next.entries.clear();
      next.sampled.logprob = Json(0.0);
    }
    out.push(print_position(next.sampled, top_entries(next, entries, {}), style));
  }
  return out;
}

std::string FakeDialect::served_name(const FaultSet& faults) const {
  return faults.has(Fault::WrongModel) ? "some-other-model"
         : options_.served.empty()     ? options_.model
                                       : options_.served;
}

std::string FakeDialect::root(const FakeRequest& request) const {
  constexpr std::uint64_t kSwap = 4;  // requests for tokens
  const bool swapped = request.faults.has(Fault::SwappedWeights) && request.traffic.asked >= kSwap;
  return "/models/" + options_.model + (swapped ? "-other" : "");
}

bool FakeDialect::is_served(const FakeRequest& request) const {
  return request.body.get_string("model") == options_.model || request.faults.has(Fault::AnyName);
}

std::int64_t FakeDialect::counted(std::size_t tokens, const FaultSet& faults) const {
  const auto all = static_cast<std::int64_t>(tokens) + (faults.has(Fault::HiddenBos) ? 1 : 0);
  return faults.has(Fault::Truncated) ? all / 2 : all;
}

std::int64_t FakeDialect::told_context(const FaultSet& faults) const {
  return faults.has(Fault::OverlongSmaller) ? options_.context * 3 / 4 : options_.context;
}

bool FakeDialect::is_refused(std::size_t tokens, std::int64_t most, const FaultSet& faults) const {
  if (faults.has(Fault::OverlongCut) || faults.has(Fault::OverlongInvented)) return false;
  return static_cast<std::int64_t>(tokens) + most > told_context(faults);
}

Json FakeDialect::told_count(std::size_t tokens, std::int64_t most, const FaultSet& faults) const {
  const bool over = static_cast<std::int64_t>(tokens) + most > options_.context;
  if (over && faults.has(Fault::OverlongInvented)) return {};
  if (over && faults.has(Fault::OverlongCut)) return options_.context - most;
  return counted(tokens, faults);
}

Json print_position(const FakeEntry& sampled, const std::vector<FakeEntry>& entries,
                    const FakeStyle& style) {
  const auto print = [&](const FakeEntry& entry) {
    const std::string token =
        style.as_token_ids ? "token_id:" + std::to_string(entry.id) : entry.token;
    Json bytes = Json::array();
    for (const char c : token) bytes.push(static_cast<int>(static_cast<unsigned char>(c)));
    Json out = Json::object();
    if (style.ids) out.set("id", entry.id);
    return out.set("token", token).set("logprob", entry.logprob).set("bytes", std::move(bytes));
  };
  Json top = Json::array();
  for (const FakeEntry& entry : entries) top.push(print(entry));
  return print(sampled).set("top_logprobs", std::move(top));
}

std::vector<FakeEntry> top_entries(const FakePosition& position, std::size_t k,
                                   const FaultSet& faults) {
  constexpr std::size_t kFewer = 5;
  if (faults.has(Fault::EmptyTop)) return {};
  std::size_t n = std::min(k, position.entries.size());
  if (faults.has(Fault::FewerEntries)) n = std::min(n, kFewer);
  std::vector<FakeEntry> out(position.entries.begin(),
                             position.entries.begin() + static_cast<std::ptrdiff_t>(n));
  return out;
}

FakeMind mind_of(const FaultSet& faults) {
  return faults.has(Fault::Wanders)       ? FakeMind::Wanders
         : faults.has(Fault::FirstOption) ? FakeMind::First
         : faults.has(Fault::AllAlike)    ? FakeMind::Even
                                          : FakeMind::Knows;
}

FakeText write_text(const FakeModel& model, const std::string& prompt, std::size_t most,
                    FakeMind mind) {
  FakeText out;
  const auto ids = model.write(prompt, most, out.ended, mind);
  out.tokens = ids.size();
  std::string* into = &out.text;
  for (const std::int64_t id : ids) {
    if (id == FakeModel::kThink) {
      into = &out.thinking;
    } else if (id == FakeModel::kThinkEnd) {
      into = &out.text;
    } else {
      *into += model.piece(id);
    }
  }
  out.text = std::string(trim(out.text));
  return out;
}

bool is_probe(const Json& body) {
  const std::string text = codec::dump_json(body);
  return text.find("Which letter comes first?") != std::string::npos;
}

void place_logprobs(Json& parent, std::string_view key, Json list, const FaultSet& faults) {
  if (faults.has(Fault::MissingLogprobs)) return;
  if (faults.has(Fault::NullLogprobs)) {
    parent.set(key, Json());
  } else if (faults.has(Fault::EmptyLogprobs)) {
    parent.set(key, Json::array());
  } else {
    parent.set(key, std::move(list));
  }
}

void place_chat_logprobs(Json& choice, Json list, const FaultSet& faults) {
  if (faults.has(Fault::NullLogprobs)) {
    choice.set("logprobs", nullptr);
    return;
  }
  Json logprobs = Json::object();
  if (faults.has(Fault::LegacyLayout)) {
    const Json first = list.items()[0];
    Json top = Json::object();
    for (const Json& entry : first.find("top_logprobs")->items()) {
      top.set(entry.get_string("token").value_or(""), *entry.find("logprob"));
    }
    logprobs.set("tokens", Json::array({*first.find("token")}))
        .set("token_logprobs", Json::array({*first.find("logprob")}))
        .set("top_logprobs", Json::array({std::move(top)}))
        .set("text_offset", Json::array({0}));
  } else {
    place_logprobs(logprobs, "content", std::move(list), faults);
  }
  choice.set("logprobs", std::move(logprobs));
}

}  // namespace deem::seat
