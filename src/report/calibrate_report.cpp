#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "record/fields.h"
#include "report/fit_report.h"
#include "report/format.h"
#include "report/json_parts.h"
#include "report/table.h"

namespace deem::report {
namespace {

using codec::Json;
using decision::Calibrator;
using Method = Calibrator::Method;
using record::FitFigures;
using score::Calibrated;
using score::MethodFigures;

constexpr double kFlat = 1e3;  // a temperature from which on all options are equally likely

std::string scope_of(const Calibrated& fit) {
  if (!fit.entry.task.empty()) return printable(fit.entry.task, 30);
  return fmt::format("any {} of {}", decision::to_string(fit.entry.type), fit.entry.options);
}

std::string difference_cell(const std::optional<score::Interval>& value, double mean) {
  if (!value) return "–";
  return fmt::format("{} [{}, {}]", signed_number(mean, 3), signed_number(value->low, 2),
                     signed_number(value->high, 2));
}

std::vector<std::string> row_of(const Calibrated& fit) {
  const std::string n = fmt::format("{}", fit.entry.n);
  const auto& before = fit.entry.before;
  const auto& after = fit.entry.after;
  const auto arrow = [](std::optional<double> then, std::optional<double> now) {
    return number(then, 3) + " → " + number(now, 3);
  };
  const auto member = [](const std::optional<FitFigures>& f, double FitFigures::* which) {
    return f ? std::optional((*f).*which) : std::nullopt;
  };
  const auto change = before && after ? after->brier - before->brier : 0;
  return {scope_of(fit),
          n,
          std::string(decision::to_string(fit.entry.calibrator.method)),
          describe(fit.entry.calibrator),
          arrow(member(before, &FitFigures::log_loss), member(after, &FitFigures::log_loss)),
          arrow(member(before, &FitFigures::brier), member(after, &FitFigures::brier)),
          arrow(member(before, &FitFigures::ece), member(after, &FitFigures::ece)),
          fit.picked ? difference_cell(fit.picked->brier_difference, change) : "–"};
}

/// One table for each column, in the order of the fits.
struct ColumnTable {
  std::string name = {};
  Table table = {};
  std::vector<std::string> notes = {};
};

std::vector<ColumnTable> tables_of(const CalibrateReport& report) {
  std::vector<ColumnTable> out;
  for (const Calibrated& fit : report.fits) {
    const std::string name = fit.column.text();
    if (out.empty() || out.back().name != name) {
      out.push_back({name,
                     {.head = head_of({"task", "n", "method", "constants", "log loss", "Brier",
                                       "ECE", "Brier change [95 %]"},
                                      1)},
                     {}});
    }
    if (!fit.entry.task.empty() && fit.unanswered > 0) {
      out.back().notes.push_back(fmt::format("{}: {} items without an answer are left out",
                                             scope_of(fit), fit.unanswered));
    }
    if (fit.refused.empty())
      out.back().table.rows.push_back(row_of(fit));
    else
      out.back().notes.push_back("no fit for " + scope_of(fit) + ": " + fit.refused);
  }
  return out;
}

constexpr const char* kHead =
    "Before → after on items that were held out (5 parts by state; whole tasks where a fit is for "
    "any). The method is picked anew without each part.";

Json to_json(const MethodFigures& method) {
  Json out = Json::object();
  out.set("method", decision::to_string(method.method));
  out.set("held_out", held_out_json(method.held_out));
  out.set("brier_difference", interval(method.brier_difference));
  out.set("log_loss_difference", interval(method.log_loss_difference));
  return out;
}

Json to_json(const Calibrated& fit) {
  Json out = Json::object();
  out.set("arm", fit.column.arm);
  out.set("reading", fit.column.reading);
  out.set("variant", fit.column.variant);
  out.set("task", fit.entry.task.empty() ? Json() : Json(fit.entry.task));
  out.set("type", decision::to_string(fit.entry.type));
  if (fit.entry.task.empty()) out.set("options", fit.entry.options);
  out.set("items", fit.entry.n);
  out.set("states", fit.entry.states);
  out.set("unanswered", count(fit.unanswered));
  out.set("refused", fit.refused.empty() ? Json() : Json(fit.refused));
  if (!fit.refused.empty()) return out;
  out.set("held_out_by", fit.entry.held_out_by);
  out.set("method", decision::to_string(fit.entry.calibrator.method));
  out.set("own_log_loss_before", known(fit.own_before));
  out.set("own_log_loss_after", fit.own_after);
  Json tried = Json::array();
  for (const MethodFigures& method : fit.tried) tried.push(to_json(method));
  out.set("tried", std::move(tried));
  out.set("picked", fit.picked ? to_json(*fit.picked) : Json());
  return out;
}

}  // namespace

std::string describe(const Calibrator& calibrator) {
  switch (calibrator.method) {
    case Method::None:
      return "own constants";
    case Method::Temperature:
    case Method::LabelPrior: {
      std::string out;
      for (const auto& [options, value] : calibrator.temperatures) {
        if (!out.empty()) out += ", ";
        out += value >= kFlat ? "flat" : fmt::format("T {:.3g}", value);
        if (options > 0) out += fmt::format(" of {}", options);
      }
      return out;
    }
    case Method::Platt:
      return fmt::format("slope {:.3g} offset {:.3g}", calibrator.slope, calibrator.offset);
    case Method::Isotonic:
      return fmt::format("{} knots", calibrator.knots.size());
  }
  return "";
}

std::string as_text(const CalibrateReport& report, std::size_t width, bool colour) {
  std::string out = bold("Calibration", colour) + "  " + printable(report.run, 200) + "\n";
  out += bullet(kHead, width);
  for (const ColumnTable& column : tables_of(report)) {
    out += "\n" + bold(printable(column.name, 120), colour) + "\n";
    if (!column.table.rows.empty()) out += as_text(column.table, colour);
    for (const std::string& note : column.notes) out += bullet(note, width);
  }
  if (!report.notes.empty()) out += "\n" + bold("To know", colour) + "\n";
  for (const std::string& note : report.notes) out += bullet(printable(note, 400), width);
  if (!report.fit_path.empty()) out += "\nfit file  " + printable(report.fit_path, 400) + "\n";
  return out;
}

std::string as_markdown(const CalibrateReport& report) {
  std::string out = "# Calibration\n\n" + cell(report.run) + ". " + kHead + "\n";
  for (const ColumnTable& column : tables_of(report)) {
    out += "\n## " + cell(column.name) + "\n\n";
    if (!column.table.rows.empty()) out += as_markdown(column.table) + "\n";
    for (const std::string& note : column.notes) out += "- " + cell(note) + "\n";
  }
  if (!report.notes.empty()) out += "\n## To know\n\n";
  for (const std::string& note : report.notes) out += "- " + cell(note) + "\n";
  return out;
}

std::string as_json(const CalibrateReport& report) {
  Json out = Json::object();
  out.set("schema", "deem.calibrate/1");
  out.set("run", record::lossy_utf8(report.run));
  out.set("seed", static_cast<std::uint64_t>(score::kScoreSeed));
  out.set("fit", report.fit_path.empty() ? Json() : Json(report.fit_path));
  Json fits = Json::array();
  for (const Calibrated& fit : report.fits) fits.push(to_json(fit));
  out.set("fits", std::move(fits));
  Json notes = Json::array();
  for (const std::string& note : report.notes) notes.push(note);
  out.set("notes", std::move(notes));
  return codec::dump_json(out, {.ascii = false, .indent = 1}) + "\n";
}

}  // namespace deem::report
