#include "seat/parse_reply.h"

#include "base/text.h"
#include "net/url.h"
#include "seat/document.h"
#include "seat/logprob_list.h"

namespace deem::seat {
namespace {

using decision::FirstPosition;
using decision::TokenScore;

void keep(LogprobList list, Reply& reply) {
  reply.position = std::move(list.first);
  reply.more = std::move(list.more);
  reply.shape = std::move(list.shape);
}

/// Thinking that a server left in the text: "<think>…</think>answer". An open block is all
/// thinking.
void split_thinking(Reply& reply) {
  constexpr std::string_view kOpen = "<think>", kClose = "</think>";
  const std::string_view text = reply.text;
  const auto start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || !text.substr(start).starts_with(kOpen)) return;
  const auto body = start + kOpen.size();
  const auto close = text.find(kClose, body);
  reply.thinking += text.substr(body, close == std::string_view::npos ? close : close - body);
  reply.text = close == std::string_view::npos
                   ? std::string()
                   : std::string(trim(text.substr(close + kClose.size())));
}

Usage read_usage(const Element& root) {
  Usage usage;
  const auto counts = member(root, "usage");
  usage.prompt_tokens = read_count(member(counts, "prompt_tokens"));
  usage.output_tokens = read_count(member(counts, "completion_tokens"));
  usage.cached_tokens =
      read_count(member(member(counts, "prompt_tokens_details"), "cached_tokens"));
  usage.served_model = read_told(member(root, "model"));
  return usage;
}

/// llama-server's own clock and cache count.
void read_timings(const Element& root, Usage& usage) {
  const auto timings = member(root, "timings");
  if (!timings) return;
  usage.prompt_ms = read_number(member(timings, "prompt_ms"));
  const auto predicted = read_number(member(timings, "predicted_ms"));
  if (usage.prompt_ms && predicted) usage.total_ms = *usage.prompt_ms + *predicted;
  if (!usage.cached_tokens) usage.cached_tokens = read_count(member(timings, "cache_n"));
}

/// llama-server prints the lowest float where a probability came out as 0 in single precision:
/// that is minus infinity, not a sentinel.
void drop_underflow(FirstPosition& position) {
  constexpr double kLowest = -1e30;
  const auto fix = [](TokenScore& entry) {
    if (entry.logprob && *entry.logprob < kLowest) entry.logprob.reset();
  };
  for (TokenScore& entry : position.top) fix(entry);
  if (position.sampled) fix(*position.sampled);
}

std::optional<double> milliseconds(const std::optional<double>& nanoseconds) {
  if (!nanoseconds) return std::nullopt;
  return *nanoseconds / 1e6;
}

/// A piece of text that may be no UTF-8 and is then sent as its bytes.
std::string read_piece(const Element& piece) {
  if (auto text = read_string(piece)) return std::move(*text);
  std::string out;
  simdjson::dom::array bytes;
  if (piece.get_array().get(bytes) != simdjson::SUCCESS) return out;
  for (const Element byte : bytes) {
    out += static_cast<char>(static_cast<unsigned char>(read_int(byte).value_or(0)));
  }
  return out;
}

/// A pydantic list of complaints: "messages.0.content: Field required; …".
std::string join_complaints(const simdjson::dom::array& list) {
  std::string out;
  for (const Element entry : list) {
    std::string where;
    simdjson::dom::array path;
    if (const auto loc = member(entry, "loc");
        loc && loc->get_array().get(path) == simdjson::SUCCESS) {
      for (const Element step : path) {
        const auto name = read_string(step);
        const auto index = read_int(step);
        if (name == "body") continue;
        if (!where.empty()) where += '.';
        where += name ? *name : index ? std::to_string(*index) : "?";
      }
    }
    const std::string words = read_string(member(entry, "msg")).value_or("");
    if (words.empty()) continue;
    if (!out.empty()) out += "; ";
    out += where.empty() ? words : where + ": " + words;
  }
  return out;
}

std::string find_sentence(const Element& root) {
  if (const auto text = read_string(root)) return *text;
  for (const char* key : {"error", "detail", "message", "msg", "error_description"}) {
    const auto value = member(root, key);
    if (!value) continue;
    simdjson::dom::array list;
    const std::string text = value->get_array().get(list) == simdjson::SUCCESS
                                 ? join_complaints(list)
                                 : find_sentence(*value);
    if (!text.empty()) return text;
  }
  return "";
}

/// The text between the tags of a page, its beginning.
std::string words_of_page(std::string_view page) {
  constexpr std::size_t kMost = 120;
  std::string words;
  bool in_tag = false;
  for (const char c : net::redact(page)) {
    if (c == '<') {
      in_tag = true;
    } else if (c == '>') {
      in_tag = false;
    } else if (!in_tag) {
      const bool space = c == ' ' || c == '\n' || c == '\r' || c == '\t';
      if (!space) words += c;
      if (space && !words.empty() && words.back() != ' ') words += ' ';
    } else if (!words.empty() && words.back() != ' ') {
      words += ' ';
    }
  }
  return printable(trim(words), kMost);
}

}  // namespace

