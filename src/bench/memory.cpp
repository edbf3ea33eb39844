#include "bench/memory.h"

#include <optional>
#include <sstream>

#include "base/file.h"
#include "board/serving.h"

namespace deem::bench {
namespace {

using codec::Json;

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

/// VmHWM of a process, in bytes.
std::optional<std::int64_t> peak_of(const std::string& folder) {
  std::istringstream status(read_proc(join_path(folder, "status")));
  for (std::string name; status >> name; status.ignore(1 << 20, '\n')) {
    std::int64_t kilobytes = 0;
    if (name == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  return std::nullopt;
}

Json peak_of_server(const std::string& address, const std::string& proc) {
  const Result<board::Serving> serving = board::serving_processes(address, proc);
  if (!serving) return not_measured(serving.error().message);
  std::int64_t bytes = 0;
  for (const int pid : serving->pids) {
    const auto peak = peak_of(join_path(proc, std::to_string(pid)));
    if (peak) bytes += *peak;
  }
  if (bytes == 0) return not_measured("no VmHWM of who listens on " + serving->what);
  return measured(bytes, "peak resident (VmHWM) of the server on " + serving->what + ", " +
                             std::to_string(serving->pids.size()) +
                             (serving->pids.size() == 1 ? " process" : " processes"));
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
