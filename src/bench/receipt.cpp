#include "bench/receipt.h"

#include <sys/utsname.h>

#include <map>
#include <sstream>

#include "base/digest.h"
#include "base/embedded.h"
#include "base/file.h"
#include "base/text.h"
#include "board/board.h"

namespace deem::bench {
namespace {

using codec::Json;

std::string read_line(const std::string& path) {
  const auto text = read_file(path, 1 << 20);
  return text ? std::string(trim(text->substr(0, text->find('\n')))) : "";
}

/// PRETTY_NAME of /etc/os-release, without its quotes.
std::string distribution(const std::string& root) {
  std::istringstream lines(read_file(join_path(root, "etc/os-release")).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("PRETTY_NAME=")) continue;
    std::string value = line.substr(line.find('=') + 1);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    return value;
  }
  return "";
}

/// "performance", or "performance 6, powersave 2" where cores differ.
std::string governors(const std::string& root) {
  const std::string folder = join_path(root, "sys/devices/system/cpu");
  std::map<std::string, int> found;
  for (const std::string& name : list_folder(folder).value_or(std::vector<std::string>())) {
    const std::string value = read_line(join_path(folder, name + "/cpufreq/scaling_governor"));
    if (!value.empty()) ++found[value];
  }
  if (found.size() == 1) return found.begin()->first;
  std::string out;
  for (const auto& [name, cores] : found) {
    out += (out.empty() ? "" : ", ") + name + " " + std::to_string(cores);
  }
  return out;
}

/// MemTotal in bytes; 0 where it can not be read.
std::int64_t memory_bytes(const std::string& root) {
  std::istringstream lines(read_file(join_path(root, "proc/meminfo")).value_or(""));
  for (std::string name; lines >> name; lines.ignore(1 << 20, '\n')) {
    std::int64_t kilobytes = 0;
    if (name == "MemTotal:" && lines >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

}  // namespace

Json host_receipt(const std::string& root) {
  Json out = Json::object();
  const auto tell = [&](const char* name, const std::string& value) {
    if (!value.empty()) out.set(name, value);
  };
  tell("harness", std::string(harness_digest()));
  if (const auto build = sha256_file("/proc/self/exe")) tell("build", *build);
  utsname kernel{};
  if (::uname(&kernel) == 0) {
    tell("kernel", std::string(kernel.sysname) + " " + kernel.release + " " + kernel.machine);
  }
  tell("distribution", distribution(root));
  tell("cpu_governor", governors(root));
  if (const std::int64_t bytes = memory_bytes(root); bytes > 0) out.set("memory_bytes", bytes);
  const bool container = file_exists(join_path(root, ".dockerenv")) ||
                         file_exists(join_path(root, "run/.containerenv"));
  out.set("in_container", container);
  return out;
}

Json board_receipt() {
  auto boards = board::open_boards(board::options_from_environment());
  if (!boards) return {};
  Json out = Json::array();
  for (const board::BoardInfo& one : (*boards)->list()) {
    Json told = Json::object({{"id", one.id}, {"name", one.name}, {"source", one.source}});
    const auto tell = [&](const char* name, const auto& value) {
      if (value) told.set(name, *value);
    };
    tell("memory_total_mib", one.memory_total_mib);
    tell("cap_w", one.limit_enforced_w);
    tell("cap_requested_w", one.limit_requested_w);
    tell("cap_default_w", one.limit_default_w);
    tell("ecc", one.ecc);
    if (!one.driver.empty()) told.set("driver", one.driver);
    if (!one.cuda.empty()) told.set("cuda", one.cuda);
    if (!one.error.empty()) told.set("error", one.error);
    out.push(std::move(told));
  }
  return out.items().empty() ? Json() : out;
}

Json energy_status(const Json& boards) {
  return Json::object(
      {{"status", boards.is_null() ? "not measured (no board)"
                                   : "not measured (a run does not sample boards yet)"}});
}

}  // namespace deem::bench
