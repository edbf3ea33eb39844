#include "report/probes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "decision/question.h"
#include "report/format.h"
#include "report/table.h"

namespace deem::report {
namespace {

using score::PositionFigures;
using score::ProbeFigures;
using score::Rate;
using Cells = std::vector<std::string>;

constexpr std::size_t kPositions = 6;  // shown; JSON has all

std::string name_of(const auto& column) {
  return column.arm + " " + column.reading + ":" + column.variant;
}

std::string count(std::size_t n) { return fmt::format("{}", n); }
std::string of(const Rate& rate) { return fmt::format("{} of {}", rate.hits, rate.n); }
std::string brier(const score::WayToAnswer& way) { return number(way.brier, 3); }

std::string brier_95(const score::WayToAnswer& way) {
  std::string out = number(way.brier, 3);
  if (way.brier_95) {
    out += fmt::format(" [{}, {}]", number(way.brier_95->low, 2), number(way.brier_95->high, 2));
  }
  return out;
}

/// Small differences keep their digits: ".213", "0.00031", "0".
std::string small(std::optional<double> value) {
  if (!value) return "–";
  return *value == 0 ? "0" : fmt::format("{:.2g}", *value);
}

/// The tasks of a column, then all of them where there are several.
template <class Add>
void each_line(const score::PositionColumn& column, Add add) {
  for (const PositionFigures& f : column.tasks) add(f, f.task);
  if (column.tasks.size() != 1) add(column.all, "all tasks");
}

void add_position(const ProbeFigures& probes, std::vector<ProbeTable>& out) {
  if (probes.position.empty()) return;
  ProbeTable flips{
      .title = "Order of the options",
      .says =
          "Items whose answer changes under at least one further order of the options, "
          "orders that change it, and the largest change of one option's probability.",
      .header = {"arm reading:variant", "task", "items", "orders", "no answer", "items flip [95 %]",
                 "orders flip", "reverse", "max Δp", "median"},
      .names = 2};
  ProbeTable ways{
      .title = "Averaged over the orders",
      .says =
          "The same labelled items in the kit's order, in reverse, and averaged over all "
          "orders: the mean of the probabilities after the temperature, and of the "
          "logprobs before it.",
      .header = {"arm reading:variant", "task", "n", "as asked", "Brier", "mean p [95 %]",
                 "Brier [95 %]", "logprobs", "Brier", "reverse", "uniform"},
      .names = 2};
  ProbeTable places{.title = "Position of the right option",
                    .says =
                        "Over all orders: how often the right option is chosen when it stands at a "
                        "position, and how many answers go to that position (of all).",
                    .header = {"arm reading:variant", "task", ""},
                    .names = 3};
  std::size_t most = 0;
  for (const auto& column : probes.position) {
    for (const auto& f : column.tasks) {
      most = std::max({most, f.said_at.size(), f.by_gold.size()});
    }
  }
  most = std::min(most, kPositions);
  for (std::size_t i = 0; i < most; ++i) places.header.push_back(fmt::format("{}", i + 1));
  for (const auto& column : probes.position) {
    const std::string name = name_of(column);
    each_line(column, [&](const PositionFigures& f, const std::string& task) {
      flips.rows.push_back({name, task, count(f.n), count(f.orders), count(f.unanswered),
                            with_interval(f.flipped_items), share(f.flipped_orders.value),
                            of(f.reverse_flips), share(f.max_change), share(f.median_change)});
      if (f.labelled == 0) return;
      ways.rows.push_back({name, task, count(f.labelled), share(f.plain.accuracy.value),
                           brier(f.plain), with_interval(f.averaged.accuracy), brier_95(f.averaged),
                           share(f.averaged_logprobs.accuracy.value), brier(f.averaged_logprobs),
                           share(f.reversed.accuracy.value), share(f.uniform_accuracy)});
    });
    for (const PositionFigures& f : column.tasks) {
      const auto line = [&](const char* what, const std::vector<Rate>& rates) {
        Cells cells = {name, f.task, what};
        for (std::size_t i = 0; i < most; ++i) {
          cells.push_back(i < rates.size() && rates[i].n > 0
                              ? fmt::format("{} ({})", share(rates[i].value), rates[i].n)
                              : "–");
        }
        places.rows.push_back(std::move(cells));
      };
      line("right", f.by_gold);
      line("said", f.said_at);
    }
  }
  out.push_back(std::move(flips));
  if (!ways.rows.empty()) out.push_back(std::move(ways));
  out.push_back(std::move(places));
}

void add_label_priors(const ProbeFigures& probes, std::vector<ProbeTable>& out) {
  if (probes.label_priors.empty()) return;
  ProbeTable table{
      .title = "Label prior",
      .says = "Mean probability of each letter among the letters when the state is empty.",
      .header = {"arm reading", "options", "rows"},
      .names = 1};
  for (std::size_t i = 0; i < kPositions; ++i) {
    table.header.push_back(std::string(1, decision::letter(i)));
  }
  for (const auto& one : probes.label_priors) {
    Cells cells = {one.arm + " " + one.reading, count(one.p.size()), count(one.rows)};
    for (std::size_t i = 0; i < kPositions; ++i) {
      cells.push_back(i < one.p.size() ? share(one.p[i]) : "");
    }
    table.rows.push_back(std::move(cells));
  }
  out.push_back(std::move(table));
}

void add_laws(const ProbeFigures& probes, std::vector<ProbeTable>& out) {
  if (!probes.laws.empty()) {
    ProbeTable table{.title = "Coherence",
                     .says =
                         "How far answers break laws that every coherent answerer keeps; uniform "
                         "answers keep them all, so read the violation beside the accuracy.",
                     .header = {"arm reading:variant", "law", "n", "no answer", "mean", "max",
                                "changed", "accuracy", "as probed", "uniform"},
                     .names = 2};
    for (std::size_t i = 0; i < probes.laws.size(); ++i) {
      const auto& f = probes.laws[i];
      if (!f.task.empty()) continue;
      table.rows.push_back({name_of(f), f.law, count(f.n), count(f.unanswered), small(f.mean),
                            small(f.max), of(f.changes), with_interval(f.plain_accuracy),
                            share(f.probe_accuracy.value), share(f.uniform_accuracy)});
    }
    out.push_back(std::move(table));
  }
  if (!probes.interference.empty()) {
    ProbeTable table{.title = "Questions beside each other",
                     .says =
                         "A question evaluated together with others on its state against the same "
                         "question alone: answers that change, and the largest change of one "
                         "option's probability.",
                     .header = {"arm reading:variant", "n", "changed [95 %]", "mean Δp", "max Δp"}};
    for (const auto& f : probes.interference) {
      table.rows.push_back(
          {name_of(f), count(f.n), with_interval(f.changes), small(f.mean), small(f.max)});
    }
    out.push_back(std::move(table));
  }
}

void add_noise(const ProbeFigures& probes, std::vector<ProbeTable>& out) {
  if (probes.noise.empty()) return;
  ProbeTable table{
      .title = "Noise floor",
      .says =
          "The same asked again: at once, alone, in a crowd, with nothing cached. "
          "Smaller differences between columns say nothing.",
      .header = {"arm reading", "asked", "n", "values", "max Δ logprob", "max Δp", "flips"},
      .names = 2};
  for (const auto& f : probes.noise) {
    table.rows.push_back({f.arm + " " + f.reading, f.kind, count(f.n), count(f.values),
                          small(f.max_logprob), small(f.max_probability), of(f.flips)});
  }
  out.push_back(std::move(table));
}

void add_latency(const ProbeFigures& probes, std::vector<ProbeTable>& out) {
  if (!probes.sustained.empty()) {
    ProbeTable table{
        .title = "Sustained load",
        .says =
            "Median latency of the first and of the last 60 s; failed calls stay in the "
            "time of the throughput.",
        .header = {"arm reading", "answered", "failed", "time", "longest pause", "per s",
                   "first minute", "last minute"}};
    ProbeTable minutes{.title = "Minute by minute",
                       .says = "Median latency from the planned send.",
                       .header = {"arm reading", "minute", "n", "failed", "median"}};
    for (const auto& f : probes.sustained) {
      const std::string name = f.arm + " " + f.reading;
      table.rows.push_back({name, count(f.answered), count(f.failed), fmt::format("{} s", f.span_s),
                            fmt::format("{} s", f.longest_pause_s), number(f.answers_per_s, 2),
                            duration(f.first_minute_median_s), duration(f.last_minute_median_s)});
      for (const auto& minute : f.minutes) {
        minutes.rows.push_back({name, count(minute.minute), count(minute.n), count(minute.failed),
                                duration(minute.median_s)});
      }
    }
    out.push_back(std::move(table));
    out.push_back(std::move(minutes));
  }
  if (!probes.prefix.empty()) {
    ProbeTable table{
        .title = "Cold and warm prefixes",
        .says =
            "Plain rows by whether the server had any of the prompt's tokens evaluated "
            "already.",
        .header = {"arm reading", "cold", "median", "warm", "median", "of it cached", "not told"}};
    for (const auto& f : probes.prefix) {
      table.rows.push_back({f.arm + " " + f.reading, count(f.cold), duration(f.cold_median_s),
                            count(f.warm), duration(f.warm_median_s), share(f.warm_cached_share),
                            count(f.unknown)});
    }
    out.push_back(std::move(table));
  }
}

}  // namespace

std::vector<ProbeTable> probe_tables(const ProbeFigures& probes) {
  std::vector<ProbeTable> out;
  if (probes.rows == 0) return out;
  add_position(probes, out);
  add_label_priors(probes, out);
  add_laws(probes, out);
  add_noise(probes, out);
  add_latency(probes, out);
  return out;
}

std::vector<std::string> noise_notes(const ProbeFigures& probes) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < probes.noise.size();) {
    const auto& first = probes.noise[i];
    std::optional<double> logprob, p;
    std::size_t flips = 0, n = 0;
    std::string kinds;
    for (; i < probes.noise.size() && probes.noise[i].arm == first.arm &&
           probes.noise[i].reading == first.reading;
         ++i) {
      const auto& f = probes.noise[i];
      if (f.max_logprob) logprob = std::max(logprob.value_or(0), *f.max_logprob);
      if (f.max_probability) p = std::max(p.value_or(0), *f.max_probability);
      flips += f.flips.hits;
      n += f.flips.n;
      kinds += (kinds.empty() ? "" : ", ") + f.kind;
    }
    std::string said =
        fmt::format("noise floor of {} {}, asked again ({})", first.arm, first.reading, kinds);
    std::string what;  // a written answer has no log-probabilities, a bare score no probability
    const auto add = [&](const std::string& clause) {
      what += (what.empty() ? ": " : ", ") + clause;
    };
    if (logprob) add("log-probabilities differ by up to " + small(logprob));
    if (p && logprob) add("probabilities by up to " + small(p));
    if (n > 0) add(fmt::format("{} of {} answers flip", flips, n));
    out.push_back(said + (what.empty() ? ": no answer" : what));
  }
  return out;
}

