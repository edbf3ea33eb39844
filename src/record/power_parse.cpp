#include <charconv>
#include <cmath>
#include <set>

#include "codec/json.h"
#include "record/fields.h"
#include "record/power.h"
#include "record/power_limits.h"

namespace deem::record {
namespace {

using codec::Json;
constexpr std::string_view kSchema = "deem.power/1";
constexpr std::int64_t kMaxCount = std::int64_t{1} << 53;
constexpr std::size_t kValues = 8;  // of a reading

std::unexpected<Error> corrupt(std::string what) {
  return fail(Error::Code::Corrupt, std::move(what));
}

/// Null and absent are unknown. Anything else must be a number from `low` to `high`, or it is a
/// problem of `in`.
std::optional<double> number_in(const Json* value, std::string_view name, double low, double high,
                                std::optional<std::string>& problem) {
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (value->is_number()) {
    const double number = value->as_double();
    if (number >= low && number <= high) return number;
  }
  if (!problem)
    problem = std::string(name) + " is no number from " + codec::dump_json(Json(low)) + " to " +
              codec::dump_json(Json(high));
  return std::nullopt;
}

std::optional<std::uint64_t> bits_in(const Json* value, std::string_view name,
                                     std::optional<std::string>& problem) {
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (value->is_int() && value->as_int() >= 0) return static_cast<std::uint64_t>(value->as_int());
  if (value->kind() == Json::Kind::BigInt) {
    const std::string& digits = value->digits();
    std::uint64_t bits = 0;
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
    if (end.ec == std::errc() && end.ptr == digits.data() + digits.size()) return bits;
  }
  if (!problem) problem = std::string(name) + " is no 64-bit number";
  return std::nullopt;
}

std::int64_t count_in(const Json& json, std::string_view name,
                      std::optional<std::string>& problem) {
  const Json* value = json.find(name);
  if (value == nullptr || value->is_null()) return 0;
  if (value->is_int() && value->as_int() >= 0 && value->as_int() <= kMaxCount) {
    return value->as_int();
  }
  if (!problem) problem = std::string(name) + " is no count";
  return 0;
}

Result<PowerSegment> parse_heading(const Json& json) {
  Fields in(json);
  if (in.text("schema") != kSchema) return corrupt("schema is not " + std::string(kSchema));
  std::optional<std::string> problem;
  PowerSegment segment;
  segment.boot_id = in.text("boot_id");
  segment.period_s =
      number_in(json.find("period_s"), "period_s", 0, kMaxPeriod, problem).value_or(0);
  const std::vector<Json>& boards = in.list("boards");
  if (boards.size() > kMaxBoards) return corrupt("more than 1024 boards");
  std::set<std::string> ids;
  for (const Json& one : boards) {
    Fields board_in(one);
    PowerBoard board;
    board.id = board_in.text("id");
    board.name = one.get_string("name").value_or("");
    board.pci = one.get_string("pci").value_or("");
    board.source = one.get_string("source").value_or("");
    board.cap_w = number_in(one.find("cap_w"), "cap_w", 0, kMaxWatts, problem);
    board.reading_period_s =
        number_in(one.find("reading_period_s"), "reading_period_s", 0, kMaxPeriod, problem);
    board.has_counter = one.get_bool("counter").value_or(false);
    if (board_in.problem()) in.note("boards: " + *board_in.problem());
    if (!ids.insert(board.id).second) in.note("boards: " + board.id + " stands twice");
    segment.boards.push_back(std::move(board));
  }
  if (problem) in.note(*problem);
  if (in.problem()) return corrupt(*in.problem());
  return segment;
}

PowerReading parse_values(const std::vector<Json>& values, std::optional<std::string>& problem) {
  const auto at = [&](std::size_t i) { return i < values.size() ? &values[i] : nullptr; };
  PowerReading out;
  if (values.size() > kValues) problem = "a reading has more than eight values";
  out.watts = number_in(at(0), "watts", 0, kMaxWatts, problem);
  out.energy_j = number_in(at(1), "joules", 0, kMaxJoules, problem);
  out.memory_mib = number_in(at(2), "memory", 0, kMaxMebibytes, problem);
  out.utilisation_percent = number_in(at(3), "utilisation", 0, 100, problem);
  out.temperature_c = number_in(at(4), "temperature", kMinCelsius, kMaxCelsius, problem);
  out.sm_mhz = number_in(at(5), "clock", 0, kMaxMegahertz, problem);
  out.clock_reasons = bits_in(at(6), "clock reasons", problem);
  if (const auto processes = bits_in(at(7), "processes", problem)) {
    if (*processes > std::uint64_t{kMaxCount}) problem = "processes is no count";
    out.processes = static_cast<std::int64_t>(*processes);
  }
  return out;
}

Result<PowerSample> parse_sample(const Json& json, double mono_s, const PowerSegment& segment) {
  Fields in(json);
  std::optional<std::string> problem;
  PowerSample sample;
  sample.mono_s = mono_s;
  const std::optional<double> wall =
      number_in(json.find("u"), "u", -kMaxSeconds, kMaxSeconds, problem);
  if (!wall && !problem) problem = "u is missing";
  sample.wall_s = wall.value_or(0);
  if (in.text("b") != segment.boot_id.substr(0, 8)) in.note("b is another boot than the heading's");
  const std::vector<Json>& readings = in.list("r");
  if (in.problem()) return corrupt(*in.problem());
  if (readings.size() != segment.boards.size()) {
    return corrupt(std::to_string(readings.size()) + " readings, the heading has " +
                   std::to_string(segment.boards.size()) + " boards");
  }
  if (!segment.samples.empty() && mono_s <= segment.samples.back().mono_s) {
    return corrupt("t is not after the sample before");
  }
  sample.boards.reserve(readings.size());
  for (const Json& reading : readings) {
    if (!reading.is_array()) return corrupt("a reading is no list");
    sample.boards.push_back(parse_values(reading.items(), problem));
  }
  if (problem) return corrupt(*problem);
  return sample;
}

std::optional<PowerMark::Kind> mark_kind(std::string_view name) {
  if (name == "idle_before") return PowerMark::Kind::IdleBefore;
  if (name == "idle_after") return PowerMark::Kind::IdleAfter;
  if (name == "load") return PowerMark::Kind::Load;
  if (name == "block") return PowerMark::Kind::Block;
  return std::nullopt;
}

Result<PowerMark> parse_mark(const Json& json, double mono_s) {
  Fields in(json);
  std::optional<std::string> problem;
  PowerMark mark;
  mark.mono_s = mono_s;
  mark.kind = in.named("mark", mark_kind);
  const std::string edge = in.text("edge");
  if (edge != "begin" && edge != "end") in.note("edge is neither begin nor end");
  mark.begin = edge == "begin";
  mark.arm = json.get_string("arm").value_or("");
  mark.task = json.get_string("task").value_or("");
  mark.probe = json.get_string("probe").value_or("");
  mark.rows = count_in(json, "rows", problem);
  const Json* tokens = json.find("prompt_tokens");
  mark.has_prompt_tokens = tokens != nullptr && !tokens->is_null();
  mark.prompt_tokens = count_in(json, "prompt_tokens", problem);
  if (problem) in.note(*problem);
  if (in.problem()) return corrupt(*in.problem());
  return mark;
}

Result<PowerEvent> parse_event(const Json& json, double mono_s) {
  Fields in(json);
  std::optional<std::string> problem;
  PowerEvent event;
  event.mono_s = mono_s;
  event.what = in.text("event");
  event.board = json.get_string("board").value_or("");
  event.detail = json.get_string("detail").value_or("");
  event.count = count_in(json, "count", problem);
  if (problem) in.note(*problem);
  if (in.problem()) return corrupt(*in.problem());
  return event;
}

/// Puts the value into `to`, or gives its error.
template <class T>
Result<void> keep(Result<T> value, std::vector<T>& to) {
  if (!value) return fail(value.error());
  to.push_back(std::move(*value));
  return {};
}

/// One line. `open`: whether the last heading could be read, so that what follows has boards.
Result<void> take_line(std::string_view line, PowerFile& out, bool& open) {
  if (line.size() > kMaxPowerLine) return corrupt("longer than 1 MiB");
  Result<Json> json = codec::parse_json(line);
  if (!json) return fail(json.error());
  if (json->find("schema") != nullptr) {
    open = false;
    Result<void> heading = keep(parse_heading(*json), out.segments);
    open = heading.has_value();
    return heading;
  }
  std::optional<std::string> problem;
  const std::optional<double> mono = number_in(json->find("t"), "t", 0, kMaxSeconds, problem);
  if (problem) return corrupt(*problem);
  if (!mono) return corrupt("no power line: t is missing");
  if (!open) return corrupt("no readable heading above it");
  PowerSegment& segment = out.segments.back();
  if (json->find("mark") != nullptr) return keep(parse_mark(*json, *mono), segment.marks);
  if (json->find("event") != nullptr) return keep(parse_event(*json, *mono), segment.events);
  return keep(parse_sample(*json, *mono, segment), segment.samples);
}

}  // namespace

PowerFile parse_power(std::string_view bytes) {
  PowerFile out;
  bool open = false;
  std::size_t line = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    ++line;
    const std::size_t end = bytes.find('\n', at);
    if (end == std::string_view::npos) {
      out.torn_tail = true;
      return out;
    }
    const std::string_view text = bytes.substr(at, end - at);
    at = end + 1;
    if (text.empty()) continue;  // a writer that finds a torn tail ends it first
    if (Result<void> taken = take_line(text, out, open); !taken) {
      out.problems.push_back({line, taken.error().message});
    }
  }
  return out;
}

}  // namespace deem::record
