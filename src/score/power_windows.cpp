#include "score/power_windows.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "score/statistics.h"

namespace deem::score {

using record::PowerMark;
using record::PowerSegment;

double grid_period(const PowerSegment& segment) {
  if (segment.period_s > 0) return segment.period_s;
  std::vector<double> distances;
  for (std::size_t i = 1; i < segment.samples.size(); ++i) {
    distances.push_back(segment.samples[i].mono_s - segment.samples[i - 1].mono_s);
  }
  return percentile(std::move(distances), 5'000).value_or(0);
}

Windows find_windows(const PowerSegment& segment) {
  using Key = std::tuple<PowerMark::Kind, std::string, std::string, std::string>;
  std::map<Key, PowerMark> open;
  Windows out;
  for (const PowerMark& mark : segment.marks) {
    Key key{mark.kind, mark.arm, mark.task, mark.probe};
    const auto found = open.find(key);
    if (mark.begin) {
      if (found != open.end()) ++out.cut;
      open.insert_or_assign(std::move(key), mark);
      continue;
    }
    if (found == open.end() || !(found->second.mono_s < mark.mono_s)) {
      ++out.cut;
    } else {
      std::vector<Window>& list = mark.kind == PowerMark::Kind::IdleBefore  ? out.idle_before
                                  : mark.kind == PowerMark::Kind::IdleAfter ? out.idle_after
                                  : mark.kind == PowerMark::Kind::Load      ? out.loads
                                                                            : out.blocks;
      list.push_back({.begin = found->second, .end = mark});
    }
    if (found != open.end()) open.erase(found);
  }
  out.cut += open.size();
  for (auto* list : {&out.idle_before, &out.idle_after, &out.loads, &out.blocks}) {
    std::ranges::stable_sort(*list, {}, [](const Window& w) { return w.begin.mono_s; });
  }
  return out;
}

}  // namespace deem::score
