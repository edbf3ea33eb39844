#include "board/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>

#include "board/fake/test_folder.h"
#include "board/power_log.h"
#include "board/sources.h"

namespace deem::board {
namespace {

/// One board that draws as many watts as it was read before; each reading may take time.
class CountedSource : public Source {
 public:
  using Delay = std::function<Seconds(int reading)>;
  explicit CountedSource(Delay delay) : delay_(std::move(delay)) {}

  std::string_view kind() const override { return "nvml"; }
  std::vector<BoardInfo> list() override {
    BoardInfo board;
    board.id = "GPU-1";
    board.source = "nvml";
    return {board};
  }
  Readings read(std::span<const std::string> ids) override {
    int n = 0;
    {
      const std::scoped_lock lock(mutex_);
      n = static_cast<int>(begun_.size());
      begun_.push_back(mono_now_s());
    }
    std::this_thread::sleep_for(delay_(n));
    Readings out;
    out.boards.resize(ids.size());
    out.errors.resize(ids.size());
    for (record::PowerReading& board : out.boards) board.watts = n;
    return out;
  }
  std::vector<BoardProcess> processes(std::span<const std::string>) override { return {}; }
  std::vector<Check> checks() override { return {}; }

  std::vector<double> begun() const {
    const std::scoped_lock lock(mutex_);
    return begun_;
  }

 private:
  const Delay delay_;
  mutable std::mutex mutex_;
  std::vector<double> begun_;
};

/// Keeps what it is handed; fails at the sample of that number.
class KeptSink : public PowerSink {
 public:
  explicit KeptSink(std::size_t fails_at = ~std::size_t{0}) : fails_at_(fails_at) {}
  Result<void> sample(const record::PowerSample& sample) override {
    const std::scoped_lock lock(mutex_);
    if (samples_.size() == fails_at_) return fail(Error::Code::Unavailable, "disk full");
    samples_.push_back(sample);
    told_ += "s";
    changed_.notify_all();
    return {};
  }
  Result<void> event(const record::PowerEvent& event) override {
    const std::scoped_lock lock(mutex_);
    events_.push_back(event);
    told_ += event.what.substr(0, 1);
    return {};
  }
  /// False when that many do not come in time.
  bool wait_for_samples(std::size_t n) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return samples_.size() >= n; });
  }
  std::vector<record::PowerSample> samples() const {
    const std::scoped_lock lock(mutex_);
    return samples_;
  }
  std::vector<record::PowerEvent> events() const {
    const std::scoped_lock lock(mutex_);
    return events_;
  }
  /// "s" for a sample and the first letter of an event, in the order they came.
  std::string told() const {
    const std::scoped_lock lock(mutex_);
    return told_;
  }

 private:
  const std::size_t fails_at_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<record::PowerSample> samples_;
  std::vector<record::PowerEvent> events_;
  std::string told_;
};

class Sampling : public testing::Test {
 protected:
  void use(CountedSource::Delay delay) {
    auto source = std::make_unique<CountedSource>(std::move(delay));
    counted = source.get();
    std::vector<std::unique_ptr<Source>> sources;
    sources.push_back(std::move(source));
    boards = std::make_unique<Boards>(std::move(sources));
  }
  void use_script(const std::string& text, std::function<double()> now_s) {
    std::vector<std::unique_ptr<Source>> sources;
    sources.push_back(open_scripted(text, std::move(now_s)).value());
    boards = std::make_unique<Boards>(std::move(sources));
  }
  std::unique_ptr<Sampler> start(double period_s, PowerSink& sink) {
    auto sampler = Sampler::start(*boards, boards->list(), period_s, sink);
    EXPECT_TRUE(sampler) << sampler.error().message;
    return std::move(*sampler);
  }

  CountedSource* counted = nullptr;  // of boards
  std::unique_ptr<Boards> boards;
};

Seconds at_once(int) { return Seconds(0); }

/// How late each reading began against its point of the grid, where the third takes 2.5 periods;
/// its place counts those before it and those that were missed.
std::vector<double> lateness(CountedSource& source, KeptSink& sink, Sampler& sampler,
                             double period_s) {
  std::vector<double> late;
  if (!sink.wait_for_samples(14)) ADD_FAILURE() << "no 14 samples";
  EXPECT_TRUE(sampler.stop());
  const std::vector<double> begun = source.begun();
  const std::vector<record::PowerEvent> events = sink.events();
  std::uint64_t missed = 0;
  std::size_t event = 0;
  for (const char what : sink.told()) {
    if (what == 'm') {
      missed += static_cast<std::uint64_t>(events.at(event++).count);
      continue;
    }
    const double place = static_cast<double>(late.size() + missed);
    late.push_back(begun.at(late.size()) - begun[0] - place * period_s);
  }
  EXPECT_GE(missed, 2U);
  EXPECT_EQ(sampler.counts().missed, missed);
  EXPECT_EQ(sampler.counts().samples, late.size());
  return late;
}

TEST_F(Sampling, ALateReadSkipsPointsOfTheGridAndShiftsNone) {
  constexpr double kPeriod = 0.1;
  // A grid that the late reading had shifted would be half a period off behind it, every time; a
  // busy machine is only now and then late.
  double most_are_at = 1;
  for (int tries = 0; tries < 3 && most_are_at > kPeriod / 4; ++tries) {
    use([](int n) { return Seconds(n == 2 ? 0.25 : 0); });
    KeptSink sink;
    const auto sampler = start(kPeriod, sink);
    std::vector<double> late = lateness(*counted, sink, *sampler, kPeriod);
    ASSERT_GE(late.size(), 14U);
    std::ranges::sort(late);
    EXPECT_GT(late.front(), -0.01) << "none is before its point";
    most_are_at = late[10];
  }
  EXPECT_LT(most_are_at, kPeriod / 4);
}