std::vector<std::pair<std::string, score::WayToAnswer>> reversed_baselines(
    const score::Scores& scores, const std::string& task) {
  std::vector<std::pair<std::string, score::WayToAnswer>> out;
  for (const auto& column : scores.probes.position) {
    for (const PositionFigures& f : column.tasks) {
      if (f.task == task && f.reversed.accuracy.n > 0) {
        out.emplace_back("reversed " + name_of(column), f.reversed);
      }
    }
  }
  return out;
}

std::string cost_text(const ArmCost& cost) {
  std::string out;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
  if (cost.load_s) add("loaded in " + duration(cost.load_s));
  if (cost.ready_s) add("ready after " + duration(cost.ready_s));
  if (cost.first_answer_s) add("first answer " + duration(cost.first_answer_s));
  if (cost.peak_bytes) {
    add(fmt::format("{:.0f} MiB, {}", static_cast<double>(*cost.peak_bytes) / 0x1p20,
                    printable(cost.memory, 120)));
  } else if (!cost.memory.empty()) {
    add("memory " + printable(cost.memory, 160));
  }
  return out;
}

std::string tables_as_text(const std::vector<ProbeTable>& tables, std::size_t width, bool colour) {
  constexpr std::size_t kWidest = 30;
  std::string out;
  for (const ProbeTable& table : tables) {
    // With several names the first one stands on a line of its own, over its rows.
    const std::size_t first = table.names > 1 ? 1 : 0;
    const auto shown = [&](const std::string& cell, std::size_t column) {
      return column < table.names ? printable(cell, kWidest) : cell;
    };
    std::vector<std::size_t> widths(table.header.size());
    std::size_t whole = 2;
    for (std::size_t c = first; c < widths.size(); ++c) {
      widths[c] = count_code_points(table.header[c]);
      for (const Cells& row : table.rows) {
        widths[c] = std::max(widths[c], count_code_points(shown(row[c], c)));
      }
      whole += widths[c] + 2;
    }
    const std::string gap(whole > width ? 1 : 2, ' ');
    const auto line = [&](const Cells& cells) {
      std::string text(first > 0 ? "    " : "  ");
      for (std::size_t c = first; c < cells.size(); ++c) {
        text += pad(shown(cells[c], c), widths[c], c >= table.names) + gap;
      }
      while (text.ends_with(' ')) text.pop_back();
      return text + "\n";
    };
    out += "\n" + (colour ? "\033[1m" + table.title + "\033[0m" : table.title) + "\n";
    out += line(table.header);
    std::string name;
    for (const Cells& row : table.rows) {
      if (first > 0 && row[0] != name) {
        name = row[0];
        out += "  " + printable(name, width) + "\n";
      }
      out += line(row);
    }
  }
  return out;
}

