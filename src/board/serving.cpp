#include "board/serving.h"

#include <unistd.h>

#include <charconv>
#include <map>
#include <optional>
#include <sstream>
#include <vector>

#include "base/file.h"

namespace deem::board {
namespace {

/// Files under /proc have no size to go by.
std::string read_proc(const std::string& path) { return read_file(path).value_or(""); }

std::optional<int> whole(std::string_view text, int base = 10) {
  int n = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n, base);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return n;
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
std::set<int> holders(const std::string& proc, const std::set<std::string>& inodes) {
  std::set<int> out;
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

/// Behind a port that Docker publishes listens its proxy; the server itself listens in a network
/// of its own, at the address the proxy's arguments name ("-container-ip A -container-port P").
std::set<int> behind_proxies(const std::string& proc, const std::set<int>& pids) {
  std::set<int> out;
  for (const int pid : pids) {
    std::vector<std::string> argv;
    std::istringstream words(read_proc(join_path(proc, std::to_string(pid) + "/cmdline")));
    for (std::string word; std::getline(words, word, '\0');) argv.push_back(word);
    if (argv.empty() || !argv.front().ends_with("docker-proxy")) continue;
    std::string ip;
    std::optional<int> port;
    for (std::size_t i = 1; i + 1 < argv.size(); ++i) {
      if (argv[i] == "-container-ip") ip = argv[i + 1];
      if (argv[i] == "-container-port") port = whole(argv[i + 1]);
    }
    if (ip.empty() || !port) continue;
    std::set<std::string> seen;  // networks
    for (const int other : pids_in(proc)) {
      const std::string folder = join_path(proc, std::to_string(other));
      char target[64];
      const ssize_t n = ::readlink(join_path(folder, "ns/net").c_str(), target, sizeof target);
      if (n <= 0 || !seen.emplace(target, static_cast<std::size_t>(n)).second) continue;
      // "|-- 172.17.0.2\n           /32 host LOCAL": the address is this network's own.
      const std::string routes = read_proc(join_path(folder, "net/fib_trie"));
      const std::size_t at = routes.find("-- " + ip + "\n");
      if (at == std::string::npos) continue;
      const std::size_t line = routes.find('\n', at);
      if (routes.substr(line + 1, routes.find('\n', line + 1) - line).find("host LOCAL") ==
          std::string::npos) {
        continue;
      }
      out.merge(holders(proc, listening(folder, port, "")));
    }
  }
  return out;
}

}  // namespace

bool is_on_this_machine(std::string_view address) {
  const Address at = parse_address(address);
  return !at.path.empty() || is_loopback(at.host);
}

Result<Serving> serving_processes(std::string_view address, const std::string& proc) {
  const Address at = parse_address(address);
  if (at.path.empty() && !is_loopback(at.host)) {
    return fail(Error::Code::Unsupported, "the server is on another machine");
  }
  Serving out{
      .what = at.path.empty() ? "port " + std::to_string(at.port.value_or(0)) : "socket " + at.path,
      .pids = {}};
  const auto inodes = listening(proc, at.port, at.path);
  if (inodes.empty()) {
    return fail(Error::Code::NotFound, "nothing seen listening on " + out.what);
  }
  out.pids = holders(proc, inodes);
  if (out.pids.empty()) {
    return fail(Error::Code::Unavailable, "who listens on " + out.what + " can not be read");
  }
  out.pids.merge(behind_proxies(proc, out.pids));
  return out;
}

}  // namespace deem::board
