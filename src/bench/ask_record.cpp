#include "bench/ask_record.h"

#include <optional>
#include <string_view>

#include "base/digest.h"
#include "base/text.h"

namespace deem::bench {
namespace {

template <class T>
void add(std::optional<T>& total, const std::optional<T>& part) {
  if (part) total = total.value_or(T{}) + *part;
}

/// A count below zero is no count.
std::optional<std::int64_t> sane(std::optional<std::int64_t> count) {
  return count && *count < 0 ? std::nullopt : count;
}

/// Ollama's "llama" and "llama:latest" are one name.
bool is_same_name(std::string_view a, std::string_view b) {
  constexpr std::string_view kLatest = ":latest";
  if (a.ends_with(kLatest)) a.remove_suffix(kLatest.size());
  if (b.ends_with(kLatest)) b.remove_suffix(kLatest.size());
  return a == b;
}

}  // namespace

void add_cost(record::ReadingRecord& record, const std::string& model, const seat::Usage& usage,
              const seat::Timing& timing) {
  add(record.prompt_tokens, sane(usage.prompt_tokens));
  add(record.cached_tokens, sane(usage.cached_tokens));
  add(record.output_tokens, sane(usage.output_tokens));
  add(record.prompt_ms, usage.prompt_ms);
  add(record.total_ms, usage.total_ms);
  record.planned_to_done_s += timing.done_s;
  record.sent_to_done_s += timing.done_s - timing.sent_s;
  if (usage.finish_reason) record.finish_reason = usage.finish_reason;
  if (usage.served_model && !model.empty() && !is_same_name(*usage.served_model, model)) {
    record.served_model = usage.served_model;
  }
  ++record.calls;
}

void set_error(record::ReadingRecord& record, const Error& error) {
  record.error = error.message;
  record.unsupported = error.code == Error::Code::Unsupported;
}

void set_prompt(record::ReadingRecord& record, const std::string& prompt) {
  record.prompt_sha256 = sha256_hex(prompt);
  record.prompt_chars = static_cast<std::int64_t>(count_code_points(prompt));
}

}  // namespace deem::bench
