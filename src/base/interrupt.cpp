#include "base/interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>

#include "base/check.h"
#include "base/file.h"

namespace deem {
namespace {

// A signal handler has no other way to what it needs. Lock-free, so async-signal-safe.
std::atomic<int> wake_fd{-1};
std::atomic<int> first_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_signal(int number) {
  const int saved = errno;
  int none = 0;
  if (!first_signal.compare_exchange_strong(none, number)) {
    // A terminal that goes away says so twice: as the kernel, and as the shell.
    if (number != SIGHUP) _exit(130);
    errno = saved;
    return;
  }
  const char byte = 1;
  [[maybe_unused]] const ssize_t sent = write(wake_fd.load(), &byte, 1);
  errno = saved;
}

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

}  // namespace

class Interrupt::State {
 public:
  State() {
    std::array<int, 2> ends{};
    DEEM_CHECK(pipe2(ends.data(), O_CLOEXEC) == 0);
    read_ = Fd(ends[0]);
    write_ = Fd(ends[1]);
    int none = -1;
    DEEM_CHECK(wake_fd.compare_exchange_strong(none, write_.get()));
    first_signal = 0;
    waiter_ = std::thread([this] { wait(); });
    struct sigaction action{};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;  // a write to the journal is not cut short
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      sigaction(kSignals[i], nullptr, &before_[i]);
      if (!is_left(i)) sigaction(kSignals[i], &action, nullptr);
    }
  }

  ~State() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
    wake_fd = -1;
    const char byte = 0;
    [[maybe_unused]] const ssize_t sent = write(write_.get(), &byte, 1);
    waiter_.join();
  }

  std::stop_token token() const { return source_.get_token(); }

 private:
  /// nohup asked that a hangup be nothing.
  bool is_left(std::size_t i) const {
    return kSignals[i] == SIGHUP && before_[i].sa_handler == SIG_IGN;
  }

  // Byte 1 asks for a stop; byte 0 ends the thread.
  void wait() {
    char byte = 0;
    while (true) {
      const ssize_t got = read(read_.get(), &byte, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got != 1 || byte == 0) return;
      source_.request_stop();
    }
  }

  Fd read_, write_;
  std::stop_source source_;
  std::array<struct sigaction, kSignals.size()> before_{};
  std::thread waiter_;
};

Interrupt::Interrupt() : state_(std::make_unique<State>()) {}
Interrupt::~Interrupt() = default;
std::stop_token Interrupt::token() const { return state_->token(); }
int Interrupt::signal() const { return first_signal.load(); }

}  // namespace deem
