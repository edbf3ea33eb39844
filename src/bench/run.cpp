#include "bench/run.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/file.h"
#include "bench/asking.h"
#include "bench/calibration.h"
#include "bench/journal.h"
#include "bench/longest.h"
#include "bench/memory.h"
#include "bench/plan.h"
#include "bench/run_boards.h"
#include "bench/run_power.h"
#include "bench/setup.h"
#include "bench/sitting.h"

namespace deem::bench {
namespace {

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

Before look_back(const std::vector<record::Row>& rows, bool retry_errors) {
  Before out;
  for (const record::Row& row : rows) {
    for (const auto& [name, reading] : row.readings) {
      out.asking_s[row.arm] += reading.planned_to_done_s + reading.prior_s;
    }
    if (retry_errors && row.status == record::Row::Status::Error) continue;
    out.done.insert(key_of(row));
  }
  return out;
}

void resolve_order(Config& config, const RunBoards& boards) {
  if (config.order != Order::Automatic) return;
  config.order = boards.measured() ? Order::Block : Order::State;
}

Result<void> save_run(const std::string& folder, const record::RunRecord& run) {
  return write_file_atomically(join_path(folder, "run.json"), record::format_run(run));
}

/// Writes run.json for a new run, or checks that the one found is this run.
Result<record::RunRecord> begin(const Config& config, bool resume, record::RunRecord wanted,
                                Observer& observer) {
  if (!resume) {
    if (Result<void> saved = save_run(config.out, wanted); !saved) return fail(saved.error());
    return wanted;
  }
  Result<record::RunRecord> found = record::load_run(config.out);
  if (!found) return found;
  if (Result<void> same = check_same_run(*found, wanted); !same)
    return fail(config.out, same.error());
  add_sitting(*found, wanted);
  for (std::size_t a = 0; a < found->arms.size(); ++a) {
    std::vector<std::string> changes;
    record::ArmRecord& arm = found->arms[a];
    arm.doctor = merge_diagnoses(arm.doctor, wanted.arms[a].doctor, changes);
    for (const std::string& change : changes)
      observer.note("arm " + arm.name + ": doctor: " + change);
  }
  return found;
}

/// Why nothing is to be asked, by what the seats' diagnoses found.
std::optional<Outcome> refuse_seats(const Config& config, const Setup& setup) {
  for (std::size_t a = 0; a < config.arms.size(); ++a) {
    const auto& diagnosis = setup.seats[setup.arms[a].seat].diagnosis;
    if (!diagnosis) continue;
    auto refusal = refuse_diagnosis(config, config.arms[a], *diagnosis);
    if (!refusal && config.doctor == Doctor::Require && setup.arms[a].longest) {
      const std::string why = doubt_of(config.arms[a], setup.arms[a].longest->probe);
      if (!why.empty()) refusal = Refusal{.why = why, .found = true};
    }
    if (!refusal) continue;
    return Outcome{
        .end = refusal->found ? Outcome::End::SeatRefused : Outcome::End::SeatNotMeasured,
        .began = false,
        .folder = config.out,
        .why = std::move(refusal->why)};
  }
  return std::nullopt;
}

/// Asks the seats again that were asked in this sitting, as each was when it was diagnosed, and
/// keeps what that shows. Returns why an arm is in doubt now; "" for none.
std::string check_seats_again(const Config& config, const kit::Kit& kit,
                              const std::vector<Unit>& plan, Setup& setup, const Sitting& sitting,
                              record::RunRecord& record, Observer& observer,
                              const std::stop_token& stop) {
  std::string doubt;
  const auto keep = [&](std::size_t a, const seat::ProbeResult& probe, int requests) {
    add_probe(record.arms[a].doctor, probe, requests);
    if (doubt.empty()) doubt = doubt_of(config.arms[a], probe);
  };
  for (std::size_t s = 0; s < setup.seats.size(); ++s) {
    const OpenSeat& open = setup.seats[s];
    std::vector<std::size_t> arms;
    std::vector<std::string> readings;
    for (std::size_t a = 0; a < setup.arms.size(); ++a) {
      if (setup.arms[a].seat != s || sitting.arm_seconds(a) <= 0) continue;
      arms.push_back(a);
      std::ranges::move(diagnosed_readings(config.arms[a]), std::back_inserter(readings));
    }
    if (!open.diagnosis || arms.empty() || stop.stop_requested()) continue;
    int requests = 0;
    const seat::ProbeResult again =
        look_again(config, open.spec, *open.seat, *open.diagnosis, readings, requests, stop);
    if (stop.stop_requested()) break;
    tell_finding(again, config.arms[arms.front()].name, observer);
    for (const std::size_t a : arms) {
      keep(a, again, requests);
      auto longest = check_longest_again(config, kit, plan, a, open, setup.arms[a].longest, stop);
      if (!longest) continue;
      tell_finding(longest->probe, config.arms[a].name, observer);
      keep(a, longest->probe, longest->requests);
    }
  }
  return doubt;
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
  Result<RunBoards> boards = open_run_boards(config, options.boards);
  if (!boards) return fail(boards.error());
  resolve_order(config, *boards);
  Result<std::vector<Unit>> plan = make_plan(config, *kit);
  if (!plan) return fail(plan.error());
  Result<std::unique_ptr<Journal>> journal = Journal::open(config.out);
  if (!journal) return fail(journal.error());
  for (const record::LineProblem& problem : (*journal)->found().problems) {
    observer.note(join_path(config.out, "rows.jsonl") + ":" + std::to_string(problem.line) + ": " +
                  problem.message + "; it will be asked again");
  }
  Result<Setup> setup = set_up(config, *kit, *plan, *boards, make_seat, observer, stop);
  if (!setup || stop.stop_requested()) {
    const std::size_t kept = (*journal)->found().rows.size();
    if (!there) Journal::discard(std::move(*journal));
    if (!stop.stop_requested()) return fail(setup.error());
    return Outcome{
        .end = Outcome::End::Interrupted, .began = false, .folder = config.out, .rows = kept};
  }
  auto refused = std::move(setup->refused);
  if (!refused) refused = refuse_seats(config, *setup);
  if (refused) {
    refused->rows = (*journal)->found().rows.size();
    if (!there) Journal::discard(std::move(*journal));
    return std::move(*refused);
  }
  const record::RunRecord wanted =
      make_run_record(config, *kit, *boards, *setup, count_rows(*plan));
  Result<record::RunRecord> record = begin(config, options.resume, wanted, observer);
  if (!record) return fail(record.error());

  const bool ended = !record->ended.empty();
  Before before = look_back((*journal)->take_found_rows(), options.retry_errors);
  const bool first_sitting = before.done.empty();
  Sitting sitting(config, *kit, *plan, *setup, **journal, observer, std::move(before.done));
  Announcement announcement{.folder = config.out,
                            .host = record->host,
                            .arms = {},
                            .tasks = {},
                            .started = utc_stamp(),
                            .energy = words_of(wanted.energy, *boards, config),
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
  if (options.resume && sitting.has_work(0, plan->size())) {
    tell_other_boards(*record, wanted, observer);
  }
  for (const std::string& finding : boards->findings()) observer.note(finding);

  Asking asking(config, *boards, *plan, *setup, sitting, observer, stop);
  const Result<void> asked = asking.all(before, config.probes.sustained_s > 0 && !ended);

  Outcome outcome{.end = Outcome::End::Done,
                  .folder = config.out,
                  .rows = sitting.progress().done,
                  .asked_now = sitting.progress().asked_now,
                  .errors = sitting.errors(),
                  .refused = sitting.refused()};
  for (std::size_t a = 0; a < record->arms.size(); ++a) {
    record::ArmRecord& arm = record->arms[a];
    arm.wall_s = arm.wall_s.value_or(0) + sitting.arm_seconds(a);
    if (const auto first = sitting.first_answer_s(a);
        first && first_sitting && arm.startup.is_object() &&
        arm.startup.find("first_answer_s") == nullptr) {
      arm.startup.set("first_answer_s", *first);
    }
    OpenSeat& open = setup->seats[setup->arms[a].seat];
    arm.memory = larger_peak(arm.memory, peak_memory(*open.seat, open.identity));
  }
  std::string doubt;
  if (asked && !sitting.too_many_errors())
    doubt = check_seats_again(config, *kit, *plan, *setup, sitting, *record, observer, stop);
  // A sustained run that was stopped has not had its time.
  const bool cut_short = config.probes.sustained_s > 0 && !ended && stop.stop_requested();
  const bool complete = sitting.complete() && !cut_short;
  if (sitting.too_many_errors())
    outcome.end = Outcome::End::TooManyErrors;
  else if (asked && !complete)
    outcome.end = Outcome::End::Interrupted;
  else if (asked && config.doctor == Doctor::Require && !doubt.empty())
    outcome.end = Outcome::End::SeatDoubted;
  outcome.why = doubt;
  tell_unmeasured(config, *setup, asking, *record);
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
  const Result<RunBoards> boards = open_run_boards(config, board::options_from_environment());
  if (!boards) return fail(boards.error());
  resolve_order(config, *boards);
  out.order = config.order;
  out.energy = words_of(boards->energy(config), *boards, config);
  for (const Arm& arm : config.arms) {
    const std::string seat = arm.seat.kind + ":" + arm.seat.address;
    std::string probes;
    for (const std::string& probe : probes_for(config, arm.seat))
      probes += (probes.empty() ? "" : ", ") + probe;
    const std::pair<std::string, std::string> line(seat, probes.empty() ? "off" : probes);
    if (std::ranges::find(out.probes_by_seat, line) == out.probes_by_seat.end())
      out.probes_by_seat.push_back(line);
  }
  Result<std::vector<Unit>> plan = make_plan(config, *kit);
  if (!plan) return fail(plan.error());
  out.rows = count_rows(*plan);
  for (const Arm& arm : config.arms) out.rows_by_arm.emplace_back(arm.name, 0);
  for (const kit::Task& task : kit->tasks) out.rows_by_task.emplace_back(task.name, 0);
  for (const Unit& unit : *plan) {
    out.rows_by_arm[unit.arm].second += unit.items.size();
    out.rows_by_task[unit.task].second += unit.items.size();
    if (!unit.probe.empty()) {
      const std::size_t colon = unit.probe.find(':');
      const bool order = unit.probe.starts_with("order:");
      out.rows_by_probe[order ? unit.probe.substr(0, colon) : unit.probe] += unit.items.size();
    }
  }
  out.kit = std::move(*kit);
  return out;
}

namespace {

/// How the run's boards were read; the defaults where it does not say.
PowerOptions read_power(const codec::Json& energy) {
  PowerOptions out;
  if (!energy.is_object()) return out;
  out.off = energy.get_bool("off").value_or(out.off);
  out.period_s = energy.get_double("period_s").value_or(out.period_s);
  out.idle_s = energy.get_double("idle_s").value_or(out.idle_s);
  out.require_pin = energy.get_bool("require_pin").value_or(out.require_pin);
  return out;
}

/// As the run began.
Doctor read_doctor(const record::RunRecord& run) {
  for (const record::ArmRecord& arm : run.arms) {
    if (!arm.doctor.is_object()) continue;
    return parse_doctor(arm.doctor.get_string("mode").value_or("")).value_or(Doctor::Quick);
  }
  return Doctor::Off;
}

}  // namespace

Result<Config> load_run_config(const std::string& folder) {
  Result<record::RunRecord> run = record::load_run(folder);
  if (!run) return fail(run.error());
  Config config;
  config.out = folder;
  config.kit = run->kit_path;
  config.power = read_power(run->energy);
  config.doctor = read_doctor(*run);
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
