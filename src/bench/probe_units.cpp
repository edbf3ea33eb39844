#include <algorithm>

#include "bench/probe.h"
#include "bench/prompts.h"

namespace deem::bench {
namespace {

/// Whether item `i` is one of `wanted` that lie evenly among the first `n`.
bool is_spread(std::size_t i, std::size_t n, std::size_t wanted) {
  if (wanted >= n) return true;
  const std::size_t k = (i * wanted + n - 1) / n;  // the first whose place is not before i
  return k < wanted && k * n / wanted == i;
}

}  // namespace

std::vector<std::size_t> ProbeUnits::companions(std::size_t task, std::size_t item, std::size_t n,
                                                bool on_its_state) {
  const kit::Task& of = kit_.tasks[task];
  std::vector<std::size_t> out;
  if (on_its_state) {
    auto& by_state = by_state_[task];
    if (by_state.empty()) {
      for (std::size_t i = 0; i < of.items.size(); ++i) by_state[of.items[i].state].push_back(i);
    }
    for (const std::size_t i : by_state[of.items[item].state]) {
      if (i != item && i < n && out.size() + 1 < kCrowd) out.push_back(i);
    }
    return out;
  }
  for (std::size_t step = 1; step < n && out.size() + 1 < kCrowd; ++step) {
    out.push_back((item + step) % n);
  }
  return out;
}

void ProbeUnits::add_orders(const Unit& plain, std::vector<Unit>& plan) {
  const Arm& arm = config_.arms[plain.arm];
  const kit::Task& task = kit_.tasks[plain.task];
  std::vector<std::pair<std::size_t, std::size_t>> counted;  // item, its orders
  std::size_t longest = 0;
  for (const std::size_t i : plain.items) {
    const std::size_t orders = count_order_probes(task.items[i], config_.probes);
    if (orders == 0 || !takes(arm, task, i, order_probe(0))) continue;  // of all orders alike
    counted.emplace_back(i, orders);
    longest = std::max(longest, orders);
  }
  for (std::size_t at = 0; at < longest; ++at) {
    Unit unit{.arm = plain.arm, .task = plain.task, .items = {}, .repeat = plain.repeat};
    unit.probe = order_probe(at);
    for (const auto& [item, orders] : counted) {
      if (at < orders) unit.items.push_back(item);
    }
    plan.push_back(std::move(unit));
  }
}

void ProbeUnits::add_together(const Unit& plain, std::string_view probe, std::vector<Unit>& plan) {
  const Arm& arm = config_.arms[plain.arm];
  const kit::Task& task = kit_.tasks[plain.task];
  Unit unit{.arm = plain.arm, .task = plain.task, .items = {}, .repeat = plain.repeat};
  unit.probe = probe;
  for (const std::size_t i : plain.items) {
    if (takes(arm, task, i, probe)) unit.items.push_back(i);
  }
  if (!unit.items.empty()) plan.push_back(std::move(unit));
}

void ProbeUnits::add_each(const Unit& plain, std::size_t item, std::string_view probe,
                          std::vector<std::size_t> beside, std::vector<Unit>& plan) {
  if (!takes(config_.arms[plain.arm], kit_.tasks[plain.task], item, probe)) return;
  Unit unit{.arm = plain.arm, .task = plain.task, .items = {item}, .repeat = plain.repeat};
  unit.probe = probe;
  unit.beside = std::move(beside);
  plan.push_back(std::move(unit));
}

bool ProbeUnits::takes(const Arm& arm, const kit::Task& task, std::size_t item,
                       std::string_view probe) const {
  return std::ranges::any_of(readings_for(arm, task), [&](const ReadingChoice& choice) {
    return takes_probe(arm, kit_, task, task.items[item], choice.name, probe);
  });
}

void ProbeUnits::add(const Unit& plain, std::size_t n, std::vector<Unit>& plan,
                     std::vector<Unit>& later) {
  const Probes& probes = config_.probes;
  const Arm& arm = config_.arms[plain.arm];
  if (plain.repeat != 0) return;
  const bool together = suits(arm.seat, "beside");
  for (const std::size_t i : plain.items) {
    if (probes.noise == 0 || !is_spread(i, n, static_cast<std::size_t>(probes.noise))) continue;
    std::vector<std::size_t> others = plain.items;
    std::erase(others, i);
    add_each(plain, i, "noise:again", std::move(others), plan);
    if (arm.group > 1) add_each(plain, i, "noise:alone", {}, later);
    if (n > 1) add_each(plain, i, "noise:crowd", companions(plain.task, i, n, false), later);
    if (suits(arm.seat, "cold")) add_each(plain, i, "noise:cold", {}, later);
  }
  add_orders(plain, later);
  if (!probes.laws) return;
  for (const char* law : {"law:negation", "law:choice", "law:rename", "law:whitespace"}) {
    add_together(plain, law, later);
  }
  for (const std::size_t i : plain.items) {
    if (arm.group > 1) add_each(plain, i, "law:alone", {}, later);
    if (!together || n < 2) continue;
    if (auto on_state = companions(plain.task, i, n, true); !on_state.empty()) {
      add_each(plain, i, "law:beside", std::move(on_state), later);
    } else {
      add_each(plain, i, "law:batch", companions(plain.task, i, n, false), later);
    }
  }
}

}  // namespace deem::bench
