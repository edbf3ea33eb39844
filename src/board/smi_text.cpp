#include "board/smi_text.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace deem::board {
namespace {

template <class T>
std::optional<T> parse_number(std::string_view text, int base = 10) {
  T value{};
  const char* end = text.data() + text.size();
  const auto read = [&] {
    if constexpr (std::is_floating_point_v<T>) {
      return std::from_chars(text.data(), end, value);
    } else {
      return std::from_chars(text.data(), end, value, base);
    }
  }();
  if (read.ec != std::errc() || read.ptr != end || text.empty()) return std::nullopt;
  if constexpr (std::is_floating_point_v<T>) {
    if (!(value > -1e300 && value < 1e300)) return std::nullopt;  // "nan", "inf"
  }
  return value;
}

/// Cuts at ", " or ","; the last of `columns` parts keeps its commas.
std::vector<std::string_view> cells_of(std::string_view line, std::size_t columns) {
  std::vector<std::string_view> out;
  while (out.size() + 1 < columns) {
    const std::size_t comma = line.find(',');
    if (comma == std::string_view::npos) break;
    out.push_back(trim(line.substr(0, comma)));
    line.remove_prefix(comma + 1);
  }
  out.push_back(trim(line));
  return out;
}

/// Why a board is of no use, where one of its fields says so: NVML's codes 15 and 16.
std::string_view board_error(std::string_view cell) {
  const std::string lower = to_lower(cell);
  if (lower.find("gpu is lost") != std::string::npos) return "GPU is lost";
  if (lower.find("gpu requires reset") != std::string::npos) return "GPU requires reset";
  return "";
}

}  // namespace

const std::vector<SmiField>& smi_list_fields() {
  static const std::vector<SmiField> kFields = {
      {"uuid", {"uuid", "gpu_uuid"}},
      {"name", {"name", "gpu_name"}},
      {"pci", {"pci.bus_id", "gpu_bus_id"}},
      {"driver", {"driver_version"}},
      {"compute_capability", {"compute_cap"}},
      {"persistence", {"persistence_mode"}},
      {"ecc", {"ecc.mode.current"}},
      {"mig", {"mig.mode.current"}},
      {"memory_total", {"memory.total"}},
      {"memory_reserved", {"memory.reserved"}},
      {"memory_used", {"memory.used"}},
      {"watts", {"power.draw", "power.draw.average"}},
      {"limit_requested", {"power.limit", "gpu.power.requested_limit"}},
      {"limit_enforced", {"enforced.power.limit", "gpu.power.current_limit"}},
      {"limit_default", {"power.default_limit"}},
      {"limit_min", {"power.min_limit"}},
      {"limit_max", {"power.max_limit"}},
      {"reasons", {"clocks_event_reasons.active", "clocks_throttle_reasons.active"}},
      {"link_generation", {"pcie.link.gen.current", "pcie.link.gen.gpucurrent"}},
      {"link_generation_max", {"pcie.link.gen.max"}},
      {"link_width", {"pcie.link.width.current"}},
      {"link_width_max", {"pcie.link.width.max"}},
      {"temperature", {"temperature.gpu"}},
      {"utilisation", {"utilization.gpu"}},
      {"sm", {"clocks.sm", "clocks.current.sm"}},
      {"memory_clock", {"clocks.mem", "clocks.current.memory"}}};
  return kFields;
}

const std::vector<SmiField>& smi_read_fields() {
  static const std::vector<SmiField> kFields = [] {
    constexpr std::string_view kKeys[] = {"uuid",        "memory_used", "watts", "reasons",
                                          "temperature", "utilisation", "sm"};
    std::vector<SmiField> out;
    for (const SmiField& field : smi_list_fields()) {
      if (std::ranges::find(kKeys, field.key) != std::end(kKeys)) out.push_back(field);
    }
    return out;
  }();
  return kFields;
}

std::string SmiQuery::argument() const {
  std::string out = "--query-gpu=";
  for (const std::string& name : names) out += (out.ends_with('=') ? "" : ",") + name;
  return out;
}

std::set<std::string, std::less<>> parse_smi_help(std::string_view text) {
  // A field's paragraph begins with its names: "pci.bus_id" or "gpu_bus_id".
  std::set<std::string, std::less<>> out;
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    while (line.starts_with('"')) {
      const std::size_t end = line.find('"', 1);
      if (end == std::string_view::npos) break;
      const std::string_view name = line.substr(1, end - 1);
      if (!name.empty() && name.find_first_of(" ,=") == std::string_view::npos) out.emplace(name);
      line = trim(line.substr(end + 1));
      if (line.starts_with("or ")) line = trim(line.substr(3));
    }
  }
  return out;
}

SmiQuery make_smi_query(const std::vector<SmiField>& fields,
                        const std::set<std::string, std::less<>>& known) {
  SmiQuery out;
  for (const SmiField& field : fields) {
    const auto name =
        std::ranges::find_if(field.names, [&](std::string_view n) { return known.contains(n); });
    if (name == field.names.end()) continue;
    out.names.emplace_back(*name);
    out.keys.emplace_back(field.key);
  }
  return out;
}

SmiQuery reference_smi_query(int which) {
  if (which == 0) {
    return {{"uuid", "memory.used", "power.draw", "clocks.sm", "temperature.gpu"},
            {"uuid", "memory_used", "watts", "sm", "temperature"}};
  }
  return {{"uuid", "timestamp", "power.draw", "memory.used", "utilization.gpu"},
          {"uuid", "timestamp", "watts", "memory_used", "utilisation"}};
}

