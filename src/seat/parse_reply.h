#pragma once

// Private to seat: what servers send back, read and not judged. Pure functions over bytes; each
// takes anything and answers Corrupt for what it can not read, Unavailable when the body is an
// error object in spite of its status.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "decision/letters.h"
#include "seat/seat.h"

namespace deem::seat {

/// One answered request.
struct Reply {
  std::string text;  // the answer, thinking apart
  std::string thinking;
  decision::FirstPosition position;           // `exact` and `asked_k` are the caller's to fill
  std::string shape;                          // as PositionReply's
  std::vector<decision::FirstPosition> more;  // the positions after the first
  Usage usage;
};

/// OpenAI's chat form as vLLM, llama-server and the rest send it. A token
/// spelled "token_id:N" gets its id and no text.
Result<Reply> parse_chat_reply(std::string_view bytes);

/// Ollama's /api/chat: the list of positions is flat at the root.
Result<Reply> parse_ollama_reply(std::string_view bytes);

/// llama-server's /completion: every entry carries its id.
Result<Reply> parse_completion_reply(std::string_view bytes);

/// The Responses form as LM Studio sends it: output items, of which messages hold the text and the
/// log-probabilities. A count of 0 input tokens is none: it has been seen of prompts that had some.
/// How it ended is put in the words of the chat form.
Result<Reply> parse_responses_reply(std::string_view bytes);

/// SGLang's /generate with return_logprob: positions are lists of [logprob, id, text].
struct GenerateReply {
  Reply reply;
  bool has_ids = false;                     // a list of the ids asked for is there
  std::vector<decision::TokenScore> by_id;  // what it holds for the first position
};
Result<GenerateReply> parse_generate_reply(std::string_view bytes);

/// vLLM's /v1/completions with prompt_logprobs: the log-probability of each id of `ids` from index
/// `first` on, given those before it. Also Corrupt when the list does not fit `ids`.
struct PromptScores {
  std::vector<std::optional<double>> logprobs;
  Usage usage;
};
Result<PromptScores> parse_prompt_scores(std::string_view bytes, std::span<const std::int64_t> ids,
                                         std::size_t first);

/// The same of SGLang's /generate, whose list begins anywhere before `first` and ends with the last
/// of `ids`.
Result<PromptScores> parse_generate_scores(std::string_view bytes,
                                           std::span<const std::int64_t> ids, std::size_t first);

/// /tokenize of vLLM {"tokens":[…],"count"} and llama-server {"tokens":[…]}, ids bare or as
/// {"id","piece"}, a piece being a string or its bytes.
struct TokenList {
  std::vector<std::int64_t> ids;
  std::vector<std::string> pieces;  // as many as ids, or none
};
Result<TokenList> parse_token_list(std::string_view bytes);

/// The string member `key` of an object: /apply-template's prompt, /detokenize's.
Result<std::string> parse_text_member(std::string_view bytes, std::string_view key);

/// The server's own sentence out of an error body: {"error":{"message"}}, {"error":"…"},
/// {"detail":"…" | {"message"} | [{"loc","msg"}]}, {"message"}, or plain text; credentials in URLs
/// hidden, one line, at most 600 code points. "" when the body says nothing.
std::string parse_error_sentence(std::string_view bytes);

}  // namespace deem::seat
