#include "seat/fake/fake_dialect.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/text.h"
#include "decision/question.h"

namespace deem::seat {
namespace {

constexpr double kSentinel = -9999.0;

bool is_letter(std::string_view token) {
  return token.size() == 1 && decision::letter_index(token[0], decision::kLetters);
}

template <class F>
void each_letter(FakePosition& position, F&& change) {
  for (FakeEntry& entry : position.entries) {
    if (is_letter(entry.token)) change(entry);
  }
}

void lead_with(FakePosition& position, FakeEntry entry) {
  std::erase_if(position.entries, [&](const FakeEntry& e) { return e.id == entry.id; });
  position.entries.insert(position.entries.begin(), entry);
  position.sampled = std::move(entry);
}

void shift(FakePosition& position, double by) {
  for (FakeEntry& entry : position.entries)
    entry.logprob = codec::Json(entry.logprob.as_double() + by);
}

void apply(Fault fault, const FakeModel& model, FakePosition& position) {
  const auto entry_of = [&](std::string_view text, double logprob) {
    return FakeEntry{std::string(text), model.encode(text, true)[0], codec::Json(logprob)};
  };
  switch (fault) {
    case Fault::NullEntries:
      for (FakeEntry& entry : position.entries) entry.logprob = codec::Json();
      position.sampled.logprob = codec::Json();
      break;
    case Fault::Sentinel:
      each_letter(position, [](FakeEntry& entry) { entry.logprob = codec::Json(kSentinel); });
      position.sampled.logprob = codec::Json(kSentinel);
      break;
    case Fault::PadSentinel:
      position.entries = {{"<pad>", 0, codec::Json(kSentinel)}};
      position.sampled = position.entries[0];
      break;
    case Fault::AllZero:
      for (FakeEntry& entry : position.entries) entry.logprob = codec::Json(0.0);
      position.sampled.logprob = codec::Json(0.0);
      break;
    case Fault::NanBody:
      each_letter(position, [](FakeEntry& entry) {
        entry.logprob = codec::Json(std::numeric_limits<double>::quiet_NaN());
      });
      position.sampled.logprob = position.entries[0].logprob;
      break;
    case Fault::MinusInfinity:
      each_letter(position, [](FakeEntry& entry) { entry.logprob = codec::Json("-Infinity"); });
      position.sampled.logprob = position.entries[0].logprob;
      break;
    case Fault::ThinkingFirst:
      shift(position, -13);
      lead_with(position, entry_of("<think>", -1e-5));
      break;
    case Fault::MultiCharacter:
      shift(position, -4);
      lead_with(position, entry_of("Based", -0.1));
      break;
    case Fault::LowMass:
      shift(position, -13);
      lead_with(position, entry_of("The", -1e-5));
      break;
    case Fault::LookAlike: {
      std::erase_if(position.entries,
                    [](const FakeEntry& e) { return e.token.size() == 2 && e.token[0] == ' '; });
      each_letter(position, [&](FakeEntry& entry) {
        entry.token.insert(0, " ");
        entry.id = model.encode(entry.token, false)[0];
      });
      position.sampled = position.entries[0];
      break;
    }
    case Fault::AboveOne:
      shift(position, 1);
      position.sampled.logprob = position.entries[0].logprob;
      break;
    default:
      break;
  }
}

}  // namespace

net::ServerReply FakeDialect::error(int status, std::string_view type,
                                    const std::string& message) const {
  net::ServerReply out;
  out.status = status;
  out.body = codec::dump_json(error_body(status, type, message));
  return out;
}

net::ServerReply FakeDialect::ok(const codec::Json& body) const {
  net::ServerReply out;
  out.body = codec::dump_json(body);
  return out;
}

std::vector<FakeModel::Turn> FakeDialect::turns(const codec::Json& body) const {
  std::vector<FakeModel::Turn> out;
  const codec::Json* messages = body.find("messages");
  if (messages == nullptr || !messages->is_array()) return out;
  for (const codec::Json& message : messages->items()) {
    out.push_back(
        {message.get_string("role").value_or("user"), message.get_string("content").value_or("")});
  }
  return out;
}

bool FakeDialect::thinks(const codec::Json& body) {
  const codec::Json* arguments = body.find("chat_template_kwargs");
  return arguments == nullptr || arguments->get_bool("enable_thinking").value_or(true);
}

FakePosition FakeDialect::position(std::string_view text, std::optional<Fault> fault) const {
  const auto scores = model_.next(text);
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  FakePosition out;
  out.entries.reserve(order.size());
  for (const std::size_t id : order) {
    const auto& piece = model_.piece(static_cast<std::int64_t>(id));
    out.entries.push_back({is_utf8(piece) ? piece : "\xEF\xBF\xBD", static_cast<std::int64_t>(id),
                           codec::Json(scores[id])});
  }
  out.sampled = out.entries[0];
  if (fault) apply(*fault, model_, out);
  return out;
}

std::string FakeDialect::served_name(std::optional<Fault> fault) const {
  return fault == Fault::WrongModel ? "some-other-model" : options_.model;
}

std::int64_t FakeDialect::counted(std::size_t tokens, std::optional<Fault> fault) const {
  const auto all = static_cast<std::int64_t>(tokens);
  return fault == Fault::Truncated ? all / 2 : all;
}

codec::Json print_position(const FakeEntry& sampled, const std::vector<FakeEntry>& entries,
                           const FakeStyle& style) {
  const auto print = [&](const FakeEntry& entry) {
    const std::string token =
        style.as_token_ids ? "token_id:" + std::to_string(entry.id) : entry.token;
    codec::Json bytes = codec::Json::array();
    for (const char c : token) bytes.push(static_cast<int>(static_cast<unsigned char>(c)));
    codec::Json out = codec::Json::object();
    if (style.ids) out.set("id", entry.id);
    return out.set("token", token).set("logprob", entry.logprob).set("bytes", std::move(bytes));
  };
  codec::Json top = codec::Json::array();
  for (const FakeEntry& entry : entries) top.push(print(entry));
  return print(sampled).set("top_logprobs", std::move(top));
}

std::vector<FakeEntry> top_entries(const FakePosition& position, std::size_t k,
                                   std::optional<Fault> fault) {
  constexpr std::size_t kFewer = 5;
  const std::size_t n =
      std::min({k, position.entries.size(), fault == Fault::FewerEntries ? kFewer : k});
  return {position.entries.begin(), position.entries.begin() + static_cast<std::ptrdiff_t>(n)};
}

FakeText write_text(const FakeModel& model, const std::string& prompt, std::size_t most) {
  FakeText out;
  const auto ids = model.write(prompt, most, out.ended);
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

bool is_probe(const codec::Json& body) {
  const std::string text = codec::dump_json(body);
  return text.find("Which letter comes first?") != std::string::npos;
}

void place_logprobs(codec::Json& parent, std::string_view key, codec::Json list,
                    std::optional<Fault> fault) {
  if (fault == Fault::MissingLogprobs) return;
  if (fault == Fault::NullLogprobs) {
    parent.set(key, codec::Json());
  } else if (fault == Fault::EmptyLogprobs) {
    parent.set(key, codec::Json::array());
  } else {
    parent.set(key, std::move(list));
  }
}

}  // namespace deem::seat