std::string tables_as_markdown(const std::vector<ProbeTable>& tables) {
  std::string out;
  for (const ProbeTable& table : tables) {
    out += fmt::format("\n## {}\n\n{}\n\n|", table.title, table.says);
    for (const std::string& name : table.header) out += " " + cell(name) + " |";
    out += "\n|";
    for (std::size_t c = 0; c < table.header.size(); ++c) {
      out += c < table.names ? " --- |" : " ---: |";
    }
    out += "\n";
    for (const Cells& row : table.rows) {
      out += "|";
      for (const std::string& text : row) out += " " + cell(text) + " |";
      out += "\n";
    }
  }
  return out;
}

std::optional<Section> probes_section(const score::ProbeFigures& probes) {
  std::vector<ProbeTable> tables = probe_tables(probes);
  if (tables.empty()) return std::nullopt;
  Section out{.id = "probes", .title = "Order, coherence and noise"};
  out.explanation =
      "The same items asked again another way: with the options in other orders, under laws a "
      "sound answer obeys, and exactly as before. What changes here is no property of the item.";
  for (ProbeTable& table : tables) {
    out.tables.push_back({.caption = table.title,
                          .says = table.says,
                          .head = head_of(std::move(table.header), table.names),
                          .rows = std::move(table.rows)});
  }
  return out;
}

}  // namespace deem::report
