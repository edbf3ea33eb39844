#include "cli/seat_doubts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "bench/diagnosis.h"

namespace deem::cli {
namespace {

using codec::Json;

std::string told(const Json& probe, std::string_view key, std::size_t most) {
  return printable(probe.get_string(key).value_or(""), most);
}

std::string why_of(const Json& probe) {
  std::string out = told(probe, "name", 40) + ": " + told(probe, "says", 300);
  const std::string direction = told(probe, "direction", 60);
  return direction.empty() ? out : out + " [" + direction + "]";
}

/// The readings the arm takes; none where its settings can not be read.
std::vector<std::string> readings_of(const record::ArmRecord& arm) {
  const Result<bench::Arm> settings = bench::parse_arm(arm.settings);
  return settings ? bench::diagnosed_readings(*settings) : std::vector<std::string>();
}

void add_doubts(const Json& probe, const std::string& arm, const std::vector<std::string>& readings,
                report::Heading& heading) {
  const Json* spoils = probe.find("spoils");
  if (spoils == nullptr || !spoils->is_array()) return;
  for (const Json& one : spoils->items()) {
    if (!one.is_string() || std::ranges::find(readings, one.as_string()) == readings.end())
      continue;
    report::Doubt doubt{.arm = arm, .reading = one.as_string(), .why = why_of(probe)};
    heading.notes.push_back(report::doubt_text(doubt));
    heading.doubts.push_back(std::move(doubt));
  }
}

}  // namespace

void tell_doctor(const record::RunRecord& run,
                 const std::function<std::string(const std::string&)>& name_arm,
                 report::Heading& heading) {
  for (const record::ArmRecord& arm : run.arms) {
    const Json* probes = arm.doctor.is_object() ? arm.doctor.find("probes") : nullptr;
    if (probes == nullptr || !probes->is_array()) continue;
    const std::vector<std::string> readings = readings_of(arm);
    std::size_t ok = 0, unknown = 0;
    std::string found;
    for (const Json& probe : probes->items()) {
      if (!probe.is_object()) continue;
      const std::string verdict = told(probe, "verdict", 40);
      ok += verdict == "ok" ? 1U : 0U;
      unknown += verdict == "not measured" ? 1U : 0U;
      if (verdict != "finding") continue;
      found += (found.empty() ? "" : "; ") + why_of(probe);
      add_doubts(probe, name_arm(arm.name), readings, heading);
    }
    std::string line = fmt::format("{} probes ok", ok);
    if (unknown > 0) line += fmt::format(", {} not measured", unknown);
    if (!found.empty()) line = "finding: " + found + "; " + line;
    heading.lines.emplace_back("doctor " + printable(arm.name, 60), line);
  }
}

}  // namespace deem::cli
