#include "board/nvml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <shared_mutex>

#include "base/clock.h"
#include "board/sources.h"

namespace deem::board::nvml {
namespace {

constexpr auto kRetry = std::chrono::seconds(10);

struct Known {
  std::string id;
  Device device = nullptr;
  int lost = kSuccess;  // the code it could not be found with
};

class NvmlSource : public Source {
 public:
  explicit NvmlSource(Library library) : library_(std::move(library)), f_(library_.functions()) {}
  ~NvmlSource() override {
    if (running_) f_.shutdown();
  }

  /// nvmlInit and the list of boards. Gives NVML's code.
  int begin() {
    if (const int code = f_.init(); code != kSuccess) return code;
    running_ = true;
    unsigned count = 0;
    if (const int code = f_.count(&count); code != kSuccess) return code;
    for (unsigned i = 0; i < count; ++i) {
      Known board;
      int code = f_.by_index(i, &board.device);
      if (code == kSuccess) code = uuid_of(board.device, board.id);
      if (code == kSuccess) {
        boards_.push_back(std::move(board));
      } else {
        nameless_.push_back({"reach", "", Check::Verdict::Finding,
                             "a board that the driver counts has no name: " + words(code)});
      }
    }
    std::array<char, 96> buffer{};
    if (f_.driver_version != nullptr &&
        f_.driver_version(buffer.data(), static_cast<unsigned>(buffer.size() - 1)) == kSuccess) {
      driver_ = buffer.data();
    }
    int version = 0;
    if (f_.cuda_version != nullptr && f_.cuda_version(&version) == kSuccess) {
      cuda_ = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
    }
    return kSuccess;
  }

  std::string_view kind() const override { return "nvml"; }

  std::vector<BoardInfo> list() override {
    const std::shared_lock lock(mutex_);
    std::vector<BoardInfo> out;
    for (const Known& board : boards_) {
      BoardInfo info = describe(f_, board.device);
      info.id = board.id;
      info.driver = driver_;
      info.cuda = cuda_;
      out.push_back(std::move(info));
    }
    return out;
  }

  Readings read(std::span<const std::string> ids) override {
    Readings out;
    std::size_t gone = 0;
    {
      const std::shared_lock lock(mutex_);
      for (const std::string& id : ids) {
        std::string error;
        const Known* board = find(id);
        out.boards.push_back(board == nullptr ? record::PowerReading{}
                                              : nvml::read(f_, board->device, error));
        if (board == nullptr) error = "nvml knows no such board";
        if (!error.empty()) ++gone;
        out.errors.push_back(std::move(error));
      }
    }
    if (gone > 0) find_again(gone == ids.size());
    return out;
  }

  std::vector<BoardProcess> processes(std::span<const std::string> ids) override {
    const std::shared_lock lock(mutex_);
    std::vector<Check> problems;
    std::vector<BoardProcess> out;
    for (const std::string& id : ids) {
      const Known* board = find(id);
      if (board == nullptr) continue;
      std::vector<InstanceDevice> parts;
      unsigned on = 0, next = 0;
      if (f_.mig_mode != nullptr && f_.mig_mode(board->device, &on, &next) == kSuccess && on != 0) {
        parts = nvml::instances(f_, board->device);
      }
      // With MIG the whole board's list takes privileges, each instance's does not.
      if (parts.empty()) append(id, "", board->device, out, problems);
      for (const InstanceDevice& part : parts) {
        append(id, part.instance.id, part.device, out, problems);
      }
    }
    const std::scoped_lock checks(checks_mutex_);
    process_checks_ = std::move(problems);
    return out;
  }

  std::vector<Check> checks() override {
    const std::scoped_lock lock(checks_mutex_);
    std::vector<Check> out = {
        {"driver", "", Check::Verdict::Ok,
         fmt::format("NVML, driver {}, CUDA {}", driver_.empty() ? "of unknown version" : driver_,
                     cuda_.empty() ? "unknown" : cuda_)}};
    out.insert(out.end(), nameless_.begin(), nameless_.end());
    out.insert(out.end(), process_checks_.begin(), process_checks_.end());
    return out;
  }

