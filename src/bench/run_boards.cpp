#include "bench/run_boards.h"

#include <algorithm>

#include "board/pin_seat.h"
#include "board/serving.h"

namespace deem::bench {
namespace {

using board::BoardInfo;
using codec::Json;

Json to_json(const board::BoardInfo& one) {
  Json out = Json::object({{"id", one.id}, {"name", one.name}, {"source", one.source}});
  const auto tell = [&](const char* name, const auto& value) {
    if (value) out.set(name, *value);
  };
  tell("memory_total_mib", one.memory_total_mib);
  tell("cap_w", one.limit_enforced_w);
  tell("cap_requested_w", one.limit_requested_w);
  tell("cap_default_w", one.limit_default_w);
  tell("ecc", one.ecc);
  if (!one.driver.empty()) out.set("driver", one.driver);
  if (!one.cuda.empty()) out.set("cuda", one.cuda);
  if (!one.error.empty()) out.set("error", one.error);
  return out;
}

/// Why no energy can be measured on this box.
std::string why_none(const board::Inventory& inventory) {
  std::string why;
  for (const board::Check& check : inventory.checks) {
    // A box whose boards can not be reached has boards all the same.
    if (check.verdict == board::Check::Verdict::Finding || check.name == "permission") {
      why += (why.empty() ? "" : "; ") + check.says;
    }
  }
  return why.empty() ? "no board" : why;
}

bool is_here(const seat::SeatSpec& spec) {
  return spec.kind == "local" || board::is_on_this_machine(spec.address);
}

/// The boards that count for a seat whose arms name none.
void count_boards(const board::Inventory& inventory, SeatBoards& seat) {
  const bool on_cpu = seat.spec.kind == "local" && seat.spec.gpu_layers == 0;
  std::vector<BoardInfo> cpus, accelerators;
  for (const BoardInfo& board : inventory.boards) {
    if (board.error.empty()) (board::is_cpu(board) ? cpus : accelerators).push_back(board);
  }
  seat.counted = on_cpu || accelerators.empty() ? cpus : accelerators;
  if (!seat.counted.empty()) return;
  const bool other = on_cpu && !accelerators.empty();
  seat.why_not = other ? "the model runs on the CPU, whose RAPL counters can not be read"
                       : why_none(inventory);
}

Result<void> decide(const RunBoards& boards, const Arm& arm, SeatBoards& seat) {
  if (!is_here(seat.spec)) {
    seat.why_not = "the seat is on another machine";
    if (arm.boards.empty()) return {};
    return fail(Error::Code::BadInput,
                "names boards, but its seat " + seat.spec.address + " is on another machine");
  }
  if (arm.boards.empty()) {
    count_boards(boards.inventory, seat);
    return {};
  }
  auto named = board::choose_boards(boards.inventory.boards, arm.boards);
  if (!named) return fail(named.error());
  for (const BoardInfo& one : *named) {
    seat.named.push_back(one.id);
    if (!one.error.empty()) seat.why_not = one.id + ": " + one.error;
  }
  if (seat.why_not.empty()) seat.counted = std::move(*named);
  return {};
}

}  // namespace

const SeatBoards& RunBoards::of(const seat::SeatSpec& spec) const {
  return *std::ranges::find(seats, spec, &SeatBoards::spec);
}

bool RunBoards::measured() const {
  return std::ranges::any_of(seats, [](const SeatBoards& seat) { return !seat.counted.empty(); });
}

std::vector<std::string> RunBoards::findings() const {
  std::vector<std::string> out;
  if (!measured()) return out;
  const auto counts = [&](const std::string& id) {
    return std::ranges::any_of(seats, [&](const SeatBoards& seat) {
      return std::ranges::find(seat.counted, id, &BoardInfo::id) != seat.counted.end();
    });
  };
  for (const board::Check& check : inventory.checks) {
    if (check.verdict != board::Check::Verdict::Finding) continue;
    if (!check.board.empty() && !counts(check.board)) continue;
    out.push_back("finding: " + (check.board.empty() ? "" : "board " + check.board + ": ") +
                  check.name + ": " + check.says);
  }
  return out;
}

Json RunBoards::receipt() const {
  if (inventory.boards.empty()) return {};
  Json out = Json::array();
  for (const BoardInfo& one : inventory.boards) out.push(to_json(one));
  return out;
}

Json RunBoards::energy(const Config& config) const {
  Json arms = Json::object();
  std::string why;
  for (const Arm& arm : config.arms) {
    const SeatBoards& seat = of(arm.seat);
    Json one = Json::object();
    one.set("status", seat.counted.empty() ? "not measured (" + seat.why_not + ")" : "ok");
    if (why.empty()) why = seat.why_not;
    Json ids = Json::array();
    for (const BoardInfo& board : seat.counted) ids.push(board.id);
    if (!seat.counted.empty()) one.set("boards", std::move(ids));
    arms.set(arm.name, std::move(one));
  }
  Json out = Json::object();
  out.set("status", measured() ? "ok" : "not measured (" + why + ")");
  if (config.power.off) out.set("off", true);
  out.set("period_s", config.power.period_s);
  out.set("idle_s", config.power.idle_s);
  if (config.power.require_pin) out.set("require_pin", true);
  out.set("arms", std::move(arms));
  return out;
}

Result<RunBoards> open_run_boards(const Config& config, const board::BoardOptions& options) {
  RunBoards out;
  std::string why;
  auto opened = board::open_boards(options);
  if (opened) {
    out.boards = std::move(*opened);
    out.inventory = out.boards->inventory();
  } else {
    why = opened.error().message;
  }
  for (const Arm& arm : config.arms) {
    if (std::ranges::find(out.seats, arm.seat, &SeatBoards::spec) != out.seats.end()) continue;
    SeatBoards seat{.spec = arm.seat};
    if (!opened && !arm.boards.empty()) return fail("arm " + arm.name, opened.error());
    if (Result<void> decided = decide(out, arm, seat); !decided) {
      return fail("arm " + arm.name, decided.error());
    }
    if (!opened) seat.why_not = why;
    if (config.power.off) {
      seat.counted.clear();
      seat.why_not = "switched off";
    }
    out.seats.push_back(std::move(seat));
  }
  return out;
}

BeforeLoad before_load(const RunBoards& boards, const seat::SeatSpec& spec) {
  if (boards.boards == nullptr || spec.kind != "local" || boards.of(spec).named.empty()) return {};
  return {.memory = board::memory_of(boards.boards->list())};
}

board::Claim claim_of(seat::Seat& seat) {
  const Result<seat::Claim> claim = seat.claim();
  if (!claim) return {};
  const auto mib = [](const std::optional<std::int64_t>& bytes) {
    return bytes ? std::optional(static_cast<double>(*bytes) / (1024.0 * 1024.0)) : std::nullopt;
  };
  return {mib(claim->total_bytes), mib(claim->vram_bytes), claim->text};
}

std::optional<board::PinVerdict> prove_pin(const RunBoards& boards, const SeatBoards& of,
                                           BeforeLoad before, seat::Seat& seat) {
  if (of.named.empty() || boards.boards == nullptr) return std::nullopt;
  board::PinEvidence evidence;
  evidence.named = of.named;
  evidence.before = std::move(before.memory);
  evidence.claim = claim_of(seat);
  board::read_after(*boards.boards, of.spec.kind == "local" ? "" : of.spec.address, evidence);
  return board::check_pin(evidence);
}

}  // namespace deem::bench
