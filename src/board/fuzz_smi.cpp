#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "board/smi_text.h"
#include "record/power.h"

namespace {

using namespace deem::board;

void require(bool holds) {
  if (!holds) __builtin_trap();
}

bool is_fit_for_a_line(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

/// What is read of a line is a number or absent, and nothing of a board that is gone.
void check_reading(const SmiLine& line) {
  const deem::record::PowerReading reading = smi_reading(line);
  for (const auto& value : {reading.watts, reading.memory_mib, reading.utilisation_percent,
                            reading.temperature_c, reading.sm_mhz}) {
    require(!value || std::isfinite(*value));
  }
  require(line.error.empty() || reading == deem::record::PowerReading{});
}

/// A log of the lines can be read.
void check_log(std::string_view bytes, const std::vector<std::string>& keys) {
  deem::record::PowerSegment segment;
  deem::record::PowerSample sample{.mono_s = 1, .wall_s = 1, .boards = {}};
  std::set<std::string> ids;
  for (const SmiLine& line : parse_smi_csv(bytes, keys).lines) {
    const BoardInfo board = smi_board(line);
    if (!ids.insert(board.id).second) continue;
    segment.boards.push_back(to_power_board(board));
    sample.boards.push_back(smi_reading(line));
  }
  segment.period_s = 1;
  const std::string text = deem::record::format_power_heading(segment) + "\n" +
                           deem::record::format_power_sample(sample, "") + "\n";
  const deem::record::PowerFile file = deem::record::parse_power(text);
  require(file.problems.empty() && file.segments.size() == 1);
  require(file.segments[0].samples.size() == 1);
}

void check_table(std::string_view bytes, const std::vector<std::string>& keys) {
  const SmiTable table = parse_smi_csv(bytes, keys);
  for (const std::string& problem : table.problems) require(is_fit_for_a_line(problem));
  for (const SmiLine& line : table.lines) {
    require(line.values.size() == keys.size());
    const std::string id = line.text("uuid").value_or("");
    require(id.starts_with("GPU-") || id.starts_with("MIG-"));
    require(is_fit_for_a_line(id) && is_fit_for_a_line(line.text("name").value_or("")));
    check_reading(line);
  }
}

}  // namespace

// Any bytes as what nvidia-smi prints: no crash, no number that is none, no query of its own
// making.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto known = parse_smi_help(bytes);
  for (const auto* fields : {&smi_list_fields(), &smi_read_fields()}) {
    const SmiQuery query = make_smi_query(*fields, known);
    for (const std::string& name : query.names) require(known.contains(name));
    require(query.names.size() == query.keys.size());
    if (!query.keys.empty()) check_table(bytes, query.keys);
  }
  std::vector<std::string> all;
  for (const SmiField& field : smi_list_fields()) all.emplace_back(field.key);
  check_table(bytes, all);
  check_log(bytes, all);
  for (const int which : {0, 1}) check_table(bytes, reference_smi_query(which).keys);
  check_table(bytes, {"uuid", "pid", "used", "name"});
  for (const auto& [board, instance] : parse_smi_instances(bytes)) {
    require(board.starts_with("GPU-") && instance.id.starts_with("MIG-"));
    require(is_fit_for_a_line(instance.name));
  }
  return 0;
}
