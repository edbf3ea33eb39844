#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/config.h"
#include "bench/plan.h"
#include "kit/kit.h"
#include "record/row.h"

namespace deem::bench {

// A probe asks an item once more, otherwise than the kit does, to see what the answer hangs on. Its
// row carries the probe's name and stays out of every plain figure. Names: docs/formats/row.md.

/// The name of the rows that a sustained run adds after its first pass.
inline constexpr std::string_view kSustained = "sustained";
/// How many are asked at once in a crowd, and side by side by the laws.
inline constexpr std::size_t kCrowd = 8;
/// Random orders of an item with more than five options under `--permute all`.
inline constexpr int kManyOrders = 24;

/// Orders of n options other than the kit's: each a permutation of 0 … n−1, all different. The
/// reverse comes first. All n!−1 of them when `wanted` reaches that many, or is kAllOrders and
/// n ≤ 5; kAllOrders gives kManyOrders above that. The others are drawn with `seed`. None when
/// n < 2.
std::vector<std::vector<std::size_t>> option_orders(std::size_t n, int wanted, std::uint64_t seed);

/// How many option_orders gives, without making them.
std::size_t count_orders(std::size_t n, int wanted);

/// The order at a place of option_orders, which must be under count_orders; those behind it are not
/// made.
std::vector<std::size_t> option_order(std::size_t n, int wanted, std::uint64_t seed,
                                      std::size_t at);

/// How many order probes an item gets. A score item has only the reverse: its options are levels,
/// and levels out of order are another question.
std::size_t count_order_probes(const kit::Item& item, const Probes& probes);

/// The name of the order probe at a place of option_orders: "order:reverse", then "order:1" …
std::string order_probe(std::size_t at);

/// Whether a reading is asked under a probe of an item. It is when the probe changes what the
/// reading shows to the model, or how it is asked.
bool takes_probe(const Arm& arm, const kit::Kit& kit, const kit::Task& task, const kit::Item& item,
                 std::string_view reading, std::string_view probe);

/// Whether the probe shows the model another prompt than the plain row's.
bool changes_prompt(std::string_view probe);

/// What a unit with a probe asks, as a kit and an arm of its own.
struct Probed {
  kit::Kit kit;             // one task: the unit's items, then those asked beside them
  Arm arm;                  // with the readings that take the probe
  Unit unit;                // on `kit`
  bool cold = false;        // nothing evaluated before may be used
  bool one_by_one = false;  // each item in a call of its own, all at the same time
};
Probed make_probed(const Config& config, const kit::Kit& kit, const Unit& unit);

/// Gives a probe's row its name and, where the probe showed the options under other names, the
/// options' own keys. `item` is the kit's.
void finish_probe_row(record::Row& row, const kit::Item& item, const std::string& probe);

/// The statement's negation as the law asks it: `It is not true that: S`, or for a question
/// `Is "no" the right answer to this question? Q`.
std::string negated(std::string_view instructions);

/// Plans the probes of plain units. Both must outlive it.
class ProbeUnits {
 public:
  ProbeUnits(const Config& config, const kit::Kit& kit) : config_(config), kit_(kit) {}

  /// Plans the probes of `plain`'s items; the arm is asked the first `n` of the task. What asks the
  /// same again at once goes into `plan`; the rest into `later`, behind every plain unit, where it
  /// takes no cached prefix away from a plain row.
  void add(const Unit& plain, std::size_t n, std::vector<Unit>& plan, std::vector<Unit>& later);

 private:
  void add_orders(const Unit& plain, std::vector<Unit>& plan);
  bool takes(const Arm& arm, const kit::Task& task, std::size_t item, std::string_view probe) const;
  /// The items in one unit, as the plain one.
  void add_together(const Unit& plain, std::string_view probe, std::vector<Unit>& plan);
  void add_each(const Unit& plain, std::size_t item, std::string_view probe,
                std::vector<std::size_t> beside, std::vector<Unit>& plan);
  /// Up to seven others: those on the item's state, or those that follow it.
  std::vector<std::size_t> companions(std::size_t task, std::size_t item, std::size_t n,
                                      bool on_its_state);

  const Config& config_;
  const kit::Kit& kit_;
  std::map<std::size_t, std::map<std::size_t, std::vector<std::size_t>>> by_state_;  // by task
};

}  // namespace deem::bench
