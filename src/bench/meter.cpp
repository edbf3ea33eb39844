#include "bench/meter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "board/serving.h"

namespace deem::bench {
namespace {

using record::PowerMark;

/// The grid's period: as asked for, but no finer than the boards can be read.
double period_for(const Config& config, const RunBoards& boards,
                  const std::vector<std::string>& ids) {
  return std::max(config.power.period_s, boards.boards->least_period_s(ids));
}

PowerMark edge(PowerMark::Kind kind, bool begin, double mono_s) {
  PowerMark out;
  out.kind = kind;
  out.begin = begin;
  out.mono_s = mono_s;
  return out;
}

PowerMark edge_of(const Block& block, bool begin, double mono_s) {
  PowerMark out = edge(PowerMark::Kind::Block, begin, mono_s);
  out.arm = block.arm;
  out.task = block.task;
  out.probe = block.probe;
  return out;
}

std::string name_of(const Block& block) {
  std::string out = block.arm;
  for (const std::string* part : {&block.task, &block.probe}) {
    if (!part->empty()) out += (out.empty() ? "" : " ") + *part;
  }
  return out.empty() ? "the run" : out;
}

}  // namespace

std::string power_path(const std::string& folder) { return join_path(folder, "power.jsonl"); }

std::unique_ptr<Meter> Meter::start(const Config& config, const RunBoards& boards,
                                    const SeatBoards& seat, const std::string& arms,
                                    Observer& observer, std::string& why_not) {
  if (seat.counted.empty() || boards.boards == nullptr) return nullptr;
  std::unique_ptr<Meter> out(new Meter(config, boards, seat, arms, observer));
  const double period_s = period_for(config, boards, out->ids_);
  auto log =
      board::PowerLog::open(power_path(config.out), board::make_heading(seat.counted, period_s));
  const auto give_up = [&](const Error& error) {
    why_not = error.message;
    observer.note("joules of " + arms + " not measured (" + why_not + ")");
    return nullptr;
  };
  if (!log) return give_up(log.error());
  out->log_ = std::move(*log);
  auto sampler = board::Sampler::start(*boards.boards, seat.counted, period_s, *out->log_);
  if (!sampler) return give_up(sampler.error());
  out->sampler_ = std::move(*sampler);
  out->residency_ = out->look();
  return out;
}

Meter::Meter(const Config& config, const RunBoards& boards, const SeatBoards& seat,
             std::string arms, Observer& observer)
    : config_(config), boards_(boards), seat_(seat), arms_(std::move(arms)), observer_(observer) {
  for (const board::BoardInfo& one : seat.counted) ids_.push_back(one.id);
}

Meter::~Meter() { (void)finish(); }

std::string Meter::finish() {
  if (sampler_) check(sampler_->stop());
  return broken_;
}

void Meter::rest(bool before, const std::stop_token& stop) {
  const double seconds = config_.power.idle_s;
  if (!broken_.empty() || stop.stop_requested() || seconds <= 0) return;
  observer_.stage(fmt::format("reading {} {} at rest for {:g} s, {} {} is asked", ids_.size(),
                              ids_.size() == 1 ? "board" : "boards", seconds,
                              before ? "before" : "after", arms_));
  const auto kind = before ? PowerMark::Kind::IdleBefore : PowerMark::Kind::IdleAfter;
  PowerMark begin = edge(kind, true, board::mono_now_s());
  begin.arm = arms_;
  mark(begin);
  const TimePoint until =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(Seconds(seconds));
  sampler_->wait(until, stop);
  // Cut short it is what it is: score says when it is too short to go by.
  PowerMark end = edge(kind, false, board::mono_now_s());
  end.arm = arms_;
  mark(end);
}

void Meter::begin_block(const Block& block) { mark(edge_of(block, true, board::mono_now_s())); }

void Meter::end_block(const Block& block, const Asked& asked) {
  PowerMark end = edge_of(block, false, board::mono_now_s());
  end.rows = asked.rows;
  end.prompt_tokens = asked.prompt_tokens.value_or(0);
  end.has_prompt_tokens = asked.prompt_tokens.has_value();
  note_drift(end.mono_s, name_of(block));
  mark(end);
}

void Meter::mark(PowerMark mark) {
  if (broken_.empty()) check(log_->mark(mark));
}

void Meter::check(const Result<void>& written) {
  if (written || !broken_.empty()) return;
  broken_ = written.error().message;
  observer_.note("joules are not measured from here on (" + broken_ + ")");
}

std::set<int> Meter::own_processes() const {
  if (seat_.spec.kind == "local") return {static_cast<int>(::getpid())};
  const auto serving = board::serving_processes(seat_.spec.address);
  return serving ? serving->pids : std::set<int>();
}

board::Residency Meter::look() const {
  const board::Inventory now = boards_.boards->inventory();
  const bool told = std::ranges::none_of(now.checks, [](const board::Check& check) {
    return check.name == "memory" && check.verdict == board::Check::Verdict::NotMeasured;
  });
  return board::residency_of(now.boards, now.processes, told);
}

void Meter::note_drift(double mono_s, const std::string& during) {
  if (!broken_.empty() || std::ranges::all_of(seat_.counted, board::is_cpu)) return;
  board::Residency now = look();
  for (const board::Drift& drift : board::drift_between(*residency_, now, own_processes(), ids_)) {
    observer_.note(
        fmt::format("finding: during {}, on board {}: {}", during, drift.board, drift.says));
    record::PowerEvent event;
    event.what = drift.neighbour ? "neighbour" : "residency";
    event.board = drift.board;
    event.mono_s = mono_s;
    event.detail = drift.says;
    check(log_->event(event));
  }
  residency_ = std::move(now);
}

}  // namespace deem::bench
