#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace deem {

/// A program to start. No shell reads any of it.
struct Command {
  std::vector<std::string> argv = {};         // argv[0]: a path, or a name looked up in our PATH
  std::vector<std::string> environment = {};  // "NAME=value"; all the child gets
  std::string folder = {};                    // working folder; ours when empty
  std::string input = {};                     // its stdin
  std::size_t output_limit = 8 << 20;         // bytes kept of stdout and of stderr, the first ones
};

/// This process's environment as "NAME=value", for a Command that should inherit it.
std::vector<std::string> own_environment();

/// The path of a program: `name` itself when it holds a slash, else by our PATH; empty if none.
std::string find_program(std::string_view name);

/// How a child ended: by itself with `code`, or by `signal`; the other is 0.
struct Ending {
  int code = 0;
  int signal = 0;
  bool succeeded() const { return code == 0 && signal == 0; }
};

/// A child in a process group of its own, so a Ctrl-C at our terminal does not reach it. What is
/// left of the group is killed when the child ends, when this object goes, and when this process
/// dies, kill -9 included (then only the child itself). Its output is always drained. Any thread
/// may call any member.
class Process {
 public:
  /// Errors: NotFound when there is no such program, BadInput for an empty argv, Unavailable with
  /// the system's words when it can not be started.
  static Result<Process> spawn(Command command);
  Process(Process&&) noexcept;
  Process& operator=(Process&&) noexcept;
  ~Process();

  pid_t pid() const;
  /// Waits for the end and for the last of the output. Errors: Timeout when it still runs.
  Result<Ending> wait(Seconds timeout);
  bool running() const;
  /// Sends a signal to the child's group; nothing after its end.
  void send(int signal);
  /// SIGTERM, then SIGKILL after `grace`. Returns how it ended.
  Ending stop(Seconds grace);

  /// What it has written so far.
  std::string output() const;
  std::string errors() const;
  /// Bytes of both streams beyond the limit.
  std::size_t dropped() const;

 private:
  class State;
  explicit Process(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct Finished {
  Ending ending = {};
  std::string output = {};
  std::string errors = {};
};

/// Runs a program to its end; at `timeout` it is killed. Errors: as spawn(), and Timeout.
Result<Finished> run_process(Command command, Seconds timeout);

}  // namespace deem
