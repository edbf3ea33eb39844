#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/embedded.h"
#include "report/html_text.h"
#include "report/page_parts.h"

namespace deem::report {
namespace {

using codec::Json;

constexpr std::string_view kGenerator = "<meta name=\"generator\" content=\"deem.report/1\">";

std::string_view web_file(std::string_view name) {
  for (const EmbeddedFile& file : report_web()) {
    if (file.path.ends_with(name)) return file.bytes;
  }
  DEEM_CHECK(false);
  return {};
}

/// Different values in the order they come.
template <class Get>
std::vector<std::string> distinct(const std::vector<score::Column>& columns, Get get) {
  std::vector<std::string> out;
  for (const score::Column& column : columns) {
    if (std::ranges::find(out, get(column)) == out.end()) out.push_back(get(column));
  }
  return out;
}

std::vector<std::string> arms_of(const PageContext& page) {
  return distinct(page.report.scores.columns, [](const auto& c) -> const auto& { return c.arm; });
}

std::vector<std::string> readings_of(const PageContext& page) {
  return distinct(page.report.scores.columns,
                  [](const auto& c) -> const auto& { return c.reading; });
}

std::size_t place(const std::vector<std::string>& list, const std::string& value) {
  return static_cast<std::size_t>(std::ranges::find(list, value) - list.begin());
}

/// What the script needs: names for filters, and the plots.
Json page_data(const PageContext& page) {
  const auto names = [](const std::vector<std::string>& list) {
    Json out = Json::array();
    for (const std::string& name : list) out.push(visible(name));
    return out;
  };
  Json columns = Json::array();
  for (std::size_t i = 0; i < page.styles.size(); ++i) {
    const score::Column& column = page.report.scores.columns[i];
    columns.push(Json::object(
        {{"name", page.styles[i].name},
         {"style", static_cast<std::uint64_t>(page.styles[i].style)},
         {"arm", static_cast<std::uint64_t>(page.arm_index(column.arm))},
         {"reading", static_cast<std::uint64_t>(page.reading_index(column.reading))}}));
  }
  Json plots = Json::array();
  for (const PlotGroup& group : page.groups) {
    for (const Plot& plot : group.plots) plots.push(to_json(plot));
  }
  return Json::object({{"schema", "deem.page/1"},
                       {"tasks", names(page.report.scores.tasks)},
                       {"arms", names(arms_of(page))},
                       {"readings", names(readings_of(page))},
                       {"columns", std::move(columns)},
                       {"plots", std::move(plots)}});
}

std::string figure(const PageContext& page, const PlotGroup& group, const Plot& plot) {
  const std::string title = group.title + ": " + plot.task;
  std::string legend;
  for (const Series& series : plot.series) {
    if (!series.shown) continue;
    legend += fmt::format("<li{}>{}{}{}</li>", column_data(page, series.column),
                          swatch(page.styles[series.column].style, series.hollow),
                          html(page.styles[series.column].name),
                          series.hollow ? " <span class=\"how\">dominated</span>" : "");
  }
  return fmt::format(
      "<figure class=\"plot\" id=\"{}\"{}><figcaption><bdi>{}</bdi></figcaption>"
      "<div class=\"canvas\">{}</div><ul class=\"legend\">{}</ul></figure>",
      plot.id, task_data(page, plot.task), html(plot.task), as_svg(plot, page.styles, title),
      legend);
}

/// Every column that another one dominates, in words: what the plot shows by hollow marks.
std::string dominated(const PageContext& page, const PlotGroup& group) {
  if (group.id != "frontier") return {};
  std::string rows;
  for (const Plot& plot : group.plots) {
    for (const Series& series : plot.series) {
      if (!series.hollow || !series.shown) continue;
      const std::string by = series.points.front().note.substr(sizeof "dominated by " - 1);
      rows += fmt::format("<tr{}{}><td>{}</td><th scope=\"row\">{}</th><td>{}</td></tr>",
                          column_data(page, series.column), task_data(page, plot.task),
                          html(plot.task), column_name(page, series.column), html(by));
    }
  }
  if (rows.empty()) return {};
  return "<details><summary>Which columns are dominated, and by what</summary>" +
         scrolling_table("",
                         "<th scope=\"col\">task</th><th scope=\"col\">dominated</th>"
                         "<th scope=\"col\">as good and better in one</th>",
                         rows) +
         "</details>";
}

/// Which arms evaluate items together, so that a time is a share.
std::string shared_times(const PageContext& page) {
  std::string names;
  for (const std::string& arm : arms_of(page)) {
    int group = 1;
    for (const score::Column& column : page.report.scores.columns) {
      if (column.arm == arm) group = std::max(group, column.all.group);
    }
    if (group > 1) {
      names += fmt::format("{}{} (up to {})", names.empty() ? "" : ", ", visible(arm), group);
    }
  }
  if (names.empty()) return {};
  return "<p class=\"how\">Items evaluated together, so that a time is a share of a group’s: " +
         html(names) + ".</p>";
}

std::string navigation(const std::string& body, const std::vector<Section>& sections) {
  std::string out;
  for (const auto& [id, name] : {std::pair("verdict", "Verdict"),
                                 {"figures", "Figures"},
                                 {"frontier", "Time"},
                                 {"reliability", "Calibration"},
                                 {"risk", "Risk"},
                                 {"position", "Position"},
                                 {"energy", "Energy"},
                                 {"contests", "Disagreements"},
                                 {"mistakes", "Mistakes"},
                                 {"counts", "Counts"},
                                 {"receipts", "Receipts"}}) {
    if (body.find(fmt::format("<section id=\"{}\"", id)) == std::string::npos) continue;
    out += fmt::format("<a href=\"#{}\">{}</a>", id, name);
  }
  for (const Section& added : sections) {
    out += fmt::format("<a href=\"#added-{}\">{}</a>", slug(added.id), html(added.title));
  }
  return "<nav aria-label=\"Sections\">" + out + "</nav>";
}

/// The head's lines, with arms of one seat in one line.
std::vector<std::pair<std::string, std::string>> grouped_arms(const Heading& heading) {
  constexpr std::string_view kArm = "arm ";
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [key, value] : heading.lines) {
    const bool is_arm = key.starts_with(kArm);
    if (std::ranges::find(out, std::pair(key, value)) != out.end()) continue;  // of another run
    const auto same = std::ranges::find_if(out, [&](const auto& line) {
      return is_arm && line.first.starts_with("arm") && line.second == value;
    });
    if (same == out.end()) {
      out.emplace_back(key, value);
      continue;
    }
    if (same->first.starts_with(kArm)) same->first.insert(3, "s");
    same->first += ", " + key.substr(kArm.size());
  }
  return out;
}

std::string title_of(const FullReport& report) {
  for (const auto& [key, value] : report.heading.lines) {
    if (key == "kit") return value.substr(0, value.find("  "));
  }
  return "rows";
}

}  // namespace

