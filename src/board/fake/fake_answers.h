#pragma once

// What the stand-in's functions answer by: its state, failures the script wants, lists of
// processes.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include "board/fake/fake_nvml.h"

namespace deem::fake {

inline constexpr int kSuccess = 0, kUninitialized = 1, kInvalid = 2, kNotSupported = 3,
                     kNotFound = 6, kTooSmall = 7, kLost = 15;
inline constexpr int kWrongVersion = 25;

struct State {
  std::mutex mutex;  // guards what follows
  bool running = false;
  Script script;
  int inits = 0;
};

inline State& state() {
  static State out;
  return out;
}

inline std::atomic<double> fixed_time{-1};

inline double now_s() {
  const double fixed = fixed_time.load();
  if (fixed >= 0) return fixed;
  static const auto begin = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

inline unsigned long long bytes_of(double mib) {
  return static_cast<unsigned long long>(mib * (1 << 20));
}

inline int copy_text(const std::string& text, char* out, unsigned length) {
  if (text.size() + 1 > length) return kTooSmall;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return kSuccess;
}

/// A device's handle is its Board or its Mig.
struct Target {
  Board* board = nullptr;
  Mig* mig = nullptr;
};

inline Target target_of(void* device) {
  for (const auto& board : state().script.boards) {
    if (board.get() == device) return {board.get(), nullptr};
    for (const auto& mig : board->migs) {
      if (mig.get() == device) return {board.get(), mig.get()};
    }
  }
  return {};
}

/// Answers by `answer(target)` unless the script has it fail.
template <class F>
int with(void* device, const char* symbol, F answer) {
  const std::scoped_lock lock(state().mutex);
  if (!state().running) return kUninitialized;
  const Target target = target_of(device);
  if (target.board == nullptr) return kInvalid;
  const Board& board = *target.board;
  const bool is_static = std::strcmp(symbol, "nvmlDeviceGetName") == 0;
  if (board.lost_s && !is_static && now_s() >= board.lost_s->first &&
      now_s() < board.lost_s->second) {
    return kLost;
  }
  const auto& all = state().script.fails;
  if (const auto at = all.find(symbol); at != all.end()) return at->second;
  if (const auto at = board.fails.find(symbol); at != board.fails.end()) return at->second;
  return answer(target);
}

template <class T, class Value>
int give(const std::optional<Value>& value, T* out) {
  if (!value) return kNotSupported;
  *out = static_cast<T>(*value);
  return kSuccess;
}

inline int global_failure(const char* symbol) {
  const auto& all = state().script.fails;
  const auto at = all.find(symbol);
  return at == all.end() ? kSuccess : at->second;
}

inline int list(void* device, const char* symbol, const char* kind, std::size_t entry,
                unsigned* count, void* out) {
  return with(device, symbol, [&](const Target& target) {
    Board& board = *target.board;
    std::vector<Process>& all = board.processes[kind];
    const bool compute = std::strcmp(kind, "compute") == 0;
    if (out != nullptr && compute && board.grown < 3 && board.grow > 0) {
      ++board.grown;
      for (unsigned i = 0; i < board.grow; ++i) {
        all.push_back({.pid = 10'000 + static_cast<unsigned>(all.size()), .used = bytes_of(1)});
      }
    }
    std::vector<Process> told;
    if (target.mig == nullptr) told = all;
    if (target.mig != nullptr && compute) told = target.mig->processes;
    const unsigned room = *count;
    *count = static_cast<unsigned>(told.size());
    if (told.empty()) return kSuccess;
    if (out == nullptr || room < told.size()) return kTooSmall;
    auto* at = static_cast<unsigned char*>(out);
    for (const Process& one : told) {
      std::memset(at, 0xAB, entry);  // what lies between and after the members is not ours to read
      std::memcpy(at, &one.pid, 4);
      std::memcpy(at + 8, &one.used, 8);
      if (entry > 16) {
        std::memcpy(at + 16, &one.gpu_instance, 4);
        std::memcpy(at + 20, &one.compute_instance, 4);
      }
      at += entry;
    }
    return kSuccess;
  });
}

inline int init() {
  const std::scoped_lock lock(state().mutex);
  state().script = load_script(std::getenv("DEEM_FAKE_NVML"));
  ++state().inits;
  if (const int code = global_failure("nvmlInit"); code != kSuccess) return code;
  state().running = true;
  return kSuccess;
}

inline int count_of(unsigned* out) {
  const std::scoped_lock lock(state().mutex);
  if (!state().running) return kUninitialized;
  *out = static_cast<unsigned>(state().script.boards.size());
  return global_failure("nvmlDeviceGetCount");
}

inline int by_index(unsigned index, void** out) {
  const std::scoped_lock lock(state().mutex);
  if (!state().running) return kUninitialized;
  if (index >= state().script.boards.size()) return kInvalid;
  Board& board = *state().script.boards[index];
  if (board.nohandle) return *board.nohandle;
  *out = &board;
  return kSuccess;
}

struct Pci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char bus_id[32];
};

inline int pci_of(void* device, Pci* out, bool new_name) {
  return with(device, "nvmlDeviceGetPciInfo", [&](const Target& target) {
    const auto& [domain, bus, slot] = target.board->pci;
    std::snprintf(out->legacy, sizeof out->legacy, "%04X:%02X:%02X.0", domain & 0xffff, bus & 0xff,
                  slot & 0xff);
    out->domain = domain;
    out->bus = bus;
    out->device = slot;
    if (new_name) {
      std::snprintf(out->bus_id, sizeof out->bus_id, "%08X:%02X:%02X.0", domain, bus & 0xff,
                    slot & 0xff);
    }
    return kSuccess;
  });
}

}  // namespace deem::fake
