#include "base/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "base/file.h"

namespace deem {
namespace {

constexpr Seconds kLong{20};

Command shell(std::string script) {
  return Command{.argv = {"/bin/sh", "-c", std::move(script)},
                 .environment = {"PATH=/usr/bin:/bin"}};
}

// Waits for `condition`, which another process brings about.
template <class Condition>
bool eventually(Condition condition) {
  for (const auto end = Clock::now() + std::chrono::seconds(20); Clock::now() < end;) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

bool alive(pid_t pid) {
  const auto status = read_file("/proc/" + std::to_string(pid) + "/stat");
  return status && status->find(") Z ") == std::string::npos;
}

TEST(RunProcess, CapturesBothStreamsAndTheCode) {
  const auto done = run_process(shell("echo out; echo err >&2; exit 3"), kLong);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->output, "out\n");
  EXPECT_EQ(done->errors, "err\n");
  EXPECT_EQ(done->ending.code, 3);
  EXPECT_FALSE(done->ending.succeeded());
}

TEST(RunProcess, PassesArgumentsUntouchedByAnyShell) {
  const std::string odd = "a b;$HOME`x`\n'\"*";
  const auto done = run_process({.argv = {"printf", "%s|%s", odd, ""}}, kLong);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->output, odd + "|");
}

TEST(RunProcess, GivesOnlyTheEnvironmentNamed) {
  const auto done = run_process({.argv = {"env"}, .environment = {"ONE=1", "TWO=2"}}, kLong);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->output, "ONE=1\nTWO=2\n");
}

TEST(RunProcess, FeedsInputLargerThanAPipe) {
  std::string input(1'000'000, 'x');
  const auto done = run_process({.argv = {"cat"}, .input = input}, kLong);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->output, input);
}

TEST(RunProcess, AnUnreadInputIsNoError) {
  const auto done = run_process({.argv = {"true"}, .input = std::string(1'000'000, 'x')}, kLong);
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->ending.succeeded());
}

TEST(RunProcess, StartsInTheFolderNamed) {
  EXPECT_EQ(run_process({.argv = {"pwd"}, .folder = "/"}, kLong)->output, "/\n");
  EXPECT_EQ(run_process({.argv = {"pwd"}, .folder = "/no/such"}, kLong).error().code,
            Error::Code::NotFound);
}

TEST(RunProcess, SaysWhatCanNotBeStarted) {
  const auto missing = run_process({.argv = {"no-such-program-here"}}, kLong);
  EXPECT_EQ(missing.error().code, Error::Code::NotFound);
  EXPECT_EQ(missing.error().message, "no-such-program-here: no such program in PATH");
  EXPECT_EQ(run_process({.argv = {"/no/such"}}, kLong).error().message,
            "/no/such: no such file or directory");
  EXPECT_EQ(run_process({.argv = {"/"}}, kLong).error().code, Error::Code::Unavailable);
  EXPECT_EQ(run_process({}, kLong).error().code, Error::Code::BadInput);
}

TEST(RunProcess, KillsAtTheTimeout) {
  const TimePoint start = Clock::now();
  EXPECT_EQ(run_process({.argv = {"sleep", "60"}}, Seconds(0.05)).error().code,
            Error::Code::Timeout);
  EXPECT_LT(Clock::now() - start, kLong);
}

TEST(Process, KeepsTheFirstBytesAndCountsTheRest) {
  Command command = shell("head -c 1000000 /dev/zero");
  command.output_limit = 1000;
  auto process = Process::spawn(std::move(command));
  ASSERT_TRUE(process);
  ASSERT_TRUE(process->wait(kLong));
  EXPECT_EQ(process->output().size(), 1000);
  EXPECT_EQ(process->dropped(), 999'000);
}

TEST(Process, ShowsOutputWhileItRuns) {
  auto process = Process::spawn(shell("echo ready; exec sleep 60"));
  ASSERT_TRUE(process);
  EXPECT_TRUE(eventually([&] { return process->output() == "ready\n"; }));
  EXPECT_TRUE(process->running());
  EXPECT_EQ(process->wait(Seconds(0)).error().code, Error::Code::Timeout);
  EXPECT_EQ(process->stop(kLong).signal, SIGTERM);
  EXPECT_FALSE(process->running());
  process->send(SIGTERM);  // to nobody
}

TEST(Process, StopKillsWhatIgnoresTheRequest) {
  auto process = Process::spawn(shell("trap '' TERM; echo ready; while :; do sleep 60; done"));
  ASSERT_TRUE(process);
  ASSERT_TRUE(eventually([&] { return process->output() == "ready\n"; }));
  EXPECT_EQ(process->stop(Seconds(0.05)).signal, SIGKILL);
}

TEST(Process, GoesWithItsWholeGroup) {
  pid_t child = 0;
  pid_t grandchild = 0;
  {
    auto process = Process::spawn(shell("sleep 60 & echo $!; wait"));
    ASSERT_TRUE(process);
    ASSERT_TRUE(eventually([&] { return process->output().ends_with("\n"); }));
    child = process->pid();
    grandchild = std::stoi(process->output());
    EXPECT_TRUE(alive(grandchild));
  }
  EXPECT_FALSE(alive(child));
  EXPECT_TRUE(eventually([&] { return !alive(grandchild); }));
}

TEST(Process, DiesWithAKilledParent) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    auto process = Process::spawn({.argv = {"sleep", "60"}});
    const pid_t child = process ? process->pid() : 0;
    if (write(ends[1], &child, sizeof child) != sizeof child) _exit(1);
    pause();
  }
  pid_t child = 0;
  ASSERT_EQ(read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  ASSERT_GT(child, 0);
  EXPECT_TRUE(alive(child));
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return !alive(child); }));
  close(ends[0]);
  close(ends[1]);
}

TEST(Process, InheritsNoDescriptor) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);  // without O_CLOEXEC on purpose
  const auto done = run_process(shell("ls /proc/self/fd | wc -l"), kLong);
  ASSERT_TRUE(done);
  EXPECT_LE(std::stoi(done->output), 4);  // three streams and ls's own
  close(ends[0]);
  close(ends[1]);
}

TEST(Process, StartsWithDefaultSignals) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  auto process = Process::spawn({.argv = {"sleep", "60"}});
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ASSERT_TRUE(process);
  EXPECT_EQ(process->stop(kLong).signal, SIGTERM);
}

TEST(FindProgram, LooksInPathUnlessThereIsASlash) {
  EXPECT_TRUE(find_program("sh").ends_with("/sh"));
  EXPECT_EQ(find_program("./x"), "./x");
  EXPECT_EQ(find_program("no-such-program-here"), "");
}

TEST(OwnEnvironment, HasPath) {
  setenv("DEEM_TEST_VARIABLE", "a=b", 1);
  const auto variables = own_environment();
  EXPECT_NE(std::find(variables.begin(), variables.end(), "DEEM_TEST_VARIABLE=a=b"),
            variables.end());
  unsetenv("DEEM_TEST_VARIABLE");
}

}  // namespace
}  // namespace deem
