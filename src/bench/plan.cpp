#include "bench/plan.h"

#include <algorithm>
#include <map>
#include <random>

#include "bench/probe.h"
#include "bench/prompts.h"

namespace deem::bench {
namespace {

constexpr std::uint64_t kMostRows = 20'000'000;  // keeps the plan within memory

struct Place {
  std::size_t task = 0;
  std::size_t item = 0;
  std::size_t state = 0;
  int repeat = 0;
};

/// Fisher–Yates with a stated generator, so that a seed means the same order everywhere.
void shuffle(std::vector<Place>& places, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[random() % i]);
}

Result<std::vector<std::size_t>> chosen_tasks(const Config& config, const kit::Kit& kit) {
  std::vector<std::size_t> out;
  for (std::size_t t = 0; t < kit.tasks.size(); ++t) {
    if (config.tasks.empty() ||
        std::ranges::find(config.tasks, kit.tasks[t].name) != config.tasks.end()) {
      out.push_back(t);
    }
  }
  for (const std::string& name : config.tasks) {
    if (kit.find_task(name) != nullptr) continue;
    std::string known;
    for (const kit::Task& task : kit.tasks) known += (known.empty() ? "" : ", ") + task.name;
    return fail(Error::Code::BadInput,
                "kit " + kit.name + " has no task " + name + "; it has " + known);
  }
  return out;
}

/// A reading that none of the tasks has would make a run without figures.
Result<void> check_readings(const Config& config, const kit::Kit& kit,
                            const std::vector<std::size_t>& tasks) {
  for (const Arm& arm : config.arms) {
    if (is_all(arm)) continue;
    for (const ReadingChoice& choice : arm.readings) {
      if (choice.name == kChosenReading) continue;  // check_fit looks at what was chosen
      if (std::ranges::any_of(tasks, [&](std::size_t t) {
            return find_reading(kit.tasks[t], choice.name).has_value();
          })) {
        continue;
      }
      std::string known = "letters, words, words-unlisted";
      for (const std::size_t t : tasks) {
        for (const auto& reading : kit.tasks[t].readings) {
          if (known.find(reading.name) == std::string::npos) known += ", " + reading.name;
        }
      }
      return fail(Error::Code::BadInput, "arm " + arm.name + ": no task asked has a reading " +
                                             choice.name + "; there are " + known + ", and all");
    }
  }
  return {};
}

/// How many items of a task an arm is asked: the first ones.
std::size_t asked_of(const kit::Task& task, const Config& config, const Arm& arm) {
  std::size_t n = task.items.size();
  for (const std::int64_t limit : {config.limit, arm.limit}) {
    if (limit > 0) n = std::min(n, static_cast<std::size_t>(limit));
  }
  return n;
}

std::vector<Place> make_places(const Config& config, const kit::Kit& kit,
                               const std::vector<std::size_t>& tasks) {
  std::vector<Place> places;
  for (int repeat = 0; repeat < config.repeat; ++repeat) {
    for (const std::size_t t : tasks) {
      const auto& items = kit.tasks[t].items;
      const std::size_t n = config.limit > 0
                                ? std::min(items.size(), static_cast<std::size_t>(config.limit))
                                : items.size();
      for (std::size_t i = 0; i < n; ++i) places.push_back({t, i, items[i].state, repeat});
    }
  }
  if (config.order == Order::Shuffle) {
    shuffle(places, config.seed);
  } else if (config.order == Order::State) {
    // A state's first appearance gives its place, so that a limit keeps the kit's beginning first.
    std::map<std::size_t, std::size_t> first;
    for (const Place& place : places) first.try_emplace(place.state, first.size());
    std::ranges::stable_sort(
        places, {}, [&](const Place& p) { return std::pair(p.repeat, first.at(p.state)); });
  }
  return places;
}

/// Rows of every item with all its orders: the plan has no more, but for a few of the other probes.
std::uint64_t most_rows(const Config& config, const kit::Kit& kit,
                        const std::vector<std::size_t>& tasks) {
  std::uint64_t rows = 0;
  for (const Arm& arm : config.arms) {
    for (const std::size_t t : tasks) {
      const kit::Task& task = kit.tasks[t];
      const std::size_t n = asked_of(task, config, arm);
      rows += static_cast<std::uint64_t>(config.repeat) * n;
      for (std::size_t i = 0; i < n; ++i) rows += count_order_probes(task.items[i], config.probes);
    }
  }
  return rows;
}

}  // namespace

Result<std::vector<Unit>> make_plan(const Config& config, const kit::Kit& kit) {
  Result<std::vector<std::size_t>> tasks = chosen_tasks(config, kit);
  if (!tasks) return fail(tasks.error());
  if (Result<void> known = check_readings(config, kit, *tasks); !known) return fail(known.error());
  if (most_rows(config, kit, *tasks) > kMostRows) {
    return fail(Error::Code::BadInput,
                "the plan has over " + std::to_string(kMostRows) +
                    " rows, probes included; less of --permute or --repeat, or a --limit");
  }
  const std::vector<Place> places = make_places(config, kit, *tasks);

  std::vector<Unit> plan;
  ProbeUnits probes(config, kit);
  std::vector<bool> done(config.arms.size());
  for (std::size_t first = 0; first < config.arms.size(); ++first) {
    if (done[first]) continue;
    std::vector<std::size_t> together;  // arms on the same seat
    std::size_t largest = 1;
    std::vector<Unit> later;
    for (std::size_t a = first; a < config.arms.size(); ++a) {
      if (config.arms[a].seat == config.arms[first].seat) {
        together.push_back(a);
        done[a] = true;
        largest = std::max(largest, static_cast<std::size_t>(config.arms[a].group));
      }
    }
    for (std::size_t at = 0; at < places.size();) {
      // One stretch: items of one task that lie side by side, up to a change of state past the
      // largest group. Each arm takes it in its own group size before the next arm does.
      std::size_t end = at + 1;
      while (end < places.size() && places[end].task == places[at].task &&
             places[end].repeat == places[at].repeat &&
             (places[end].state == places[end - 1].state || end - at < largest)) {
        ++end;
      }
      for (const std::size_t arm : together) {
        const auto group = static_cast<std::size_t>(config.arms[arm].group);
        Unit unit{.arm = arm, .task = places[at].task, .items = {}, .repeat = places[at].repeat};
        const std::size_t of_task = asked_of(kit.tasks[unit.task], config, config.arms[arm]);
        const auto close = [&] {
          plan.push_back(unit);
          unit.items.clear();
          const Unit plain = plan.back();
          probes.add(plain, of_task, plan, later);
        };
        for (std::size_t i = at; i < end; ++i) {
          const std::int64_t limit = config.arms[arm].limit;
          if (limit > 0 && places[i].item >= static_cast<std::size_t>(limit)) continue;
          unit.items.push_back(places[i].item);
          if (unit.items.size() == group) close();
        }
        if (!unit.items.empty()) close();
      }
      at = end;
    }
    std::ranges::move(later, std::back_inserter(plan));
  }
  return plan;
}

std::size_t count_rows(const std::vector<Unit>& plan) {
  std::size_t n = 0;
  for (const Unit& unit : plan) n += unit.items.size();
  return n;
}

}  // namespace deem::bench
