#include <fmt/format.h>

#include <algorithm>

#include "report/energy_parts.h"
#include "report/format.h"
#include "report/html_text.h"
#include "report/page_parts.h"

namespace deem::report {
namespace {

using score::Column;
using score::Figures;

std::string cell_text(const std::string& text) {
  return "<td class=\"num\">" + html(text) + "</td>";
}

std::vector<double> baseline_marks(const Figures& f) {
  std::vector<double> out;
  for (const score::Rate* rate : {&f.uniform, &f.majority, &f.overlap}) {
    if (rate->value) out.push_back(*rate->value);
  }
  return out;
}

std::string accuracy_cell(const Figures& f) {
  if (f.uncalibrated) return "<td class=\"acc\" colspan=\"2\">bare score, no probability</td>";
  const std::string text = with_interval(f.accuracy);
  return fmt::format("<td class=\"acc num\">{}</td><td class=\"barcell\">{}</td>", html(text),
                     interval_bar(f.accuracy.value, f.accuracy.low, f.accuracy.high,
                                  baseline_marks(f), "accuracy " + text));
}

/// Tokens a decision, where the seat counted them: "142 + 1".
std::string tokens_each(const Figures& f) {
  const std::size_t counted = f.asked - std::min(f.asked, f.tokens_unknown);
  if (!f.prompt_tokens || counted == 0) return "–";
  const auto each = [&](std::int64_t n) {
    return fmt::format("{:.0f}", static_cast<double>(n) / static_cast<double>(counted));
  };
  return each(*f.prompt_tokens) + (f.output_tokens ? " + " + each(*f.output_tokens) : "");
}

std::string lost(const Figures& f) {
  const std::size_t n = f.voids + f.unparsed + f.errors + f.unsupported + f.refused;
  return n == 0 ? "0" : fmt::format("{} of {}", n, f.rows);
}

std::string figures_row(const PageContext& page, std::size_t i, const Figures& f, bool lead) {
  const auto& calibration = f.detail.calibration;
  return fmt::format("<tr{}{}><th scope=\"row\">{}{}</th>", column_data(page, i),
                     lead ? " class=\"lead\"" : "", column_name(page, i),
                     lead ? " <span class=\"tag\">best</span>" : "") +
         accuracy_cell(f) +
         cell_text(fmt::format("{}", f.uncalibrated ? f.auroc_n : f.accuracy.n)) +
         cell_text(number(f.brier, 3)) + cell_text(share(ece_of(f))) +
         cell_text(calibration ? share(calibration->null_p95) : "–") + cell_text(share(f.auroc)) +
         cell_text(share(f.median_mass)) + cell_text(duration(f.median_s)) +
         cell_text(duration(f.p95_s)) +
         cell_text(
             net_cell(energy_on(page.report.heading, page.report.scores.columns[i].arm, f.task))) +
         cell_text(tokens_each(f)) + cell_text(lost(f)) + "</tr>";
}

std::string baseline_row(const char* name, const std::string& accuracy, std::size_t n,
                         std::optional<double> brier, const score::Rate& rate, bool exact) {
  const double value = rate.value.value_or(0);
  return fmt::format(
      "<tr class=\"base\"><th scope=\"row\">baseline: {}</th><td class=\"acc num\">{}</td>"
      "<td class=\"barcell\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td>"
      "<td colspan=\"9\"></td></tr>",
      name, html(accuracy),
      interval_bar(rate.value, exact ? value : rate.low, exact ? value : rate.high, {},
                   "accuracy " + accuracy),
      n, html(number(brier, 3)));
}

/// Best first, then what has no probabilities.
std::vector<std::size_t> order_on(const score::Scores& scores, const std::string& task) {
  std::vector<std::size_t> order = score::ranked_columns(scores, task, false);
  for (std::size_t i = 0; i < scores.columns.size(); ++i) {
    if (std::ranges::find(order, i) != order.end()) continue;
    if (score::figures_on(scores.columns[i], task) != nullptr) order.push_back(i);
  }
  return order;
}

/// Of the columns with figures on the task the one with most labelled answers.
const Figures* baselines_on(const score::Scores& scores, const std::string& task) {
  const Figures* best = nullptr;
  for (const Column& column : scores.columns) {
    const Figures* f = score::figures_on(column, task);
    if (f != nullptr && (best == nullptr || f->labelled > best->labelled)) best = f;
  }
  return best;
}

std::string figures_table(const PageContext& page, const std::string& task,
                          const std::string& caption) {
  const score::Scores& scores = page.report.scores;
  std::string body;
  for (const std::size_t i : order_on(scores, task)) {
    const bool lead = std::ranges::any_of(page.report.evidence.leads, [&](const auto& one) {
      return one.task == task && one.column == i;
    });
    body += figures_row(page, i, *score::figures_on(scores.columns[i], task), lead);
  }
  if (const Figures* base = baselines_on(scores, task); base != nullptr && base->labelled > 0) {
    body += baseline_row("uniform", share(base->uniform.value), base->uniform.n,
                         base->uniform_brier, base->uniform, true);
    body += baseline_row("prior (commonest)", with_interval(base->majority), base->majority.n,
                         base->prior_brier, base->majority, false);
    body += baseline_row("keyword overlap", with_interval(base->overlap), base->overlap.n,
                         std::nullopt, base->overlap, false);
  }
  return scrolling_table(
      caption,
      "<th scope=\"col\">arm reading:variant</th><th scope=\"col\" colspan=\"2\">accuracy [95 "
      "%]</th>"
      "<th scope=\"col\">n</th><th scope=\"col\">Brier</th><th scope=\"col\">ECE</th>"
      "<th scope=\"col\"><abbr title=\"what a calibrated model would stay under in 95 of 100 such "
      "runs\">if cal.</abbr></th><th scope=\"col\">AUROC</th><th scope=\"col\"><abbr "
      "title=\"median "
      "probability that all letters hold together\">mass</abbr></th><th scope=\"col\">median</th>"
      "<th scope=\"col\">p95</th><th scope=\"col\"><abbr title=\"net joules a decision; ? marks "
      "what is not valid\">J</abbr></th><th scope=\"col\"><abbr title=\"prompt + written, a "
      "decision, by "
      "the seat's count\">tokens</abbr></th><th scope=\"col\"><abbr title=\"void, unparsed, "
      "failed, "
      "unsupported or refused\">no answer</abbr></th>",
      body);
}

}  // namespace

std::string figures_part(const PageContext& page) {
  const score::Scores& scores = page.report.scores;
  if (scores.columns.empty()) return {};
  std::string body;
  for (const std::string& task : scores.tasks) {
    body += fmt::format("<div{}>{}</div>", task_data(page, task),
                        figures_table(page, task, visible(task)));
  }
  if (scores.tasks.size() > 1) {
    body +=
        "<details class=\"pooled\"><summary>All tasks together</summary>"
        "<p class=\"how\">Pooled over unlike tasks, each with as many items as it has: for "
        "time, tokens and counts rather than for accuracy.</p>" +
        figures_table(page, "", "all tasks") + "</details>";
  }
  return section(
      "figures", "Every column beside its baselines",
      "A column is an arm, a way of reading its answer and a variant of it, best first. The bar "
      "shows accuracy with its 95 % interval between 0 and 1, thin marks are the baselines. Brier "
      "and calibration error (ECE) are better when lower; an ECE under “if cal.” is no sign of "
      "miscalibration.",
      body);
}

std::string verdict_part(const PageContext& page) {
  std::string cards;
  for (const Verdict& verdict : page.verdicts) {
    static constexpr const char* kClasses[] = {"better", "unclear", "worse", "unmeasured"};
    static constexpr const char* kSigns[] = {"✓", "?", "✗", "–"};
    const auto level = static_cast<std::size_t>(verdict.level);
    cards += fmt::format(
        "<article class=\"card {}\"{}><header><h3>{}</h3><p class=\"badge\"><span "
        "aria-hidden=\"true\">{}</span> {}</p></header>",
        kClasses[level], task_data(page, verdict.task), html(verdict.task), kSigns[level],
        html(verdict.badge));
    if (verdict.lead != nullptr) {
      const Figures& f =
          *score::figures_on(page.report.scores.columns[verdict.lead->column], verdict.task);
      cards +=
          "<div class=\"scale\">" +
          interval_bar(f.accuracy.value, f.accuracy.low, f.accuracy.high, baseline_marks(f),
                       "accuracy " + with_interval(f.accuracy), true) +
          "<div class=\"ends\" aria-hidden=\"true\"><span>0</span><span>accuracy, baselines as "
          "ticks</span><span>1</span></div></div>";
    }
    cards += "<p class=\"headline\">" + html(verdict.headline) + "</p>";
    if (!verdict.warnings.empty()) {
      cards += "<ul class=\"warnings\">";
      for (const std::string& warning : verdict.warnings) cards += "<li>" + html(warning) + "</li>";
      cards += "</ul>";
    }
    if (!verdict.points.empty()) {
      cards += page.verdicts.size() == 1 ? "<details open>" : "<details>";
      cards += "<summary>More on this</summary><ul>";
      for (const std::string& point : verdict.points) cards += "<li>" + html(point) + "</li>";
      cards += "</ul></details>";
    }
    cards += "</article>";
  }
  std::string body = "<p class=\"summary\">" + html(summary(page.verdicts)) + "</p>";
  if (!page.report.heading.notes.empty()) {
    body += "<ul class=\"warnings notes\">";
    for (const std::string& note : page.report.heading.notes) body += "<li>" + html(note) + "</li>";
    body += "</ul>";
  }
  body += "<div class=\"cards\">" + cards + "</div>";
  return section("verdict", "What can be trusted", "", body);
}

std::string thresholds_part(const PageContext& page) {
  const score::Scores& scores = page.report.scores;
  std::string body;
  for (const score::Lead& lead : page.report.evidence.leads) {
    const Figures& f = *score::figures_on(scores.columns[lead.column], lead.task);
    std::string rows;
    for (const score::ActAbove& act : f.detail.act_above) {
      rows += fmt::format(
          "<tr><th scope=\"row\" class=\"num\">{}</th><td class=\"num\">{}</td>"
          "<td class=\"num\">{}</td><td class=\"num\">{}</td></tr>",
          html(share(act.threshold)), html(share(act.coverage)), html(with_interval(act.accuracy)),
          act.accuracy.n);
    }
    if (rows.empty()) continue;
    body += fmt::format("<div{}{}>", task_data(page, lead.task), column_data(page, lead.column)) +
            scrolling_table(visible(lead.task + ": " + scores.columns[lead.column].name()),
                            "<th scope=\"col\">act when p ≥</th><th scope=\"col\">coverage</th>"
                            "<th scope=\"col\">right [95 %]</th><th scope=\"col\">n</th>",
                            rows) +
            "</div>";
  }
  if (body.empty()) return {};
  return section("act", "Acting above a threshold",
                 "If only answers of at least this probability are acted on: the share of items "
                 "that leaves, and how often those are right. Of the best column of each task.",
                 "<div class=\"grid\">" + body + "</div>");
}

std::string slices_part(const PageContext& page) {
  const score::Scores& scores = page.report.scores;
  std::string body;
  for (const score::Lead& lead : page.report.evidence.leads) {
    const Figures& f = *score::figures_on(scores.columns[lead.column], lead.task);
    std::string rows;
    std::size_t slices = 0;
    for (const score::Slice& slice : f.detail.slices) {
      if (slice.accuracy.n == f.accuracy.n) continue;  // all of them: it says nothing
      ++slices;
      rows += fmt::format(
          "<tr><th scope=\"row\">{} {}</th><td class=\"num acc\">{}</td><td "
          "class=\"barcell\">{}</td>"
          "<td class=\"num\">{}</td><td class=\"num\">{}</td></tr>",
          html(slice.by), html(slice.value), html(with_interval(slice.accuracy)),
          interval_bar(slice.accuracy.value, slice.accuracy.low, slice.accuracy.high, {},
                       "accuracy " + with_interval(slice.accuracy)),
          slice.accuracy.n, html(number(slice.brier, 3)));
    }
    if (slices < 2) continue;
    body +=
        fmt::format("<div{}{}>", task_data(page, lead.task), column_data(page, lead.column)) +
        scrolling_table(visible(lead.task + ": " + scores.columns[lead.column].name()),
                        "<th scope=\"col\">items with</th><th scope=\"col\" colspan=\"2\">"
                        "accuracy [95 %]</th><th scope=\"col\">n</th><th scope=\"col\">Brier</th>",
                        rows) +
        "</div>";
  }
  if (body.empty()) return {};
  return section("slices", "Where the best column is weak",
                 "The same answers by kind of item, number of options and place of the right one. "
                 "Small n, wide intervals: look for gaps between intervals, not between values.",
                 "<div class=\"grid\">" + body + "</div>");
}

}  // namespace deem::report
