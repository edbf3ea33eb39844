#include "board/owner.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace deem::board {
namespace {

constexpr std::size_t kContainerId = 64;  // hex digits
constexpr std::size_t kMostName = 255;    // what the kernel lets a group's name have

bool is_hex(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

/// systemd writes bytes that a unit's name can not hold as \xHH.
std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view code = text.substr(i).starts_with("\\x") ? text.substr(i + 2, 2) : "";
    if (code.size() == 2 && is_hex(code)) {
      out += static_cast<char>(std::stoi(std::string(code), nullptr, 16));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

/// A container's id in one part of a path: "docker-ID.scope", "cri-containerd-ID.scope",
/// "libpod-payload-ID", "ID". Podman's own watcher (conmon) is in none.
std::string container_in(std::string_view part) {
  if (part.find("conmon") != std::string_view::npos) return "";
  if (part.ends_with(".scope")) part.remove_suffix(6);
  if (part.starts_with("nerdctl-")) return std::string(part.substr(8));
  const std::size_t dash = part.rfind('-');
  const std::string_view id = dash == std::string_view::npos ? part : part.substr(dash + 1);
  return id.size() == kContainerId && is_hex(id) ? std::string(id) : "";
}

/// The path that says most.
std::string_view choose_path(std::string_view text) {
  std::string_view unified, systemd, longest;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view path = line.substr(second + 1);
    if (line.substr(0, first) == "0" && controllers.empty()) unified = path;
    if (controllers == "name=systemd") systemd = path;
    if (path.size() > longest.size()) longest = path;
  }
  if (unified.size() > 1) return unified;
  return systemd.size() > 1 ? systemd : longest;
}

}  // namespace

Owner parse_cgroup(std::string_view text) {
  Owner out;
  const std::string_view path = choose_path(text);
  if (path.empty()) {
    out.note = "no control group is told";
    return out;
  }
  if (path == "/" || path.starts_with("/..")) {
    out.note = "not visible: we are in another control group namespace";
    return out;
  }
  std::vector<std::string_view> parts = split(path, '/');
  std::string scope, user_manager;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (out.container.empty()) out.container = container_in(*part);
    if (part->ends_with(".service")) {
      // The manager of a user's units is only the unit of what has none of its own.
      if (part->starts_with("user@")) {
        user_manager = *part;
      } else if (out.unit.empty()) {
        out.unit = unescape(*part);
      }
    }
    if (part->starts_with("session-") && part->ends_with(".scope")) scope = *part;
    const auto parent = std::next(part);
    if (out.container.empty() && parent != parts.rend() && !part->empty()) {
      if (*parent == "lxc" || *parent == "default") out.container = *part;
    }
    if (out.container.empty() && part->starts_with("lxc.payload.")) {
      out.container = part->substr(12);
    }
  }
  if (out.unit.empty()) out.unit = !scope.empty() ? scope : user_manager;
  if (!out.container.empty() && out.unit == user_manager) out.unit.clear();
  if (out.container.empty() && out.unit.empty()) {
    out.note = "in no container and no service: " + printable(path, 120);
  }
  // A user may name a group of their own by any bytes.
  out.container = printable(out.container, kMostName);
  out.unit = printable(out.unit, kMostName);
  return out;
}

void find_owner(const std::string& proc, BoardProcess& process) {
  const std::string folder = join_path(proc, std::to_string(process.pid));
  constexpr std::size_t kMost = 1 << 16;
  if (process.command.empty()) {
    if (const Result<std::string> name = read_file(folder + "/comm", kMost)) {
      process.command = printable(trim(*name), 64);
    }
  }
  if (!process.container.empty() || !process.unit.empty()) return;
  const Result<std::string> text = read_file(folder + "/cgroup", kMost);
  if (!text) {
    process.owner_note = text.error().code == Error::Code::NotFound
                             ? "no such process here: another process namespace, or it has ended"
                             : "its control group can not be read";
    return;
  }
  Owner owner = parse_cgroup(*text);
  process.container = std::move(owner.container);
  process.unit = std::move(owner.unit);
  process.owner_note = std::move(owner.note);
}

}  // namespace deem::board
