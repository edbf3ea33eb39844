#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "decision/native.h"
#include "decision/question.h"
#include "seat/seat.h"

namespace deem::seat {

/// The ways endpoints that answer decisions themselves are spoken to.
/// SystemOne: /v1/systemone (TypeSafe, llama-server, SGLang, Ollama, vLLM, LM Studio) and
///   OpenRouter's /api/alpha/decisions: a map of questions, answers under their ids.
/// OpenAi: /v1/decisions (OpenAI, vLLM): a list of questions, a list of answers.
/// Sglang: SGLang's own /v1/decisions: a list of questions, answers under their ids.
enum class NativeForm { SystemOne, OpenAi, Sglang };
std::string_view to_string(NativeForm form);

/// The whole request body.
std::string native_body(NativeForm form, const std::string& model, const DecideRequest& request);

/// A state and one question in System One's form, whatever form they are sent in: what a row's
/// prompt digest is of. {"state":…,"question":{…}}
std::string native_text(std::string_view state, const decision::Question& question);

struct NativeReply {
  std::vector<decision::NativeAnswer> answers;  // in the order asked
  Usage usage;
};

/// Reads a reply to `request`. Answers are found by their id, in a list also by place where none
/// has a name. Options by their key, in whatever order; further ones are left out.
/// Errors: Corrupt for what can not be read, a key that stands twice among them; Unavailable for an
/// error object.
Result<NativeReply> parse_native_reply(std::string_view bytes, NativeForm form,
                                       const DecideRequest& request);

}  // namespace deem::seat