Result<Reply> parse_chat_reply(std::string_view bytes) {
  const auto document = parse_document(bytes, "choices");
  if (!document) return fail(document.error());
  const Element& root = document->root();
  const auto choice = first_item(member(root, "choices"));
  if (!choice) return fail(Error::Code::Corrupt, "\"choices\" is empty in the reply");
  Reply out;
  const auto message = member(*choice, "message");
  out.text = read_string(member(message, "content")).value_or("");
  for (const char* key : {"reasoning", "reasoning_content", "thinking"}) {
    if (out.thinking.empty()) out.thinking = read_string(member(message, key)).value_or("");
  }
  split_thinking(out);
  keep(read_chat_logprobs(*choice), out);
  out.usage = read_usage(root);
  out.usage.finish_reason = read_string(member(*choice, "finish_reason"));
  read_timings(root, out.usage);
  return out;
}

Result<Reply> parse_ollama_reply(std::string_view bytes) {
  const auto document = parse_document(bytes, "message");
  if (!document) return fail(document.error());
  const Element& root = document->root();
  const auto message = member(root, "message");
  Reply out;
  out.text = read_string(member(message, "content")).value_or("");
  out.thinking = read_string(member(message, "thinking")).value_or("");
  split_thinking(out);
  keep(read_logprob_list(root, "logprobs"), out);
  out.usage.prompt_tokens = read_count(member(root, "prompt_eval_count"));
  out.usage.output_tokens = read_count(member(root, "eval_count"));
  out.usage.prompt_ms = milliseconds(read_number(member(root, "prompt_eval_duration")));
  out.usage.total_ms = milliseconds(read_number(member(root, "total_duration")));
  out.usage.finish_reason = read_string(member(root, "done_reason"));
  out.usage.served_model = read_told(member(root, "model"));
  return out;
}

Result<Reply> parse_completion_reply(std::string_view bytes) {
  const auto document = parse_document(bytes, "content");
  if (!document) return fail(document.error());
  const Element& root = document->root();
  Reply out;
  out.text = read_string(member(root, "content")).value_or("");
  keep(read_logprob_list(root, "completion_probabilities"), out);
  out.usage.prompt_tokens = read_count(member(root, "tokens_evaluated"));
  out.usage.output_tokens = read_count(member(root, "tokens_predicted"));
  out.usage.finish_reason = read_string(member(root, "stop_type"));
  out.usage.served_model = read_told(member(root, "model"));
  if (const auto cut = member(root, "truncated"); cut && cut->is_bool()) {
    out.usage.truncated = cut->get_bool().value_unsafe();
  }
  read_timings(root, out.usage);
  drop_underflow(out.position);
  for (FirstPosition& position : out.more) drop_underflow(position);
  return out;
}

