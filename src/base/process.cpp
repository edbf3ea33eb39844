#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>

#include "base/check.h"
#include "base/file.h"
#include "base/system_error.h"
#include "base/text.h"

namespace deem {
namespace {

struct Pipe {
  Fd read;
  Fd write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return fail(system_error("pipe", errno));
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// All the child needs between fork and exec, where only async-signal-safe calls are allowed.
struct Launch {
  std::string path;
  std::vector<char*> argv;
  std::vector<char*> environment;
  std::string folder;
  pid_t parent = 0;
  std::array<int, 3> streams{};  // the child's ends of stdin, stdout, stderr
  int report = -1;               // where errno's value goes when it can not start
};

[[noreturn]] void become(const Launch& launch) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before the line above took effect.
  if (getppid() != launch.parent) _exit(127);
  // Ignored and blocked signals would survive exec.
  for (int number = 1; number < NSIG; ++number) std::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  bool ready = true;
  for (int fd = 0; fd < 3; ++fd) {
    ready = ready && dup2(launch.streams[static_cast<std::size_t>(fd)], fd) == fd;
  }
  // Descriptors that some library opened without O_CLOEXEC.
  close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  ready = ready && (launch.folder.empty() || chdir(launch.folder.c_str()) == 0);
  if (ready) execve(launch.path.c_str(), launch.argv.data(), launch.environment.data());
  const int number = errno;
  [[maybe_unused]] const ssize_t sent = write(launch.report, &number, sizeof number);
  _exit(127);
}

}  // namespace

// Two threads: the keeper forks the child and waits for it (the kernel's parent-death signal
// follows the thread that forked, so that thread must live as long as the child), the reader moves
// bytes.
class Process::State {
 public:
  explicit State(Command command) : command_(std::move(command)) {}
  ~State() {
    send(SIGKILL);
    if (keeper_.joinable()) keeper_.join();
    wake_.write = Fd();
    if (reader_.joinable()) reader_.join();
  }

  Result<void> start();
  Result<Ending> wait(Seconds timeout);
  void send(int signal);
  bool running() const {
    const std::lock_guard lock(mutex_);
    return !ending_;
  }
  pid_t pid() const { return pid_; }
  std::string output() const { return copy(output_); }
  std::string errors() const { return copy(errors_); }
  std::size_t dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
  }

 private:
  std::string copy(const std::string& stream) const {
    const std::lock_guard lock(mutex_);
    return stream;
  }
  void keep(Launch launch, Pipe report, std::array<Fd, 3> child_ends);
  void end_with(const siginfo_t& info);
  void read_streams();
  bool take(const Fd& from, std::string& to);
  void give_input();

  Command command_;
  pid_t pid_ = 0;
  Pipe wake_;  // closing its write end tells the reader that the child has ended
  Fd input_fd_, output_fd_, errors_fd_;
  std::string_view input_left_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::optional<int> started_;  // errno's value, 0 when the program runs
  std::optional<Ending> ending_;
  bool drained_ = false;
  std::string output_, errors_;
  std::size_t dropped_ = 0;

  std::thread keeper_;
  std::thread reader_;
};

Result<void> Process::State::start() {
  if (command_.argv.empty()) return fail(Error::Code::BadInput, "no program to start");
  const std::string name = command_.argv[0];
  Launch launch;
  launch.path = find_program(name);
  if (launch.path.empty()) return fail(Error::Code::NotFound, name + ": no such program in PATH");
  launch.argv = pointers(command_.argv);
  launch.environment = pointers(command_.environment);
  launch.folder = command_.folder;
  launch.parent = getpid();
  auto input = make_pipe(), output = make_pipe(), errors = make_pipe(), report = make_pipe(),
       wake = make_pipe();
  for (const auto* made : {&input, &output, &errors, &report, &wake}) {
    if (!*made) return fail(name, made->error());
  }
  input_fd_ = std::move(input->write);
  output_fd_ = std::move(output->read);
  errors_fd_ = std::move(errors->read);
  wake_ = std::move(*wake);
  input_left_ = command_.input;
  for (const Fd* fd : {&input_fd_, &output_fd_, &errors_fd_}) {
    fcntl(fd->get(), F_SETFL, O_NONBLOCK);
  }
  keeper_ = std::thread(&State::keep, this, std::move(launch), std::move(*report),
                        std::array<Fd, 3>{std::move(input->read), std::move(output->write),
                                          std::move(errors->write)});
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return started_.has_value(); });
    if (*started_ != 0) return fail(system_error(name, *started_));
  }
  reader_ = std::thread(&State::read_streams, this);
  return {};
}

