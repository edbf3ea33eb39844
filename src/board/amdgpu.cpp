#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>

#include "base/file.h"
#include "base/text.h"
#include "board/sources.h"
#include "board/sysfs.h"

namespace deem::board {
namespace {

constexpr double kMib = 1.0 / (1024.0 * 1024.0);
constexpr double kMicro = 1e-6;

struct Card {
  std::string id, pci, folder, hwmon;
};

/// The "DRIVER=" of a device's uevent file.
std::string driver_of(const std::string& folder) {
  const auto text = read_text(folder + "/uevent").value_or("");
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("DRIVER=")) return std::string(trim(line.substr(7)));
  }
  return "";
}

std::string hwmon_of(const std::string& folder) {
  for (const std::string& name :
       list_folder(folder + "/hwmon").value_or(std::vector<std::string>{})) {
    if (name.starts_with("hwmon")) return folder + "/hwmon/" + name;
  }
  return "";
}

/// The clock whose label is `label`, in MHz.
std::optional<double> clock_of(const Card& card, std::string_view label) {
  for (int i = 1; i <= 4; ++i) {
    const std::string name = card.hwmon + "/freq" + std::to_string(i);
    if (read_text(name + "_label") == label) return read_number(name + "_input", kMicro);
  }
  return std::nullopt;
}

/// PCIe's generation by its rate: "16.0 GT/s PCIe"; kernels of old write "16 GT/s".
std::optional<std::int64_t> generation_of(const std::string& path) {
  const std::string text = read_text(path).value_or("");
  double rate = 0;
  const char* end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, rate);
  if (code != std::errc() || !std::string_view(at, end).starts_with(" GT/s")) return std::nullopt;
  constexpr double kRates[] = {2.5, 5, 8, 16, 32, 64};
  const auto* const found = std::ranges::find(kRates, rate);
  if (found == std::end(kRates)) return std::nullopt;
  return found - std::begin(kRates) + 1;
}

std::optional<std::int64_t> whole(const std::optional<double>& value) {
  return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
}

/// Average where the chip makes one, else the moment's.
std::optional<double> watts_of(const Card& card) {
  const auto average = read_number(card.hwmon + "/power1_average", kMicro);
  return average ? average : read_number(card.hwmon + "/power1_input", kMicro);
}

/// One open handle of a process on a board, by /proc/PID/fdinfo/FD (kernel: drm-usage-stats).
struct Client {
  std::string driver, pci, id;
  std::optional<double> vram_mib;
};

Client parse_fdinfo(std::string_view text) {
  Client out;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, colon), value = trim(line.substr(colon + 1));
    if (key == "drm-driver") out.driver = value;
    if (key == "drm-pdev") out.pci = value;
    if (key == "drm-client-id") out.id = value;
    if (key == "drm-memory-vram") {
      const auto parts = split(value, ' ');
      double number = 0;
      const char* end = parts[0].data() + parts[0].size();
      const auto [at, code] = std::from_chars(parts[0].data(), end, number);
      if (code != std::errc() || at != end) continue;
      const std::string_view unit = parts.size() > 1 ? parts[1] : "";
      out.vram_mib = number * (unit == "MiB" ? 1.0 : unit == "KiB" ? 1.0 / 1024 : kMib);
    }
  }
  return out;
}

/// Absent when one client does not tell its own.
std::optional<double> sum_of(const std::map<std::string, std::optional<double>>& clients) {
  double out = 0;
  for (const auto& [client, mib] : clients) {
    if (!mib) return std::nullopt;
    out += *mib;
  }
  return out;
}

class AmdgpuSource : public Source {
 public:
  AmdgpuSource(std::vector<Card> cards, std::string proc)
      : cards_(std::move(cards)), proc_(std::move(proc)) {}

  std::string_view kind() const override { return "amdgpu"; }

  std::vector<BoardInfo> list() override {
    std::vector<BoardInfo> out;
    for (const Card& card : cards_) out.push_back(describe(card));
    return out;
  }

  Readings read(std::span<const std::string> ids) override {
    Readings out;
    for (const std::string& id : ids) {
      record::PowerReading reading;
      const auto card = std::ranges::find(cards_, id, &Card::id);
      std::string error = "amdgpu knows no such board";
      if (card != cards_.end()) {
        error = is_folder(card->folder) ? "" : "the device is gone from the bus";
        reading.watts = watts_of(*card);
        reading.energy_j = read_number(card->hwmon + "/energy1_input", kMicro);
        reading.memory_mib = read_number(card->folder + "/mem_info_vram_used", kMib);
        reading.utilisation_percent = read_number(card->folder + "/gpu_busy_percent");
        reading.temperature_c = read_number(card->hwmon + "/temp1_input", 1e-3);
        reading.sm_mhz = clock_of(*card, "sclk");
      }
      out.boards.push_back(reading);
      out.errors.push_back(std::move(error));
    }
    return out;
  }

