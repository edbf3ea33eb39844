#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/config.h"
#include "kit/kit.h"

namespace deem::bench {

/// Items of one task, one arm, asked together: one, or up to Arm::group that lie side by side.
struct Unit {
  std::size_t arm = 0;             // index into Config::arms
  std::size_t task = 0;            // index into Kit::tasks
  std::vector<std::size_t> items;  // indices into Task::items
  int repeat = 0;
  std::string probe = {};                // "" : plain
  std::vector<std::size_t> beside = {};  // items asked along, for company: they get no rows
};

/// Every unit in the order it is asked. Arms on one seat interleave (state by state, item by
/// item), so that a drift of the machine hits them alike; probes come behind a seat's
/// plain units; seats follow one another. Under Order::Block each arm takes a task as
/// a whole, so that its energy can be told. Pure: the
/// same config and kit give the same plan. Errors: BadInput for a task the kit does not have.
Result<std::vector<Unit>> make_plan(const Config& config, const kit::Kit& kit);

/// Units [first, last) of a plan that are asked, and whose energy is told, together. `arm` and
/// `task`: what all have in common, "" where they differ. `probe`: "" for plain rows and what is
/// asked at once again among them, else the kind of probe ("order", "law", "noise"), "mixed".
struct Block {
  std::size_t first = 0, last = 0;
  std::string arm = {}, task = {}, probe = {};
};

/// The blocks of units [first, last), all on one seat: by kind of probe, arm and task under
/// Order::Block; else one. Pure.
std::vector<Block> blocks_of(const Config& config, const kit::Kit& kit,
                             const std::vector<Unit>& plan, std::size_t first, std::size_t last);

/// Rows of a whole run, probes included.
std::size_t count_rows(const std::vector<Unit>& plan);

}  // namespace deem::bench
