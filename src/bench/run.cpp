#include "bench/run.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

#include "base/file.h"
#include "base/thread.h"
#include "bench/calibration.h"
#include "bench/journal.h"
#include "bench/plan.h"
#include "bench/setup.h"

namespace deem::bench {
namespace {

using Key = std::tuple<std::string, std::string, std::string, int>;

Result<kit::Kit> load_sound_kit(const Config& config) {
  Result<kit::Loaded> loaded = kit::load_kit(config.kit, config.kit_options);
  if (!loaded) return fail(loaded.error());
  if (!loaded->refused()) return std::move(loaded->kit);
  std::size_t refusals = 0;
  std::string first;
  for (const kit::Finding& finding : loaded->findings) {
    if (finding.level != kit::Finding::Level::Refusal) continue;
    if (refusals++ == 0) {
      first = finding.file + (finding.line > 0 ? ":" + std::to_string(finding.line) : "") + ": " +
              finding.message;
    }
  }
  return fail(Error::Code::BadInput,
              first + (refusals > 1 ? " (and " + std::to_string(refusals - 1) + " more" : " (") +
                  (refusals > 1 ? "; " : "") + "see: deem kit check " + config.kit + ")");
}

/// Everything the workers of one sitting share.
class Sitting {
 public:
  Sitting(const Config& config, const kit::Kit& kit, const std::vector<Unit>& plan, Setup& setup,
          Journal& journal, Observer& observer, std::set<Key> done)
      : config_(config),
        kit_(kit),
        plan_(plan),
        setup_(setup),
        journal_(journal),
        observer_(observer),
        done_(std::move(done)),
        arm_seconds_(config.arms.size()) {
    progress_.total = count_rows(plan);
    progress_.done = done_.size();
  }

