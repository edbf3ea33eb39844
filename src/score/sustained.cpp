#include "score/sustained.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "score/statistics.h"

namespace deem::score {
namespace {

using record::Row;

/// Digits of `text` at [at, at + n) as a number, −1 when one is none.
int digits(std::string_view text, std::size_t at, std::size_t n) {
  int out = 0;
  for (std::size_t i = at; i < at + n; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    out = out * 10 + (text[i] - '0');
  }
  return out;
}

struct Sample {
  std::int64_t at = 0;
  std::optional<double> seconds = {};  // none: failed
};

SustainedFigures figures_of(const std::string& arm, const std::string& reading,
                            std::vector<Sample> samples) {
  constexpr std::int64_t kMinute = 60;
  SustainedFigures out{.arm = arm, .reading = reading};
  std::ranges::stable_sort(samples, {}, &Sample::at);
  const std::int64_t begin = samples.front().at, end = samples.back().at;
  std::map<std::int64_t, std::vector<double>> by_minute;
  std::map<std::int64_t, std::size_t> failed;
  std::vector<double> first, last;
  std::int64_t pause = 0, before = begin;
  for (const Sample& sample : samples) {
    pause = std::max(pause, sample.at - before);
    before = sample.at;
    const std::int64_t minute = (sample.at - begin) / kMinute;
    if (!sample.seconds) {
      ++out.failed;
      ++failed[minute];
      by_minute[minute];
      continue;
    }
    ++out.answered;
    by_minute[minute].push_back(*sample.seconds);
    if (sample.at - begin < kMinute) first.push_back(*sample.seconds);
    if (end - sample.at < kMinute) last.push_back(*sample.seconds);
  }
  for (auto& [minute, seconds] : by_minute) {
    out.minutes.push_back({.minute = static_cast<std::size_t>(minute),
                           .n = seconds.size(),
                           .failed = failed[minute],
                           .median_s = percentile(seconds, 5'000)});
  }
  out.span_s = static_cast<double>(end - begin);
  out.longest_pause_s = static_cast<double>(pause);
  out.first_minute_median_s = percentile(std::move(first), 5'000);
  out.last_minute_median_s = percentile(std::move(last), 5'000);
  if (end > begin) out.answers_per_s = static_cast<double>(out.answered) / out.span_s;
  return out;
}

}  // namespace

std::optional<std::int64_t> parse_stamp(std::string_view stamp) {
  if (stamp.size() != 20 || stamp[4] != '-' || stamp[7] != '-' || stamp[10] != 'T' ||
      stamp[13] != ':' || stamp[16] != ':' || stamp[19] != 'Z') {
    return std::nullopt;
  }
  const int year = digits(stamp, 0, 4), month = digits(stamp, 5, 2), day = digits(stamp, 8, 2);
  const int hour = digits(stamp, 11, 2), minute = digits(stamp, 14, 2),
            second = digits(stamp, 17, 2);
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (year < 0 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 ||
      !date.ok()) {
    return std::nullopt;
  }
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

std::vector<SustainedFigures> sustained_figures(std::span<const Row> rows) {
  std::set<std::string_view> arms;
  for (const Row& row : rows) {
    if (row.probe == "sustained") arms.insert(row.arm);
  }
  std::vector<SustainedFigures> out;
  if (arms.empty()) return out;
  std::map<std::pair<std::string, std::string>, std::vector<Sample>> samples;
  for (const Row& row : rows) {
    if (!arms.contains(row.arm) || (!row.probe.empty() && row.probe != "sustained")) continue;
    const auto at = parse_stamp(row.stamp);
    if (!at || row.status == Row::Status::Refused) continue;
    for (const auto& [name, reading] : row.readings) {
      if (reading.unsupported) continue;
      samples[{row.arm, name}].push_back(
          {*at, reading.error ? std::nullopt : std::optional(reading.planned_to_done_s)});
    }
  }
  for (auto& [who, of] : samples) {
    out.push_back(figures_of(who.first, who.second, std::move(of)));
  }
  return out;
}

std::vector<PrefixFigures> prefix_figures(std::span<const Row> rows) {
  struct Seconds {
    std::vector<double> cold, warm, shares;
    std::size_t unknown = 0;
  };
  std::map<std::pair<std::string_view, std::string_view>, Seconds> all;
  for (const Row& row : rows) {
    if (!row.probe.empty()) continue;
    for (const auto& [name, reading] : row.readings) {
      if (reading.error || reading.unsupported) continue;
      Seconds& of = all[{row.arm, name}];
      if (!reading.cached_tokens) {
        ++of.unknown;
        continue;
      }
      (*reading.cached_tokens > 0 ? of.warm : of.cold).push_back(reading.planned_to_done_s);
      if (*reading.cached_tokens > 0 && reading.prompt_tokens.value_or(0) > 0) {
        of.shares.push_back(static_cast<double>(*reading.cached_tokens) /
                            static_cast<double>(*reading.prompt_tokens));
      }
    }
  }
  std::vector<PrefixFigures> out;
  for (auto& [who, of] : all) {
    out.push_back({.arm = std::string(who.first),
                   .reading = std::string(who.second),
                   .cold = of.cold.size(),
                   .warm = of.warm.size(),
                   .unknown = of.unknown,
                   .cold_median_s = percentile(std::move(of.cold), 5'000),
                   .warm_median_s = percentile(std::move(of.warm), 5'000),
                   .warm_cached_share = percentile(std::move(of.shares), 5'000)});
  }
  return out;
}

}  // namespace deem::score
