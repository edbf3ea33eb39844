#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace deem::cli {

/// How a command ends (design law 10).
enum ExitCode : int {
  kDone = 0,
  kFound = 1,  // a gate or check found something
  kUsage = 2,
  kNotMeasured = 3,
  kOutsideFailed = 4,
  kOurBug = 70,
  kInterrupted = 130,
};

using Args = std::vector<std::string>;

/// One verb of `deem`: its words, one line on it, and what runs it with the words after it.
struct Verb {
  std::string_view name;  // "kit check"
  std::string_view summary;
  int (*run)(const Args& args);
};
std::span<const Verb> verbs();

/// Runs `deem ARGS…` and returns its exit code. stdout is the result, stderr the talk.
int run_command_line(const Args& args);

/// Prints "deem: MESSAGE" on stderr and gives the exit code the error's kind has.
int report_error(const Error& error);

/// Parses `args` with `app`. Returns no code when the verb should go on; else the code to end
/// with, help printed or the error said (with "did you mean" for a mistyped flag).
std::optional<int> parse(CLI::App& app, const Args& args);

int run_demo(const Args& args);
int run_run(const Args& args);
int run_resume(const Args& args);
int run_ask(const Args& args);
int run_doctor(const Args& args);
int run_score(const Args& args);
int run_compare(const Args& args);
int run_choose(const Args& args);
int run_calibrate(const Args& args);
int run_report(const Args& args);
int run_kit_check(const Args& args);
int run_kit_show(const Args& args);
int run_kit_import(const Args& args);
int run_kit_freeze(const Args& args);
int run_board_list(const Args& args);
int run_board_log(const Args& args);
int run_board_pin(const Args& args);
int run_receipt_check(const Args& args);
int run_completions(const Args& args);

}  // namespace deem::cli
