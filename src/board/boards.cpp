#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "board/board.h"
#include "board/checks.h"
#include "board/owner.h"
#include "board/sources.h"
#include "board/sysfs.h"

namespace deem::board {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string or_else(const std::string& value, const char* fallback) {
  return value.empty() ? fallback : value;
}

/// Opens NVIDIA's boards. A box without them, and without their driver, has nothing to find.
void open_nvidia(const BoardOptions& options, std::size_t on_bus,
                 std::vector<std::unique_ptr<Source>>& sources, std::vector<Check>& checks) {
  Result<std::unique_ptr<Source>> nvml = open_nvml(options.nvml_library);
  if (nvml) {
    sources.push_back(std::move(*nvml));
    return;
  }
  const auto verdict = on_bus > 0 ? Check::Verdict::Finding : Check::Verdict::NotMeasured;
  if (nvml.error().code == Error::Code::Unavailable) {
    checks.push_back({"driver", "", verdict, nvml.error().message});
    return;
  }
  Result<std::unique_ptr<Source>> smi = open_smi(options.nvidia_smi);
  if (smi) {
    sources.push_back(std::move(*smi));
    return;
  }
  checks.push_back({"driver", "", verdict, nvml.error().message + "; " + smi.error().message});
}

}  // namespace

BoardOptions options_from_environment() {
  BoardOptions out;
  out.nvml_library = environment("DEEM_NVML_LIBRARY");
  out.nvidia_smi = environment("DEEM_NVIDIA_SMI");
  out.sysfs = environment("DEEM_SYSFS");
  out.proc = environment("DEEM_PROC");
  out.script = environment("DEEM_BOARDS");
  return out;
}

std::string_view to_string(BoardProcess::Kind kind) {
  switch (kind) {
    case BoardProcess::Kind::Compute:
      return "compute";
    case BoardProcess::Kind::Graphics:
      return "graphics";
    case BoardProcess::Kind::Mps:
      return "mps";
  }
  return "";
}

std::string_view to_string(Check::Verdict verdict) {
  switch (verdict) {
    case Check::Verdict::Ok:
      return "ok";
    case Check::Verdict::Finding:
      return "finding";
    case Check::Verdict::NotMeasured:
      return "not measured";
  }
  return "";
}

record::PowerBoard to_power_board(const BoardInfo& board) {
  record::PowerBoard out;
  out.id = board.id;
  out.name = board.name;
  out.pci = board.pci;
  out.source = board.source;
  out.cap_w = board.limit_enforced_w;
  out.reading_period_s = board.reading_period_s;
  out.has_counter = board.has_counter;
  return out;
}

bool Inventory::found() const {
  return std::ranges::any_of(
      checks, [](const Check& check) { return check.verdict == Check::Verdict::Finding; });
}

bool Inventory::measurable() const {
  return std::ranges::any_of(boards, [](const BoardInfo& board) { return board.error.empty(); });
}

Boards::Boards(std::vector<std::unique_ptr<Source>> sources, std::vector<Check> checks)
    : sources_(std::move(sources)), checks_(std::move(checks)), sysfs_("/sys"), proc_("/proc") {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    for (const BoardInfo& board : sources_[i]->list()) known_.push_back({board.id, i});
  }
}

void Boards::set_roots(std::string sysfs, std::string proc, bool count_pci) {
  sysfs_ = std::move(sysfs);
  proc_ = std::move(proc);
  count_pci_ = count_pci;
}

const Boards::Known* Boards::find(std::string_view id) const {
  const auto at = std::ranges::find(known_, id, &Known::id);
  return at == known_.end() ? nullptr : &*at;
}

std::vector<BoardInfo> Boards::list() {
  std::vector<BoardInfo> out;
  for (const auto& source : sources_) {
    for (BoardInfo& board : source->list()) out.push_back(std::move(board));
  }
  return out;
}

Readings Boards::read(std::span<const std::string> ids) {
  Readings out;
  out.boards.resize(ids.size());
  out.errors.resize(ids.size(), "no source knows such a board");
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    std::vector<std::string> asked;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const Known* known = find(ids[i]);
      if (known == nullptr || known->source != s) continue;
      asked.push_back(ids[i]);
      places.push_back(i);
    }
    if (asked.empty()) continue;
    Readings part = sources_[s]->read(asked);
    DEEM_CHECK(part.boards.size() == asked.size() && part.errors.size() == asked.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      out.boards[places[i]] = part.boards[i];
      out.errors[places[i]] = std::move(part.errors[i]);
    }
  }
  return out;
}

std::vector<BoardProcess> Boards::processes(std::span<const std::string> ids) {
  std::vector<BoardProcess> out;
  for (const auto& source : sources_) {
    for (BoardProcess& process : source->processes(ids)) {
      if (source->kind() != "scripted") find_owner(proc_, process);
      out.push_back(std::move(process));
    }
  }
  return out;
}

double Boards::least_period_s(std::span<const std::string> ids) const {
  double out = 0;
  for (const std::string& id : ids) {
    if (const Known* known = find(id)) {
      out = std::max(out, sources_[known->source]->least_period_s());
    }
  }
  return out;
}

