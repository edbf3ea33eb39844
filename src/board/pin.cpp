#include "board/pin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace deem::board {
namespace {

using codec::Json;
using State = PinVerdict::State;

constexpr double kClaimSlackMib = 512;  // contexts, and what a server leaves out of its count
constexpr double kClaimSlackShare = 0.2;

std::optional<double> used_on(const std::vector<BoardMemory>& readings, const std::string& id) {
  const auto found = std::ranges::find(readings, id, &BoardMemory::id);
  return found == readings.end() ? std::nullopt : found->used_mib;
}

/// What the seat's processes hold on a board and what others do; none where one does not tell.
void share_out(const PinEvidence& evidence, PinVerdict::Board& board) {
  if (!evidence.owned) return;
  double own = 0, others = 0;
  bool own_told = true, others_told = true;
  for (const Owned& one : *evidence.owned) {
    if (one.board != board.id) continue;
    const bool ours = evidence.pids.contains(one.pid);
    (ours ? own : others) += one.mib.value_or(0);
    (ours ? own_told : others_told) &= one.mib.has_value();
  }
  if (own_told && !evidence.pids.empty()) board.owned_mib = own;
  if (others_told) board.others_mib = others;
}

std::string mib(double value) { return fmt::format("{:.0f} MiB", value); }

/// What of the model is on a board by the method of the verdict; none: not told.
std::optional<double> held(const PinVerdict& verdict, const PinVerdict::Board& board) {
  return verdict.method == "growth" ? board.growth_mib : board.owned_mib;
}

void compare_claim(const PinEvidence& evidence, PinVerdict& verdict) {
  const auto& claimed = evidence.claim.vram_mib;
  if (!claimed) return;
  double seen = 0;
  for (const PinVerdict::Board& board : verdict.boards) seen += held(verdict, board).value_or(0);
  const double off = std::abs(*claimed - seen);
  const bool nowhere = *claimed >= evidence.floor_mib && seen < evidence.floor_mib;
  if (!nowhere && (off <= kClaimSlackMib || off <= kClaimSlackShare * std::max(*claimed, seen))) {
    return;
  }
  verdict.findings.push_back(fmt::format("the server claims {} on boards, {} are seen{}",
                                         mib(*claimed), mib(seen),
                                         nowhere ? ": it may not be on any board" : ""));
}

/// Why nothing can be decided, or "".
std::string missing(const PinEvidence& evidence, const PinVerdict& verdict) {
  if (evidence.named.empty()) return "no board was named";
  if (verdict.method == "processes") {
    if (!evidence.owned) return "the driver does not tell which processes are on a board";
    if (evidence.pids.empty()) {
      return "the seat's processes are not known: " + evidence.no_pids;
    }
  }
  for (const PinVerdict::Board& board : verdict.boards) {
    if (held(verdict, board)) continue;
    return verdict.method == "growth"
               ? "board " + board.id + " gives no reading of its memory"
               : "the driver does not tell how much of board " + board.id + " the seat holds";
  }
  return "";
}

}  // namespace

PinVerdict check_pin(const PinEvidence& evidence) {
  PinVerdict out{.method = evidence.before.empty() ? "processes" : "growth"};
  out.claim = evidence.claim;
  for (const BoardMemory& reading : evidence.after) {
    PinVerdict::Board board{.id = reading.id, .after_mib = reading.used_mib};
    board.named = std::ranges::find(evidence.named, reading.id) != evidence.named.end();
    board.before_mib = used_on(evidence.before, reading.id);
    if (board.before_mib && board.after_mib) {
      board.growth_mib = *board.after_mib - *board.before_mib;
    }
    share_out(evidence, board);
    out.boards.push_back(std::move(board));
  }
  for (const std::string& id : evidence.named) {
    if (std::ranges::find(out.boards, id, &PinVerdict::Board::id) == out.boards.end()) {
      out.boards.push_back({.id = id, .named = true});
    }
  }
  if (const std::string why = missing(evidence, out); !why.empty()) {
    out.findings.push_back(why);
    return out;
  }
  for (const PinVerdict::Board& board : out.boards) {
    const double here = *held(out, board);
    if (board.named && here < evidence.floor_mib) {
      out.findings.push_back(fmt::format("board {} was named and holds {} of the model", board.id,
                                         mib(std::max(0.0, here))));
    } else if (!board.named && here >= evidence.floor_mib) {
      out.findings.push_back(fmt::format("board {} was not named and {} {}", board.id,
                                         out.method == "growth" ? "grew by" : "holds", mib(here)));
    }
    if (board.named && board.others_mib && *board.others_mib >= evidence.floor_mib &&
        !evidence.pids.empty()) {
      out.notes.push_back(fmt::format("board {}: other processes hold {} beside the seat", board.id,
                                      mib(*board.others_mib)));
    }
  }
  compare_claim(evidence, out);
  out.state = out.findings.empty() ? State::Ok : State::Finding;
  return out;
}

Json to_json(const PinVerdict& verdict) {
  const auto known = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json();
  };
  Json out = Json::object();
  out.set("status", verdict.state == State::Ok        ? "ok"
                    : verdict.state == State::Finding ? "finding"
                                                      : "not measured");
  out.set("method", verdict.method);
  Json boards = Json::array();
  for (const PinVerdict::Board& board : verdict.boards) {
    boards.push(Json::object({{"id", board.id},
                              {"named", board.named},
                              {"before_mib", known(board.before_mib)},
                              {"after_mib", known(board.after_mib)},
                              {"growth_mib", known(board.growth_mib)},
                              {"owned_mib", known(board.owned_mib)},
                              {"others_mib", known(board.others_mib)}}));
  }
  out.set("boards", std::move(boards));
  for (const auto& [name, list] :
       {std::pair("findings", &verdict.findings), {"notes", &verdict.notes}}) {
    Json lines = Json::array();
    for (const std::string& line : *list) lines.push(line);
    out.set(name, std::move(lines));
  }
  if (!verdict.claim.text.empty()) {
    out.set("claim", Json::object({{"text", verdict.claim.text},
                                   {"total_mib", known(verdict.claim.total_mib)},
                                   {"vram_mib", known(verdict.claim.vram_mib)}}));
  }
  return out;
}

std::string describe(const PinVerdict& verdict) {
  std::string what;
  for (const std::string& line : verdict.findings) what += (what.empty() ? "" : "; ") + line;
  if (verdict.state == State::NotMeasured) return "not measured (" + what + ")";
  if (verdict.state == State::Finding) return "finding: " + what;
  for (const PinVerdict::Board& board : verdict.boards) {
    if (!board.named) continue;
    what += fmt::format("{}{} {}{:.0f} MiB", what.empty() ? "" : ", ", board.id,
                        verdict.method == "growth" ? "+" : "", held(verdict, board).value_or(0));
  }
  return fmt::format("ok ({}: {}; no other board {})", verdict.method, what,
                     verdict.method == "growth" ? "grew" : "holds any of it");
}

}  // namespace deem::board