  /// Asks units [first, last), all on one seat. Errors: of the journal.
  Result<void> ask_range(std::size_t first, std::size_t last, const std::stop_token& stop) {
    std::atomic<std::size_t> next = first;
    const auto work = [&] {
      while (!stop.stop_requested() && !halted_) {
        const std::size_t u = next.fetch_add(1);
        if (u >= last) return;
        ask_unit(plan_[u]);
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

  bool too_many_errors() const { return too_many_errors_; }
  bool halted() const { return halted_; }
  const Progress& progress() const { return progress_; }
  std::size_t errors() const { return errors_; }
  std::size_t refused() const { return refused_; }
  double arm_seconds(std::size_t arm) const { return arm_seconds_[arm]; }

 private:
  void ask_unit(const Unit& planned) {
    const Arm& arm = config_.arms[planned.arm];
    const ReadyArm& ready = setup_.arms[planned.arm];
    OpenSeat& open = setup_.seats[ready.seat];
    const kit::Task& task = kit_.tasks[planned.task];
    const TimePoint began = Clock::now();
    Unit unit = planned;
    std::vector<record::Row> rows;
    std::erase_if(unit.items, [&](std::size_t i) {
      const kit::Item& item = task.items[i];
      if (done_.contains({arm.name, task.name, item.id, unit.repeat})) return true;
      const auto overlong = ready.census.overlong.find({unit.task, i});
      if (overlong == ready.census.overlong.end()) return false;
      record::Row row = make_row(arm, kit_, task, item, unit.repeat);
      row.status = record::Row::Status::Refused;
      row.reason = "overlong";
      row.reason_number = static_cast<double>(overlong->second.tokens);
      row.stamp = utc_stamp();
      rows.push_back(std::move(row));
      return true;
    });
    if (!unit.items.empty()) {
      const Asker asker(kit_, ready.census.counts, open.identity, *open.seat, *open.memo);
      std::ranges::move(asker.ask(arm, unit), std::back_inserter(rows));
    }
    const double seconds = Seconds(Clock::now() - began).count();
    const std::scoped_lock lock(mutex_);
    arm_seconds_[planned.arm] += seconds / config_.concurrency;
    for (const record::Row& row : rows) keep(row);
  }

  void keep(const record::Row& row) {
    if (error_) return;
    if (Result<void> appended = journal_.append(row); !appended) {
      error_ = appended.error();
      halted_ = true;
      return;
    }
    ++progress_.done;
    ++progress_.asked_now;
    progress_.elapsed = Clock::now() - started_;
    if (row.status == record::Row::Status::Refused) ++refused_;
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
        observer_.note("finding: arm " + row.arm +
                       " asked for another model than the reply names (" + *reading.served_model +
                       "); an alias, or a silent substitution");
      }
    }
    observer_.row(row, progress_);
  }

  const Config& config_;
  const kit::Kit& kit_;
  const std::vector<Unit>& plan_;
  Setup& setup_;
  Journal& journal_;
  Observer& observer_;
  const std::set<Key> done_;
  const TimePoint started_ = Clock::now();
  std::atomic<bool> halted_ = false;
  std::mutex mutex_;  // guards all below
  Progress progress_;
  std::optional<Error> error_;
  std::size_t errors_ = 0, refused_ = 0;
  bool too_many_errors_ = false, said_other_model_ = false;
  std::vector<double> arm_seconds_;
};

std::set<Key> rows_done(std::vector<record::Row> rows, bool retry_errors) {
  std::set<Key> done;
  for (const record::Row& row : rows) {
    if (retry_errors && row.status == record::Row::Status::Error) continue;
    done.emplace(row.arm, row.task, row.id, row.repeat);
  }
  return done;
}

Result<void> save_run(const std::string& folder, const record::RunRecord& run) {
  return write_file_atomically(join_path(folder, "run.json"), record::format_run(run));
}

/// Writes run.json for a new run, or checks that the one found is this run.
Result<record::RunRecord> begin(const Config& config, bool resume, record::RunRecord wanted) {
  if (!resume) {
    if (Result<void> saved = save_run(config.out, wanted); !saved) return fail(saved.error());
    return wanted;
  }
  Result<record::RunRecord> found = record::load_run(config.out);
  if (!found) return found;
  if (Result<void> same = check_same_run(*found, wanted); !same)
    return fail(config.out, same.error());
  return found;
}

/// Says what changed on the seats while the run was going on.
void check_identities(Setup& setup, Observer& observer) {
  for (OpenSeat& open : setup.seats) {
    const Result<seat::Identity> now = open.seat->identify();
    if (!now) {
      observer.note(open.identity.address + ": does not answer any more: " + now.error().message);
    } else if (!(*now == open.identity)) {
      observer.note(open.identity.address +
                    ": finding: the seat is not what it was when the run began; its rows may come "
                    "from two models");
    }
  }
}

}  // namespace

Result<Outcome> run(const Config& asked_for, const RunOptions& options,
                    const SeatFactory& make_seat, Observer& observer, std::stop_token stop) {
  if (Result<void> good = check_config(asked_for); !good) return fail(good.error());
  Config config = asked_for;
  if (Result<void> loaded = load_fits(config); !loaded) return fail(loaded.error());
  const bool there = file_exists(join_path(config.out, "run.json"));
  if (!options.resume && there) {
    return fail(Error::Code::BadInput, config.out + ": holds a run already; deem resume " +
                                           config.out + ", or another --out");
  }
  for (const char* name : {"kit.toml", "articles.json"}) {
    if (file_exists(join_path(config.out, name))) {
      return fail(Error::Code::BadInput,
                  config.out + ": holds a kit (" + name + "); name another --out");
    }
  }
  Result<kit::Kit> kit = load_sound_kit(config);
  if (!kit && options.resume) {
    return fail("the kit named in " + join_path(config.out, "run.json"), kit.error());
  }
  if (!kit) return fail(kit.error());
  Result<std::vector<Unit>> plan = make_plan(config, *kit);
  if (!plan) return fail(plan.error());
  Result<std::unique_ptr<Journal>> journal = Journal::open(config.out);
  if (!journal) return fail(journal.error());
  for (const record::LineProblem& problem : (*journal)->found().problems) {
    observer.note(join_path(config.out, "rows.jsonl") + ":" + std::to_string(problem.line) + ": " +
                  problem.message + "; it will be asked again");
  }
  Result<Setup> setup = set_up(config, *kit, *plan, make_seat, observer, stop);
  if (!setup || stop.stop_requested()) {
    const std::size_t kept = (*journal)->found().rows.size();
    if (!there) Journal::discard(std::move(*journal));
    if (!stop.stop_requested()) return fail(setup.error());
    return Outcome{
        .end = Outcome::End::Interrupted, .began = false, .folder = config.out, .rows = kept};
  }
  Result<record::RunRecord> record =
      begin(config, options.resume, make_run_record(config, *kit, *setup, count_rows(*plan)));
  if (!record) return fail(record.error());

  Sitting sitting(config, *kit, *plan, *setup, **journal, observer,
                  rows_done((*journal)->take_found_rows(), options.retry_errors));
  Announcement announcement{.folder = config.out,
                            .host = record->host,
                            .arms = {},
                            .tasks = {},
                            .started = utc_stamp(),
                            .rows = sitting.progress().total,
                            .done_before = sitting.progress().done,
                            .expected_minutes = expected_minutes(config.out, *record)};
  for (const Arm& arm : config.arms) announcement.arms.push_back(arm.name);
  for (const kit::Task& task : kit->tasks) {
    if (config.tasks.empty() || std::ranges::find(config.tasks, task.name) != config.tasks.end()) {
      announcement.tasks.push_back(task.name);
    }
  }
  observer.announce(announcement);

  Result<void> asked;
  for (std::size_t first = 0;
       first < plan->size() && !stop.stop_requested() && !sitting.halted();) {
    const std::size_t seat = setup->arms[(*plan)[first].arm].seat;
    std::size_t last = first;
    while (last < plan->size() && setup->arms[(*plan)[last].arm].seat == seat) ++last;
    asked = sitting.ask_range(first, last, stop);
    if (!asked) break;
    first = last;
  }

  Outcome outcome{.end = Outcome::End::Done,
                  .folder = config.out,
                  .rows = sitting.progress().done,
                  .asked_now = sitting.progress().asked_now,
                  .errors = sitting.errors(),
                  .refused = sitting.refused()};
  for (std::size_t a = 0; a < record->arms.size(); ++a) {
    record->arms[a].wall_s = record->arms[a].wall_s.value_or(0) + sitting.arm_seconds(a);
  }
  const bool complete = sitting.progress().done >= sitting.progress().total;
  if (sitting.too_many_errors())
    outcome.end = Outcome::End::TooManyErrors;
  else if (asked && !complete)
    outcome.end = Outcome::End::Interrupted;
  if (complete) record->ended = utc_stamp();
  const Result<void> saved = save_run(config.out, *record);
  if (!asked) return fail(asked.error());
  if (!saved) return fail(saved.error());
  check_identities(*setup, observer);
  return outcome;
}

Result<DryRun> dry_run(const Config& asked_for) {
  DryRun out;
  Config config = asked_for;
  if (Result<void> loaded = load_fits(config); !loaded) return fail(loaded.error());
  Result<kit::Kit> kit = load_sound_kit(config);
  if (!kit) return fail(kit.error());
  Result<std::vector<Unit>> plan = make_plan(config, *kit);
  if (!plan) return fail(plan.error());
  out.rows = count_rows(*plan);
  for (const Arm& arm : config.arms) out.rows_by_arm.emplace_back(arm.name, 0);
  for (const kit::Task& task : kit->tasks) out.rows_by_task.emplace_back(task.name, 0);
  for (const Unit& unit : *plan) {
    out.rows_by_arm[unit.arm].second += unit.items.size();
    out.rows_by_task[unit.task].second += unit.items.size();
  }
  out.kit = std::move(*kit);
  return out;
}

Result<Config> load_run_config(const std::string& folder) {
  Result<record::RunRecord> run = record::load_run(folder);
  if (!run) return fail(run.error());
  Config config;
  config.out = folder;
  config.kit = run->kit_path;
  if (Result<void> read = read_settings(run->settings, config); !read) {
    return fail(join_path(folder, "run.json"), read.error());
  }
  for (const record::ArmRecord& arm : run->arms) {
    Result<Arm> parsed = parse_arm(arm.settings);
    if (!parsed) return fail(join_path(folder, "run.json"), parsed.error());
    if (Result<void> read = read_calibration(arm.calibration, *parsed); !read) {
      return fail(join_path(folder, "run.json"), read.error());
    }
    config.arms.push_back(std::move(*parsed));
  }
  return config;
}

}  // namespace deem::bench