Inventory Boards::inventory() {
  Inventory out;
  out.boards = list();
  std::vector<std::string> ids;
  for (const BoardInfo& board : out.boards) ids.push_back(board.id);
  out.processes = processes(ids);
  out.checks = checks_;
  for (const auto& source : sources_) {
    for (Check& check : source->checks()) out.checks.push_back(std::move(check));
  }
  if (count_pci_) {
    const auto on_bus = list_pci_boards(sysfs_);
    if (!on_bus) {
      out.checks.push_back(
          {"count", "", Check::Verdict::NotMeasured, "the bus: " + on_bus.error().message});
    }
    for (const auto& [vendor, maker] : {std::pair(kNvidia, "NVIDIA"), std::pair(kAmd, "AMD")}) {
      const auto by_driver = std::ranges::count_if(out.boards, [&](const BoardInfo& board) {
        return vendor == kAmd ? board.source == "amdgpu"
                              : board.source == "nvml" || board.source == "nvidia-smi";
      });
      const auto there =
          on_bus ? std::ranges::count(*on_bus, vendor, &PciBoard::vendor) : std::ptrdiff_t{0};
      if (on_bus && (by_driver > 0 || there > 0)) {
        out.checks.push_back(check_count(maker, static_cast<std::size_t>(by_driver),
                                         static_cast<std::size_t>(there)));
      }
    }
  }
  for (const BoardInfo& board : out.boards) {
    if (board.source == "rapl") continue;  // says what it lacks itself
    if (!board.error.empty()) {
      out.checks.push_back({"reach", board.id, Check::Verdict::Finding, board.error});
      continue;
    }
    const bool told = std::ranges::any_of(out.checks, [&](const Check& check) {
      return check.name == "memory" && (check.board == board.id || check.board.empty());
    });
    if (!told) out.checks.push_back(check_memory(board, out.processes));
    if (board.source != "amdgpu") out.checks.push_back(check_power(board));
    if (auto limit = check_limit(board)) out.checks.push_back(std::move(*limit));
  }
  return out;
}

Result<std::unique_ptr<Boards>> open_boards(const BoardOptions& options) {
  const std::string sysfs = or_else(options.sysfs, "/sys"), proc = or_else(options.proc, "/proc");
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<Check> checks;
  if (!options.script.empty()) {
    const Result<std::string> text = read_file(options.script);
    if (!text) return fail(text.error());
    Result<std::unique_ptr<Source>> source = open_scripted(
        *text, [begin = Clock::now()] { return Seconds(Clock::now() - begin).count(); });
    if (!source) return fail(options.script, source.error());
    sources.push_back(std::move(*source));
    return std::make_unique<Boards>(std::move(sources));
  }
  const auto on_bus = list_pci_boards(sysfs);
  const auto of_nvidia =
      on_bus ? std::ranges::count(*on_bus, kNvidia, &PciBoard::vendor) : std::ptrdiff_t{0};
  open_nvidia(options, static_cast<std::size_t>(of_nvidia), sources, checks);
  if (auto amd = open_amdgpu(sysfs, proc)) sources.push_back(std::move(amd));
  if (auto rapl = open_rapl(sysfs)) {
    sources.push_back(std::move(rapl));
  } else {
    checks.push_back({"driver", "", Check::Verdict::NotMeasured,
                      "no counters of the processor: " + join_path(sysfs, "class/powercap") +
                          " has no intel-rapl package"});
  }
  auto out = std::make_unique<Boards>(std::move(sources), std::move(checks));
  out->set_roots(sysfs, proc, true);
  return out;
}

Result<std::vector<BoardInfo>> choose_boards(std::vector<BoardInfo> boards,
                                             std::span<const std::string> typed) {
  if (typed.empty()) {
    std::erase_if(boards, [](const BoardInfo& board) { return !board.error.empty(); });
    return boards;
  }
  std::vector<BoardInfo> out;
  for (const std::string& name : typed) {
    const std::string shown = printable(name, 60);
    const std::string wanted = to_lower(name);
    // A PCI address may be written with a domain of four digits, of eight, or without one.
    const auto matches = [&](const BoardInfo& board) {
      const std::string pci = to_lower(board.pci);
      if (to_lower(board.id) == wanted) return true;
      if (wanted.size() < 7 || wanted.find(':') == std::string::npos || pci.empty()) return false;
      const bool longer =
          wanted.ends_with(pci) && wanted.find_first_not_of('0') >= wanted.size() - pci.size();
      return pci.ends_with(wanted) || longer;
    };
    if (name.find_first_not_of("0123456789") == std::string::npos) {
      return fail(Error::Code::BadInput,
                  "board " + shown +
                      ": a board is named by its UUID or PCI address, never by an "
                      "index, which changes; deem board list shows them");
    }
    const auto found = std::ranges::find_if(boards, matches);
    if (found == boards.end()) {
      return fail(Error::Code::BadInput,
                  "board " + shown +
                      (boards.empty() ? ": no board can be read here; deem board list says why"
                                      : ": not on this box; deem board list shows which are"));
    }
    if (std::ranges::count_if(boards, matches) > 1) {
      return fail(Error::Code::BadInput, "board " + shown + ": fits several; name its UUID");
    }
    if (std::ranges::find(out, found->id, &BoardInfo::id) == out.end()) out.push_back(*found);
  }
  return out;
}

}  // namespace deem::board
