// Bytes a server may send → every parser of replies and of counters. The first byte picks the
// parser.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "seat/metrics_text.h"
#include "seat/parse_reply.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::vector<std::int64_t> ids = {1, 2, 3};
  switch (data[0] % 10) {
    case 0:
      (void)deem::seat::parse_chat_reply(bytes);
      break;
    case 1:
      (void)deem::seat::parse_ollama_reply(bytes);
      break;
    case 2:
      (void)deem::seat::parse_completion_reply(bytes);
      break;
    case 3:
      (void)deem::seat::parse_prompt_scores(bytes, ids, 1);
      break;
    case 4:
      (void)deem::seat::parse_token_list(bytes);
      break;
    case 5:
      (void)deem::seat::parse_text_member(bytes, "prompt");
      break;
    case 7:
      (void)deem::seat::parse_generate_reply(bytes);
      break;
    case 8:
      (void)deem::seat::parse_generate_scores(bytes, ids, 1);
      break;
    case 9:
      (void)deem::seat::parse_responses_reply(bytes);
      break;
    default:
      (void)deem::seat::parse_error_sentence(bytes);
      (void)deem::seat::read_vllm_counters(bytes);
      (void)deem::seat::read_llama_counters(bytes);
      break;
  }
  return 0;
}
