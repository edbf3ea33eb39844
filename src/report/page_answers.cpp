#include <fmt/format.h>

#include <algorithm>

#include "report/format.h"
#include "report/html_text.h"
#include "report/page_parts.h"

namespace deem::report {
namespace {

constexpr std::size_t kReply = 2'000, kPrompt = 8'000;  // bytes shown of one text

/// At most `limit` bytes, cut between characters.
std::string cut(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0) == 0x80) --limit;
  return std::string(text.substr(0, limit)) + " …";
}

std::string prompt_of(const PageContext& page, std::size_t row, const std::string& reading) {
  const auto found = page.report.prompts.find({row, reading});
  if (found == page.report.prompts.end()) return "<p class=\"how\">The prompt is not shown.</p>";
  const Prompt& prompt = found->second;
  if (prompt.text.empty()) {
    return "<p class=\"how\">The prompt is not shown: " + html(prompt.missing) + ".</p>";
  }
  return "<pre dir=\"auto\" tabindex=\"0\">" + html(cut(prompt.text, kPrompt)) + "</pre>";
}

std::string reply_of(const record::Row& row, const std::string& reading) {
  const auto found = row.readings.find(reading);
  if (found == row.readings.end() || found->second.reply.empty()) return {};
  return "<p class=\"how\">It wrote:</p><pre dir=\"auto\" tabindex=\"0\">" +
         html(cut(found->second.reply, kReply)) + "</pre>";
}

std::string name_of(const record::Row& row) {
  return row.id + (row.repeat > 0 ? fmt::format(" (repeat {})", row.repeat) : "");
}

std::string said(const std::string& text, double p, bool right) {
  return fmt::format("<bdi class=\"{}\">{}</bdi> <span class=\"p\">p {}</span>",
                     right ? "right" : "wrong", html(text), html(share(p)));
}

}  // namespace

std::string contests_part(const PageContext& page) {
  std::string body;
  for (const score::Contest& contest : page.report.evidence.contests) {
    std::string cases;
    for (const score::Differing& d : contest.shown) {
      const record::Row &row_a = page.rows[d.row_a], &row_b = page.rows[d.row_b];
      cases += fmt::format(
          "<details class=\"case\"><summary><span class=\"id\">{}</span> {} {} · {} {}{}</summary>",
          html(name_of(row_a)), swatch(page.styles[contest.a].style, false),
          said(d.said_a, d.p_a, d.label == d.said_a), swatch(page.styles[contest.b].style, false),
          said(d.said_b, d.p_b, d.label == d.said_b),
          d.label ? " · label <bdi>" + html(*d.label) + "</bdi>" : std::string());
      cases += prompt_of(page, d.row_a, d.reading_a) + reply_of(row_a, d.reading_a);
      if (row_a.arm != row_b.arm || d.reading_a != d.reading_b) {
        cases += "<p class=\"how\">The other was asked:</p>" +
                 prompt_of(page, d.row_b, d.reading_b) + reply_of(row_b, d.reading_b);
      }
      cases += "</details>";
    }
    body +=
        fmt::format("<div{}><h3>{}</h3><p>{} and {}: ", task_data(page, contest.task),
                    html(contest.task), column_name(page, contest.a), column_name(page, contest.b));
    body += fmt::format(
        "they differ on <b>{}</b> of {} items. Of {} labelled ones the first alone is right on "
        "{}, the second alone on {} (McNemar p {}).{}</p>{}</div>",
        contest.differ, contest.n, contest.labelled, contest.right_a, contest.right_b,
        html(contest.p < 0.001 ? "<.001" : share(contest.p)),
        contest.shown.size() < contest.differ
            ? fmt::format(" The {} on which both are surest:", contest.shown.size())
            : std::string(),
        "<div class=\"cases\">" + cases + "</div>");
  }
  if (body.empty()) return {};
  return section(
      "contests", "Where two readings disagree",
      "The best column of a task against the best of another reading. What both are sure "
      "of and only one can be right in is worth a look at the item itself.",
      body);
}

std::string mistakes_part(const PageContext& page) {
  const auto& evidence = page.report.evidence;
  if (evidence.leads.empty()) return {};
  std::string body;
  for (const score::Lead& lead : evidence.leads) {
    const score::Column& column = page.report.scores.columns[lead.column];
    const score::Figures& f = *score::figures_on(column, lead.task);
    const std::size_t wrong = f.accuracy.n - f.accuracy.hits;
    std::string cases;
    std::size_t shown = 0;
    for (const score::Mistake& m : evidence.mistakes) {
      const record::Row& row = page.rows[m.row];
      if (row.task != lead.task) continue;
      ++shown;
      cases += fmt::format(
          "<details class=\"case\"><summary><span class=\"id\">{}</span> {} · label "
          "<bdi>{}</bdi> <span class=\"p\">p {}</span>{}</summary>{}{}</details>",
          html(name_of(row)), said(m.said, m.p, false), html(m.label), html(share(m.p_label)),
          row.kind.empty() ? std::string() : " · <span class=\"id\">" + html(row.kind) + "</span>",
          prompt_of(page, m.row, m.reading), reply_of(row, m.reading));
    }
    body += fmt::format("<div{}{}><h3>{}</h3><p>{}: <b>{}</b> of {} wrong{}</p>{}</div>",
                        task_data(page, lead.task), column_data(page, lead.column), html(lead.task),
                        column_name(page, lead.column), wrong, f.accuracy.n,
                        shown < wrong ? fmt::format("; the {} most confident:", shown) : ".",
                        "<div class=\"cases\">" + cases + "</div>");
  }
  return section("mistakes", "Worst mistakes",
                 "Confident and wrong: what the best column of each task said with the highest "
                 "probability and was not the label. Open one to see what was asked.",
                 body);
}

std::vector<PromptKey> wanted_prompts(const score::Evidence& evidence) {
  std::vector<PromptKey> out;
  for (const score::Mistake& m : evidence.mistakes) {
    out.emplace_back(m.row, m.reading);
  }
  for (const score::Contest& contest : evidence.contests) {
    for (const score::Differing& d : contest.shown) {
      out.emplace_back(d.row_a, d.reading_a);
      out.emplace_back(d.row_b, d.reading_b);
    }
  }
  std::ranges::sort(out);
  const auto repeated = std::ranges::unique(out);
  out.erase(repeated.begin(), repeated.end());
  return out;
}

}  // namespace deem::report