void Process::State::keep(Launch launch, Pipe report, std::array<Fd, 3> child_ends) {
  for (std::size_t i = 0; i < 3; ++i) launch.streams[i] = child_ends[i].get();
  launch.report = report.write.get();
  const pid_t child = fork();
  if (child == 0) become(launch);
  int number = child < 0 ? errno : 0;
  child_ends = {};
  report.write = Fd();
  if (child > 0) {
    setpgid(child, child);  // in the child too: whoever comes first
    while (read(report.read.get(), &number, sizeof number) < 0 && errno == EINTR) {
    }
  }
  {
    const std::lock_guard lock(mutex_);
    pid_ = child;
    started_ = number;
    if (number != 0) ending_ = Ending{.code = 127};
  }
  changed_.notify_all();
  if (child < 0) return;
  // Seen but not yet reaped, so its number and its group's can not be anyone else's.
  siginfo_t info{};
  while (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  end_with(info);
}

void Process::State::end_with(const siginfo_t& info) {
  const std::lock_guard lock(mutex_);
  kill(-pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  ending_ = info.si_code == CLD_EXITED ? Ending{.code = info.si_status}
                                       : Ending{.signal = info.si_status};
  wake_.write = Fd();
  changed_.notify_all();
}

void Process::State::send(int signal) {
  const std::lock_guard lock(mutex_);
  if (pid_ > 0 && !ending_) kill(-pid_, signal);
}

Result<Ending> Process::State::wait(Seconds timeout) {
  std::unique_lock lock(mutex_);
  const auto done = [&] { return ending_ && drained_; };
  if (!changed_.wait_for(lock, timeout, done)) {
    return fail(Error::Code::Timeout, command_.argv[0] + ": still running after " +
                                          std::to_string(timeout.count()) + " s");
  }
  return *ending_;
}

// Reads what is there. False at the end of the stream.
bool Process::State::take(const Fd& from, std::string& to) {
  std::array<char, 65'536> piece;
  while (true) {
    const ssize_t got = read(from.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    const std::lock_guard lock(mutex_);
    const auto size = static_cast<std::size_t>(got);
    const std::size_t kept = std::min(size, command_.output_limit - to.size());
    to.append(piece.data(), kept);
    dropped_ += size - kept;
  }
}

void Process::State::give_input() {
  while (!input_left_.empty()) {
    const ssize_t done = write(input_fd_.get(), input_left_.data(), input_left_.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0 && errno == EAGAIN) return;
    if (done < 0) break;  // it does not read its input, which is its right
    input_left_.remove_prefix(static_cast<std::size_t>(done));
  }
  input_fd_ = Fd();
}

void Process::State::read_streams() {
  // A child that closes its stdin must cost this thread an EPIPE, not the process a signal.
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);
  give_input();
  bool ended = false;
  while (!ended && (output_fd_ || errors_fd_ || input_fd_)) {
    // poll() skips negative descriptors.
    std::array<pollfd, 4> polled{{{output_fd_.get(), POLLIN, 0},
                                  {errors_fd_.get(), POLLIN, 0},
                                  {input_fd_.get(), POLLOUT, 0},
                                  {wake_.read.get(), POLLIN, 0}}};
    if (poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) break;
    ended =
        polled[3].revents != 0;  // one last round: a grandchild may hold the pipes open for ever
    if (output_fd_ && !take(output_fd_, output_)) output_fd_ = Fd();
    if (errors_fd_ && !take(errors_fd_, errors_)) errors_fd_ = Fd();
    if (input_fd_ && polled[2].revents != 0) give_input();
  }
  const std::lock_guard lock(mutex_);
  drained_ = true;
  changed_.notify_all();
}

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    variables.emplace_back(*entry);
  }
  return variables;
}

std::string find_program(std::string_view name) {
  if (name.empty() || name.find('/') != std::string_view::npos) return std::string(name);
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path != nullptr ? path : "/usr/bin:/bin", ':')) {
    const std::string candidate = join_path(folder.empty() ? "." : folder, name);
    if (!is_folder(candidate) && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

Process::Process(std::unique_ptr<State> state) : state_(std::move(state)) {}
Process::Process(Process&&) noexcept = default;
Process& Process::operator=(Process&&) noexcept = default;
Process::~Process() = default;

Result<Process> Process::spawn(Command command) {
  auto state = std::make_unique<State>(std::move(command));
  if (const auto started = state->start(); !started) return fail(started.error());
  return Process(std::move(state));
}

pid_t Process::pid() const { return state_->pid(); }
bool Process::running() const { return state_->running(); }
Result<Ending> Process::wait(Seconds timeout) { return state_->wait(timeout); }
void Process::send(int signal) { state_->send(signal); }
std::string Process::output() const { return state_->output(); }
std::string Process::errors() const { return state_->errors(); }
std::size_t Process::dropped() const { return state_->dropped(); }

Ending Process::stop(Seconds grace) {
  send(SIGTERM);
  if (const auto ending = wait(grace)) return *ending;
  send(SIGKILL);
  while (true) {
    if (const auto ending = wait(Seconds(1))) return *ending;
  }
}

Result<Finished> run_process(Command command, Seconds timeout) {
  auto process = Process::spawn(std::move(command));
  if (!process) return fail(process.error());
  const auto ending = process->wait(timeout);
  if (!ending) return fail(ending.error());
  return Finished{*ending, process->output(), process->errors()};
}

}  // namespace deem
