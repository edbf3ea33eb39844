#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "record/fields.h"

namespace deem::record {
namespace {

using codec::Json;
using decision::LettersReading;
using decision::TextScore;
using Round = ReadingRecord::Round;

constexpr double kMostNats = 1e9;     // of a logprob or a text's sum; no model gives so much
constexpr double kMostSeconds = 1e9;  // 32 years

/// A time in seconds as figures can be made of it.
double seconds_of(Fields& in, std::string_view key, std::optional<double> value) {
  if (value && !(*value >= 0 && *value <= kMostSeconds)) {
    in.note(std::string(key) + " is out of range");
    return 0;
  }
  return value.value_or(0);
}

/// null where a server gave what no model gives: its row is void and must be readable.
Json nats(double value) { return std::abs(value) <= kMostNats ? Json(value) : Json(); }

std::string_view to_string(ReadingRecord::Kind kind) {
  switch (kind) {
    case ReadingRecord::Kind::Letters:
      return "letters";
    case ReadingRecord::Kind::Texts:
      return "texts";
    case ReadingRecord::Kind::Written:
      return "written";
  }
  return "letters";
}

std::optional<ReadingRecord::Kind> parse_kind(std::string_view name) {
  using Kind = ReadingRecord::Kind;
  for (const Kind kind : {Kind::Letters, Kind::Texts, Kind::Written}) {
    if (to_string(kind) == name) return kind;
  }
  return std::nullopt;
}

std::optional<decision::WrittenHow> parse_how(std::string_view name) {
  using How = decision::WrittenHow;
  for (const How how : {How::Unparsed, How::Letter, How::StatedLetter, How::Key, How::Words,
                        How::YesNo, How::Reference}) {
    if (decision::to_string(how) == name) return how;
  }
  return std::nullopt;
}

Json to_json(const Round& round) {
  Json out = Json::object();
  Json options = Json::array();
  for (const std::size_t option : round.options) options.push(static_cast<std::uint64_t>(option));
  out.set("options", std::move(options));
  Json logprobs = Json::array();
  for (const auto& lp : round.letters.logprobs) logprobs.push(lp ? nats(*lp) : Json());
  out.set("logprobs", std::move(logprobs));
  set_optional(out, "bound", round.letters.bound);
  out.set("mass_letters", finite(round.letters.mass_letters));
  if (round.letters.mass_outside) out.set("mass_outside", finite(*round.letters.mass_outside));
  out.set("top_token", lossy_utf8(round.letters.top_token));
  set_optional(out, "top_id", round.letters.top_id);
  if (round.letters.top_logprob) out.set("top_logprob", finite(*round.letters.top_logprob));
  if (round.letters.cause != decision::VoidCause::None) {
    out.set("cause", decision::to_string(round.letters.cause));
  }
  return out;
}

Json to_json(const std::vector<Round>& rounds) {
  Json out = Json::array();
  for (const Round& round : rounds) out.push(to_json(round));
  return out;
}

decision::VoidCause read_cause(Fields& in, const Json& json) {
  const std::optional<std::string> name = json.get_string("cause");
  if (!name) return decision::VoidCause::None;
  const auto cause = decision::parse_void_cause(*name);
  if (!cause) in.note("cause has an unknown value");
  return cause.value_or(decision::VoidCause::None);
}

std::vector<Round> read_rounds(Fields& in, const Json& list) {
  std::vector<Round> out;
  if (!list.is_array()) {
    in.note("rounds is no list");
    return out;
  }
  for (const Json& json : list.items()) {
    Fields fields(json);
    Round round;
    for (const Json& option : fields.list("options")) {
      if (option.is_int() && option.as_int() >= 0) {
        round.options.push_back(static_cast<std::size_t>(option.as_int()));
      } else {
        fields.note("options holds something that is no index");
      }
    }
    for (const Json& lp : fields.list("logprobs")) {
      round.letters.logprobs.push_back(lp.is_number() ? std::optional(lp.as_double())
                                                      : std::nullopt);
      if (lp.is_number() && !(std::abs(lp.as_double()) <= kMostNats)) {
        fields.note("a logprob is out of range");
      }
    }
    auto sorted = round.options;
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end()) fields.note("an option is named twice");
    if (round.options.size() != round.letters.logprobs.size()) {
      fields.note("options and logprobs differ in length");
    }
    round.letters.bound = json.get_double("bound");
    round.letters.mass_letters = json.get_double("mass_letters").value_or(0);
    round.letters.mass_outside = json.get_double("mass_outside");
    round.letters.top_token = json.get_string("top_token").value_or("");
    round.letters.top_id = json.get_int("top_id");
    round.letters.top_logprob = json.get_double("top_logprob");
    round.letters.cause = read_cause(fields, json);
    if (fields.problem()) in.note("rounds: " + *fields.problem());
    out.push_back(std::move(round));
  }
  return out;
}

Json to_json(const TextScore& text) {
  return Json::array({nats(text.sum), static_cast<std::uint64_t>(text.tokens),
                      static_cast<std::uint64_t>(text.bytes)});
}

std::optional<TextScore> read_text(const Json& json) {
  if (!json.is_array() || json.items().size() != 3) return std::nullopt;
  const auto& [sum, tokens, bytes] = std::tie(json.items()[0], json.items()[1], json.items()[2]);
  if (!(sum.is_number() || sum.is_null()) || !tokens.is_int() || !bytes.is_int() ||
      tokens.as_int() < 0 || bytes.as_int() < 0) {
    return std::nullopt;
  }
  if (sum.is_number() && !(std::abs(sum.as_double()) <= kMostNats)) return std::nullopt;
  const double value = sum.is_null() ? std::numeric_limits<double>::quiet_NaN() : sum.as_double();
  return TextScore{value, static_cast<std::size_t>(tokens.as_int()),
                   static_cast<std::size_t>(bytes.as_int())};
}

void set_texts(Json& out, const ReadingRecord& reading) {
  Json texts = Json::array();
  for (const TextScore& text : reading.texts) texts.push(to_json(text));
  out.set("texts", std::move(texts));
  bool any = false;
  Json priors = Json::array();
  for (const auto& prior : reading.priors) {
    any = any || prior.has_value();
    priors.push(prior ? to_json(*prior) : Json());
  }
  if (any) out.set("priors", std::move(priors));
}

void read_texts(Fields& in, const Json& json, ReadingRecord& reading) {
  for (const Json& text : in.list("texts")) {
    const auto score = read_text(text);
    if (!score) in.note("texts holds something that is not [sum, tokens, bytes]");
    reading.texts.push_back(score.value_or(TextScore{}));
  }
  reading.priors.resize(reading.texts.size());
  const Json* priors = json.find("priors");
  if (priors == nullptr) return;
  if (!priors->is_array() || priors->items().size() != reading.texts.size()) {
    in.note("priors and texts differ in length");
    return;
  }
  for (std::size_t i = 0; i < reading.priors.size(); ++i) {
    reading.priors[i] = read_text(priors->items()[i]);
  }
}

}  // namespace

