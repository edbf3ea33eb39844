#include <fmt/format.h>

#include "report/format.h"
#include "report/full_report.h"
#include "report/html_text.h"
#include "report/json_parts.h"
#include "report/plots.h"
#include "report/table.h"
#include "report/verdict.h"

namespace deem::report {
namespace {

using codec::Json;

Json texts(const std::vector<std::string>& list) {
  Json out = Json::array();
  for (const std::string& text : list) out.push(text);
  return out;
}

Json to_json(const Verdict& verdict, const FullReport& report) {
  Json out = Json::object();
  out.set("task", verdict.task);
  out.set("level", to_string(verdict.level));
  out.set("column", verdict.lead == nullptr
                        ? Json()
                        : Json(report.scores.columns[verdict.lead->column].name()));
  out.set("headline", verdict.headline);
  out.set("warnings", texts(verdict.warnings));
  out.set("points", texts(verdict.points));
  return out;
}

Json to_json(const std::vector<score::CurvePoint>& points, bool at) {
  Json out = Json::array();
  for (const score::CurvePoint& point : points) {
    Json one = Json::array({point.x, point.y});
    if (at) one.push(point.at);
    out.push(std::move(one));
  }
  return out;
}

Json curves(const FullReport& report) {
  Json out = Json::array();
  for (std::size_t i = 0; i < report.evidence.curves.size(); ++i) {
    for (const score::TaskCurves& task : report.evidence.curves[i].tasks) {
      Json one = Json::object();
      one.set("column", report.scores.columns[i].name());
      one.set("task", task.task.empty() ? Json() : Json(task.task));
      one.set("risk_coverage", to_json(task.risk_coverage, true));
      one.set("latency_ecdf_s", to_json(task.latency, false));
      out.push(std::move(one));
    }
  }
  return out;
}

void set_prompt(Json& out, const FullReport& report, std::size_t row, const std::string& reading) {
  const auto found = report.prompts.find({row, reading});
  const bool known = found != report.prompts.end() && !found->second.text.empty();
  out.set("prompt", known ? Json(found->second.text) : Json());
  if (!known && found != report.prompts.end()) out.set("prompt_missing", found->second.missing);
}

Json mistakes(const FullReport& report, std::span<const record::Row> rows) {
  Json out = Json::array();
  for (const score::Mistake& m : report.evidence.mistakes) {
    const record::Row& row = rows[m.row];
    Json one = Json::object();
    one.set("column", report.scores.columns[m.column].name());
    one.set("task", row.task);
    one.set("id", row.id);
    one.set("repeat", row.repeat);
    one.set("said", m.said);
    one.set("p", m.p);
    one.set("label", m.label);
    one.set("p_label", m.p_label);
    set_prompt(one, report, m.row, report.scores.columns[m.column].reading);
    out.push(std::move(one));
  }
  return out;
}

Json contests(const FullReport& report, std::span<const record::Row> rows) {
  Json out = Json::array();
  for (const score::Contest& contest : report.evidence.contests) {
    Json shown = Json::array();
    for (const score::Differing& d : contest.shown) {
      Json one = Json::object();
      one.set("id", rows[d.row_a].id);
      one.set("repeat", rows[d.row_a].repeat);
      one.set("a", d.said_a);
      one.set("p_a", d.p_a);
      one.set("b", d.said_b);
      one.set("p_b", d.p_b);
      one.set("label", known(d.label));
      shown.push(std::move(one));
    }
    Json one = Json::object();
    one.set("task", contest.task);
    one.set("a", report.scores.columns[contest.a].name());
    one.set("b", report.scores.columns[contest.b].name());
    for (const auto& [name, n] : {std::pair("n", contest.n),
                                  {"differ", contest.differ},
                                  {"labelled", contest.labelled},
                                  {"right_a", contest.right_a},
                                  {"right_b", contest.right_b}}) {
      one.set(name, count(n));
    }
    one.set("mcnemar_p", contest.p);
    one.set("shown", std::move(shown));
    out.push(std::move(one));
  }
  return out;
}

Json to_json(const Section& section) {
  Json tables = Json::array();
  for (const Table& table : section.tables) {
    Json head = Json::array(), body = Json::array();
    for (const Table::Head& column : table.head) head.push(column.name);
    for (const auto& row : table.rows) body.push(texts(row));
    Json one = Json::object();
    one.set("caption", table.caption);
    one.set("says", table.says);
    one.set("head", std::move(head));
    one.set("rows", std::move(body));
    one.set("notes", texts(table.notes));
    tables.push(std::move(one));
  }
  Json out = Json::object();
  out.set("id", section.id);
  out.set("title", section.title);
  out.set("explanation", section.explanation);
  out.set("tables", std::move(tables));
  return out;
}

Json frontier(const FullReport& report) {
  Json out = Json::array();
  for (const PlotGroup& group : make_plots(report.scores, report.evidence)) {
    if (group.id != "frontier") continue;
    for (const Plot& plot : group.plots) {
      for (const Series& series : plot.series) {
        Json one = Json::object();
        one.set("task", plot.task);
        one.set("column", report.scores.columns[series.column].name());
        one.set("accuracy", series.points.front().y);
        one.set("median_s", series.points.front().x);
        one.set("dominated", series.hollow);
        out.push(std::move(one));
      }
    }
  }
  return out;
}

void add_table(std::string& out, const Table& table) {
  if (!table.caption.empty()) out += "**" + cell(table.caption) + "**\n\n";
  if (!table.says.empty()) out += cell(table.says) + "\n\n";
  if (!table.head.empty()) out += as_markdown(table) + "\n";
  for (const std::string& note : table.notes) out += "- " + cell(note) + "\n";
  if (!table.notes.empty()) out += "\n";
}

}  // namespace

std::string as_markdown(const FullReport& report) {
  const std::vector<Verdict> verdicts =
      find_verdicts(report.scores, report.evidence, report.heading.doubts);
  std::string out = "<!-- deem.report/1 -->\n**" + cell(summary(verdicts)) + "**\n\n";
  for (const Verdict& verdict : verdicts) {
    out += fmt::format("- **{}**, {}: {}\n", cell(verdict.task), cell(verdict.badge),
                       cell(verdict.headline));
    for (const std::string& warning : verdict.warnings) out += "  - " + cell(warning) + "\n";
  }
  out += "\n" + as_markdown(report.scores, report.heading);
  for (const Section& section : report.sections) {
    out += "\n## " + cell(section.title) + "\n\n" + cell(section.explanation) + "\n\n";
    for (const Table& table : section.tables) add_table(out, table);
  }
  return out;
}

std::string as_json(const FullReport& report, std::span<const record::Row> rows) {
  const std::vector<Verdict> verdicts =
      find_verdicts(report.scores, report.evidence, report.heading.doubts);
  Json out = Json::object();
  out.set("schema", "deem.report/1");
  out.set("deem", report.version);
  out.set("summary", summary(verdicts));
  Json judged = Json::array();
  for (const Verdict& verdict : verdicts) judged.push(to_json(verdict, report));
  out.set("verdicts", std::move(judged));
  out.set("score", score_document(report.scores, report.heading));
  out.set("frontier", frontier(report));
  out.set("curves", curves(report));
  out.set("contests", contests(report, rows));
  out.set("mistakes", mistakes(report, rows));
  out.set("wrong", count(report.evidence.wrong));
  Json sections = Json::array();
  for (const Section& section : report.sections) sections.push(to_json(section));
  out.set("sections", std::move(sections));
  Json receipts = Json::array();
  for (const Receipt& receipt : report.receipts) {
    Json one = Json::object();
    one.set("path", receipt.path);
    const auto run = codec::parse_json(record::format_run(receipt.run));
    one.set("run", run ? *run : Json());
    receipts.push(std::move(one));
  }
  out.set("receipts", std::move(receipts));
  return codec::dump_json(out, {.ascii = false, .indent = 1}) + "\n";
}

}  // namespace deem::report
