#include <fmt/format.h>

#include "codec/json.h"
#include "report/report.h"

namespace deem::report {
namespace {

using codec::Json;
using score::Figures;
using score::Rate;

Json count(std::size_t n) { return static_cast<std::uint64_t>(n); }

template <class T>
Json known(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json to_json(const Rate& rate) {
  Json out = Json::object();
  out.set("value", known(rate.value));
  out.set("low", rate.low);
  out.set("high", rate.high);
  out.set("n", count(rate.n));
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
  out.set("latency_planned_p95_s", known(f.p95_s));
  out.set("latency_sent_median_s", known(f.median_sent_s));
  out.set("latency_sent_p95_s", known(f.p95_sent_s));
  out.set("latency_n", count(f.seconds_n));
  out.set("group", f.group);
  out.set("prompt_tokens", known(f.prompt_tokens));
  out.set("cached_tokens", known(f.cached_tokens));
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

std::string csv_count(std::optional<std::int64_t> n) { return n ? fmt::format("{}", *n) : ""; }

}  // namespace

std::string as_json(const score::Scores& scores, const Heading& heading) {
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
    Json tasks = Json::array();
    for (const Figures& f : column.tasks) tasks.push(to_json(f));
    one.set("tasks", std::move(tasks));
    one.set("all", to_json(column.all));
    columns.push(std::move(one));
  }
  out.set("columns", std::move(columns));
  return codec::dump_json(out, {.ascii = false, .indent = 1}) + "\n";
}

std::string as_csv(const score::Scores& scores) {
  std::string out =
      "arm,reading,variant,task,rows,asked,refused,errors,unsupported,voids,unparsed,answered,"
      "labelled,"
      "uncalibrated,accuracy,accuracy_low,accuracy_high,accuracy_n,brier,auroc,letters_mass_median,"
      "latency_planned_median_s,latency_planned_p95_s,latency_sent_median_s,latency_sent_p95_s,"
      "group,"
      "prompt_tokens,cached_tokens,output_tokens,uniform_accuracy,prior_accuracy,keyword_overlap_"
      "accuracy,"
      "uniform_brier,prior_brier\r\n";
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
          ",{},{},{},{},{},{},{},{}\r\n", csv_count(f.prompt_tokens), csv_count(f.cached_tokens),
          csv_count(f.output_tokens), csv_number(f.uniform.value), csv_number(f.majority.value),
          csv_number(f.overlap.value), csv_number(f.uniform_brier), csv_number(f.prior_brier));
    }
  }
  return out;
}

}  // namespace deem::report
