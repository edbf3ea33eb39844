#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/section.h"
#include "score/calibrate.h"
#include "score/choose.h"

namespace deem::report {

/// What `deem choose` prints.
struct ChooseReport {
  std::string run = {};
  score::Criterion by = score::Criterion::Brier;
  std::vector<score::Choice> choices = {};
  std::vector<std::string> notes = {};
  std::string fit_path = {};  // "" when none was written
  std::size_t shown = 10;     // candidates of each task in text and Markdown; 0: all
};
std::string as_text(const ChooseReport& report, std::size_t width, bool colour);
std::string as_markdown(const ChooseReport& report);
std::string as_json(const ChooseReport& report);  // schema deem.choose/1, docs/formats/choose.md

/// The same as parts of a report: a table and sentences a task.
Section as_section(const ChooseReport& report);

/// What `deem calibrate` prints.
struct CalibrateReport {
  std::string run = {};
  std::vector<score::Calibrated> fits = {};
  std::vector<std::string> notes = {};
  std::string fit_path = {};
};
std::string as_text(const CalibrateReport& report, std::size_t width, bool colour);
std::string as_markdown(const CalibrateReport& report);
std::string as_json(const CalibrateReport& report);  // schema deem.calibrate/1

/// "T 1.23", "slope .31 offset -1.20", "12 knots": a calibrator in short.
std::string describe(const decision::Calibrator& calibrator);

}  // namespace deem::report