Result<Reply> parse_responses_reply(std::string_view bytes) {
  const auto document = parse_document(bytes, "output");
  if (!document) return fail(document.error());
  const Element& root = document->root();
  if (member(root, "error")) return fail(Error::Code::Unavailable, parse_error_sentence(bytes));
  simdjson::dom::array items;
  if (member(root, "output")->get_array().get(items) != simdjson::SUCCESS) {
    return fail(Error::Code::Corrupt, "\"output\" is no list in the reply");
  }
  Reply out;
  for (const Element item : items) {
    const bool thought = read_string(member(item, "type")) == "reasoning";
    simdjson::dom::array parts;
    const auto content = member(item, "content");
    if (!content || content->get_array().get(parts) != simdjson::SUCCESS) continue;
    for (const Element part : parts) {
      (thought ? out.thinking : out.text) += read_string(member(part, "text")).value_or("");
      if (!thought && !out.position.logprobs_present) {
        keep(read_logprob_list(part, "logprobs"), out);
      }
    }
  }
  split_thinking(out);
  const auto counts = member(root, "usage");
  out.usage.prompt_tokens = read_count(member(counts, "input_tokens"));
  if (out.usage.prompt_tokens == 0) out.usage.prompt_tokens.reset();
  out.usage.output_tokens = read_count(member(counts, "output_tokens"));
  out.usage.cached_tokens =
      read_count(member(member(counts, "input_tokens_details"), "cached_tokens"));
  out.usage.served_model = read_told(member(root, "model"));
  out.usage.finish_reason = read_string(member(member(root, "incomplete_details"), "reason"));
  if (!out.usage.finish_reason) out.usage.finish_reason = read_string(member(root, "status"));
  if (out.usage.finish_reason == "max_output_tokens") out.usage.finish_reason = "length";
  if (out.usage.finish_reason == "completed") out.usage.finish_reason = "stop";
  return out;
}

Result<PromptScores> parse_prompt_scores(std::string_view bytes, std::span<const std::int64_t> ids,
                                         std::size_t first) {
  const auto document = parse_document(bytes, "choices");
  if (!document) return fail(document.error());
  const auto choice = first_item(member(document->root(), "choices"));
  const auto list = choice ? member(*choice, "prompt_logprobs") : std::nullopt;
  simdjson::dom::array positions;
  if (!list || list->get_array().get(positions) != simdjson::SUCCESS) {
    return fail(Error::Code::Corrupt, "no \"prompt_logprobs\" in the reply");
  }
  PromptScores out;
  out.usage = read_usage(document->root());
  std::size_t at = 0;
  for (const Element position : positions) {
    if (at >= first && at < ids.size()) {
      const auto entry = member(position, std::to_string(ids[at]));
      if (!entry) {
        return fail(Error::Code::Corrupt, "no log-probability of token " + std::to_string(ids[at]) +
                                              " at prompt position " + std::to_string(at));
      }
      out.logprobs.push_back(entry->is_object() ? read_logprob(member(*entry, "logprob"))
                                                : read_logprob(entry));
    }
    ++at;
  }
  if (at != ids.size()) {
    return fail(Error::Code::Corrupt, std::to_string(at) + " prompt log-probabilities for " +
                                          std::to_string(ids.size()) + " tokens");
  }
  return out;
}

Result<TokenList> parse_token_list(std::string_view bytes) {
  const auto document = parse_document(bytes, "tokens");
  if (!document) return fail(document.error());
  simdjson::dom::array list;
  if (member(document->root(), "tokens")->get_array().get(list) != simdjson::SUCCESS) {
    return fail(Error::Code::Corrupt, "\"tokens\" is no list in the reply");
  }
  TokenList out;
  for (const Element entry : list) {
    const auto id = entry.is_object() ? read_int(member(entry, "id")) : read_int(entry);
    if (!id) return fail(Error::Code::Corrupt, "a token without an id in the reply");
    out.ids.push_back(*id);
    if (const auto piece = member(entry, "piece")) out.pieces.push_back(read_piece(*piece));
  }
  if (out.pieces.size() != out.ids.size()) out.pieces.clear();
  return out;
}

Result<std::string> parse_text_member(std::string_view bytes, std::string_view key) {
  const auto document = parse_document(bytes, key);
  if (!document) return fail(document.error());
  auto text = read_string(member(document->root(), key));
  if (!text)
    return fail(Error::Code::Corrupt, "\"" + std::string(key) + "\" is no text in the reply");
  return std::move(*text);
}

std::string parse_error_sentence(std::string_view bytes) {
  constexpr std::size_t kLongest = 600;
  if (const auto document = Document::parse(bytes)) {
    const std::string sentence = find_sentence(document->root());
    if (!sentence.empty()) return printable(trim(net::redact(sentence)), kLongest);
  }
  const std::string_view page = trim(bytes);
  if (page.starts_with('<')) return "a web page: " + words_of_page(page.substr(0, 4 * kLongest));
  return printable(trim(net::redact(bytes.substr(0, 4 * kLongest))), kLongest);
}

}  // namespace deem::seat
