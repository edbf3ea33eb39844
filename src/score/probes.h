#pragma once

#include <span>
#include <vector>

#include "score/laws.h"
#include "score/position.h"
#include "score/sustained.h"

namespace deem::score {

/// Figures of probe rows; each list is empty where no such probe was asked.
struct ProbeFigures {
  std::size_t rows = 0;  // probe rows, none of them in a plain figure
  std::vector<PositionColumn> position = {};
  std::vector<LabelPrior> label_priors = {};
  std::vector<LawFigures> laws = {};
  std::vector<Interference> interference = {};
  std::vector<NoiseFigures> noise = {};
  std::vector<SustainedFigures> sustained = {};
  std::vector<PrefixFigures> prefix = {};  // of plain rows
};

/// Pure: the order of `rows` changes only the order of the lists.
ProbeFigures probe_figures(std::span<const record::Row> rows);

}  // namespace deem::score
