#include "bench/process_receipt.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/digest.h"
#include "base/file.h"
#include "board/container.h"
#include "board/owner.h"
#include "board/runtime.h"
#include "board/serving.h"

namespace deem::bench {

using codec::Json;

namespace {

std::set<int> processes_of(const seat::SeatSpec& spec, const std::string& proc) {
  if (spec.kind == "local") return {static_cast<int>(::getpid())};
  const auto serving = board::serving_processes(spec.address, proc);
  return serving ? serving->pids : std::set<int>();
}

/// The image of the first process that runs in a container.
Json image_json(const std::set<int>& pids, const std::string& root, const std::string& proc) {
  for (const int pid : pids) {
    board::BoardProcess process;
    process.pid = pid;
    board::find_owner(proc, process);
    if (process.container.empty()) continue;
    const board::Image image = board::image_of(process.container, root);
    Json out = Json::object();
    out.set("container", process.container);
    if (!image.digest.empty()) out.set("digest", image.digest);
    if (!image.name.empty()) out.set("name", image.name);
    if (!image.note.empty()) out.set("status", "not measured (" + image.note + ")");
    return out;
  }
  return {};
}

/// The digest a file beside the weights tells: FILE.sha256, or SHA256SUMS, as sha256sum writes
/// them.
std::optional<std::string> told_digest(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string name = path.substr(slash + 1);
  for (const std::string& receipt : {path + ".sha256", path.substr(0, slash + 1) + "SHA256SUMS"}) {
    std::istringstream lines(read_file(receipt, 1 << 20).value_or(""));
    for (std::string digest, file; lines >> digest >> file;) {
      if (file.starts_with('*')) file.erase(0, 1);
      const bool hex =
          digest.size() == 64 && digest.find_first_not_of("0123456789abcdef") == std::string::npos;
      if (hex && file == name) return digest;
    }
  }
  return std::nullopt;
}

/// Whether a file is a GGUF model. A server's word names the path: nothing else is read by it.
bool is_gguf(const std::string& path) {
  std::error_code unseen;
  if (!std::filesystem::is_regular_file(path, unseen)) return false;  // opening a FIFO would wait
  std::ifstream in(path, std::ios::binary);
  char magic[4] = {};
  return in.read(magic, sizeof magic) && std::string_view(magic, sizeof magic) == "GGUF";
}

/// Digest of the model file a server names, seen as its processes see it.
Json weights_json(const std::string& path, const std::set<int>& pids, const std::string& proc) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{8} << 30;  // some seconds of hashing
  if (!path.starts_with('/') || pids.empty()) return {};
  std::string seen;
  for (const int pid : pids) {
    seen = join_path(proc, std::to_string(pid)) + "/root" + path;
    if (is_gguf(seen)) break;
    seen.clear();
  }
  if (seen.empty()) return {};
  Json out = Json::object({{"path", path}});
  std::error_code ignored;
  if (const auto told = told_digest(seen)) {
    out.set("sha256", *told);
    out.set("from", "a receipt beside it");
  } else if (std::filesystem::file_size(seen, ignored) > kMostBytes) {
    out.set("status", "not measured (over 8 GiB; FILE.sha256 beside it is read)");
  } else if (const auto digest = sha256_file(seen)) {
    out.set("sha256", *digest);
    out.set("from", "its bytes");
  } else {
    out.set("status", "not measured (" + digest.error().message + ")");
  }
  return out;
}

}  // namespace

Json process_receipt(const std::vector<board::BoardInfo>& boards, const seat::SeatSpec& spec,
                     const seat::Identity& identity, const std::string& root) {
  if (spec.kind != "local" && !board::is_on_this_machine(spec.address)) return {};
  const std::string proc = root == "/" ? "/proc" : root + "/proc";
  const std::set<int> pids = processes_of(spec, proc);
  Json out = Json::object();
  const auto libraries = board::runtime_libraries(pids, proc);
  Json runtimes = Json::array();
  for (const board::RuntimeLibrary& library : libraries) {
    runtimes.push(library.name + (library.version.empty() ? "" : " " + library.version));
  }
  if (!libraries.empty()) out.set("runtimes", std::move(runtimes));
  const auto nvidia = std::ranges::find_if(boards, [](const board::BoardInfo& board) {
    return !board.cuda.empty() || board.id.starts_with("GPU-");
  });
  if (nvidia != boards.end()) {
    const auto told = [](const std::string& text) {
      return text.empty() ? std::nullopt : std::optional(text);
    };
    if (const auto finding =
            board::check_runtime(libraries, told(nvidia->cuda), told(nvidia->driver))) {
      out.set("findings", Json::array({*finding}));
    }
  }
  if (Json image = image_json(pids, root, proc); !image.is_null()) {
    out.set("image", std::move(image));
  }
  if (spec.kind != "local" && identity.root && !identity.digest) {
    if (Json weights = weights_json(*identity.root, pids, proc); !weights.is_null()) {
      out.set("weights", std::move(weights));
    }
  }
  return out.members().empty() ? Json() : out;
}

}  // namespace deem::bench
