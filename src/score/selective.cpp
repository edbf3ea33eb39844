#include "score/selective.h"

#include <algorithm>
#include <utility>

#include "base/chance.h"
#include "score/statistics.h"

namespace deem::score {

RiskCoverage::RiskCoverage(const Judged& judged) {
  std::vector<std::pair<double, bool>> answers;
  answers.reserve(judged.size());
  for (const Judged::Item& item : judged.items()) {
    answers.emplace_back(judged.confidence(item), item.correct());
  }
  std::ranges::sort(answers, std::greater{}, [](const auto& answer) { return answer.first; });
  std::size_t n = 0, wrong = 0;
  for (const auto& [confidence, correct] : answers) {
    ++n;
    wrong += correct ? 0U : 1U;
    if (runs_.empty() || runs_.back().confidence != confidence)
      runs_.push_back({.confidence = confidence});
    runs_.back().n = n;
    runs_.back().wrong = wrong;
  }
}

std::optional<double> RiskCoverage::area() const {
  if (runs_.empty()) return std::nullopt;
  double sum = 0;
  std::size_t before = 0, wrong_before = 0;
  for (const Run& run : runs_) {
    const auto wrong = static_cast<double>(run.wrong - wrong_before);
    const auto size = static_cast<double>(run.n - before);
    for (std::size_t k = before + 1; k <= run.n; ++k) {
      const double errors =
          static_cast<double>(wrong_before) + wrong * static_cast<double>(k - before) / size;
      sum += errors / static_cast<double>(k);
    }
    before = run.n;
    wrong_before = run.wrong;
  }
  return sum / static_cast<double>(runs_.back().n);
}

RiskCoverage::Above RiskCoverage::above(double threshold) const {
  Above out;
  for (const Run& run : runs_) {
    if (run.confidence < threshold) break;
    out = {run.n, run.n - run.wrong};
  }
  return out;
}

std::optional<double> RiskCoverage::threshold_for(double accuracy, bool sure) const {
  std::optional<double> least;
  for (const Run& run : runs_) {
    const std::size_t correct = run.n - run.wrong;
    const double share = sure ? wilson_95(correct, run.n).first
                              : static_cast<double>(correct) / static_cast<double>(run.n);
    if (share >= accuracy) least = run.confidence;
  }
  return least;
}

}  // namespace deem::score
