#include "bench/sitting.h"

#include <algorithm>
#include <thread>

#include "base/thread.h"
#include "bench/probe.h"

namespace deem::bench {
namespace {

bool is_planned(const RowKey& key) { return std::get<4>(key) != kSustained; }

}  // namespace

RowKey key_of(const record::Row& row) { return {row.arm, row.task, row.id, row.repeat, row.probe}; }

Sitting::Sitting(const Config& config, const kit::Kit& kit, const std::vector<Unit>& plan,
                 Setup& setup, Journal& journal, Observer& observer, std::set<RowKey> done)
    : config_(config),
      kit_(kit),
      plan_(plan),
      setup_(setup),
      journal_(journal),
      observer_(observer),
      done_(std::move(done)),
      planned_(count_rows(plan)),
      arm_seconds_(config.arms.size()),
      first_answer_s_(config.arms.size()) {
  planned_done_ = static_cast<std::size_t>(std::ranges::count_if(done_, is_planned));
  progress_.done = done_.size();
  progress_.total = planned_ + done_.size() - planned_done_;
}

Result<void> Sitting::ask_range(std::size_t first, std::size_t last, const std::stop_token& stop) {
  if (watch_ == nullptr) return ask_span({first, last, TimePoint::max(), 0}, stop);
  return ask_blocks(blocks_of(config_, kit_, plan_, first, last), TimePoint::max(), 0, stop);
}

Unit Sitting::unit_of(std::size_t u, int pass) const {
  Unit unit = plan_[u];
  if (pass == 0) return unit;
  unit.probe = kSustained;
  unit.repeat += pass * config_.repeat;
  return unit;
}

bool Sitting::has_work(std::size_t first, std::size_t last, int pass) const {
  for (std::size_t u = first; u < last; ++u) {
    if (pass > 0 && !plan_[u].probe.empty()) continue;
    const Unit unit = unit_of(u, pass);
    const kit::Task& task = kit_.tasks[unit.task];
    const std::string& arm = config_.arms[unit.arm].name;
    for (const std::size_t i : unit.items) {
      if (!done_.contains({arm, task.name, task.items[i].id, unit.repeat, unit.probe})) return true;
    }
  }
  return false;
}

Result<void> Sitting::ask_blocks(const std::vector<Block>& blocks, TimePoint until, int pass,
                                 const std::stop_token& stop) {
  for (const Block& block : blocks) {
    if (stop.stop_requested() || halted_ || Clock::now() >= until) break;
    if (!has_work(block.first, block.last, pass)) {
      skipped_ += block.last - block.first;
      continue;  // found there already: its energy was told then
    }
    block_ = {.rows = 0, .prompt_tokens = 0};
    watch_->begin_block(block);
    const Result<void> asked = ask_span({block.first, block.last, until, pass}, stop);
    watch_->end_block(block, block_);
    if (!asked) return asked;
  }
  return {};
}

/// A pass over an arm's tasks is one block: each task alone may be over too soon.
std::vector<Block> Sitting::sustained_blocks(std::size_t first, std::size_t last) const {
  std::vector<Block> out;
  for (const Block& block : blocks_of(config_, kit_, plan_, first, last)) {
    if (!block.probe.empty() && config_.order == Order::Block) continue;
    if (!out.empty() && out.back().arm == block.arm) {
      out.back().last = block.last;
      if (out.back().task != block.task) out.back().task = "";
      continue;
    }
    out.push_back(block);
    out.back().probe = kSustained;
  }
  return out;
}

Result<void> Sitting::go_on(std::size_t first, std::size_t last, TimePoint until,
                            const std::stop_token& stop) {
  std::size_t rows_a_pass = 0;
  for (std::size_t u = first; u < last; ++u) {
    if (plan_[u].probe.empty()) rows_a_pass += plan_[u].items.size();
  }
  for (int pass = 1; !stop.stop_requested() && !halted_ && Clock::now() < until; ++pass) {
    const std::size_t answered = answered_now_, skipped = skipped_;
    progress_.total = std::max(progress_.total, progress_.done + rows_a_pass);
    const Result<void> asked = watch_ == nullptr
                                   ? ask_span({first, last, until, pass}, stop)
                                   : ask_blocks(sustained_blocks(first, last), until, pass, stop);
    if (!asked) return asked;
    if (answered_now_ == answered && skipped_ == skipped && Clock::now() < until) {
      observer_.note("a whole pass brought no answer: the sustained run ends early");
      break;
    }
  }
  progress_.total = std::max(planned_, progress_.done);
  return {};
}

Result<void> Sitting::ask_span(const Span& span, const std::stop_token& stop) {
  std::atomic<std::size_t> next = span.first;
  const auto work = [&] {
    while (!stop.stop_requested() && !halted_ && Clock::now() < span.until) {
      const std::size_t u = next.fetch_add(1);
      if (u >= span.last) return;
      if (span.pass == 0 || plan_[u].probe.empty()) ask_unit(unit_of(u, span.pass));
    }
  };
  if (config_.concurrency == 1) {
    work();
  } else {
    std::vector<std::jthread> workers;
    for (int i = 0; i < config_.concurrency; ++i) {
      workers.emplace_back([&] {
        prefer_throughput();
        work();
      });
    }
  }
  if (error_) return fail(*error_);
  return {};
}

std::optional<record::Row> Sitting::refusal(const Unit& unit, std::size_t item) const {
  const auto& overlong = setup_.arms[unit.arm].census.overlong;
  const std::string prompt = changes_prompt(unit.probe) ? unit.probe : "";
  const auto found = overlong.find({unit.task, item, prompt});
  if (found == overlong.end()) return std::nullopt;
  const kit::Task& task = kit_.tasks[unit.task];
  record::Row row = make_row(config_.arms[unit.arm], kit_, task, task.items[item], unit.repeat);
  row.probe = unit.probe;
  row.status = record::Row::Status::Refused;
  row.reason = "overlong";
  row.reason_number = static_cast<double>(found->second.tokens);
  row.stamp = utc_stamp();
  return row;
}

std::vector<record::Row> Sitting::ask_items(const Unit& unit) {
  const Arm& arm = config_.arms[unit.arm];
  const ReadyArm& ready = setup_.arms[unit.arm];
  OpenSeat& open = setup_.seats[ready.seat];
  const auto cut_at = ready.longest ? ready.longest->cut_at : std::nullopt;
  if (unit.probe.empty() || unit.probe == kSustained) {
    const Asker asker(kit_, ready.census.counts, open.identity, *open.seat, *open.memo, false,
                      cut_at);
    std::vector<record::Row> rows = asker.ask(arm, unit);
    for (record::Row& row : rows) row.probe = unit.probe;
    return rows;
  }
  const Probed probed = make_probed(config_, kit_, unit);
  const Asker asker(probed.kit, ready.census.counts, open.identity, *open.seat, *open.memo,
                    probed.cold, cut_at);
  std::vector<record::Row> rows;
  if (probed.one_by_one) {
    rows.resize(probed.unit.items.size());
    std::vector<std::jthread> crowd;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      crowd.emplace_back([&, i] {
        Unit alone = probed.unit;
        alone.items = {i};
        rows[i] = std::move(asker.ask(probed.arm, alone).front());
      });
    }
    crowd.clear();  // joins
  } else {
    rows = asker.ask(probed.arm, probed.unit);
  }
  rows.resize(unit.items.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    finish_probe_row(rows[i], kit_.tasks[unit.task].items[unit.items[i]], unit.probe);
  }
  return rows;
}

