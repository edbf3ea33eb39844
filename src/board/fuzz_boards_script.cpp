#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "board/script.h"
#include "board/sources.h"

namespace {

using namespace deem::board;

void require(bool holds) {
  if (!holds) __builtin_trap();
}

/// A fault is one short line, whatever stands in the script.
void check_fault(std::string_view message) {
  require(!message.empty() && message.size() < 400);
  require(
      std::ranges::none_of(message, [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
}

/// What a board tells at any time is a number or absent.
void check_boards(std::string_view bytes, const std::vector<std::string>& ids) {
  double now_s = 0;
  const auto source = open_scripted(bytes, [&now_s] { return now_s; });
  require(source.has_value());
  for (const double time : {0.0, 0.1, 1e6}) {
    now_s = time;
    require((*source)->list().size() == ids.size());
    const Readings readings = (*source)->read(ids);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto& board = readings.boards[i];
      for (const auto& value : {board.watts, board.energy_j, board.memory_mib}) {
        require(!value || std::isfinite(*value));
      }
      require(readings.errors[i].empty() || board == deem::record::PowerReading{});
    }
    for (const BoardProcess& process : (*source)->processes(ids)) {
      require(process.pid >= 0 && std::ranges::find(ids, process.board) != ids.end());
    }
  }
}

}  // namespace

// Any bytes as a script of boards: refused with a place, or boards that can be read at any time.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto boards = parse_boards_script(bytes);
  if (!boards) {
    check_fault(boards.error().message);
    return 0;
  }
  std::vector<std::string> ids;
  for (const ScriptedBoard& board : *boards) ids.push_back(board.info.id);
  check_boards(bytes, ids);
  return 0;
}
