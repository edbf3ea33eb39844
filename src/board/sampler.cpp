#include "board/sampler.h"

#include <fmt/format.h>

#include <chrono>

#include "base/file.h"
#include "base/text.h"

namespace deem::board {
namespace {

double wall_now_s() { return Seconds(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::vector<std::string> ids_of(std::span<const BoardInfo> boards) {
  std::vector<std::string> out;
  for (const BoardInfo& board : boards) out.push_back(board.id);
  return out;
}

TimePoint at(double mono_s) {
  return TimePoint(std::chrono::duration_cast<Clock::duration>(Seconds(mono_s)));
}

}  // namespace

double mono_now_s() { return Seconds(Clock::now().time_since_epoch()).count(); }

std::string boot_id() {
  const Result<std::string> text = read_file("/proc/sys/kernel/random/boot_id", 4096);
  return text ? std::string(trim(*text)) : "";
}

record::PowerSegment make_heading(std::span<const BoardInfo> boards, double period_s) {
  record::PowerSegment out;
  out.boot_id = boot_id();
  out.period_s = period_s;
  for (const BoardInfo& board : boards) out.boards.push_back(to_power_board(board));
  return out;
}

Sampler::Sampler(Boards& boards, std::vector<BoardInfo> which, double period_s, PowerSink& sink)
    : boards_(boards), sink_(sink), ids_(ids_of(which)), period_s_(period_s), watch_(which) {}

Result<std::unique_ptr<Sampler>> Sampler::start(Boards& boards, std::vector<BoardInfo> which,
                                                double period_s, PowerSink& sink) {
  if (which.empty()) return fail(Error::Code::BadInput, "there is no board to read");
  if (!(period_s >= kLeastPeriod && period_s <= kMostPeriod)) {
    return fail(Error::Code::BadInput, fmt::format("a period of {} s: from {} s to {} s", period_s,
                                                   kLeastPeriod, kMostPeriod));
  }
  std::unique_ptr<Sampler> out(new Sampler(boards, std::move(which), period_s, sink));
  out->thread_ = std::jthread([self = out.get()](const std::stop_token& stop) { self->run(stop); });
  return out;
}

Sampler::~Sampler() { (void)stop(); }

Result<void> Sampler::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  const std::scoped_lock lock(mutex_);
  if (error_) return fail(*error_);
  return {};
}

bool Sampler::wait(TimePoint deadline, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  wake_.wait_until(lock, stop, deadline, [&] { return error_.has_value(); });
  return !error_;
}

Sampler::Counts Sampler::counts() const {
  const std::scoped_lock lock(mutex_);
  return counts_;
}

std::optional<record::PowerSample> Sampler::last() const {
  const std::scoped_lock lock(mutex_);
  return last_;
}

void Sampler::run(const std::stop_token& stop) {
  Grid grid{.begin_s = mono_now_s(), .period_s = period_s_};
  while (!stop.stop_requested()) {
    Result<void> told = tick();
    if (const std::uint64_t missed = grid.advance(mono_now_s()); told && missed > 0) {
      told = tell({"missed", "", mono_now_s(), static_cast<std::int64_t>(missed), ""});
      const std::scoped_lock lock(mutex_);
      counts_.missed += missed;
    }
    std::unique_lock lock(mutex_);
    if (!told) {
      error_ = told.error();
      wake_.notify_all();
      return;
    }
    sleep_.wait_until(lock, stop, at(grid.due_s()), [] { return false; });
  }
}

Result<void> Sampler::tell(const record::PowerEvent& event) {
  {
    const std::scoped_lock lock(mutex_);
    ++counts_.events;
  }
  return sink_.event(event);
}

Result<void> Sampler::tick() {
  record::PowerSample sample;
  const double before = mono_now_s();
  Readings readings = boards_.read(ids_);
  const double after = mono_now_s();
  sample.mono_s = (before + after) / 2;
  sample.wall_s = wall_now_s() - (after - before) / 2;
  // An event comes before the sample that it explains.
  for (const record::PowerEvent& event : watch_.see(readings, sample.mono_s)) {
    if (Result<void> told = tell(event); !told) return told;
  }
  sample.boards = std::move(readings.boards);
  if (Result<void> told = sink_.sample(sample); !told) return told;
  const std::scoped_lock lock(mutex_);
  ++counts_.samples;
  last_ = std::move(sample);
  return {};
}

}  // namespace deem::board