TEST_F(Sampling, StopDoesNotWaitForTheNextPoint) {
  use(at_once);
  KeptSink sink;
  const auto sampler = start(60, sink);
  ASSERT_TRUE(sink.wait_for_samples(1));
  const TimePoint begin = Clock::now();
  EXPECT_TRUE(sampler->stop());
  EXPECT_LT(Seconds(Clock::now() - begin).count(), 10);
  EXPECT_EQ(sink.samples().size(), 1U);
  EXPECT_TRUE(sampler->stop()) << "twice is once";
}

TEST_F(Sampling, NothingReachesTheSinkAfterStop) {
  use([](int n) { return Seconds(n == 1 ? 0.3 : 0); });
  KeptSink sink;
  const auto sampler = start(0.1, sink);
  ASSERT_TRUE(sink.wait_for_samples(1));
  while (counted->begun().size() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(sampler->stop());  // amid a reading: it is waited for
  const std::string told = sink.told();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(sink.told(), told);
}

TEST_F(Sampling, AnErrorOfTheSinkEndsItAndIsKept) {
  use(at_once);
  KeptSink sink(3);
  const auto sampler = start(0.1, sink);
  EXPECT_FALSE(sampler->wait(Clock::now() + std::chrono::seconds(30), {}));
  EXPECT_EQ(sampler->counts().samples, 3U);
  const std::size_t readings = counted->begun().size();
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  EXPECT_EQ(counted->begun().size(), readings) << "nothing is read any more";
  const Result<void> stopped = sampler->stop();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().message, "disk full");
}

TEST_F(Sampling, WaitEndsAtItsDeadlineAndWhenAsked) {
  use(at_once);
  KeptSink sink;
  const auto sampler = start(0.1, sink);
  EXPECT_TRUE(sampler->wait(Clock::now() + std::chrono::milliseconds(20), {}));
  std::stop_source stop;
  stop.request_stop();
  const TimePoint begin = Clock::now();
  EXPECT_TRUE(sampler->wait(Clock::now() + std::chrono::seconds(60), stop.get_token()));
  EXPECT_LT(Seconds(Clock::now() - begin).count(), 30);
}

TEST_F(Sampling, TheLastSampleIsTold) {
  use(at_once);
  KeptSink sink;
  const auto sampler = start(0.1, sink);
  ASSERT_TRUE(sink.wait_for_samples(3));
  EXPECT_TRUE(sampler->stop());
  const auto samples = sink.samples();
  ASSERT_TRUE(sampler->last());
  EXPECT_EQ(sampler->last()->mono_s, samples.back().mono_s);
  double before = 0, readings = 0;
  for (const record::PowerSample& sample : samples) {
    EXPECT_EQ(sample.boards.at(0).watts, readings++);
    EXPECT_GT(sample.mono_s, before);
    before = sample.mono_s;
  }
}

TEST_F(Sampling, AnEventComesBeforeTheSampleThatItExplains) {
  // A clock of the script's own: a second a reading, which asks once.
  auto now = std::make_shared<std::atomic<int>>(-2);  // the list asks too
  use_script(R"({"schema": "deem.boards-script/1", "boards": [{"id": "B", "power_w": 100,
      "counter": true, "counter_resets_s": [4], "lost_s": [[2, 3]],
      "processes": [{"pid": 1, "from_s": 5}]}]})",
             [now] { return static_cast<double>(now->fetch_add(1)); });
  KeptSink sink;
  const auto sampler = start(0.1, sink);
  ASSERT_TRUE(sink.wait_for_samples(7));
  EXPECT_TRUE(sampler->stop());
  std::string told = sink.told();
  std::erase(told, 'm');  // a machine may be late
  // Seconds 0, 1, 2 lost, 3 back, 4 the only counter began anew, 5 a process, 6.
  EXPECT_EQ(told.substr(0, 11), "ssbsbsdspss");
  EXPECT_EQ(sampler->counts().events, sink.events().size());
}

TEST_F(Sampling, RefusesAPeriodOutsideItsLimitsAndNoBoards) {
  use(at_once);
  KeptSink sink;
  for (const double period : {0.0, 0.099, 60.5, -1.0, std::nan("")}) {
    const auto sampler = Sampler::start(*boards, boards->list(), period, sink);
    ASSERT_FALSE(sampler) << period;
    EXPECT_EQ(sampler.error().code, Error::Code::BadInput);
  }
  const auto sampler = Sampler::start(*boards, {}, 1, sink);
  ASSERT_FALSE(sampler);
  EXPECT_EQ(sampler.error().code, Error::Code::BadInput);
}

TEST_F(Sampling, ALogHoldsEverySample) {
  use(at_once);
  const fake::TestFolder folder;
  const std::string path = folder.at("power.jsonl");
  std::uint64_t samples = 0;
  {
    const auto log = PowerLog::open(path, make_heading(boards->list(), 0.1));
    ASSERT_TRUE(log) << log.error().message;
    const auto sampler = start(0.1, **log);
    EXPECT_TRUE(sampler->wait(Clock::now() + std::chrono::milliseconds(550), {}));
    EXPECT_TRUE(sampler->stop());
    samples = sampler->counts().samples;
  }
  const auto file = record::load_power(path);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->problems.empty());
  ASSERT_EQ(file->segments.size(), 1U);
  EXPECT_EQ(file->segments[0].boot_id, boot_id());
  EXPECT_EQ(file->segments[0].period_s, 0.1);
  ASSERT_GE(samples, 1U);
  ASSERT_EQ(file->segments[0].samples.size(), samples);
  EXPECT_EQ(file->segments[0].samples.back().boards.at(0).watts, static_cast<double>(samples - 1));
}

}  // namespace
}  // namespace deem::board
