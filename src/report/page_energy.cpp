#include <fmt/format.h>

#include <algorithm>

#include "report/energy_parts.h"
#include "report/format.h"
#include "report/html_text.h"
#include "report/page_parts.h"

namespace deem::report {
namespace {

constexpr std::size_t kMostBlocks = 200;

std::string head_cell(const std::string& name, bool number) {
  return fmt::format("<th scope=\"col\"{}>{}</th>", number ? " class=\"num\"" : "", html(name));
}

std::string table_of(const ProbeTable& table) {
  std::string head, rows;
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    head += head_cell(table.header[i], i >= table.names);
  }
  for (const auto& row : table.rows) {
    rows += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      rows += i == 0            ? "<th scope=\"row\"><bdi>" + html(row[i]) + "</bdi></th>"
              : i < table.names ? "<td><bdi>" + html(row[i]) + "</bdi></td>"
                                : "<td class=\"num\">" + html(row[i]) + "</td>";
    }
    rows += "</tr>";
  }
  return "<p class=\"how\">" + html(table.says) + "</p>" + scrolling_table(table.title, head, rows);
}

/// A line of a board, or of all together, for the legend.
std::string line_swatch(const std::string& classes) {
  return "<svg class=\"swatch\" viewBox=\"0 0 28 12\" aria-hidden=\"true\"><path class=\"line "
         "trace " +
         classes + "\" d=\"M1 6H27\"/></svg>";
}

std::string window_swatch(const char* kind) {
  return fmt::format(
      "<svg class=\"swatch\" viewBox=\"0 0 28 12\" aria-hidden=\"true\"><path class=\"window {}\" "
      "d=\"M1 0H27V12H1Z\"/></svg>",
      kind);
}

std::string legend_of(const PowerPlot& plot) {
  std::string out;
  std::size_t board = 0;
  for (const PowerPlot::Curve& curve : plot.curves) {
    const std::string classes =
        curve.sum ? "sum" : fmt::format("c{} d{}", board % kColours, board / kColours % kDashes);
    if (!curve.sum) ++board;
    out += "<li>" + line_swatch(classes) + "<bdi>" + html(curve.name) + "</bdi></li>";
  }
  using Kind = PowerPlot::Window::Kind;
  for (const auto& [kind, classes, name] : {std::tuple(Kind::Block, "block", "block of decisions"),
                                            {Kind::Idle, "idle", "idle, read"},
                                            {Kind::Load, "load", "a model is loaded"}}) {
    if (std::ranges::find(plot.windows, kind, &PowerPlot::Window::kind) == plot.windows.end()) {
      continue;
    }
    out += "<li>" + window_swatch(classes) + name + "</li>";
  }
  return "<ul class=\"legend\">" + out + "</ul>";
}

std::string plot_of(const PowerPlot& plot, std::size_t index) {
  const std::string name = fmt::format("{}, segment {}", plot.run, plot.segment + 1);
  const std::string title = "Power of " + name + ": " + describe(plot);
  return fmt::format(
      "<figure class=\"plot power\" id=\"power-{}\"><figcaption><bdi>{}</bdi></figcaption>"
      "<div class=\"trace-scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">{}</div>{}"
      "</figure>",
      index, html(name), html("power of " + name), as_svg(plot, title), legend_of(plot));
}

/// What the plots mark, block by block.
std::string blocks_of(const RunJoules& run, const std::vector<PowerPlot>& plots) {
  std::string rows;
  const auto& blocks = run.energy.blocks;
  for (std::size_t i = 0; i < std::min(blocks.size(), kMostBlocks); ++i) {
    const score::EnergyFigures& f = blocks[i];
    const auto plot = std::ranges::find_if(plots, [&](const PowerPlot& one) {
      return one.run == run.run && one.segment == f.segment;
    });
    const double begin = plot == plots.end() ? f.begin_s : f.begin_s - plot->begin_s;
    rows += "<tr><th scope=\"row\"><bdi>" + html(f.arm) + "</bdi></th><td><bdi>" +
            html(f.probe.empty() ? f.task : f.task + ", " + f.probe) + "</bdi></td>";
    for (const std::string& cell :
         {fmt::format("{}", f.segment + 1), number(begin, 1), number(f.seconds, 2),
          fmt::format("{}", f.decisions), joules(f.gross_j), joules(f.net_j), net_cell(&f),
          number(f.mean_w, 1), number(f.peak_w, 1), validity(f)}) {
      rows += "<td class=\"num\">" + html(cell) + "</td>";
    }
    rows += "</tr>";
  }
  if (rows.empty()) return {};
  std::string head;
  for (const char* name : {"arm", "task", "segment", "from s", "seconds", "n", "gross J", "net J",
                           "J/decision", "mean W", "peak W", "valid"}) {
    head += head_cell(name, head.size() > 60);
  }
  const std::string more =
      blocks.size() > kMostBlocks
          ? fmt::format("<p class=\"how\">The first {} of {}; all are in the JSON.</p>",
                        kMostBlocks, blocks.size())
          : "";
  return fmt::format("<details><summary>Every block of <bdi>{}</bdi></summary>{}{}</details>",
                     html(run.run), scrolling_table("blocks", head, rows), more);
}

}  // namespace

std::string energy_part(const PageContext& page) {
  const Heading& heading = page.report.heading;
  std::string body;
  for (const ProbeTable& table : energy_tables(heading)) body += table_of(table);
  std::string notes;
  for (const std::string& note : energy_remarks(page.report.scores, heading)) {
    notes += "<li>" + html(note) + "</li>";
  }
  if (!notes.empty()) body += "<ul class=\"warnings notes\">" + notes + "</ul>";
  for (std::size_t i = 0; i < page.report.power.size(); ++i) {
    body += plot_of(page.report.power[i], i);
  }
  for (const RunJoules& run : heading.energy) body += blocks_of(run, page.report.power);
  if (body.empty()) return {};
  return section("energy", "What a decision costs in joules",
                 "Joules are the area under the power of all boards while decisions were made. "
                 "Net leaves out what the boards draw idle with the model loaded; a figure that is "
                 "not valid stands with the reason and proves nothing.",
                 body);
}

}  // namespace deem::report