std::size_t PageContext::arm_index(const std::string& arm) const {
  return place(arms_of(*this), arm);
}
std::size_t PageContext::reading_index(const std::string& reading) const {
  return place(readings_of(*this), reading);
}
std::size_t PageContext::task_index(const std::string& task) const {
  return place(report.scores.tasks, task);
}

std::string column_data(const PageContext& page, std::size_t column) {
  const score::Column& c = page.report.scores.columns[column];
  return fmt::format(" data-col=\"{}\" data-arm=\"{}\" data-reading=\"{}\"", column,
                     page.arm_index(c.arm), page.reading_index(c.reading));
}

std::string task_data(const PageContext& page, const std::string& task) {
  return fmt::format(" data-task=\"{}\"", page.task_index(task));
}

std::string column_name(const PageContext& page, std::size_t column) {
  const ColumnStyle& style = page.styles[column];
  return "<span class=\"column\">" + swatch(style.style, false) + "<bdi>" + html(style.name) +
         "</bdi></span>";
}

std::string scrolling_table(const std::string& caption, const std::string& head,
                            const std::string& body) {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>{}<thead><tr>"
      "{}</tr></thead><tbody>{}</tbody></table></div>",
      caption.empty() ? "table" : html(caption),
      caption.empty() ? std::string() : "<caption><bdi>" + html(caption) + "</bdi></caption>", head,
      body);
}