  std::vector<BoardProcess> processes(std::span<const std::string> ids) override {
    std::vector<BoardProcess> out;
    std::size_t closed = 0;  // processes whose handles we may not see
    for (const std::string& name : list_folder(proc_).value_or(std::vector<std::string>{})) {
      std::int64_t pid = 0;
      const char* end = name.data() + name.size();
      if (std::from_chars(name.data(), end, pid).ptr != end) continue;
      const std::string folder = join_path(proc_, name) + "/fdinfo";
      const auto handles = list_folder(folder);
      if (!handles) {
        if (handles.error().code != Error::Code::NotFound) ++closed;
        continue;
      }
      std::map<std::string, std::map<std::string, std::optional<double>>>
          used;  // board, client: MiB
      for (const std::string& handle : *handles) {
        const auto text = read_text(join_path(folder, handle));
        if (!text || text->find("amdgpu") == std::string::npos) continue;
        const Client client = parse_fdinfo(*text);
        const std::string id = "amdgpu:" + client.pci;
        if (client.driver != "amdgpu" || std::ranges::find(ids, id) == ids.end()) continue;
        // Several handles of one client tell the same figure.
        used[id][client.id] = client.vram_mib;
      }
      for (const auto& [id, clients] : used) {
        BoardProcess process;
        process.board = id;
        process.pid = pid;
        process.used_mib = sum_of(clients);
        out.push_back(std::move(process));
      }
    }
    const std::scoped_lock lock(mutex_);
    closed_ = closed;
    return out;
  }

  std::vector<Check> checks() override {
    std::vector<Check> out = {{"driver", "", Check::Verdict::Ok,
                               fmt::format("amdgpu, {} boards by sysfs", cards_.size())}};
    const std::scoped_lock lock(mutex_);
    if (closed_ > 0) {
      out.push_back({"permission", "", Check::Verdict::NotMeasured,
                     fmt::format("the handles of {} processes are readable by their owners only: "
                                 "what they hold on AMD's boards is not seen",
                                 closed_)});
    }
    return out;
  }

 private:
  static BoardInfo describe(const Card& card) {
    BoardInfo out;
    out.id = card.id;
    out.pci = card.pci;
    out.source = "amdgpu";
    if (!is_folder(card.folder)) out.error = "the device is gone from the bus";
    const auto chip = read_text(card.folder + "/product_name").value_or("");
    const auto unique = read_text(card.folder + "/unique_id").value_or("");
    out.name = chip.empty() ? "AMD " + read_text(card.folder + "/device").value_or("board") : chip;
    if (!unique.empty()) out.name += " " + unique;
    out.driver = "amdgpu";
    out.memory_total_mib = read_number(card.folder + "/mem_info_vram_total", kMib);
    out.memory_used_mib = read_number(card.folder + "/mem_info_vram_used", kMib);
    out.limit_enforced_w = read_number(card.hwmon + "/power1_cap", kMicro);
    out.limit_default_w = read_number(card.hwmon + "/power1_cap_default", kMicro);
    out.limit_min_w = read_number(card.hwmon + "/power1_cap_min", kMicro);
    out.limit_max_w = read_number(card.hwmon + "/power1_cap_max", kMicro);
    out.sm_mhz = clock_of(card, "sclk");
    out.memory_mhz = clock_of(card, "mclk");
    out.temperature_c = read_number(card.hwmon + "/temp1_input", 1e-3);
    out.utilisation_percent = read_number(card.folder + "/gpu_busy_percent");
    out.link_generation = generation_of(card.folder + "/current_link_speed");
    out.link_generation_max = generation_of(card.folder + "/max_link_speed");
    out.link_width = whole(read_number(card.folder + "/current_link_width"));
    out.link_width_max = whole(read_number(card.folder + "/max_link_width"));
    out.has_counter = read_number(card.hwmon + "/energy1_input").has_value();
    return out;
  }

  const std::vector<Card> cards_;
  const std::string proc_;
  std::mutex mutex_;  // guards what follows
  std::size_t closed_ = 0;
};

}  // namespace

std::unique_ptr<Source> open_amdgpu(const std::string& sysfs, const std::string& proc) {
  std::vector<Card> cards;
  for (const PciBoard& board : list_pci_boards(sysfs).value_or(std::vector<PciBoard>{})) {
    const std::string folder = join_path(sysfs, "bus/pci/devices/" + board.address);
    if (board.vendor != kAmd || driver_of(folder) != "amdgpu") continue;
    cards.push_back({"amdgpu:" + board.address, board.address, folder, hwmon_of(folder)});
  }
  if (cards.empty()) return nullptr;
  return std::make_unique<AmdgpuSource>(std::move(cards), proc);
}

}  // namespace deem::board
