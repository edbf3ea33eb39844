#include "score/probes.h"

#include <algorithm>

namespace deem::score {

ProbeFigures probe_figures(std::span<const record::Row> rows) {
  ProbeFigures out;
  out.rows = static_cast<std::size_t>(
      std::ranges::count_if(rows, [](const record::Row& row) { return !row.probe.empty(); }));
  out.prefix = prefix_figures(rows);
  out.label_priors = label_priors(rows);
  if (out.rows == 0) return out;
  const std::vector<ProbedArm> arms = probed_arms(rows);
  out.position = position_figures(arms);
  out.laws = law_figures(arms);
  out.interference = interference_figures(arms);
  out.noise = noise_figures(arms);
  out.sustained = sustained_figures(rows);
  return out;
}

}  // namespace deem::score
