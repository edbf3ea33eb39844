#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "record/fields.h"
#include "report/fit_report.h"
#include "report/format.h"
#include "report/json_parts.h"
#include "report/table.h"

namespace deem::report {
namespace {

using codec::Json;
using record::FitFigures;
using score::Candidate;
using score::Choice;

constexpr double kNoDifference = 100;  // so many times the items: nothing to tell

/// Two leading digits: "180", "1300".
std::string rounded(double value) {
  double unit = 1;
  while (value / unit >= 100) unit *= 10;
  return fmt::format("{:.0f}", std::ceil(value / unit) * unit);
}

std::string accuracy_cell(const FitFigures& f) {
  return share_with(f.accuracy, f.accuracy_low, f.accuracy_high);
}

std::string constants_of(const Candidate& candidate) {
  if (candidate.calibrator.method == decision::Calibrator::Method::None) return "its own";
  return std::string(decision::to_string(candidate.calibrator.method));
}

Table candidates_table(const Choice& choice, std::size_t shown) {
  Table table{.head = head_of({"", "arm reading:variant", "constants by", "accuracy [95 %]",
                               "Brier", "ECE", "behind [95 %]", "no answer", "time", "tokens"},
                              3)};
  const std::size_t most = shown == 0 ? choice.candidates.size() : shown;
  for (std::size_t k = 0; k < choice.candidates.size(); ++k) {
    if (k >= most && k != choice.chosen && k != choice.cheapest) continue;
    const Candidate& c = choice.candidates[k];
    std::string behind = k == 0 ? "best" : signed_number(c.behind, 3);
    if (k != 0 && c.behind_interval) {
      behind += fmt::format(" [{}, {}]", signed_number(c.behind_interval->low, 2),
                            signed_number(c.behind_interval->high, 2));
    }
    table.rows.push_back(
        {k == choice.chosen ? "*" : (c.within_noise ? "~" : ""), printable(c.column.text(), 60),
         constants_of(c), accuracy_cell(c.held_out), number(c.held_out.brier, 3),
         share(c.held_out.ece), behind, c.unanswered == 0 ? "" : fmt::format("{}", c.unanswered),
         duration(c.median_s), c.mean_tokens ? fmt::format("{:.0f}", *c.mean_tokens) : "–"});
  }
  return table;
}

std::string no_model_sentence(const Choice& choice) {
  const score::NoModel& no = choice.no_model;
  std::string out = fmt::format("without a model: the commonest label {}", share(no.majority));
  if (no.overlap) out += fmt::format(", keyword overlap {}", share(no.overlap));
  out += fmt::format(", uniform {}; Brier {} by label frequencies", share(no.uniform),
                     number(no.prior_brier, 3));
  return out;
}

/// What a user should do with the choice, in words.
std::vector<std::string> sentences(const Choice& choice, score::Criterion by) {
  const Candidate& chosen = choice.candidates[choice.chosen];
  std::vector<std::string> out;
  out.push_back(fmt::format(
      "chosen: {}, {}{}", printable(chosen.column.text(), 80),
      chosen.calibrator.method == decision::Calibrator::Method::None
          ? "with its own constants"
          : "calibrated by " + constants_of(chosen) + " (" + describe(chosen.calibrator) + ")",
      choice.chosen == 0 ? "" : "; the cheapest within the noise of the best"));
  out.push_back(fmt::format(
      "choosing itself held out ({} parts by state): accuracy {}, Brier {}; the price of choosing "
      "is {} in {}",
      choice.parts, accuracy_cell(choice.procedure), number(choice.procedure.brier, 3),
      signed_number(choice.price, 3),
      by == score::Criterion::Accuracy ? "accuracy"
      : by == score::Criterion::Brier  ? "Brier"
                                       : "log loss"));
  out.push_back(fmt::format("the best was chosen in {} of {} parts",
                            choice.candidates.front().chosen_in, choice.parts));
  if (choice.cheapest != choice.chosen && choice.candidates[choice.cheapest].median_s) {
    const Candidate& least = choice.candidates[choice.cheapest];
    out.push_back(
        fmt::format("cheapest within the noise of the best: {} in {} (--cheapest takes "
                    "it)",
                    printable(least.column.text(), 80), duration(least.median_s)));
  }
  if (choice.next) {
    const std::string next = printable(choice.candidates[*choice.next].column.text(), 80);
    const double needed = choice.items_needed.value_or(0);
    if (!choice.items_needed) {
      out.push_back("no difference between the best and " + next);
    } else if (needed <= static_cast<double>(choice.n)) {
      out.push_back(fmt::format(
          "the choice is safe: telling the best from {} takes about {:.0f} labelled items, and "
          "there are {}",
          next, std::ceil(needed), choice.n));
    } else if (needed > kNoDifference * static_cast<double>(choice.n)) {
      out.push_back("the best and " + next + " are as good as each other here");
    } else {
      out.push_back(fmt::format(
          "the choice is not safe: telling the best from {} takes about {} labelled items, and "
          "there are {}",
          next, rounded(needed), choice.n));
    }
  }
  out.push_back(no_model_sentence(choice));
  const double baseline = std::max(choice.no_model.majority, choice.no_model.overlap.value_or(0));
  if (choice.procedure.accuracy_low && *choice.procedure.accuracy_low <= baseline) {
    out.push_back(
        "finding: no reading is shown to be right more often than a program without a model");
  }
  for (const std::string& note : choice.notes) out.push_back(printable(note, 300));
  if (choice.left_out > 0)
    out.push_back(fmt::format("{} items left out, by whole states", choice.left_out));
  return out;
}

std::string title(const Choice& choice) {
  return fmt::format("{}  {} items on {} states", printable(choice.task, 60), choice.n,
                     choice.states);
}

Json to_json(const Candidate& c) {
  Json out = Json::object();
  out.set("arm", c.column.arm);
  out.set("reading", c.column.reading);
  out.set("variant", c.column.variant);
  out.set("mode", c.mode);
  out.set("fitted", c.fitted);
  out.set("method", decision::to_string(c.calibrator.method));
  out.set("held_out", held_out_json(c.held_out));
  out.set("unanswered", count(c.unanswered));
  out.set("median_s", known(c.median_s));
  out.set("mean_tokens", known(c.mean_tokens));
  out.set("behind", c.behind);
  out.set("behind_interval", interval(c.behind_interval));
  out.set("within_noise", c.within_noise);
  out.set("chosen_in", count(c.chosen_in));
  return out;
}

Json to_json(const Choice& choice) {
  Json out = Json::object();
  out.set("task", choice.task);
  out.set("items", count(choice.n));
  out.set("states", count(choice.states));
  out.set("refused", choice.refused.empty() ? Json() : Json(choice.refused));
  Json notes = Json::array();
  for (const std::string& note : choice.notes) notes.push(note);
  out.set("notes", std::move(notes));
  if (!choice.refused.empty()) return out;
  out.set("left_out", count(choice.left_out));
  out.set("parts", count(choice.parts));
  Json candidates = Json::array();
  for (const Candidate& c : choice.candidates) candidates.push(to_json(c));
  out.set("candidates", std::move(candidates));
  out.set("chosen", count(choice.chosen));
  out.set("cheapest", count(choice.cheapest));
  out.set("method", decision::to_string(choice.entry.calibrator.method));
  out.set("procedure", held_out_json(choice.procedure));
  out.set("price", choice.price);
  out.set("items_needed", known(choice.items_needed));
  out.set("next", choice.next ? count(*choice.next) : Json());
  out.set("baselines", Json::object({{"uniform_accuracy", choice.no_model.uniform},
                                     {"prior_accuracy", choice.no_model.majority},
                                     {"keyword_overlap_accuracy", known(choice.no_model.overlap)},
                                     {"uniform_brier", choice.no_model.uniform_brier},
                                     {"prior_brier", choice.no_model.prior_brier}}));
  return out;
}

std::string head_sentence(const ChooseReport& report) {
  return fmt::format(
      "by {}; every figure is of items held out by state; * chosen, ~ within the noise of the best",
      score::to_string(report.by));
}

}  // namespace

std::string as_text(const ChooseReport& report, std::size_t width, bool colour) {
  std::string out = bold("Choosing a reading", colour) + "  " + printable(report.run, 200) + "\n" +
                    head_sentence(report) + "\n";
  for (const Choice& choice : report.choices) {
    out += "\n" + bold(title(choice), colour) + "\n";
    if (!choice.refused.empty()) {
      out += bullet("nothing chosen: " + choice.refused, width);
      for (const std::string& note : choice.notes) out += bullet(printable(note, 300), width);
      continue;
    }
    out += as_text(candidates_table(choice, report.shown), colour);
    for (const std::string& sentence : sentences(choice, report.by)) out += bullet(sentence, width);
  }
  if (!report.notes.empty()) out += "\n" + bold("To know", colour) + "\n";
  for (const std::string& note : report.notes) out += bullet(printable(note, 400), width);
  if (!report.fit_path.empty()) out += "\nfit file  " + printable(report.fit_path, 400) + "\n";
  return out;
}

std::string as_markdown(const ChooseReport& report) {
  std::string out =
      "# Choosing a reading\n\n" + cell(report.run) + ". " + cell(head_sentence(report)) + ".\n";
  for (const Choice& choice : report.choices) {
    out += "\n## " + cell(title(choice)) + "\n\n";
    if (!choice.refused.empty()) {
      out += "- nothing chosen: " + cell(choice.refused) + "\n";
      for (const std::string& note : choice.notes) out += "- " + cell(note) + "\n";
      continue;
    }
    out += as_markdown(candidates_table(choice, report.shown)) + "\n";
    for (const std::string& sentence : sentences(choice, report.by))
      out += "- " + cell(sentence) + "\n";
  }
  if (!report.notes.empty()) out += "\n## To know\n\n";
  for (const std::string& note : report.notes) out += "- " + cell(note) + "\n";
  return out;
}

Section as_section(const ChooseReport& report) {
  Section out{.id = "choosing", .title = "Choosing a reading"};
  out.explanation = "Every reading by its own constants and by fitted ones, " +
                    head_sentence(report) +
                    ". The price of choosing is what the best one's figure "
                    "flatters: expect the procedure's figure on new items.";
  for (const Choice& choice : report.choices) {
    if (!choice.refused.empty()) {
      out.tables.push_back(
          {.caption = title(choice), .notes = {"nothing chosen: " + choice.refused}});
      continue;
    }
    Table table = candidates_table(choice, report.shown);
    table.caption = title(choice);
    table.notes = sentences(choice, report.by);
    out.tables.push_back(std::move(table));
  }
  return out;
}

std::string as_json(const ChooseReport& report) {
  Json out = Json::object();
  out.set("schema", "deem.choose/1");
  out.set("run", record::lossy_utf8(report.run));
  out.set("by", score::to_string(report.by));
  out.set("seed", static_cast<std::uint64_t>(score::kScoreSeed));
  out.set("fit", report.fit_path.empty() ? Json() : Json(report.fit_path));
  Json tasks = Json::array();
  for (const Choice& choice : report.choices) tasks.push(to_json(choice));
  out.set("tasks", std::move(tasks));
  Json notes = Json::array();
  for (const std::string& note : report.notes) notes.push(note);
  out.set("notes", std::move(notes));
  return codec::dump_json(out, {.ascii = false, .indent = 1}) + "\n";
}

}  // namespace deem::report
