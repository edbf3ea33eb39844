#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json.h"
#include "decision/calibrator.h"
#include "decision/question.h"

namespace deem::record {

/// Figures of labelled items that a fit was not made on, with 95 % intervals by state where there
/// are two states or more.
struct FitFigures {
  std::int64_t n = 0;
  double accuracy = 0, brier = 0, log_loss = 0, ece = 0;
  std::optional<double> accuracy_low = {}, accuracy_high = {}, brier_low = {}, brier_high = {};
  bool operator==(const FitFigures&) const = default;
};

/// Constants for one reading of one task, or of every question of a type and number of options.
struct FitEntry {
  std::string task = {};  // "": any
  decision::QuestionType type = decision::QuestionType::Choice;
  std::int64_t options = 0;  // task "": of so many options; else 0
  std::string mode = {}, reading = {}, variant = {}, policy = {};  // policy: of letters, else ""
  std::string prompt_digest = {};  // of a kit reading's templates; "" for the others
  decision::Calibrator calibrator = {};
  std::int64_t n = 0, states = 0;  // labelled items fitted on, and the states they are on
  std::string held_out_by = {};    // "state" or "task"
  std::optional<FitFigures> before = {}, after = {};  // by own constants; by this fit, held out
  bool operator==(const FitEntry&) const = default;
};

/// Which weights, quant and template a fit is for. Absent: the seat did not tell.
struct FitModel {
  std::string kind = {}, model = {};
  std::optional<std::string> root = {}, digest = {}, template_sha256 = {}, detail = {};
  bool operator==(const FitModel&) const = default;
};

/// Rows a fit was made on.
struct FitSource {
  std::string kit_name = {}, kit_digest = {}, rows_sha256 = {};
  std::int64_t rows = 0;
  bool operator==(const FitSource&) const = default;
};

/// A fit file: docs/formats/fit.md.
struct Fit {
  std::string name = {};
  std::string deem = {};  // version that wrote it
  std::string made = {};  // UTC
  std::string by = {};    // "calibrate"; "choose": one entry a task, its reading chosen
  FitModel model = {};
  std::vector<FitSource> sources = {};
  std::vector<FitEntry> entries = {};
  bool operator==(const Fit&) const = default;
};

std::string format_fit(const Fit& fit);  // pretty JSON with a final newline
codec::Json to_json(const Fit& fit);
/// Errors: Corrupt with the entry and member that is wrong.
Result<Fit> parse_fit(const codec::Json& json);
Result<Fit> parse_fit(std::string_view text);
/// Errors: NotFound, Unavailable, Corrupt, with the path.
Result<Fit> load_fit(const std::string& path);

/// What an arm's identity in run.json tells of its weights.
FitModel fit_model(const codec::Json& identity);

/// Why constants fitted on `fitted` must not be used on `found`, or none. Weights of one digest
/// behind one template are the same whatever serves them; without digests kind, names, quant and
/// template must all be as they were.
std::optional<std::string> difference(const FitModel& fitted, const FitModel& found);

/// The place of an entry that is for the same answers as `entry`, or none: of two such the second
/// would never be used.
std::optional<std::size_t> find_same_key(const std::vector<FitEntry>& entries,
                                         const FitEntry& entry);

/// The entry for an answer: of its task, else for any task of its type and number of options.
/// `prompt_digest` is compared where the entry has one. nullptr: none.
struct FitQuery {
  std::string_view task = {};
  decision::QuestionType type = decision::QuestionType::Choice;
  std::size_t options = 0;
  std::string_view reading = {}, variant = {}, policy = {}, prompt_digest = {};
};
const FitEntry* find_entry(const Fit& fit, const FitQuery& query);

/// The entry of a task in a fit by choose, whichever reading it names; nullptr: none.
const FitEntry* chosen_entry(const Fit& fit, std::string_view task);

}  // namespace deem::record
