#include "seat/metrics_text.h"

#include <charconv>
#include <cmath>

namespace deem::seat {
namespace {

/// The value of one line, "name{labels} value" or "name value", when it is `name`'s.
std::optional<double> value_of(std::string_view line, std::string_view name) {
  if (!line.starts_with(name)) return std::nullopt;
  line.remove_prefix(name.size());
  if (line.starts_with('{')) {
    const auto close = line.rfind('}');
    if (close == std::string_view::npos) return std::nullopt;
    line.remove_prefix(close + 1);
  }
  if (!line.starts_with(' ')) return std::nullopt;
  line.remove_prefix(line.find_first_not_of(' ') == std::string_view::npos
                         ? line.size()
                         : line.find_first_not_of(' '));
  double value = 0;
  const auto [end, ec] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (ec != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> sum_of(std::string_view text, std::string_view name) {
  std::optional<double> sum;
  while (!text.empty()) {
    const auto end = text.find('\n');
    if (const auto value = value_of(text.substr(0, end), name)) sum = sum.value_or(0) + *value;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return sum;
}

}  // namespace

std::optional<double> metric_sum(std::string_view text,
                                 std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const auto sum = sum_of(text, name)) return sum;
  }
  return std::nullopt;
}

Counters read_vllm_counters(std::string_view text) {
  Counters out{.text = "/metrics"};
  out.drafts = metric_sum(text, {"vllm:spec_decode_num_drafts_total"});
  out.draft_tokens = metric_sum(text, {"vllm:spec_decode_num_draft_tokens_total"});
  out.accepted_tokens = metric_sum(text, {"vllm:spec_decode_num_accepted_tokens_total"});
  out.cache_queries =
      metric_sum(text, {"vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total"});
  out.cache_hits =
      metric_sum(text, {"vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total"});
  if (metric_sum(text, {"vllm:num_requests_running"})) {
    out.speculates = out.drafts || out.draft_tokens;
  }
  return out;
}

Counters read_llama_counters(std::string_view text) {
  Counters out{.text = "/metrics"};
  out.drafts = metric_sum(text, {"llamacpp:spec_decode_num_drafts_total"});
  out.draft_tokens = metric_sum(text, {"llamacpp:spec_decode_num_draft_tokens_total"});
  out.accepted_tokens = metric_sum(text, {"llamacpp:spec_decode_num_accepted_tokens_total"});
  out.cache_hits = metric_sum(text, {"llamacpp:prompt_tokens_cached_total"});
  return out;
}

}  // namespace deem::seat
