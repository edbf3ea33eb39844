#include "seat/logprob_list.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace deem::seat {
namespace {

using decision::FirstPosition;
using decision::TokenScore;

/// "token_id:123" → 123.
std::optional<std::int64_t> id_of(std::string_view token) {
  constexpr std::string_view kPrefix = "token_id:";
  if (!token.starts_with(kPrefix)) return std::nullopt;
  token.remove_prefix(kPrefix.size());
  std::int64_t id = 0;
  const auto [end, ec] = std::from_chars(token.data(), token.data() + token.size(), id);
  if (ec != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return id;
}

TokenScore read_entry(const Element& entry) {
  TokenScore out;
  simdjson::dom::object fields;
  if (entry.get_object().get(fields) != simdjson::SUCCESS) return out;
  for (const auto& [key, value] : fields) {
    if (value.is_null()) continue;
    if (key == "token") {
      out.token = read_string(value).value_or("");
    } else if (key == "logprob") {
      out.logprob = read_logprob(value);
    } else if (key == "id") {
      out.id = read_int(value);
    }
  }
  if (!out.id) {
    out.id = id_of(out.token);
    if (out.id) out.token.clear();
  }
  return out;
}

FirstPosition read_position(const Element& position) {
  FirstPosition out;
  if (!position.is_object()) return out;
  out.logprobs_present = true;
  out.sampled = read_entry(position);
  if (out.sampled->token.empty() && !out.sampled->id && !out.sampled->logprob) out.sampled.reset();
  simdjson::dom::array list;
  const auto top = member(position, "top_logprobs");
  if (!top || top->get_array().get(list) != simdjson::SUCCESS) return out;
  double mass = 0;
  out.top.reserve(list.size());
  for (const Element entry : list) {
    out.top.push_back(read_entry(entry));
    const auto& logprob = out.top.back().logprob;
    if (logprob && std::isfinite(*logprob)) mass += std::exp(*logprob);
  }
  out.top_mass = mass;
  return out;
}

bool is_null_member(const std::optional<Element>& parent, std::string_view key) {
  simdjson::dom::object object;
  Element value;
  return parent && parent->get_object().get(object) == simdjson::SUCCESS &&
         object.at_key(key).get(value) == simdjson::SUCCESS && value.is_null();
}

std::string quoted(std::string_view key) { return "\"" + std::string(key) + "\""; }

/// What a member that should hold a list is instead; "" for a list that holds something.
std::string list_shape(const std::optional<Element>& parent, std::string_view key) {
  if (is_null_member(parent, key)) return quoted(key) + " is null";
  const auto value = member(parent, key);
  if (!value) return quoted(key) + " is missing";
  if (!value->is_array()) return quoted(key) + " is no list";
  return first_item(value) ? "" : quoted(key) + " is empty";
}

/// What is odd about a position, by the names of its members.
std::string position_shape(const Element& position, const FirstPosition& read) {
  if (!position.is_object()) return "a position is no object";
  if (member(position, "probs")) {
    return "\"probs\": the layout llama-server had before December 2024";
  }
  if (member(position, "prob") || member(position, "top_probs")) {
    return "\"prob\": probabilities after sampling, not log-probabilities before it";
  }
  const auto top = member(position, "top_logprobs");
  if (top && top->is_object()) {
    return "\"top_logprobs\" is keyed by text, the layout of /v1/completions";
  }
  if (std::string shape = list_shape(position, "top_logprobs"); !shape.empty()) {
    return shape + ": the written token alone has a number";
  }
  const bool numbers = std::ranges::any_of(
      read.top, [](const TokenScore& entry) { return entry.logprob.has_value(); });
  return numbers ? "" : "no entry of the list has a number";
}

}  // namespace

LogprobList read_logprob_list(const std::optional<Element>& parent, std::string_view key) {
  LogprobList out;
  out.shape = list_shape(parent, key);
  simdjson::dom::array list;
  const auto positions = member(parent, key);
  if (!positions || positions->get_array().get(list) != simdjson::SUCCESS) return out;
  bool first = true;
  for (const Element position : list) {
    FirstPosition read = read_position(position);
    if (first) {
      out.shape = position_shape(position, read);
      out.first = std::move(read);
      first = false;
    } else {
      out.more.push_back(std::move(read));
    }
  }
  return out;
}

LogprobList read_chat_logprobs(const Element& choice) {
  const auto holder = member(choice, "logprobs");
  if (!holder) {
    LogprobList out;
    out.shape =
        is_null_member(choice, "logprobs") ? "\"logprobs\" is null" : "\"logprobs\" is missing";
    return out;
  }
  LogprobList out = read_logprob_list(holder, "content");
  if (!member(holder, "content") && member(holder, "token_logprobs")) {
    out.shape = "\"token_logprobs\": the layout of /v1/completions";
  }
  return out;
}

}  // namespace deem::seat
