// What SGLang's native route sends: positions as lists of [logprob, id, text].
#include <cmath>

#include "seat/document.h"
#include "seat/parse_reply.h"

namespace deem::seat {
namespace {

using decision::TokenScore;
using Entries = std::vector<TokenScore>;

/// [logprob, id, text]; the text may be null.
TokenScore read_triple(const Element& triple) {
  TokenScore out;
  simdjson::dom::array parts;
  if (triple.get_array().get(parts) != simdjson::SUCCESS) return out;
  std::size_t at = 0;
  for (const Element part : parts) {
    const auto value = part.is_null() ? std::nullopt : std::optional(part);
    if (at == 0) out.logprob = read_logprob(value);
    if (at == 1) out.id = read_int(value);
    if (at == 2) out.token = read_string(value).value_or("");
    ++at;
  }
  return out;
}

Entries read_triples(const std::optional<Element>& list) {
  Entries out;
  simdjson::dom::array triples;
  if (!list || list->get_array().get(triples) != simdjson::SUCCESS) return out;
  for (const Element triple : triples) out.push_back(read_triple(triple));
  return out;
}

Usage read_meta(const std::optional<Element>& meta) {
  Usage usage;
  usage.prompt_tokens = read_count(member(meta, "prompt_tokens"));
  usage.cached_tokens = read_count(member(meta, "cached_tokens"));
  usage.output_tokens = read_count(member(meta, "completion_tokens"));
  usage.finish_reason = read_string(member(member(meta, "finish_reason"), "type"));
  if (const auto seconds = read_number(member(meta, "e2e_latency"))) {
    usage.total_ms = *seconds * 1e3;
  }
  return usage;
}

}  // namespace

Result<GenerateReply> parse_generate_reply(std::string_view bytes) {
  const auto document = parse_document(bytes, "meta_info");
  if (!document) return fail(document.error());
  const auto meta = member(document->root(), "meta_info");
  GenerateReply out;
  out.reply.text = read_string(member(document->root(), "text")).value_or("");
  out.reply.usage = read_meta(meta);
  const auto sampled = first_item(member(meta, "output_token_logprobs"));
  const auto asked = first_item(member(meta, "output_token_ids_logprobs"));
  auto& position = out.reply.position;
  position.top = read_triples(first_item(member(meta, "output_top_logprobs")));
  if (sampled && sampled->is_array()) position.sampled = read_triple(*sampled);
  out.has_ids = asked && asked->is_array();
  out.by_id = read_triples(asked);
  position.logprobs_present = position.sampled || out.has_ids || !position.top.empty();
  double mass = 0;
  for (const TokenScore& entry : position.top) {
    if (entry.logprob && std::isfinite(*entry.logprob)) mass += std::exp(*entry.logprob);
  }
  if (!position.top.empty()) position.top_mass = mass;
  return out;
}

Result<PromptScores> parse_generate_scores(std::string_view bytes,
                                           std::span<const std::int64_t> ids, std::size_t first) {
  const auto document = parse_document(bytes, "meta_info");
  if (!document) return fail(document.error());
  const auto meta = member(document->root(), "meta_info");
  const Entries list = read_triples(member(meta, "input_token_logprobs"));
  if (list.empty()) return fail(Error::Code::Corrupt, "no \"input_token_logprobs\" in the reply");
  if (list.size() < ids.size() - first || list.size() > ids.size()) {
    return fail(Error::Code::Corrupt, std::to_string(list.size()) +
                                          " input log-probabilities for " +
                                          std::to_string(ids.size() - first) + " tokens");
  }
  const std::size_t before = ids.size() - list.size();  // tokens the list leaves out
  PromptScores out;
  out.usage = read_meta(meta);
  for (std::size_t at = first; at < ids.size(); ++at) {
    const TokenScore& entry = list[at - before];
    if (entry.id != ids[at]) {
      return fail(Error::Code::Corrupt, "no log-probability of token " + std::to_string(ids[at]) +
                                            " at prompt position " + std::to_string(at));
    }
    out.logprobs.push_back(entry.logprob);
  }
  return out;
}

}  // namespace deem::seat
