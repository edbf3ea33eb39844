#include "record/power.h"

#include <charconv>
#include <cmath>
#include <filesystem>

#include "base/file.h"
#include "codec/json.h"
#include "record/fields.h"
#include "record/power_limits.h"

namespace deem::record {
namespace {

using codec::Json;

void append_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value);
  out.append(text, end.ptr);
}

template <std::integral T>
void append_number(std::string& out, T value) {
  out += std::to_string(value);
}

/// Seconds with `decimals` digits at most: a clock read at 10 Hz needs no more.
void append_seconds(std::string& out, double seconds, int decimals) {
  if (!std::isfinite(seconds) || std::abs(seconds) > 1e15) {
    append_number(out, seconds);
    return;
  }
  char text[64];
  const auto end =
      std::to_chars(text, text + sizeof text, seconds, std::chars_format::fixed, decimals);
  std::string_view digits(text, static_cast<std::size_t>(end.ptr - text));
  while (digits.ends_with('0')) digits.remove_suffix(1);
  if (digits.ends_with('.')) digits.remove_suffix(1);
  out += digits == "-0" ? "0" : digits;
}

/// What a reader would refuse is not told.
std::optional<double> within(const std::optional<double>& value, double least, double most) {
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

void append_reading(std::string& out, const PowerReading& reading) {
  out += '[';
  std::size_t known = out.size();  // up to the last value that was told: nulls behind it are cut
  bool first = true;
  const auto add = [&](const auto& value) {
    if (!first) out += ',';
    first = false;
    if (value) {
      append_number(out, *value);
      known = out.size();
    } else {
      out += "null";
    }
  };
  // A sensor's nonsense is not told: it must not cost the line, and every other board's reading.
  add(within(reading.watts, 0, kMaxWatts));
  add(within(reading.energy_j, 0, kMaxJoules));
  add(within(reading.memory_mib, 0, kMaxMebibytes));
  add(within(reading.utilisation_percent, 0, kMaxPercent));
  add(within(reading.temperature_c, kMinCelsius, kMaxCelsius));
  add(within(reading.sm_mhz, 0, kMaxMegahertz));
  add(reading.clock_reasons);
  add(reading.processes);
  out.resize(known);
  out += ']';
}

void append_member(std::string& out, std::string_view name, std::string_view text) {
  out += ",\"";
  out += name;
  out += "\":";
  codec::append_json_string(out, lossy_utf8(text), false);
}

std::string begin_line(double mono_s) {
  std::string out = "{\"t\":";
  append_seconds(out, mono_s, 6);
  return out;
}

std::string_view name_of(PowerMark::Kind kind) {
  switch (kind) {
    case PowerMark::Kind::IdleBefore:
      return "idle_before";
    case PowerMark::Kind::IdleAfter:
      return "idle_after";
    case PowerMark::Kind::Load:
      return "load";
    case PowerMark::Kind::Block:
      break;
  }
  return "block";
}

}  // namespace

std::string format_power_heading(const PowerSegment& segment) {
  Json boards = Json::array();
  for (const PowerBoard& board : segment.boards) {
    Json one = Json::object();
    one.set("id", lossy_utf8(board.id));
    one.set("name", lossy_utf8(board.name));
    one.set("pci", lossy_utf8(board.pci));
    one.set("source", lossy_utf8(board.source));
    set_optional(one, "cap_w", within(board.cap_w, 0, kMaxWatts));
    set_optional(one, "reading_period_s", within(board.reading_period_s, 0, kMaxPeriod));
    one.set("counter", board.has_counter);
    boards.push(std::move(one));
  }
  Json out = Json::object();
  out.set("schema", "deem.power/1");
  out.set("boot_id", lossy_utf8(segment.boot_id));
  out.set("period_s", finite(segment.period_s));
  out.set("boards", std::move(boards));
  return codec::dump_json(out, {.ascii = false, .compact = true});
}

std::string format_power_sample(const PowerSample& sample, std::string_view boot_id) {
  std::string out = begin_line(sample.mono_s);
  out += ",\"u\":";
  append_seconds(out, sample.wall_s, 3);
  append_member(out, "b", boot_id.substr(0, 8));
  out += ",\"r\":[";
  for (std::size_t i = 0; i < sample.boards.size(); ++i) {
    if (i > 0) out += ',';
    append_reading(out, sample.boards[i]);
  }
  out += "]}";
  return out;
}

std::string format_power_mark(const PowerMark& mark) {
  std::string out = begin_line(mark.mono_s);
  append_member(out, "mark", name_of(mark.kind));
  append_member(out, "edge", mark.begin ? "begin" : "end");
  if (!mark.arm.empty()) append_member(out, "arm", mark.arm);
  if (!mark.task.empty()) append_member(out, "task", mark.task);
  if (!mark.probe.empty()) append_member(out, "probe", mark.probe);
  if (mark.kind == PowerMark::Kind::Block && !mark.begin) {
    out += ",\"rows\":" + std::to_string(mark.rows);
    if (mark.has_prompt_tokens) out += ",\"prompt_tokens\":" + std::to_string(mark.prompt_tokens);
  }
  out += '}';
  return out;
}

std::string format_power_event(const PowerEvent& event) {
  std::string out = begin_line(event.mono_s);
  append_member(out, "event", event.what);
  if (!event.board.empty()) append_member(out, "board", event.board);
  if (event.count != 0) out += ",\"count\":" + std::to_string(event.count);
  if (!event.detail.empty()) append_member(out, "detail", event.detail);
  out += '}';
  return out;
}

Result<PowerFile> load_power(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_fifo(path, ignored) || std::filesystem::is_socket(path, ignored)) {
    return fail(Error::Code::Unavailable, path + ": is no regular file");
  }
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) return fail(file.error());
  const std::string_view bytes = file->bytes();
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || bytes[first] == '{') return parse_power(bytes);
  Result<PowerFile> power = parse_reference_watts(bytes);
  if (!power) return fail(path, power.error());
  return power;
}

}  // namespace deem::record
