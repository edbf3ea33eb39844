#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/row.h"

namespace deem::score {

/// Latency of one reading under load that goes on: plain and sustained rows of an arm that has
/// any of the latter. Minutes are counted from the stamp of the arm's first such row.
struct SustainedFigures {
  struct Minute {
    std::size_t minute = 0;
    std::size_t n = 0, failed = 0;
    std::optional<double> median_s = {};  // from the planned send
  };
  std::string arm = {}, reading = {};
  std::vector<Minute> minutes = {};  // those with rows
  std::size_t answered = 0, failed = 0;
  double span_s = 0;           // first to last stamp
  double longest_pause_s = 0;  // between two stamps: a resumed run has one
  std::optional<double> first_minute_median_s = {}, last_minute_median_s = {};  // 60 s each
  std::optional<double> answers_per_s = {};  // failed calls stay in the time; none under 1 s
};
std::vector<SustainedFigures> sustained_figures(std::span<const record::Row> rows);

/// Latency by whether the server had any of the prompt evaluated already, plain rows only.
struct PrefixFigures {
  std::string arm = {}, reading = {};
  std::size_t cold = 0, warm = 0, unknown = 0;  // cached_tokens 0; over 0; not told
  std::optional<double> cold_median_s = {}, warm_median_s = {};
  std::optional<double> warm_cached_share = {};  // median of cached ÷ prompt tokens
};
std::vector<PrefixFigures> prefix_figures(std::span<const record::Row> rows);

/// "2026-12-01T05:11:23Z" → seconds since 1970. None for anything else.
std::optional<std::int64_t> parse_stamp(std::string_view stamp);

}  // namespace deem::score
