#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/run.h"
#include "report/energy.h"

namespace deem::cli {

enum class OutputFormat { Text, Markdown, Csv, Json, SeedLines };
/// Errors: BadInput naming the formats.
Result<OutputFormat> parse_output_format(std::string_view name);

/// Scores run folders or rows files and prints the table on stdout; unreadable lines and files
/// are named on stderr and give exit code 3. With `save`, report.md and score.json are written
/// into the first folder too.
/// `calibration`: a fit file applied to every arm; "" for those the runs were made with.
int show_score(const std::vector<std::string>& paths, OutputFormat format, bool save,
               const std::string& calibration = "", const report::EnergyPrice& price = {});

/// The exit code one row's readings come to: 4 when the seat failed, 3 when one gave no answer.
int answers_code(const record::Row& row);

/// The row without its checksum, and `answers`: each variant's `column`, `choice` and `probs` in
/// the order of `keys`, and whether a fit made them (`calibrated`, `fit`).
/// Whether any answer of an asked row is calibrated by the fit.
bool any_fitted(const record::Row& row, const record::Fit& fit);
std::string answers_json(const record::Row& row, const record::Fit* fit = nullptr);

/// One row's answers under every variant, for a person; void and failed readings on stderr.
/// With a fit each variant it has constants for is printed through them too.
int print_answers(const record::Row& row, const record::Fit* fit = nullptr);

/// Runs with progress on stderr; the first Ctrl-C says what it waits for, the second ends at once.
Result<bench::Outcome> run_interruptibly(const bench::Config& config,
                                         const bench::RunOptions& options, bool quiet);

/// What `run`, `resume` and `demo` end with.
int finish_run(const Result<bench::Outcome>& outcome, const std::string& folder,
               OutputFormat format, bool quiet, const report::EnergyPrice& price = {});

}  // namespace deem::cli