 private:
  int uuid_of(Device device, std::string& id) const {
    std::array<char, 97> buffer{};
    const int code = f_.uuid(device, buffer.data(), static_cast<unsigned>(buffer.size() - 1));
    if (code == kSuccess) id = buffer.data();
    return code == kSuccess && id.empty() ? kNotFound : code;
  }

  const Known* find(std::string_view id) const {
    const auto at = std::ranges::find(boards_, id, &Known::id);
    return at == boards_.end() ? nullptr : &*at;
  }

  void append(const std::string& board, const std::string& instance, Device device,
              std::vector<BoardProcess>& out, std::vector<Check>& problems) const {
    const std::pair<GetProcesses, BoardProcess::Kind> lists[] = {
        {f_.compute_processes, BoardProcess::Kind::Compute},
        {f_.graphics_processes, BoardProcess::Kind::Graphics},
        {f_.mps_processes, BoardProcess::Kind::Mps}};
    const std::size_t first = out.size();
    for (const auto& [function, kind] : lists) {
      std::vector<Process> found;
      const int code = list_processes(function, f_.process_bytes, device, found);
      // A board may have no graphics or MPS list; that of its compute processes is needed.
      if (code != kSuccess && kind == BoardProcess::Kind::Compute) {
        problems.push_back({"memory", board, Check::Verdict::NotMeasured,
                            "its processes can not be listed: " + words(code)});
      }
      for (const Process& one : found) {
        BoardProcess process;
        process.board = board;
        process.instance = instance;
        process.pid = one.pid;
        process.kind = kind;
        if (one.used != kNoValue) process.used_mib = static_cast<double>(one.used) / (1 << 20);
        // One that computes and draws is in two lists, with one figure.
        const auto before =
            std::find_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                         [&](const BoardProcess& other) { return other.pid == process.pid; });
        if (before == out.end()) {
          out.push_back(std::move(process));
        } else {
          before->used_mib = std::max(before->used_mib, process.used_mib);
          if (kind == BoardProcess::Kind::Mps) before->kind = kind;
        }
      }
    }
  }

  /// Looks for boards that went away; for all of them by beginning anew, as after a reload of the
  /// driver. At most every kRetry, as each look may take long.
  void find_again(bool all) {
    const std::unique_lock lock(mutex_);
    const TimePoint now = Clock::now();
    if (now - looked_ < kRetry) return;
    looked_ = now;
    if (all) {
      f_.shutdown();
      running_ = f_.init() == kSuccess;
      if (!running_) return;
    }
    for (Known& board : boards_) {
      Device device = nullptr;
      if (f_.by_uuid != nullptr && f_.by_uuid(board.id.c_str(), &device) == kSuccess) {
        board.device = device;
      }
    }
  }

  const Library library_;
  const Functions f_;
  std::string driver_, cuda_;
  std::vector<Check> nameless_;
  std::shared_mutex mutex_;  // guards what follows; held alone while NVML is begun anew
  bool running_ = false;
  std::vector<Known> boards_;
  TimePoint looked_ = {};
  std::mutex checks_mutex_;  // guards what follows
  std::vector<Check> process_checks_;
};

}  // namespace
}  // namespace deem::board::nvml

namespace deem::board {

Result<std::unique_ptr<Source>> open_nvml(const std::string& path) {
  const std::string name = path.empty() ? "libnvidia-ml.so.1" : path;
  Result<nvml::Library> library = nvml::Library::load(name);
  if (!library) return fail(library.error());
  auto source = std::make_unique<nvml::NvmlSource>(std::move(*library));
  const int code = source->begin();
  if (code != nvml::kSuccess)
    return fail(Error::Code::Unavailable, name + ": " + nvml::words(code));
  return source;
}

}  // namespace deem::board
