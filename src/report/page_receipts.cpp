#include <fmt/format.h>

#include "report/format.h"
#include "report/html_text.h"
#include "report/page_parts.h"

namespace deem::report {
namespace {

using codec::Json;

std::string plain_json(const Json& value) {
  if (value.is_string()) return value.as_string();
  return codec::dump_json(value, {.ascii = false});
}

/// An object's members as names and values; objects inside stay JSON.
std::string definitions(const Json& object) {
  if (!object.is_object() || object.members().empty()) return "<p class=\"how\">nothing told</p>";
  std::string out = "<dl>";
  for (const auto& [key, value] : object.members()) {
    const std::string text = plain_json(value);
    if (text.empty()) continue;
    out += "<div><dt>" + html(key) + "</dt><dd><bdi>" + html(text) + "</bdi></dd></div>";
  }
  return out + "</dl>";
}

std::string arm_receipt(const record::ArmRecord& arm) {
  std::string out = "<details><summary>arm <bdi>" + html(arm.name) + "</bdi>, " + html(arm.mode) +
                    (arm.wall_s ? ", " + html(duration(arm.wall_s)) + " of asking" : "") +
                    "</summary>";
  for (const auto& [name, value] : {std::pair("Who answered", &arm.identity),
                                    {"Settings", &arm.settings},
                                    {"Census of prompts", &arm.census},
                                    {"Proof of letters", &arm.letter_proof},
                                    {"What the seat can do", &arm.capabilities}}) {
    out += std::string("<h4>") + name + "</h4>" + definitions(*value);
  }
  return out + "</details>";
}

std::string causes(const score::Figures& f) {
  std::string out;
  for (const auto& [cause, n] : f.void_causes) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", cause, n);
  }
  return out.empty() ? "–" : out;
}

std::string total(std::optional<std::int64_t> n) { return n ? fmt::format("{}", *n) : "not told"; }

}  // namespace

std::string counts_part(const PageContext& page) {
  const auto& columns = page.report.scores.columns;
  std::string body;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const score::Column& column = columns[i];
    // Counts do not differ between a reading's variants: its first stands for it.
    if (i > 0 && columns[i - 1].arm == column.arm && columns[i - 1].reading == column.reading)
      continue;
    for (const score::Figures& f : column.tasks) {
      body += fmt::format("<tr{}{}><th scope=\"row\">{}</th><td>{}</td>", column_data(page, i),
                          task_data(page, f.task), html(column.arm + " " + column.reading),
                          html(f.task));
      for (const std::size_t n : {f.rows, f.asked, f.answered, f.labelled, f.refused, f.voids}) {
        body += fmt::format("<td class=\"num{}\">{}</td>", n == 0 ? " zero" : "", n);
      }
      body += "<td>" + html(causes(f)) + "</td>";
      for (const std::size_t n : {f.unparsed, f.errors, f.unsupported}) {
        body += fmt::format("<td class=\"num{}\">{}</td>", n == 0 ? " zero" : "", n);
      }
      body += fmt::format("<td class=\"num\">{}</td><td class=\"num\">{}</td></tr>",
                          html(total(f.prompt_tokens)), html(total(f.cached_tokens)));
    }
  }
  if (body.empty()) return {};
  std::string head;
  for (const char* name :
       {"arm reading", "task", "rows", "asked", "answered", "labelled", "refused", "void", "causes",
        "unparsed", "errors", "unsupported", "prompt tokens", "cached"}) {
    head += std::string("<th scope=\"col\">") + name + "</th>";
  }
  std::string notes;
  for (const std::string& remark : remarks(page.report.scores)) {
    notes += "<li>" + html(remark) + "</li>";
  }
  if (!notes.empty()) notes = "<ul class=\"remarks\">" + notes + "</ul>";
  return section("counts", "What was asked, and what gave no answer",
                 "Refused items were not asked (mostly too long for the context); a void reading "
                 "has no usable numbers. Neither counts as wrong nor as right: read every accuracy "
                 "together with these counts.",
                 scrolling_table("", head, body) + notes);
}

std::string added_part(const PageContext& page) {
  std::string out;
  for (const Section& added : page.report.sections) {
    std::string body;
    for (const Table& table : added.tables) {
      std::string head, rows;
      for (const Table::Head& column : table.head) {
        head += fmt::format("<th scope=\"col\"{}>{}</th>", column.number ? " class=\"num\"" : "",
                            html(column.name));
      }
      for (const auto& row : table.rows) {
        rows += "<tr>";
        for (std::size_t i = 0; i < table.head.size(); ++i) {
          const std::string text = i < row.size() ? html(row[i]) : std::string();
          rows += table.head[i].number ? "<td class=\"num\">" + text + "</td>"
                                       : "<td>" + text + "</td>";
        }
        rows += "</tr>";
      }
      if (!table.caption.empty()) body += "<h3><bdi>" + html(table.caption) + "</bdi></h3>";
      if (!table.says.empty()) body += "<p class=\"how\">" + html(table.says) + "</p>";
      if (!table.head.empty()) body += scrolling_table("", head, rows);
      std::string notes;
      for (const std::string& note : table.notes) notes += "<li>" + html(note) + "</li>";
      if (!notes.empty()) body += "<ul class=\"notes\">" + notes + "</ul>";
    }
    out +=
        section("added-" + slug(added.id), visible(added.title), visible(added.explanation), body);
  }
  return out;
}

std::string receipts_part(const PageContext& page) {
  std::string body = "<dl>";
  for (const auto& [key, value] : page.report.heading.lines) {
    body += "<div><dt>" + html(key) + "</dt><dd><bdi>" + html(value) + "</bdi></dd></div>";
  }
  body += "<div><dt>report by</dt><dd>deem " + html(page.report.version) +
          "</dd></div><div><dt>resampling seed</dt><dd>" + fmt::format("{}", score::kScoreSeed) +
          "</dd></div></dl>";
  for (const Receipt& receipt : page.report.receipts) {
    const record::RunRecord& run = receipt.run;
    body += "<h3><bdi>" + html(receipt.path) + "</bdi></h3><dl>";
    for (const auto& [key, value] :
         {std::pair<const char*, std::string>{"asked by", "deem " + run.deem},
          {"started", run.started},
          {"ended", run.ended.empty() ? "not finished" : run.ended},
          {"planned rows", fmt::format("{}", run.planned_rows)},
          {"kit", run.kit_name + " " + run.kit_version},
          {"kit digest", run.kit_digest},
          {"kit format", run.kit_format},
          {"kit licence", run.kit_licence},
          {"box", fmt::format("{}, {}, {} cores", run.host, run.cpu, run.cores)}}) {
      if (value.empty()) continue;
      body += std::string("<div><dt>") + key + "</dt><dd><bdi>" + html(value) + "</bdi></dd></div>";
    }
    body += "</dl><details><summary>settings of the run</summary>" + definitions(run.settings) +
            "</details>";
    for (const record::ArmRecord& arm : run.arms) body += arm_receipt(arm);
  }
  return section("receipts", "Receipts",
                 "What was run on what. Every figure here can be made again from rows.jsonl by "
                 "deem score and deem report.",
                 body);
}

}  // namespace deem::report
