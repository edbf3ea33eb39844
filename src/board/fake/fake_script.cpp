#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>

#include "board/fake/fake_nvml.h"

namespace deem::fake {
namespace {

[[noreturn]] void refuse(const std::string& line) {
  std::fprintf(stderr, "fake nvml: no such line: %s\n", line.c_str());
  std::abort();
}

template <class T>
T take(std::istringstream& in) {
  T value{};
  in >> value;
  return value;
}

template <class T, std::size_t N>
std::array<T, N> take_all(std::istringstream& in) {
  std::array<T, N> out{};
  for (T& value : out) in >> value;
  return out;
}

unsigned long long bytes_of(double mib) { return static_cast<unsigned long long>(mib * (1 << 20)); }

board::Wave read_wave(std::istringstream& in) {
  const auto word = take<std::string>(in);
  if (word == "sine") {
    const auto [mean, amplitude, period] = take_all<double, 3>(in);
    return board::Wave::sine(mean, amplitude, period);
  }
  if (word != "steps") return board::Wave::constant(std::stod(word));
  std::vector<std::pair<double, double>> points;
  for (std::string point; in >> point;) {
    points.emplace_back(std::stod(point), std::stod(point.substr(point.find(':') + 1)));
  }
  return board::Wave::steps(std::move(points));
}

Process read_process(std::istringstream& in) {
  Process out;
  out.pid = take<unsigned>(in);
  if (const auto mib = take<std::string>(in); mib != "-") out.used = bytes_of(std::stod(mib));
  return out;
}

void read_mig(Board& board, std::istringstream& in) {
  auto mig = std::make_unique<Mig>();
  mig->parent = &board;
  in >> mig->uuid >> mig->gi >> mig->ci >> mig->total_mib >> mig->used_mib;
  board.migs.push_back(std::move(mig));
}

void read_mig_process(Board& board, std::istringstream& in) {
  const auto uuid = take<std::string>(in);
  for (const auto& mig : board.migs) {
    if (mig->uuid != uuid) continue;
    Process process = read_process(in);
    process.gpu_instance = mig->gi;
    process.compute_instance = mig->ci;
    mig->processes.push_back(process);
  }
}

bool read_board_line(Board& b, const std::string& word, std::istringstream& in) {
  if (word == "name") {
    std::getline(in >> std::ws, b.name);
  } else if (word == "pci") {
    b.pci = take_all<unsigned, 3>(in);
  } else if (word == "nohandle") {
    b.nohandle = take<int>(in);
  } else if (word == "memory") {
    b.memory_mib = take_all<double, 3>(in);
  } else if (word == "compute") {
    const auto [major, minor] = take_all<int, 2>(in);
    b.compute = {major, minor};
  } else if (word == "power") {
    b.power = read_wave(in);
  } else if (word == "energy") {
    b.energy_j = take<double>(in);
  } else if (word == "reset") {
    for (double at = 0; in >> at;) b.resets_s.push_back(at);
  } else if (word == "lost") {
    const auto [from, until] = take_all<double, 2>(in);
    b.lost_s = {from, until};
  } else if (word == "limits") {
    b.limits_w = take_all<double, 5>(in);
  } else if (word == "link") {
    b.link = take_all<unsigned, 4>(in);
  } else if (word == "clocks") {
    const auto [sm, memory] = take_all<unsigned, 2>(in);
    b.clocks = {sm, memory};
  } else if (word == "temperature") {
    b.temperature = take<unsigned>(in);
  } else if (word == "utilisation") {
    b.utilisation = take<unsigned>(in);
  } else if (word == "ecc") {
    b.ecc = take<unsigned>(in);
  } else if (word == "persistence") {
    b.persistence = take<unsigned>(in);
  } else if (word == "source") {
    b.source = take<unsigned>(in);
  } else if (word == "mig_mode") {
    b.mig_mode = take<unsigned>(in);
  } else if (word == "reasons") {
    b.reasons = std::stoull(take<std::string>(in), nullptr, 0);
  } else if (word == "process") {
    const auto kind = take<std::string>(in);
    b.processes[kind].push_back(read_process(in));
  } else if (word == "grow") {
    b.grow = take<unsigned>(in);
  } else if (word == "mig") {
    read_mig(b, in);
  } else if (word == "mig_process") {
    read_mig_process(b, in);
  } else {
    return false;
  }
  return true;
}

}  // namespace

Script load_script(const char* path) {
  Script out;
  std::ifstream file(path == nullptr ? "" : path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    const auto word = take<std::string>(in);
    if (word.empty() || word.starts_with('#')) continue;
    if (word == "driver") {
      in >> out.driver;
    } else if (word == "cuda") {
      in >> out.cuda;
    } else if (word == "board") {
      out.boards.push_back(std::make_unique<Board>());
      in >> out.boards.back()->uuid;
    } else if (word == "fail") {
      const auto symbol = take<std::string>(in);
      (out.boards.empty() ? out.fails : out.boards.back()->fails)[symbol] = take<int>(in);
    } else if (out.boards.empty() || !read_board_line(*out.boards.back(), word, in)) {
      refuse(line);
    }
  }
  return out;
}

}  // namespace deem::fake
