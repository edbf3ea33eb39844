#include "bench/memory.h"

#include <unistd.h>

#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "base/file.h"

namespace deem::bench {
namespace {

using codec::Json;
using Pids = std::set<int>;

Json not_measured(const std::string& why) {
  Json out = Json::object();
  out.set("status", "not measured (" + why + ")");
  return out;
}

Json measured(std::int64_t bytes, const std::string& what) {
  Json out = Json::object();
  out.set("status", "ok");
  out.set("what", what);
  out.set("peak_bytes", bytes);
  return out;
}

/// Files under /proc have no size to go by.
std::string read_proc(const std::string& path) { return read_file(path).value_or(""); }

std::optional<int> whole(std::string_view text, int base = 10) {
  int n = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n, base);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return n;
}

/// VmHWM of a process, in bytes.
std::optional<std::int64_t> peak_of(const std::string& folder) {
  std::istringstream status(read_proc(join_path(folder, "status")));
  for (std::string name; status >> name; status.ignore(1 << 20, '\n')) {
    std::int64_t kilobytes = 0;
    if (name == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  return std::nullopt;
}

/// Inodes of the sockets that listen on a TCP port, or at a path.
std::set<std::string> listening(const std::string& proc, std::optional<int> port,
                                const std::string& path) {
  std::set<std::string> inodes;
  for (const char* table : {"net/tcp", "net/tcp6"}) {
    if (!port) break;
    std::istringstream lines(read_proc(join_path(proc, table)));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::vector<std::string> word;
      for (std::string w; words >> w;) word.push_back(w);
      constexpr std::size_t kLocal = 1, kState = 3, kInode = 9;
      if (word.size() <= kInode || word[kState] != "0A") continue;
      const std::size_t colon = word[kLocal].rfind(':');
      if (colon != std::string::npos && whole(word[kLocal].substr(colon + 1), 16) == port) {
        inodes.insert(word[kInode]);
      }
    }
  }
  if (path.empty()) return inodes;
  std::istringstream lines(read_proc(join_path(proc, "net/unix")));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> word;
    for (std::string w; words >> w;) word.push_back(w);
    constexpr std::size_t kInode = 6, kPath = 7;
    if (word.size() > kPath && word[kPath] == path) inodes.insert(word[kInode]);
  }
  return inodes;
}

std::vector<int> pids_in(const std::string& proc) {
  std::vector<int> out;
  for (const std::string& name : list_folder(proc).value_or(std::vector<std::string>())) {
    if (const auto pid = whole(name)) out.push_back(*pid);
  }
  return out;
}

/// The processes that hold one of the sockets, and all that descend from them.
Pids holders(const std::string& proc, const std::set<std::string>& inodes) {
  Pids out;
  std::map<int, int> parents;
  for (const int pid : pids_in(proc)) {
    const std::string folder = join_path(proc, std::to_string(pid));
    const std::string stat = read_proc(join_path(folder, "stat"));  // "7 (a name) S 1 …"
    const std::size_t name_end = stat.rfind(')');
    if (name_end != std::string::npos && name_end + 4 < stat.size()) {
      std::istringstream rest(stat.substr(name_end + 3));
      rest >> parents[pid];
    }
    const std::string fds = join_path(folder, "fd");
    for (const std::string& fd : list_folder(fds).value_or(std::vector<std::string>())) {
      char target[64];
      const ssize_t n = ::readlink(join_path(fds, fd).c_str(), target, sizeof target);
      const std::string_view link(target, n > 0 ? static_cast<std::size_t>(n) : 0);
      if (!link.starts_with("socket:[") || !link.ends_with(']')) continue;
      if (inodes.contains(std::string(link.substr(8, link.size() - 9)))) out.insert(pid);
    }
  }
  for (std::size_t before = 0; !out.empty() && before != out.size();) {
    before = out.size();
    for (const auto& [pid, parent] : parents) {
      if (out.contains(parent)) out.insert(pid);
    }
  }
  return out;
}

struct Address {
  std::string host, path;  // path: of a unix socket
  std::optional<int> port;
};

/// Of "http://127.0.0.1:8000/base", "https://[::1]:1", "unix:/run/x.sock[:/base]".
Address parse_address(std::string_view text) {
  Address out;
  if (text.starts_with("unix:")) {
    text.remove_prefix(5);
    out.path = text.substr(0, text.find(":/"));
    return out;
  }
  const bool tls = text.starts_with("https:");
  if (const auto at = text.find("://"); at != std::string_view::npos) text.remove_prefix(at + 3);
  text = text.substr(0, text.find('/'));
  const std::size_t bracket = text.find(']');
  const std::size_t colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
  out.host = text.substr(0, colon);
  out.port = colon == std::string_view::npos ? (tls ? 443 : 80) : whole(text.substr(colon + 1));
  return out;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

Json peak_of_server(const std::string& address, const std::string& proc) {
  const Address at = parse_address(address);
  if (at.path.empty() && !is_loopback(at.host)) {
    return not_measured("the server is on another machine");
  }
  const std::string what =
      at.path.empty() ? "port " + std::to_string(at.port.value_or(0)) : "socket " + at.path;
  const auto inodes = listening(proc, at.port, at.path);
  if (inodes.empty()) return not_measured("nothing seen listening on " + what);
  const Pids pids = holders(proc, inodes);
  if (pids.empty()) return not_measured("who listens on " + what + " can not be read");
  std::int64_t bytes = 0;
  for (const int pid : pids) {
    const auto peak = peak_of(join_path(proc, std::to_string(pid)));
    if (peak) bytes += *peak;
  }
  if (bytes == 0) return not_measured("no VmHWM of who listens on " + what);
  return measured(bytes, "peak resident (VmHWM) of the server on " + what + ", " +
                             std::to_string(pids.size()) +
                             (pids.size() == 1 ? " process" : " processes"));
}

}  // namespace

Json peak_memory(seat::Seat& seat, const seat::Identity& identity, const std::string& proc) {
  if (identity.kind == "local") {
    const auto bytes = peak_of(join_path(proc, "self"));
    if (!bytes) return not_measured("no VmHWM of this process");
    return measured(*bytes, "peak resident (VmHWM) of this process, all its local seats together");
  }
  Json out = peak_of_server(identity.address, proc);
  if (out.get_string("status") == "ok") return out;
  if (const auto held = seat.resident_bytes()) {
    return measured(*held, "resident when the run ended, by the server's own word");
  }
  return out;
}

Json larger_peak(const Json& before, Json now) {
  const auto then = before.is_object() ? before.get_int("peak_bytes") : std::nullopt;
  if (then && *then > now.get_int("peak_bytes").value_or(0)) return before;
  return now;
}

}  // namespace deem::bench
