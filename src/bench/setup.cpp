#include "bench/setup.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <thread>

#include "base/file.h"
#include "bench/calibration.h"
#include "bench/longest.h"
#include "bench/process_receipt.h"
#include "bench/prompts.h"
#include "bench/receipt.h"
#include "bench/run_power.h"
#include "seat/give_up.h"

namespace deem::bench {
namespace {

using codec::Json;

std::string cpu_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// How many letters the arm's prompts use at most; 0 when it reads none.
std::size_t letters_needed(const Arm& arm, const kit::Kit& kit, const std::vector<Unit>& plan,
                           std::size_t arm_index) {
  std::size_t most = 0;
  for (const Unit& unit : plan) {
    if (unit.arm != arm_index) continue;
    const kit::Task& task = kit.tasks[unit.task];
    if (!std::ranges::any_of(readings_for(arm, task), [&](const ReadingChoice& choice) {
          return find_reading(task, choice.name) == ReadingKind::Letters;
        })) {
      continue;
    }
    for (const std::size_t i : unit.items) {
      most = std::max(most, std::min(task.items[i].question.options.size(), decision::kLetters));
    }
  }
  return most;
}

Result<OpenSeat> open_seat(const Config& config, const seat::SeatSpec& spec,
                           const RunBoards& boards, const SeatFactory& make_seat,
                           const std::stop_token& stop) {
  OpenSeat open;
  open.spec = spec;
  BeforeLoad before = before_load(boards, spec);
  const TimePoint began = Clock::now();
  Result<std::unique_ptr<seat::Seat>> made = make_seat(spec);
  if (!made) return fail(made.error());
  open.load_s = Seconds(Clock::now() - began).count();
  open.seat = std::move(*made);
  const seat::GiveUp on_stop(stop, *open.seat);
  Result<seat::Identity> identity = open.seat->identify();
  if (!identity) return fail(identity.error());
  open.identity = std::move(*identity);
  // Its identity made a server load the model, where it had not; nothing else was asked of it.
  open.pin = prove_pin(boards, boards.of(spec), std::move(before), *open.seat);
  if (refuse_pin(config, "", open.pin)) return open;
  Result<seat::Capabilities> capabilities = open.seat->capabilities();
  if (!capabilities) return fail(capabilities.error());
  open.capabilities = *capabilities;
  open.ready_s = Seconds(Clock::now() - began).count();
  open.process = process_receipt(boards.inventory.boards, spec, open.identity);
  auto diagnosis = diagnose(config, spec, *open.seat, boards.boards.get(), stop);
  if (!diagnosis) return fail("doctor", diagnosis.error());
  open.diagnosis = std::move(*diagnosis);
  return open;
}

Result<void> prove(ReadyArm& ready, seat::Seat& seat, std::size_t letters) {
  if (letters == 0) {
    ready.proof_note = "no letters are read";
    return {};
  }
  Result<seat::LetterProof> proof = seat.prove_letters(letters);
  if (proof) {
    ready.proof = std::move(*proof);
  } else if (proof.error().code == Error::Code::Unsupported) {
    ready.proof_note = "not measured (" + proof.error().message + ")";
  } else {
    return fail("letter proof", proof.error());
  }
  return {};
}

Result<ReadyArm> make_ready(const Config& config, const kit::Kit& kit,
                            const std::vector<Unit>& plan, std::size_t arm_index, OpenSeat& open,
                            Observer& observer, const std::stop_token& stop) {
  const Arm& arm = config.arms[arm_index];
  const seat::GiveUp on_stop(stop, *open.seat);
  ReadyArm ready;
  Result<void> proved = prove(ready, *open.seat, letters_needed(arm, kit, plan, arm_index));
  if (!proved) return fail(proved.error());
  observer.stage("census of arm " + arm.name);
  Result<CensusResult> census =
      take_census(config, kit, plan, arm_index, *open.seat, open.identity.context, stop);
  if (!census) return fail(census.error());
  ready.census = std::move(*census);
  if (ready.census.not_measured) {
    observer.note("arm " + arm.name + ": census not measured (" + *ready.census.not_measured +
                  "); over-long prompts are found only when the server says so");
    if (open.diagnosis) ready.longest = check_longest(config, kit, plan, arm_index, open, stop);
    if (ready.longest && ready.longest->cut_at)
      ready.longest->probe.says += "; rows counted so long are void";
    if (ready.longest) tell_finding(ready.longest->probe, arm.name, observer);
  }
  return ready;
}

Json census_json(const CensusResult& census) {
  Json out = Json::object();
  if (census.not_measured) {
    out.set("status", "not measured (" + *census.not_measured + ")");
    return out;
  }
  out.set("status", "ok");
  out.set("prompts", static_cast<std::uint64_t>(census.counts.size()));
  out.set("max_tokens", census.max_tokens);
  out.set("total_tokens", census.total_tokens);
  out.set("overlong", static_cast<std::uint64_t>(census.overlong.size()));
  return out;
}

/// Tasks an arm with the reading chosen is asked that its fit says nothing of, with commas.
std::string tasks_without_choice(const Config& config, const kit::Kit& kit,
                                 const std::vector<Unit>& plan, std::size_t arm) {
  if (!reads_chosen(config.arms[arm])) return "";
  std::set<std::size_t> asked;
  for (const Unit& unit : plan) {
    if (unit.arm == arm) asked.insert(unit.task);
  }
  std::string out;
  for (const std::size_t t : asked) {
    const std::string& task = kit.tasks[t].name;
    if (record::chosen_entry(config.arms[arm].fit, task) == nullptr) {
      out += (out.empty() ? "" : ", ") + task;
    }
  }
  return out;
}

/// Says what a newly opened seat's pin and runtimes showed.
void tell_seat(const OpenSeat& open, const std::string& arm, Observer& observer) {
  if (open.pin) {
    const std::string says = "arm " + arm + ": pin " + board::describe(*open.pin);
    const std::string& claim = open.pin->claim.text;
    if (open.pin->state == board::PinVerdict::State::Ok) {
      observer.stage(says);
    } else {
      observer.note(says + (claim.empty() ? "" : "; the server says " + claim));
    }
    for (const std::string& note : open.pin->notes) observer.note("arm " + arm + ": " + note);
  }
  if (const codec::Json* findings =
          open.process.is_object() ? open.process.find("findings") : nullptr) {
    for (const codec::Json& finding : findings->items()) {
      observer.note("arm " + arm + ": finding: " + finding.as_string());
    }
  }
}

}  // namespace

Result<Setup> set_up(const Config& config, const kit::Kit& kit, const std::vector<Unit>& plan,
                     const RunBoards& boards, const SeatFactory& make_seat, Observer& observer,
                     std::stop_token stop) {
  Setup setup;
  for (std::size_t a = 0; a < config.arms.size() && !stop.stop_requested(); ++a) {
    const std::string where = "arm " + config.arms[a].name;
    const seat::SeatSpec& spec = config.arms[a].seat;
    const auto known = std::ranges::find(setup.seats, spec, &OpenSeat::spec);
    const auto seat = static_cast<std::size_t>(known - setup.seats.begin());
    if (known == setup.seats.end()) {
      observer.stage("opening " + spec.kind + ":" + spec.address);
      Result<OpenSeat> open = open_seat(config, spec, boards, make_seat, stop);
      if (!open) return fail(where, open.error());
      tell_seat(*open, config.arms[a].name, observer);
      if (auto refused = refuse_pin(config, config.arms[a].name, open->pin)) {
        setup.refused = std::move(refused);
        return setup;
      }
      if (open->diagnosis) tell_diagnosis(*open->diagnosis, config.arms[a].name, observer);
      setup.seats.push_back(std::move(*open));
    }
    if (Result<void> suits = check_fit(config.arms[a], setup.seats[seat].identity, kit); !suits) {
      return fail(where, suits.error());
    }
    if (const std::string tasks = tasks_without_choice(config, kit, plan, a); !tasks.empty()) {
      observer.note(where + ": calibration " + config.arms[a].fit.name + " chose nothing for " +
                    tasks + "; asked by letters");
    }
    Result<ReadyArm> ready = make_ready(config, kit, plan, a, setup.seats[seat], observer, stop);
    if (!ready) return fail(where, ready.error());
    ready->seat = seat;
    setup.arms.push_back(std::move(*ready));
  }
  return setup;
}

record::RunRecord make_run_record(const Config& config, const kit::Kit& kit,
                                  const RunBoards& boards, const Setup& setup,
                                  std::size_t planned_rows) {
  record::RunRecord run;
  run.deem = DEEM_VERSION;
  run.kit_name = kit.name;
  run.kit_version = kit.version;
  run.kit_path = config.kit;
  run.kit_digest = kit.digest;
  run.kit_format = kit.format;
  run.kit_licence = kit.licence;
  run.settings = settings_json(config);
  run.host = host_name();
  run.cpu = cpu_name();
  run.receipt = host_receipt();
  if (Json known = boards.receipt(); !known.is_null()) {
    run.receipt.set("boards", std::move(known));
  }
  run.energy = boards.energy(config);
  run.cores = static_cast<int>(std::thread::hardware_concurrency());
  run.started = utc_stamp();
  run.planned_rows = static_cast<std::int64_t>(planned_rows);
  for (std::size_t a = 0; a < config.arms.size(); ++a) {
    const ReadyArm& ready = setup.arms[a];
    const OpenSeat& open = setup.seats[ready.seat];
    record::ArmRecord arm;
    arm.name = config.arms[a].name;
    arm.mode = to_string(config.arms[a].mode);
    arm.settings = to_json(config.arms[a]);
    arm.identity = to_json(open.identity);
    arm.capabilities = to_json(open.capabilities);
    if (ready.proof)
      arm.letter_proof = to_json(*ready.proof);
    else
      arm.letter_proof.set("how", ready.proof_note);
    arm.census = census_json(ready.census);
    arm.calibration = calibration_json(config.arms[a]);
    if (open.pin) arm.pin = board::to_json(*open.pin);
    arm.process = open.process;
    if (open.diagnosis) arm.doctor = diagnosis_json(config, *open.diagnosis);
    if (ready.longest) add_probe(arm.doctor, ready.longest->probe, ready.longest->requests);
    arm.startup = Json::object();
    // A server was loaded before; making its seat opens nothing.
    if (open.identity.kind == "local") arm.startup.set("load_s", open.load_s);
    arm.startup.set("ready_s", open.ready_s);
    const auto sharing = std::ranges::find(setup.arms, ready.seat, &ReadyArm::seat);
    const bool first_of_seat = &*sharing == &ready;  // the others met it warm
    if (first_of_seat && open.diagnosis && open.diagnosis->first_answer_s)
      arm.startup.set("first_answer_s", *open.diagnosis->first_answer_s);
    run.arms.push_back(std::move(arm));
  }
  return run;
}

namespace {

std::string shown(const Json& value) { return codec::dump_json(value, {.ascii = false}); }

/// The first member whose value differs, as "context: 2048 then, 4096 now".
std::string first_difference(const Json& then, const Json& now) {
  static const Json kNone;
  if (then.is_object() && now.is_object()) {
    for (const auto& [key, value] : now.members()) {
      const Json* old = then.find(key);
      if (old == nullptr || !(*old == value)) {
        return key + ": " + shown(old == nullptr ? kNone : *old) + " then, " + shown(value) +
               " now";
      }
    }
    for (const auto& [key, value] : then.members()) {
      if (now.find(key) == nullptr) return key + ": " + shown(value) + " then, not told now";
    }
  }
  return shown(then) + " then, " + shown(now) + " now";
}

std::unexpected<Error> differs(const std::string& what, const std::string& difference) {
  return fail(Error::Code::BadInput, what + " changed since this run began (" + difference +
                                         "): start a new run with another --out");
}

}  // namespace

Result<void> check_same_run(const record::RunRecord& found, const record::RunRecord& wanted) {
  if (found.kit_digest != wanted.kit_digest) {
    return differs("kit " + wanted.kit_name, "digest " + found.kit_digest.substr(0, 12) +
                                                 " then, " + wanted.kit_digest.substr(0, 12) +
                                                 " now");
  }
  if (!(found.settings == wanted.settings)) {
    return differs("settings", first_difference(found.settings, wanted.settings));
  }
  if (found.arms.size() != wanted.arms.size()) {
    return differs("arms", std::to_string(found.arms.size()) + " then, " +
                               std::to_string(wanted.arms.size()) + " now");
  }
  for (std::size_t a = 0; a < found.arms.size(); ++a) {
    const auto &then = found.arms[a], &now = wanted.arms[a];
    if (!(then.settings == now.settings)) {
      return differs("arm " + now.name, first_difference(then.settings, now.settings));
    }
    if (!(then.identity == now.identity)) {
      return differs("the seat of arm " + now.name, first_difference(then.identity, now.identity));
    }
    if (!(then.letter_proof == now.letter_proof)) {
      return differs("the letters of arm " + now.name,
                     first_difference(then.letter_proof, now.letter_proof));
    }
  }
  return {};
}

std::optional<double> expected_minutes(const std::string& folder, const record::RunRecord& run) {
  std::string parent = folder;
  while (parent.size() > 1 && parent.ends_with('/')) parent.pop_back();
  const std::size_t slash = parent.rfind('/');
  parent = slash == std::string::npos ? "." : parent.substr(0, slash == 0 ? 1 : slash);
  const Result<std::vector<std::string>> names = list_folder(parent);
  if (!names) return std::nullopt;
  double seconds = 0;
  for (const record::ArmRecord& arm : run.arms) {
    std::optional<double> latest;
    std::string when;
    for (const std::string& name : *names) {
      const std::string path = join_path(parent, name);
      if (!file_exists(join_path(path, "run.json"))) continue;
      const Result<record::RunRecord> other = record::load_run(path);
      if (!other || other->ended.empty() || other->kit_digest != run.kit_digest ||
          !(other->settings == run.settings) || other->host != run.host) {
        continue;
      }
      for (const record::ArmRecord& then : other->arms) {
        if (then.settings == arm.settings && then.wall_s && other->ended > when) {
          latest = then.wall_s;
          when = other->ended;
        }
      }
    }
    if (!latest) return std::nullopt;
    seconds += *latest;
  }
  return seconds / 60;
}

}  // namespace deem::bench
