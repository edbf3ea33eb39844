#include <algorithm>

#include "board/script.h"
#include "board/sources.h"

namespace deem::board {
namespace {

class ScriptedSource : public Source {
 public:
  ScriptedSource(std::vector<ScriptedBoard> boards, std::function<double()> now_s)
      : boards_(std::move(boards)), now_s_(std::move(now_s)) {}

  std::string_view kind() const override { return "scripted"; }

  std::vector<BoardInfo> list() override {
    const double now = now_s_();
    std::vector<BoardInfo> out;
    for (const ScriptedBoard& board : boards_) {
      BoardInfo info = board.info;
      if (board.is_lost(now)) {
        info.error = kLost;
      } else if (board.memory_mib) {
        info.memory_used_mib = board.memory_mib->at(now);
      }
      out.push_back(std::move(info));
    }
    return out;
  }

  Readings read(std::span<const std::string> ids) override {
    const double now = now_s_();
    Readings out;
    for (const std::string& id : ids) {
      record::PowerReading reading;
      std::string error = "the script has no such board";
      for (const ScriptedBoard& board : boards_) {
        if (board.info.id != id) continue;
        error = board.is_lost(now) ? kLost : "";
        if (!error.empty()) break;
        if (board.power_w) reading.watts = board.power_w->at(now);
        if (board.memory_mib) reading.memory_mib = board.memory_mib->at(now);
        reading.energy_j = board.energy_j(now);
        reading.utilisation_percent = board.info.utilisation_percent;
        reading.temperature_c = board.info.temperature_c;
        reading.sm_mhz = board.info.sm_mhz;
        reading.clock_reasons = board.info.clock_reasons;
        reading.processes =
            std::ranges::count_if(board.processes, [&](const ScriptedProcess& process) {
              return process.span.holds(now) &&
                     process.process.kind != BoardProcess::Kind::Graphics;
            });
      }
      out.boards.push_back(reading);
      out.errors.push_back(std::move(error));
    }
    return out;
  }

  std::vector<BoardProcess> processes(std::span<const std::string> ids) override {
    const double now = now_s_();
    std::vector<BoardProcess> out;
    for (const ScriptedBoard& board : boards_) {
      if (std::ranges::find(ids, board.info.id) == ids.end() || board.is_lost(now)) continue;
      for (const ScriptedProcess& one : board.processes) {
        if (one.span.holds(now)) out.push_back(one.process);
      }
    }
    return out;
  }

  std::vector<Check> checks() override {
    if (boards_.empty()) {
      return {{"script", "", Check::Verdict::NotMeasured, "the script has no boards"}};
    }
    return {{"script", "", Check::Verdict::Ok, "boards of a script, not of this box"}};
  }

 private:
  static constexpr const char* kLost = "lost, as its script says";
  const std::vector<ScriptedBoard> boards_;
  const std::function<double()> now_s_;
};

}  // namespace

Result<std::unique_ptr<Source>> open_scripted(std::string_view text,
                                              std::function<double()> now_s) {
  Result<std::vector<ScriptedBoard>> boards = parse_boards_script(text);
  if (!boards) return fail(boards.error());
  return std::make_unique<ScriptedSource>(std::move(*boards), std::move(now_s));
}

}  // namespace deem::board