Json to_json(const ReadingRecord& reading) {
  using Kind = ReadingRecord::Kind;
  Json out = Json::object();
  out.set("kind", to_string(reading.kind));
  if (reading.cause != decision::VoidCause::None) {
    out.set("cause", decision::to_string(reading.cause));
  }
  if (reading.error) out.set("error", lossy_utf8(*reading.error));
  if (reading.unsupported) out.set("unsupported", true);
  out.set("prompt_sha256", reading.prompt_sha256);
  set_optional(out, "prompt_chars", reading.prompt_chars);
  if (reading.kind == Kind::Letters) {
    out.set("policy", decision::to_string(reading.policy));
    set_optional(out, "asked_k", reading.asked_k);
    out.set("rounds", to_json(reading.rounds));
    if (reading.prior_rounds) out.set("prior_rounds", to_json(*reading.prior_rounds));
  } else if (reading.kind == Kind::Texts) {
    set_texts(out, reading);
  } else {
    out.set("reply", lossy_utf8(reading.reply));
    out.set("how", decision::to_string(reading.answer.how));
    if (reading.answer.option) {
      out.set("option", static_cast<std::uint64_t>(*reading.answer.option));
    }
  }
  set_optional(out, "prompt_tokens", reading.prompt_tokens);
  set_optional(out, "cached_tokens", reading.cached_tokens);
  set_optional(out, "output_tokens", reading.output_tokens);
  set_optional(out, "census_tokens", reading.census_tokens);
  set_optional(out, "prompt_ms", reading.prompt_ms);
  set_optional(out, "total_ms", reading.total_ms);
  out.set("planned_to_done_s", finite(reading.planned_to_done_s));
  out.set("sent_to_done_s", finite(reading.sent_to_done_s));
  if (reading.prior_s > 0) out.set("prior_s", finite(reading.prior_s));
  out.set("calls", reading.calls);
  if (reading.group != 1) out.set("group", reading.group);
  set_optional(out, "finish_reason", reading.finish_reason);
  if (reading.served_model) out.set("served_model", lossy_utf8(*reading.served_model));
  return out;
}

Result<ReadingRecord> parse_reading(const Json& json) {
  using Kind = ReadingRecord::Kind;
  Fields in(json);
  ReadingRecord reading;
  reading.kind = in.named("kind", parse_kind);
  reading.cause = read_cause(in, json);
  reading.error = json.get_string("error");
  reading.unsupported = json.get_bool("unsupported").value_or(false);
  reading.prompt_sha256 = in.text("prompt_sha256");
  reading.prompt_chars = json.get_int("prompt_chars");
  if (reading.kind == Kind::Letters) {
    reading.policy = in.named("policy", decision::parse_letter_policy);
    if (const auto k = json.get_int("asked_k")) reading.asked_k = static_cast<int>(*k);
    if (const Json* rounds = json.find("rounds")) reading.rounds = read_rounds(in, *rounds);
    if (const Json* rounds = json.find("prior_rounds")) {
      reading.prior_rounds = read_rounds(in, *rounds);
    }
  } else if (reading.kind == Kind::Texts) {
    read_texts(in, json, reading);
  } else {
    reading.reply = in.text("reply");
    reading.answer.how = in.named("how", parse_how);
    if (const auto option = json.get_int("option"); option && *option >= 0) {
      reading.answer.option = static_cast<std::size_t>(*option);
    }
  }
  reading.prompt_tokens = json.get_int("prompt_tokens");
  reading.cached_tokens = json.get_int("cached_tokens");
  reading.output_tokens = json.get_int("output_tokens");
  reading.census_tokens = json.get_int("census_tokens");
  reading.prompt_ms = json.get_double("prompt_ms");
  reading.total_ms = json.get_double("total_ms");
  reading.planned_to_done_s = seconds_of(in, "planned_to_done_s", in.number("planned_to_done_s"));
  reading.sent_to_done_s = seconds_of(in, "sent_to_done_s", in.number("sent_to_done_s"));
  reading.prior_s = seconds_of(in, "prior_s", json.get_double("prior_s"));
  reading.calls = static_cast<int>(in.integer("calls"));
  reading.group = static_cast<int>(json.get_int("group").value_or(1));
  reading.finish_reason = json.get_string("finish_reason");
  reading.served_model = json.get_string("served_model");
  if (in.problem()) return fail(Error::Code::Corrupt, *in.problem());
  return reading;
}

}  // namespace deem::record
