#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/energy.h"
#include "score/score_rows.h"

namespace deem::report {

/// What run.json says an arm's seat cost to start and to hold.
struct ArmCost {
  std::string arm = {};
  std::optional<double> load_s = {}, ready_s = {}, first_answer_s = {};
  std::optional<std::int64_t> peak_bytes = {};
  std::string memory = {};  // what the bytes are of, or "not measured (why)"
};

/// A reading of an arm that a probe of its seat speaks against: "letters", "likelihood", "written"
/// or "native".
struct Doubt {
  std::string arm = {}, reading = {};
  std::string why = {};  // "logprobs: …"
};
/// The doubt about a column; nullptr where there is none.
const Doubt* doubt_about(const std::vector<Doubt>& doubts, const score::Column& column);

std::string doubt_text(const Doubt& doubt);

/// What a report says above its table: "run", "kit", "model" … with their values.
struct Heading {
  std::vector<std::pair<std::string, std::string>> lines = {};
  std::vector<std::string> notes = {};  // findings, unreadable lines
  std::vector<ArmCost> costs = {};
  std::vector<Doubt> doubts = {};      // `notes` tell them too
  std::vector<RunJoules> energy = {};  // one a run folder
  EnergyPrice price = {};
};

/// The paired table for a terminal of `width` columns: tasks by column with accuracy [interval]
/// (n), Brier, letters' mass, seconds, net joules a decision, the baselines as rows, tables of
/// joules and watts, and sentences on what is stuck on a position, void, refused or unsupported.
/// `colour`: ANSI.
std::string as_text(const score::Scores& scores, const Heading& heading, std::size_t width,
                    bool colour);
std::string as_markdown(const score::Scores& scores, const Heading& heading);
/// One line a column and task, figures in named columns.
std::string as_csv(const score::Scores& scores, const Heading& heading);
/// Schema "deem.score/1"; docs/formats/score.md.
std::string as_json(const score::Scores& scores, const Heading& heading);

}  // namespace deem::report