void Sitting::ask_unit(const Unit& planned) {
  const Arm& arm = config_.arms[planned.arm];
  const kit::Task& task = kit_.tasks[planned.task];
  const TimePoint began = Clock::now();
  Unit unit = planned;
  std::vector<record::Row> rows;
  std::size_t skipped = 0;
  std::erase_if(unit.items, [&](std::size_t i) {
    if (done_.contains({arm.name, task.name, task.items[i].id, unit.repeat, unit.probe})) {
      ++skipped;
      return true;
    }
    auto refused = refusal(unit, i);
    if (!refused) return false;
    if (unit.probe != kSustained) rows.push_back(std::move(*refused));
    return true;
  });
  std::erase_if(unit.beside, [&](std::size_t i) { return refusal(unit, i).has_value(); });
  if (!unit.items.empty()) std::ranges::move(ask_items(unit), std::back_inserter(rows));
  const double seconds = Seconds(Clock::now() - began).count();
  const std::scoped_lock lock(mutex_);
  skipped_ += skipped;
  arm_seconds_[planned.arm] += seconds / config_.concurrency;
  for (const record::Row& row : rows) keep(row, planned.arm);
}

void Sitting::add_to_block(const record::Row& row) {
  ++block_.rows;
  for (const auto& [name, reading] : row.readings) {
    if (!reading.prompt_tokens || !block_.prompt_tokens) {
      block_.prompt_tokens.reset();
      return;
    }
    *block_.prompt_tokens += *reading.prompt_tokens;
  }
}

void Sitting::keep(const record::Row& row, std::size_t arm) {
  if (error_) return;
  if (Result<void> appended = journal_.append(row); !appended) {
    error_ = appended.error();
    halted_ = true;
    return;
  }
  ++progress_.done;
  ++progress_.asked_now;
  progress_.elapsed = Clock::now() - started_;
  if (row.probe != kSustained) ++planned_done_;
  if (row.status == record::Row::Status::Refused) ++refused_;
  if (row.status == record::Row::Status::Asked) {
    ++answered_now_;
    add_to_block(row);
    if (!first_answer_s_[arm] && !row.readings.empty()) {
      const auto& reading = row.readings.begin()->second;
      first_answer_s_[arm] = reading.planned_to_done_s * reading.group;
    }
  }
  if (row.status == record::Row::Status::Error) {
    ++errors_;
    if (config_.max_errors > 0 && errors_ >= static_cast<std::size_t>(config_.max_errors)) {
      too_many_errors_ = true;
      halted_ = true;
    }
  }
  for (const auto& [name, reading] : row.readings) {
    if (reading.served_model && !said_other_model_) {
      said_other_model_ = true;
      observer_.note("finding: arm " + row.arm + " asked for another model than the reply names (" +
                     *reading.served_model + "); an alias, or a silent substitution");
    }
  }
  observer_.row(row, progress_);
}

}  // namespace deem::bench
