#include <fmt/format.h>

#include "report/energy_parts.h"
#include "report/json_parts.h"
#include "report/probes.h"
#include "report/report.h"

namespace deem::report {
namespace {

using codec::Json;
using score::Figures;
using score::Rate;

Json to_json(const Rate& rate) {
  Json out = Json::object();
  out.set("value", known(rate.value));
  out.set("low", rate.low);
  out.set("high", rate.high);
  out.set("n", count(rate.n));
  return out;
}

Json to_json(const score::ActAbove& act) {
  Json out = Json::object();
  out.set("threshold", act.threshold);
  out.set("coverage", act.coverage);
  out.set("accuracy", to_json(act.accuracy));
  return out;
}

Json to_json(const score::Levels& levels) {
  Json out = Json::object();
  out.set("n", count(levels.n));
  out.set("mean_absolute_error", levels.mean_absolute_error);
  out.set("within_one", levels.within_one);
  out.set("quadratic_weighted_kappa", known(levels.quadratic_weighted_kappa));
  out.set("ranked_probability_score", levels.ranked_probability_score);
  out.set("expectation_error", levels.expectation_error);
  out.set("expectation_bias", levels.expectation_bias);
  return out;
}

Json to_json(const score::Detail& d) {
  Json out = Json::object();
  out.set("n", count(d.n));
  out.set("states", count(d.states));
  out.set("seed", static_cast<std::uint64_t>(score::kScoreSeed));
  out.set("accuracy_bootstrap", interval(d.accuracy_bootstrap));
  out.set("brier_bootstrap", interval(d.brier_bootstrap));
  out.set("balanced_accuracy", known(d.balanced_accuracy));
  out.set("macro_f1", known(d.macro_f1));
  if (d.brier) {
    Json parts = Json::object();
    parts.set("reliability", d.brier->reliability);
    parts.set("resolution", d.brier->resolution);
    parts.set("uncertainty", d.brier->uncertainty);
    parts.set("within_bins", d.brier->within_bins);
    out.set("brier_parts", std::move(parts));
  }
  if (d.log_loss) {
    Json loss = Json::object();
    loss.set("mean", d.log_loss->mean);
    loss.set("clip", score::LogLoss::kClip);
    loss.set("clipped", count(d.log_loss->clipped));
    out.set("log_loss", std::move(loss));
  }
  if (d.calibration) {
    Json ece = Json::object();
    ece.set("bins", count(score::CalibrationError::kBins));
    ece.set("equal_width", d.calibration->equal_width);
    ece.set("equal_mass", d.calibration->equal_mass);
    ece.set("if_calibrated_mean", d.calibration->null_mean);
    ece.set("if_calibrated_p95", d.calibration->null_p95);
    out.set("ece", std::move(ece));
  }
  out.set("aurc", known(d.aurc));
  Json acts = Json::array();
  for (const auto& act : d.act_above) acts.push(to_json(act));
  out.set("act_above", std::move(acts));
  Json wanted = Json::array();
  for (const auto& one : d.threshold_for) {
    Json entry = Json::object();
    entry.set("accuracy", one.accuracy);
    entry.set("reached", one.reached ? to_json(*one.reached) : Json());
    entry.set("sure", one.sure ? to_json(*one.sure) : Json());
    wanted.push(std::move(entry));
  }
  out.set("threshold_for", std::move(wanted));
  if (d.confidence) {
    Json means = Json::object();
    means.set("top_p", d.confidence->top_p);
    means.set("margin", d.confidence->margin);
    means.set("confidence_entropy", d.confidence->entropy);
    means.set("confidence_typesafe", d.confidence->typesafe);
    out.set("mean_confidence", std::move(means));
  }
  if (d.levels) out.set("levels", to_json(*d.levels));
  Json slices = Json::array();
  for (const auto& slice : d.slices) {
    Json one = Json::object();
    one.set("by", slice.by);
    one.set("value", slice.value);
    one.set("accuracy", to_json(slice.accuracy));
    one.set("brier", slice.brier);
    slices.push(std::move(one));
  }
  out.set("slices", std::move(slices));
  return out;
}

Json to_json(const Figures& f) {
  Json out = Json::object();
  if (!f.task.empty()) out.set("task", f.task);
  for (const auto& [name, n] : {std::pair("rows", f.rows),
                                {"asked", f.asked},
                                {"refused", f.refused},
                                {"errors", f.errors},
                                {"unsupported", f.unsupported},
                                {"voids", f.voids},
                                {"unparsed", f.unparsed},
                                {"answered", f.answered},
                                {"labelled", f.labelled}}) {
    out.set(name, count(n));
  }
  Json causes = Json::object();
  for (const auto& [cause, n] : f.void_causes) causes.set(cause, count(n));
  out.set("void_causes", std::move(causes));
  out.set("uncalibrated", f.uncalibrated);
  out.set("accuracy", f.uncalibrated ? Json() : to_json(f.accuracy));
  out.set("brier", known(f.brier));
  out.set("brier_n", count(f.brier_n));
  out.set("auroc", known(f.auroc));
  out.set("auroc_n", count(f.auroc_n));
  Json bins = Json::array();
  for (const auto& bin : f.reliability) {
    Json one = Json::object();
    one.set("low", bin.low);
    one.set("high", bin.high);
    one.set("n", count(bin.n));
    one.set("correct", count(bin.correct));
    one.set("sum_p", bin.sum_p);
    bins.push(std::move(one));
  }
  out.set("reliability", std::move(bins));
  out.set("letters_mass_median", known(f.median_mass));
  out.set("latency_planned_median_s", known(f.median_s));
  out.set("latency_planned_p90_s", known(f.p90_s));
  out.set("latency_planned_p95_s", known(f.p95_s));
  out.set("latency_planned_p99_s", known(f.p99_s));
  out.set("latency_sent_median_s", known(f.median_sent_s));
  out.set("latency_sent_p95_s", known(f.p95_sent_s));
  out.set("latency_n", count(f.seconds_n));
  out.set("group", f.group);
  out.set("prompt_tokens", known(f.prompt_tokens));
  out.set("cached_tokens", known(f.cached_tokens));
  out.set("cached_whole", count(f.cached_whole));
  out.set("output_tokens", known(f.output_tokens));
  out.set("tokens_unknown", count(f.tokens_unknown));
  if (f.stuck_position) {
    out.set("stuck_position", count(*f.stuck_position));
    out.set("stuck_share", f.stuck_share);
  }
  Json baselines = Json::object();
  baselines.set("uniform_accuracy", known(f.uniform.value));
  baselines.set("uniform_brier", known(f.uniform_brier));
  baselines.set("prior_accuracy", to_json(f.majority));
  baselines.set("prior_brier", known(f.prior_brier));
  baselines.set("keyword_overlap_accuracy", to_json(f.overlap));
  baselines.set("n", count(f.uniform.n));
  out.set("baselines", std::move(baselines));
  if (f.detail.n > 0) out.set("detail", to_json(f.detail));
  return out;
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string csv_number(std::optional<double> value) {
  std::string out;
  if (value) codec::append_python_float(out, *value);
  return out;
}

/// What the CSV holds of the detail, in the order of its header.
std::vector<std::optional<double>> detail_cells(const Figures& f) {
  using Cell = std::optional<double>;
  const score::Detail& d = f.detail;
  const auto of = [](const auto& part, auto member) {
    return part ? Cell((*part).*member) : Cell();
  };
  return {of(d.accuracy_bootstrap, &score::Interval::low),
          of(d.accuracy_bootstrap, &score::Interval::high),
          of(d.brier_bootstrap, &score::Interval::low),
          of(d.brier_bootstrap, &score::Interval::high),
          d.balanced_accuracy,
          d.macro_f1,
          of(d.brier, &score::BrierParts::reliability),
          of(d.brier, &score::BrierParts::resolution),
          of(d.brier, &score::BrierParts::uncertainty),
          of(d.log_loss, &score::LogLoss::mean),
          of(d.calibration, &score::CalibrationError::equal_width),
          of(d.calibration, &score::CalibrationError::equal_mass),
          of(d.calibration, &score::CalibrationError::null_p95),
          d.aurc,
          of(d.levels, &score::Levels::mean_absolute_error),
          d.levels ? d.levels->quadratic_weighted_kappa : Cell(),
          of(d.levels, &score::Levels::ranked_probability_score),
          f.p90_s,
          f.p99_s};
}

/// What the CSV holds of a column's joules on a task, in the order of its header.
std::string energy_cells(const score::EnergyFigures* f, const EnergyPrice& price) {
  const score::EnergyFigures none;
  const score::EnergyFigures& e = f == nullptr ? none : *f;
  const std::optional<PricedJoules> by = priced(e);
  const auto cost = [&](std::optional<double> per_kwh) {
    return by && per_kwh ? std::optional(score::per_thousand_decisions(by->per_decision, *per_kwh))
                         : std::nullopt;
  };
  std::string out;
  for (const std::optional<double>& value :
       {e.gross_j, e.net_j, e.counter_j, e.gross_per_decision(), e.net_per_decision(),
        e.net_per_prompt_token(), e.mean_w, e.peak_w}) {
    out += "," + csv_number(value);
  }
  std::string reasons;
  for (const auto& reason : e.reasons) reasons += (reasons.empty() ? "" : " ") + reason.code;
  out += std::string(",") + (f == nullptr ? "" : e.net_valid() ? "true" : "false") + "," + reasons;
  return out + "," + csv_number(cost(price.per_kwh)) + "," + csv_number(cost(price.grams_per_kwh));
}

std::string csv_count(std::optional<std::int64_t> n) { return n ? fmt::format("{}", *n) : ""; }

}  // namespace

codec::Json score_document(const score::Scores& scores, const Heading& heading) {
  Json out = Json::object();
  out.set("schema", "deem.score/1");
  Json about = Json::object();
  for (const auto& [key, value] : heading.lines) about.set(key, value);
  out.set("about", std::move(about));
  Json notes = Json::array();
  for (const std::string& note : heading.notes) notes.push(note);
  out.set("notes", std::move(notes));
  out.set("rows", count(scores.rows));
  Json columns = Json::array();
  for (const auto& column : scores.columns) {
    Json one = Json::object();
    one.set("arm", column.arm);
    one.set("reading", column.reading);
    one.set("variant", column.variant);
    one.set("mode", column.mode);
    one.set("calibrated", column.calibrated);
    Json tasks = Json::array();
    for (const Figures& f : column.tasks) tasks.push(to_json(f));
    one.set("tasks", std::move(tasks));
    one.set("all", to_json(column.all));
    columns.push(std::move(one));
  }
  out.set("columns", std::move(columns));
  out.set("energy", energy_json(heading.energy, heading.price));
  out.set("probes", probes_json(scores.probes, heading.costs));
  return out;
}

std::string as_json(const score::Scores& scores, const Heading& heading) {
  return codec::dump_json(score_document(scores, heading), {.ascii = false, .indent = 1}) + "\n";
}

std::string as_csv(const score::Scores& scores, const Heading& heading) {
  std::string out =
      "arm,reading,variant,task,rows,asked,refused,errors,unsupported,voids,unparsed,answered,"
      "labelled,"
      "uncalibrated,accuracy,accuracy_low,accuracy_high,accuracy_n,brier,auroc,letters_mass_median,"
      "latency_planned_median_s,latency_planned_p95_s,latency_sent_median_s,latency_sent_p95_s,"
      "group,"
      "prompt_tokens,cached_tokens,output_tokens,uniform_accuracy,prior_accuracy,keyword_overlap_"
      "accuracy,"
      "uniform_brier,prior_brier,accuracy_bootstrap_low,accuracy_bootstrap_high,"
      "brier_bootstrap_low,brier_bootstrap_high,balanced_accuracy,macro_f1,brier_reliability,"
      "brier_resolution,brier_uncertainty,log_loss,ece_equal_width,ece_equal_mass,"
      "ece_if_calibrated_p95,aurc,mean_absolute_error,quadratic_weighted_kappa,"
      "ranked_probability_score,latency_planned_p90_s,latency_planned_p99_s,gross_j,net_j,"
      "counter_j,gross_j_per_decision,net_j_per_decision,net_j_per_prompt_token,mean_w,peak_w,"
      "energy_valid,energy_reasons,cost_per_1000,co2_g_per_1000\r\n";
  for (const auto& column : scores.columns) {
    for (const Figures& f : column.tasks) {
      const bool bare = f.uncalibrated;
      out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}", csv_text(column.arm),
                         csv_text(column.reading), column.variant, csv_text(f.task), f.rows,
                         f.asked, f.refused, f.errors, f.unsupported, f.voids, f.unparsed,
                         f.answered, f.labelled, bare ? "true" : "false");
      out += fmt::format(",{},{},{},{}", bare ? "" : csv_number(f.accuracy.value),
                         bare ? "" : csv_number(f.accuracy.low),
                         bare ? "" : csv_number(f.accuracy.high), f.accuracy.n);
      out += fmt::format(",{},{},{},{},{},{},{},{}", csv_number(f.brier), csv_number(f.auroc),
                         csv_number(f.median_mass), csv_number(f.median_s), csv_number(f.p95_s),
                         csv_number(f.median_sent_s), csv_number(f.p95_sent_s), f.group);
      out += fmt::format(
          ",{},{},{},{},{},{},{},{}", csv_count(f.prompt_tokens), csv_count(f.cached_tokens),
          csv_count(f.output_tokens), csv_number(f.uniform.value), csv_number(f.majority.value),
          csv_number(f.overlap.value), csv_number(f.uniform_brier), csv_number(f.prior_brier));
      for (const auto& value : detail_cells(f)) out += "," + csv_number(value);
      out += energy_cells(energy_on(heading, column.arm, f.task), heading.price);
      out += "\r\n";
    }
  }
  return out;
}

}  // namespace deem::report