std::string section(const std::string& id, const std::string& title, const std::string& explanation,
                    const std::string& body) {
  return fmt::format(
      "<section id=\"{}\" aria-labelledby=\"{}-title\"><h2 id=\"{}-title\">{}</h2>{}"
      "{}</section>",
      id, id, id, html(title),
      explanation.empty() ? std::string() : "<p class=\"how\">" + html(explanation) + "</p>", body);
}

std::string plots_part(const PageContext& page) {
  std::string out;
  for (const PlotGroup& group : page.groups) {
    std::string body = "<div class=\"grid\">";
    for (const Plot& plot : group.plots) body += figure(page, group, plot);
    body += "</div>" + dominated(page, group);
    if (group.id == "frontier" || group.id == "latency") body += shared_times(page);
    if (page.report.scores.tasks.size() > kMostTasks) {
      body += fmt::format("<p class=\"how\">Plots of the first {} of {} tasks.</p>", kMostTasks,
                          page.report.scores.tasks.size());
    }
    out += section(group.id, group.title, group.explanation, body);
  }
  return out;
}

std::string as_html(const FullReport& report, std::span<const record::Row> rows) {
  PageContext page{.report = report,
                   .rows = rows,
                   .styles = find_styles(report.scores, report.evidence),
                   .verdicts = find_verdicts(report.scores, report.evidence, report.heading.doubts),
                   .groups = make_plots(report.scores, report.evidence)};
  const std::string_view style = web_file("report.css"), script = web_file("report.js");
  std::string body = verdict_part(page);
  body += "<form id=\"filters\" hidden></form>";
  body += figures_part(page) + plots_part(page) + energy_part(page) + thresholds_part(page) +
          slices_part(page) + contests_part(page) + mistakes_part(page) + counts_part(page) +
          added_part(page) + receipts_part(page);
  const std::string title = html(title_of(report));
  std::string out = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">";
  out += kGenerator;
  out += fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; "
      "script-src {}; base-uri 'none'; form-action 'none'\">",
      csp_hash(style), csp_hash(script));
  out +=
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<meta name=\"color-scheme\" content=\"light dark\"><meta name=\"referrer\" "
      "content=\"no-referrer\">";
  out += fmt::format("<title>{} · Deemster report</title><style>{}</style></head>\n<body>", title,
                     style);
  out +=
      "<a class=\"skip\" href=\"#main\">Skip to the verdict</a><header class=\"top\"><p "
      "class=\"brand\">Deemster <span>typed decisions, measured</span></p><h1><bdi>" +
      title + "</bdi></h1><dl class=\"about\">";
  for (const auto& [key, value] : grouped_arms(report.heading)) {
    out += "<div><dt>" + html(key) + "</dt><dd><bdi>" + html(value) + "</bdi></dd></div>";
  }
  out += "</dl>" + navigation(body, report.sections) + "</header>\n<main id=\"main\">" + body +
         "</main>\n";
  out += fmt::format(
      "<footer><p>{} rows, {} columns. Every figure stands with its n; intervals are 95 %. "
      "Written by deem {}.</p></footer>\n",
      report.scores.rows, report.scores.columns.size(), html(report.version));
  out += "<script type=\"application/json\" id=\"data\">" + script_json(page_data(page)) +
         "</script>\n<script>";
  out += script;
  return out + "</script></body></html>\n";
}

bool is_report(std::string_view bytes) {
  const std::string_view start = bytes.substr(0, 400);
  return start.find(kGenerator) != std::string_view::npos ||
         start.find("\"schema\": \"deem.report/1\"") != std::string_view::npos ||
         start.starts_with("<!-- deem.report/1 -->") ||
         start.starts_with("arm,reading,variant,task,rows,");
}

}  // namespace deem::report
