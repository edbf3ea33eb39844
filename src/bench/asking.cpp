#include "bench/asking.h"

#include <algorithm>

#include "bench/meter.h"

namespace deem::bench {
namespace {

/// Until when a seat is asked in a sustained run: so long from now as earlier sittings left.
TimePoint sustained_until(const Config& config, const Setup& setup, std::size_t seat,
                          const Before& before) {
  double left = config.probes.sustained_s;
  for (std::size_t a = 0; a < config.arms.size(); ++a) {
    const auto spent = before.asking_s.find(config.arms[a].name);
    if (setup.arms[a].seat == seat && spent != before.asking_s.end()) {
      left -= spent->second / config.concurrency;
    }
  }
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(Seconds(std::max(0.0, left)));
}

}  // namespace

Result<void> Asking::all(const Before& before, bool go_on) {
  for (std::size_t first = 0;
       first < plan_.size() && !stop_.stop_requested() && !sitting_.halted();) {
    const std::size_t seat = setup_.arms[plan_[first].arm].seat;
    std::size_t last = first;
    while (last < plan_.size() && setup_.arms[plan_[last].arm].seat == seat) ++last;
    Result<void> asked = one_seat(seat, first, last, before, go_on);
    if (!asked) return asked;
    first = last;
  }
  return {};
}

Result<void> Asking::one_seat(std::size_t seat, std::size_t first, std::size_t last,
                              const Before& before, bool go_on) {
  std::unique_ptr<Meter> meter;
  std::string why;
  if (go_on || sitting_.has_work(first, last)) {
    meter = Meter::start(config_, boards_, boards_.of(setup_.seats[seat].spec), arms_of(seat),
                         observer_, why);
  }
  if (meter) meter->rest(true, stop_);
  sitting_.watch_blocks(meter.get());
  const TimePoint until = sustained_until(config_, setup_, seat, before);
  Result<void> asked = sitting_.ask_range(first, last, stop_);
  if (asked && go_on) asked = sitting_.go_on(first, last, until, stop_);
  sitting_.watch_blocks(nullptr);
  if (asked && meter && !sitting_.halted()) meter->rest(false, stop_);
  if (meter && stop_.stop_requested()) {
    observer_.note(
        "stopped before the boards were read at rest again: net joules of this sitting "
        "are not valid");
  }
  if (meter) why = meter->finish();
  if (!why.empty()) unmeasured_.emplace_back(seat, why);
  return asked;
}

std::string Asking::arms_of(std::size_t seat) const {
  std::string out;
  for (std::size_t a = 0; a < config_.arms.size(); ++a) {
    if (setup_.arms[a].seat == seat) out += (out.empty() ? "" : ", ") + config_.arms[a].name;
  }
  return out;
}

}  // namespace deem::bench
