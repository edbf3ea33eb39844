#pragma once

#include <memory>
#include <stop_token>

namespace deem {

/// Turns SIGINT, SIGTERM and SIGHUP (unless nohup has it ignored) into a stop request; a second one
/// but SIGHUP ends the process at once with exit code 130. One at a time, made in main before the
/// work begins; the handlers of before come back when it goes. Stop callbacks run on a thread of
/// its own, never in the signal handler.
class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  std::stop_token token() const;
  /// The signal that came first, 0 while none has.
  int signal() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace deem
