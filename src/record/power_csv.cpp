#include <charconv>
#include <chrono>
#include <map>

#include "base/text.h"
#include "record/power.h"
#include "record/power_limits.h"
#include "record/stamp.h"

namespace deem::record {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes `least` to `most` digits off the front of `text`, as many as there are.
std::optional<int> take_digits(std::string_view& text, std::size_t least, std::size_t most) {
  std::size_t n = 0;
  int value = 0;
  while (n < most && n < text.size() && is_digit(text[n])) {
    value = value * 10 + (text[n++] - '0');
  }
  if (n < least) return std::nullopt;
  text.remove_prefix(n);
  return value;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<double> parse_number(std::string_view text, double high) {
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  if (!(value >= 0 && value <= high)) return std::nullopt;  // NaN too
  return value;
}

struct Line {
  std::string board;
  double unix_s = 0;
  PowerReading reading;
};

Result<Line> parse_line(std::string_view text) {
  const std::vector<std::string_view> fields = split(text, ',');
  const auto bad = [](std::string what) { return fail(Error::Code::Corrupt, std::move(what)); };
  if (fields.size() < 3) return bad("fewer than three fields");
  const std::optional<Stamp> stamp = parse_stamp(trim(fields[1]));
  if (!stamp) return bad("no time stamp in field 2");
  Line line{std::string(trim(fields[0])), stamp->unix_s(), {}};
  if (line.board.empty() || !is_utf8(line.board)) return bad("no board in field 1");
  line.reading.watts = parse_number(trim(fields[2]), kMaxWatts);
  if (!line.reading.watts) return bad("no watts in field 3");
  if (fields.size() > 3) line.reading.memory_mib = parse_number(trim(fields[3]), kMaxMebibytes);
  if (fields.size() > 4) line.reading.utilisation_percent = parse_number(trim(fields[4]), 100);
  return line;
}

}  // namespace

std::optional<Stamp> parse_stamp(std::string_view text) {
  const auto year = take_digits(text, 4, 4);
  if (!year || !take(text, '/')) return std::nullopt;
  const auto month = take_digits(text, 1, 2);
  if (!month || !take(text, '/')) return std::nullopt;
  const bool padded = take(text, ' ');  // "%d" takes " 1" for "01"
  const auto day = take_digits(text, 1, padded ? 1 : 2);
  const std::size_t blanks =
      std::min(text.find_first_not_of(" \t\n\v\f\r\x1c\x1d\x1e\x1f"), text.size());
  if (!day || blanks == 0) return std::nullopt;
  text.remove_prefix(blanks);
  const auto hour = take_digits(text, 1, 2);
  if (!hour || !take(text, ':')) return std::nullopt;
  const auto minute = take_digits(text, 1, 2);
  if (!minute || !take(text, ':')) return std::nullopt;
  const auto second = take_digits(text, 1, 2);
  if (!second || !take(text, '.')) return std::nullopt;
  const std::size_t digits = text.size();
  const auto fraction = take_digits(text, 1, 6);
  if (!fraction || !text.empty()) return std::nullopt;
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(*year), std::chrono::month(unsigned(*month)),
                            std::chrono::day(unsigned(*day))};
  if (*year < 1 || !date.ok() || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  Stamp stamp;
  stamp.seconds = std::int64_t{sys_days(date).time_since_epoch().count()} * 86'400 + *hour * 3'600 +
                  *minute * 60 + *second;
  stamp.microseconds = *fraction;
  for (std::size_t i = digits; i < 6; ++i) stamp.microseconds *= 10;
  return stamp;
}

Result<PowerFile> parse_reference_watts(std::string_view bytes) {
  PowerFile out;
  PowerSegment segment;
  std::map<std::string, std::size_t> places;
  std::map<double, PowerSample> samples;  // by stamp
  std::vector<double> last;               // of each board
  std::size_t line = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    ++line;
    const std::size_t end = bytes.find('\n', at);
    const std::string_view text = bytes.substr(at, end - at);
    at = end == std::string_view::npos ? bytes.size() : end + 1;
    if (trim(text).empty()) continue;
    Result<Line> parsed = parse_line(text);
    if (!parsed) {
      if (end == std::string_view::npos) {
        out.torn_tail = true;
      } else {
        out.problems.push_back({line, parsed.error().message});
      }
      continue;
    }
    const auto [place, fresh] = places.try_emplace(parsed->board, segment.boards.size());
    const std::size_t board = place->second;
    if (fresh) {
      if (segment.boards.size() == kMaxBoards) {
        places.erase(place);
        out.problems.push_back({line, "more than 1024 boards"});
        continue;
      }
      segment.boards.push_back({.id = parsed->board,
                                .name = {},
                                .pci = {},
                                .source = "nvidia-smi",
                                .cap_w = {},
                                .reading_period_s = {},
                                .has_counter = false});
      last.push_back(parsed->unix_s);
    } else if (parsed->unix_s <= last[board]) {
      out.problems.push_back({line, "the stamp is not after the board's one before"});
      continue;
    }
    last[board] = parsed->unix_s;
    PowerSample& sample = samples[parsed->unix_s];
    sample.boards.resize(std::max(sample.boards.size(), board + 1));
    sample.boards[board] = parsed->reading;
  }
  if (samples.empty()) return fail(Error::Code::Corrupt, "no line is a power sample");
  segment.period_s = 1;  // what the reference bench asks nvidia-smi for
  for (auto& [stamp, sample] : samples) {
    sample.mono_s = sample.wall_s = stamp;
    sample.boards.resize(segment.boards.size());
    segment.samples.push_back(std::move(sample));
  }
  out.segments.push_back(std::move(segment));
  return out;
}

}  // namespace deem::record