bool is_smi_absent(std::string_view value) {
  value = trim(value);
  if (value.starts_with('[') && value.ends_with(']')) return true;
  const std::string lower = to_lower(value);
  return lower.empty() || lower == "n/a" || lower == "not found" || lower == "not supported" ||
         lower == "unknown error" || lower == "insufficient permissions" || lower == "no data" ||
         lower == "gpu is lost" || lower == "gpu requires reset" || lower == "err!";
}

std::optional<std::string> SmiLine::text(std::string_view key) const {
  for (const auto& [name, value] : values) {
    if (name == key && !is_smi_absent(value)) return printable(value, 200);
  }
  return std::nullopt;
}

std::optional<double> SmiLine::number(std::string_view key) const {
  const auto value = text(key);
  return value ? parse_number<double>(*value) : std::nullopt;
}

std::optional<std::int64_t> SmiLine::integer(std::string_view key) const {
  const auto value = text(key);
  return value ? parse_number<std::int64_t>(*value) : std::nullopt;
}

std::optional<bool> SmiLine::flag(std::string_view key) const {
  const auto value = text(key);
  if (value && to_lower(*value) == "enabled") return true;
  if (value && to_lower(*value) == "disabled") return false;
  return std::nullopt;
}

std::optional<std::uint64_t> SmiLine::bits(std::string_view key) const {
  const auto value = text(key);
  if (!value || !value->starts_with("0x")) return std::nullopt;
  return parse_number<std::uint64_t>(std::string_view(*value).substr(2), 16);
}

SmiTable parse_smi_csv(std::string_view text, const std::vector<std::string>& keys) {
  SmiTable out;
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    if (line.empty()) continue;
    const std::vector<std::string_view> cells = cells_of(line, keys.size());
    SmiLine row;
    for (std::size_t i = 0; i < cells.size() && i < keys.size(); ++i) {
      row.values.emplace_back(keys[i], cells[i]);
      if (row.error.empty()) row.error = board_error(cells[i]);
    }
    const auto uuid = row.text("uuid");
    if (cells.size() != keys.size() || !uuid ||
        (!uuid->starts_with("GPU-") && !uuid->starts_with("MIG-"))) {
      out.problems.push_back(printable(line, 200));
      continue;
    }
    out.lines.push_back(std::move(row));
  }
  return out;
}

std::vector<std::pair<std::string, Instance>> parse_smi_instances(std::string_view text) {
  constexpr std::string_view kUuid = "(UUID: ";
  std::vector<std::pair<std::string, Instance>> out;
  std::string board;
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    const std::size_t at = line.rfind(kUuid);
    if (at == std::string_view::npos || !line.ends_with(')')) continue;
    std::string_view id = line.substr(at + kUuid.size());
    id.remove_suffix(1);
    if (id.starts_with("GPU-")) board = printable(id, 200);
    if (!id.starts_with("MIG-") || board.empty()) continue;
    Instance instance;
    instance.id = printable(id, 200);
    instance.name = printable(trim(line.substr(0, line.find(" Device "))), 60);
    out.emplace_back(board, std::move(instance));
  }
  return out;
}

BoardInfo smi_board(const SmiLine& line) {
  BoardInfo out;
  out.source = "nvidia-smi";
  out.id = line.text("uuid").value_or("");
  out.error = line.error;
  out.name = line.text("name").value_or("");
  out.pci = line.text("pci").value_or("");
  out.driver = line.text("driver").value_or("");
  out.compute_capability = line.text("compute_capability").value_or("");
  out.persistence = line.flag("persistence");
  out.ecc = line.flag("ecc");
  out.mig = line.flag("mig");
  out.memory_total_mib = line.number("memory_total");
  out.memory_reserved_mib = line.number("memory_reserved");
  out.memory_used_mib = line.number("memory_used");
  out.limit_requested_w = line.number("limit_requested");
  out.limit_enforced_w = line.number("limit_enforced");
  out.limit_default_w = line.number("limit_default");
  out.limit_min_w = line.number("limit_min");
  out.limit_max_w = line.number("limit_max");
  out.clock_reasons = line.bits("reasons");
  out.link_generation = line.integer("link_generation");
  out.link_generation_max = line.integer("link_generation_max");
  out.link_width = line.integer("link_width");
  out.link_width_max = line.integer("link_width_max");
  out.temperature_c = line.number("temperature");
  out.utilisation_percent = line.number("utilisation");
  out.sm_mhz = line.number("sm");
  out.memory_mhz = line.number("memory_clock");
  // As NVML tells of the same reading: an average over a second from 8.6 on.
  if (const auto version = line.number("compute_capability"); version && *version > 8.0) {
    out.reading_period_s = 1.0;
  }
  return out;
}

record::PowerReading smi_reading(const SmiLine& line) {
  record::PowerReading out;
  if (!line.error.empty()) return out;
  out.watts = line.number("watts");
  out.memory_mib = line.number("memory_used");
  out.utilisation_percent = line.number("utilisation");
  out.temperature_c = line.number("temperature");
  out.sm_mhz = line.number("sm");
  out.clock_reasons = line.bits("reasons");
  return out;
}

}  // namespace deem::board
