#pragma once

// Private to report: how figures are printed everywhere.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "score/score_rows.h"

namespace deem::report {

/// ".683", "1.000", "–" for none.
std::string share(std::optional<double> value);
/// ".683 [.55, .79]"
std::string with_interval(const score::Rate& rate);
/// The same of any share and its interval; the share alone without one.
std::string share_with(std::optional<double> value, std::optional<double> low,
                       std::optional<double> high);
/// "1.234", "–"
std::string number(std::optional<double> value, int decimals);
/// "12 ms", "1.23 s", "–"
std::string duration(std::optional<double> seconds);

/// Filled up with blanks to `width` columns. Code points, which is columns for the text we print
/// (no wide characters in labels of ours).
std::string pad(std::string text, std::size_t width, bool right);

/// As one cell of a Markdown table: no bar, no line break, no HTML.
std::string cell(std::string_view text);

/// The expected calibration error over equal-width bins; none for a bare score.
std::optional<double> ece_of(const score::Figures& figures);

/// Sentences that a reader must not miss: stuck readings, voids with their causes, refusals,
/// errors, what a seat does not support, shares of group times.
std::vector<std::string> remarks(const score::Scores& scores);

/// The column that stands for the baselines of `task` (they do not depend on the arm), or nullptr.
const score::Figures* baselines(const score::Scores& scores, const std::string& task);

}  // namespace deem::report
