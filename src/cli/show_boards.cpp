#include "cli/show_boards.h"

#include <fmt/format.h>

#include "base/text.h"
#include "codec/json.h"

namespace deem::cli {
namespace {

using board::BoardInfo;
using board::BoardProcess;
using board::Check;
using codec::Json;

std::string number(const std::optional<double>& value, int decimals = 0) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "–";
}

std::string whole(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "–";
}

std::string board_text(const BoardInfo& b) {
  std::string out = fmt::format("{}  {}{}{}  by {}\n", printable(b.id, 80), printable(b.name, 60),
                                b.pci.empty() ? "" : "  ", printable(b.pci, 40), b.source);
  if (!b.error.empty()) return out + "  can not be read: " + printable(b.error, 200) + "\n";
  const bool board = b.source != "rapl";
  if (board) {
    out +=
        fmt::format("  memory {} of {} MiB", number(b.memory_used_mib), number(b.memory_total_mib));
    if (b.memory_reserved_mib) out += fmt::format(", {} reserved", number(b.memory_reserved_mib));
    out += fmt::format("\n  power cap {} W (default {}, {} to {}, requested {})",
                       number(b.limit_enforced_w, 1), number(b.limit_default_w, 1),
                       number(b.limit_min_w, 1), number(b.limit_max_w, 1),
                       number(b.limit_requested_w, 1));
    out += fmt::format(", energy counter {}\n", b.has_counter ? "yes" : "no");
    out += fmt::format("  {} °C, SM {} MHz, busy {} %, link gen {} x{} now, {} x{} at most",
                       number(b.temperature_c), number(b.sm_mhz), number(b.utilisation_percent),
                       whole(b.link_generation), whole(b.link_width), whole(b.link_generation_max),
                       whole(b.link_width_max));
    out += " (an idle link trains down)\n";
  }
  std::string more;
  const auto add = [&](const char* what, const std::string& value) {
    if (!value.empty()) {
      more += (more.empty() ? "" : ", ") + std::string(what) + " " + printable(value, 40);
    }
  };
  add("driver", b.driver);
  add("CUDA", b.cuda);
  add("compute capability", b.compute_capability);
  if (b.ecc) add("ECC", *b.ecc ? "on" : "off");
  if (b.persistence) add("persistence", *b.persistence ? "on" : "off");
  add("power source", b.power_source);
  if (!more.empty()) out += "  " + more + "\n";
  for (const board::Instance& one : b.instances) {
    out += fmt::format("  MIG {}  {}  memory {} of {} MiB\n", printable(one.id, 80),
                       printable(one.name, 40), number(one.memory_used_mib),
                       number(one.memory_total_mib));
  }
  return out;
}

std::string process_text(const BoardProcess& p) {
  std::string owner = p.owner_note;
  if (!p.container.empty()) owner = "container " + p.container.substr(0, 12);
  if (!p.unit.empty()) owner += (p.container.empty() ? "unit " : ", unit ") + p.unit;
  return fmt::format("  process {} {} ({}) {} MiB  {}\n", p.pid, printable(p.command, 40),
                     board::to_string(p.kind), number(p.used_mib), printable(owner, 100));
}

Json known(const std::optional<double>& value) { return value ? Json(*value) : Json(); }
Json known(const std::optional<std::int64_t>& value) { return value ? Json(*value) : Json(); }
Json known(const std::optional<bool>& value) { return value ? Json(*value) : Json(); }
Json known(const std::string& value) { return value.empty() ? Json() : Json(value); }

Json to_json(const BoardInfo& b) {
  Json out = Json::object();
  out.set("id", b.id);
  out.set("name", known(b.name));
  out.set("pci", known(b.pci));
  out.set("source", b.source);
  out.set("error", known(b.error));
  out.set("memory_total_mib", known(b.memory_total_mib));
  out.set("memory_used_mib", known(b.memory_used_mib));
  out.set("memory_reserved_mib", known(b.memory_reserved_mib));
  out.set("limit_enforced_w", known(b.limit_enforced_w));
  out.set("limit_default_w", known(b.limit_default_w));
  out.set("limit_min_w", known(b.limit_min_w));
  out.set("limit_max_w", known(b.limit_max_w));
  out.set("limit_requested_w", known(b.limit_requested_w));
  out.set("sm_mhz", known(b.sm_mhz));
  out.set("memory_mhz", known(b.memory_mhz));
  out.set("temperature_c", known(b.temperature_c));
  out.set("utilisation_percent", known(b.utilisation_percent));
  out.set("clock_reasons",
          b.clock_reasons ? Json(static_cast<std::int64_t>(*b.clock_reasons)) : Json());
  out.set("link_generation", known(b.link_generation));
  out.set("link_generation_max", known(b.link_generation_max));
  out.set("link_width", known(b.link_width));
  out.set("link_width_max", known(b.link_width_max));
  out.set("driver", known(b.driver));
  out.set("cuda", known(b.cuda));
  out.set("compute_capability", known(b.compute_capability));
  out.set("ecc", known(b.ecc));
  out.set("persistence", known(b.persistence));
  out.set("power_source", known(b.power_source));
  out.set("mig", known(b.mig));
  out.set("reading_period_s", known(b.reading_period_s));
  out.set("has_counter", b.has_counter);
  Json instances = Json::array();
  for (const board::Instance& one : b.instances) {
    instances.push(Json::object({{"id", one.id},
                                 {"name", known(one.name)},
                                 {"memory_total_mib", known(one.memory_total_mib)},
                                 {"memory_used_mib", known(one.memory_used_mib)}}));
  }
  out.set("instances", std::move(instances));
  return out;
}

}  // namespace

std::string boards_text(const board::Inventory& inventory) {
  std::string out;
  for (const BoardInfo& b : inventory.boards) {
    out += board_text(b);
    for (const BoardProcess& p : inventory.processes) {
      if (p.board == b.id) out += process_text(p);
    }
  }
  for (const Check& check : inventory.checks) {
    out += fmt::format("{}: {}{}{}: {}\n", board::to_string(check.verdict), check.name,
                       check.board.empty() ? "" : " ", printable(check.board, 80),
                       printable(check.says, 300));
  }
  return out;
}

std::string boards_json(const board::Inventory& inventory) {
  Json out = Json::object();
  out.set("schema", "deem.boards/1");
  Json boards = Json::array(), processes = Json::array(), checks = Json::array();
  for (const BoardInfo& b : inventory.boards) boards.push(to_json(b));
  for (const BoardProcess& p : inventory.processes) {
    processes.push(Json::object({{"board", p.board},
                                 {"instance", known(p.instance)},
                                 {"pid", p.pid},
                                 {"kind", board::to_string(p.kind)},
                                 {"used_mib", known(p.used_mib)},
                                 {"command", known(p.command)},
                                 {"container", known(p.container)},
                                 {"unit", known(p.unit)},
                                 {"owner_note", known(p.owner_note)}}));
  }
  for (const Check& check : inventory.checks) {
    checks.push(Json::object({{"name", check.name},
                              {"board", known(check.board)},
                              {"verdict", board::to_string(check.verdict)},
                              {"says", check.says}}));
  }
  out.set("boards", std::move(boards));
  out.set("processes", std::move(processes));
  out.set("checks", std::move(checks));
  return codec::dump_json(out, {.ascii = false, .indent = 1}) + "\n";
}

}  // namespace deem::cli
