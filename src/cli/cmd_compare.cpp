#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "base/chance.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/document.h"
#include "cli/gather_rows.h"
#include "cli/side_by_side.h"
#include "cli/verbs.h"
#include "report/compare_report.h"
#include "report/probes.h"

namespace deem::cli {
namespace {

using score::ColumnName;

struct CompareFlags {
  std::vector<std::string> paths, columns, gates, costs;
  std::string base, format = "text";
  std::size_t disagreements = 10;
  bool force = false, any_harness = false, any_cache = false;
};

/// One run's rows and the columns that can be compared.
struct Source {
  std::string path = {};
  Gathered gathered = {};
  std::optional<record::RunRecord> run = {};
  std::vector<score::Column> columns = {};  // with probabilities
  score::ProbeFigures probes = {};

  const score::Column* find(const ColumnName& name) const {
    const auto found = std::ranges::find_if(columns, [&](const score::Column& c) {
      return c.arm == name.arm && c.reading == name.reading && c.variant == name.variant;
    });
    return found == columns.end() ? nullptr : &*found;
  }
};

ColumnName name_of(const score::Column& column) {
  return {column.arm, column.reading, column.variant};
}

/// A column of a source.
struct Side {
  std::size_t source = 0;
  ColumnName name = {};
};

Result<Source> open_source(const std::string& path) {
  Source out{.path = path};
  if (!file_exists(rows_of(path))) {
    return fail(Error::Code::NotFound,
                rows_of(path) + ": no such file; a run folder or a rows file");
  }
  gather(path, false, out.gathered);
  if (out.gathered.rows.empty()) {
    return fail(Error::Code::Unsupported, path + ": holds no rows that can be read");
  }
  if (is_folder(path)) {
    if (Result<record::RunRecord> run = record::load_run(path)) out.run = std::move(*run);
  }
  score::Scores scores = score::score_rows(out.gathered.rows, out.gathered.fits);
  for (score::Column& column : scores.columns) {
    if (column.all.detail.n > 0) out.columns.push_back(std::move(column));
  }
  out.probes = std::move(scores.probes);
  if (out.columns.empty()) {
    return fail(Error::Code::Unsupported, path + ": no labelled answers with probabilities");
  }
  return out;
}

/// Pairs of different kits, programs or harnesses say nothing unless the user knows why they would.
Result<void> check_comparable(const std::vector<Source>& sources, const CompareFlags& flags,
                              std::vector<std::string>& notes) {
  const Source& first = sources.front();
  for (std::size_t i = 1; i < sources.size(); ++i) {
    const Source& other = sources[i];
    for (const Hindrance& found : side_by_side({first.path, first.run}, {other.path, other.run})) {
      const bool harness = found.what == Hindrance::What::Harness;
      if (!flags.force && !(harness && flags.any_harness)) {
        return fail(Error::Code::BadInput,
                    found.text + (harness ? "; --any-harness pairs them all the same"
                                          : "; --force pairs them all the same"));
      }
      notes.push_back(found.text + ": not to be held against each other as they stand");
    }
  }
  return {};
}

bool is_named(const std::string& typed, const ColumnName& name) {
  return typed == name.text() || typed == name.arm || typed == name.reading ||
         typed == name.reading + ":" + name.variant || typed == name.arm + " " + name.reading;
}

Result<std::vector<std::pair<Side, Side>>> make_pairs(const std::vector<Source>& sources,
                                                      const CompareFlags& flags) {
  const auto listed = [&] {
    std::string out;
    for (const auto& column : sources.front().columns)
      out += (out.empty() ? " " : ", ") + printable(column.name(), 200);
    return out;
  };
  const auto wanted = [&](const ColumnName& name) {
    return flags.columns.empty() || std::ranges::any_of(flags.columns, [&](const auto& typed) {
             return is_named(typed, name);
           });
  };
  std::vector<std::pair<Side, Side>> pairs;
  if (flags.base.empty() && sources.size() > 1) {  // the same column of each run
    for (const auto& column : sources.front().columns) {
      const ColumnName name = name_of(column);
      for (std::size_t s = 1; s < sources.size(); ++s) {
        if (wanted(name) && sources[s].find(name) != nullptr)
          pairs.push_back({{0, name}, {s, name}});
      }
    }
    if (!pairs.empty()) return pairs;
  }
  const auto& columns = sources.front().columns;
  const auto base =
      flags.base.empty() ? columns.begin() : std::ranges::find_if(columns, [&](const auto& column) {
        return is_named(flags.base, name_of(column));
      });
  if (base == columns.end()) {
    return fail(Error::Code::BadInput, "--base " + printable(flags.base, 80) +
                                           ": there is none in " + sources.front().path +
                                           ", but:" + listed());
  }
  const Side a{0, name_of(*base)};
  for (std::size_t s = 0; s < sources.size(); ++s) {
    for (const auto& column : sources[s].columns) {
      const ColumnName name = name_of(column);
      if (wanted(name) && !(s == 0 && name == a.name)) pairs.push_back({a, {s, name}});
    }
  }
  if (pairs.empty()) {
    return fail(Error::Code::BadInput,
                "nothing to compare " + a.name.text() + " with; there are:" + listed());
  }
  return pairs;
}

/// What a million tokens cost on an arm.
struct Price {
  std::string arm = {};
  double prompt = 0, output = 0;
};

/// Reads "ARM=IN" or "ARM=IN/OUT". Errors: BadInput.
Result<Price> parse_price(const std::string& text) {
  const auto wrong = [&] {
    return fail(Error::Code::BadInput,
                "--cost " + text + ": wants ARM=IN or ARM=IN/OUT, prices of a million tokens");
  };
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return wrong();
  Price out{.arm = text.substr(0, equals)};
  double* const targets[] = {&out.prompt, &out.output};
  const auto parts = split(std::string_view(text).substr(equals + 1), '/');
  if (parts.size() > 2) return wrong();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto [end, error] =
        std::from_chars(parts[i].data(), parts[i].data() + parts[i].size(), *targets[i]);
    const bool whole = error == std::errc() && end == parts[i].data() + parts[i].size();
    if (!whole || !std::isfinite(*targets[i]) || *targets[i] < 0) return wrong();
  }
  return out;
}

/// Of 1,000 decisions; none where the arm has no price or a row's tokens are not known.
std::optional<double> cost_of(const score::Column& column, const std::vector<Price>& prices) {
  const auto price = std::ranges::find(prices, column.arm, &Price::arm);
  const score::Figures& f = column.all;
  if (price == prices.end() || f.tokens_unknown > 0 || !f.prompt_tokens || f.asked == 0)
    return std::nullopt;
  const double tokens = static_cast<double>(*f.prompt_tokens) * price->prompt +
                        static_cast<double>(f.output_tokens.value_or(0)) * price->output;
  return tokens / 1e6 / static_cast<double>(f.asked) * 1'000;
}

const score::RunEnergy& energy_of(const Source& source) {
  static const score::RunEnergy kNone = score::energy_not_measured("no run.json");
  const auto& runs = source.gathered.heading.energy;
  return runs.empty() ? kNone : runs.front().energy;
}

bool tells_energy(const Source& source) {
  return source.run && !(source.run->energy.is_null() && energy_of(source).blocks.empty());
}

/// Net, where that is valid.
std::optional<double> joules_of(const Source& source, const std::string& arm) {
  const score::EnergyFigures* figures = energy_of(source).arm(arm);
  if (figures == nullptr || !figures->net_valid()) return std::nullopt;
  return figures->net_per_decision();
}

report::CompareReport make_report(const std::vector<Source>& sources,
                                  const std::vector<std::pair<Side, Side>>& pairs,
                                  const std::vector<score::Gate>& gates,
                                  const std::vector<Price>& prices, bool any_cache) {
  report::CompareReport out;
  std::set<std::array<std::string, 4>> shown_arms;  // of pairs whose joules stand there
  const auto shown = [&](const Side& side) {
    const std::string name = printable(side.name.text(), 200);
    return sources.size() > 1 ? printable(sources[side.source].path, 200) + "  " + name : name;
  };
  std::vector<double> p;
  for (const auto& [a, b] : pairs) {
    report::PairReport pair{.a = shown(a), .b = shown(b)};
    const auto fit = [&](const Side& side) {
      return score::fit_of(sources[side.source].gathered.fits, side.name.arm);
    };
    pair.result =
        score::compare(sources[a.source].gathered.rows, a.name, sources[b.source].gathered.rows,
                       b.name, {.fit_a = fit(a), .fit_b = fit(b)});
    const score::RunEnergy &of_a = energy_of(sources[a.source]),
                           &of_b = energy_of(sources[b.source]);
    pair.joules = score::compare_joules({of_a, a.name.arm}, {of_b, b.name.arm});
    pair.told_joules = tells_energy(sources[a.source]) || tells_energy(sources[b.source]);
    const std::string &path_a = sources[a.source].path, &path_b = sources[b.source].path;
    pair.joules_shown =
        !shown_arms.insert({path_a, a.name.arm, path_b, b.name.arm}).second && pair.told_joules;
    // Readings of one run, or other readings, have unlike prompts by design.
    if (a.source != b.source && a.name.reading == b.name.reading)
      pair.unlike_work = score::unlike_caches(pair.result.all);
    const std::string refused =
        pair.unlike_work.empty() || any_cache ? "" : pair.unlike_work + "; --any-cache";
    for (const score::Gate& gate : gates) {
      pair.gates.emplace_back(gate,
                              score::check_gate(gate, pair.result.all, &pair.joules.all, refused));
    }
    p.push_back(pair.result.all.p);
    out.pairs.push_back(std::move(pair));
  }
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < adjusted.size(); ++i) out.pairs[i].holm_p = adjusted[i];
  std::vector<std::string> seen;
  for (const auto& [a, b] : pairs) {
    for (const Side& side : {a, b}) {
      const std::string name = shown(side);
      const score::Column& column = *sources[side.source].find(side.name);
      const score::Figures& figures = column.all;
      if (std::ranges::find(seen, name) != seen.end() || !figures.accuracy.value ||
          !figures.median_s)
        continue;
      seen.push_back(name);
      out.frontier.push_back({.name = name,
                              .accuracy = *figures.accuracy.value,
                              .median_s = *figures.median_s,
                              .joules = joules_of(sources[side.source], side.name.arm),
                              .cost = cost_of(column, prices)});
      if (figures.group > 1) {
        out.notes.push_back(name + ": up to " + std::to_string(figures.group) +
                            " items evaluated together; its times are shares of a group's");
      }
    }
  }
  const bool alike = std::ranges::all_of(out.pairs, [&](const report::PairReport& pair) {
    return any_cache || pair.unlike_work.empty();
  });
  if (alike) {
    report::find_frontier(out.frontier);
  } else {
    out.notes.push_back(
        "times and joules of unlike work: no column is said to be dominated (--any-cache says "
        "which)");
  }
  for (const Source& source : sources) {
    for (std::string& note : report::noise_notes(source.probes)) {
      out.notes.push_back((sources.size() > 1 ? source.path + ": " : "") + std::move(note));
    }
    for (const report::Doubt& doubt : source.gathered.heading.doubts) {
      out.notes.push_back((sources.size() > 1 ? source.path + ": " : "") +
                          report::doubt_text(doubt));
    }
    for (const std::string& note : energy_of(source).notes) {
      out.notes.push_back((sources.size() > 1 ? source.path + ": " : "") + note);
    }
  }
  return out;
}

/// 1 when a gate fails, 3 when one has no figure to hold.
int gates_code(const report::CompareReport& report) {
  int code = kDone;
  for (const report::PairReport& pair : report.pairs) {
    for (const auto& [gate, result] : pair.gates) {
      if (result.measured && !result.holds) {
        fmt::print(stderr, "deem: {} against {}: gate {} fails ({:.4g})\n", pair.b, pair.a,
                   gate.text, result.value);
        code = kFound;
      } else if (!result.measured) {
        fmt::print(stderr, "deem: {} against {}: gate {} is not measured{}\n", pair.b, pair.a,
                   gate.text, result.why.empty() ? "" : " (" + result.why + ")");
        if (code == kDone) code = kNotMeasured;
      }
    }
  }
  return code;
}

}  // namespace

int run_compare(const Args& args) {
  CLI::App app(
      "Compare columns item by item: the same column of two or more runs, or the columns of one "
      "run\n"
      "with its first (or --base).\n\n"
      "  deem compare runs/monday runs/tuesday\n"
      "  deem compare runs/monday --base 'readout letters:raw' --column cloze:prior-sum\n"
      "  deem compare runs/q8 runs/q4 --gate 'brier<=+0.01' --gate 'p95<=1.1x'    # exit 1 when "
      "one fails\n",
      "deem compare");
  CompareFlags flags;
  app.add_option("RUN", flags.paths, "run folders or rows files; A is of the first")->required();
  app.add_option("--base", flags.base,
                 "A: ARM READING:VARIANT, or part of it; the first column when absent");
  app.add_option("--column", flags.columns, "B: only these (repeatable)");
  app.add_option(
      "--gate", flags.gates,
      "METRIC<=LIMIT or >=, of accuracy, brier, median, p95, joules; a number, +0.01 from A, "
      "1.1x of A (repeatable)");
  app.add_option("--cost", flags.costs,
                 "ARM=IN[/OUT]: prices of a million prompt and output tokens (repeatable)");
  app.add_option("--disagreements", flags.disagreements, "items listed on which they differ (10)");
  app.add_flag("--force", flags.force, "pair runs of different kits, versions or harnesses too");
  app.add_flag("--any-harness", flags.any_harness,
               "pair runs whose harness differs or is not told");
  app.add_flag("--any-cache", flags.any_cache,
               "gates on times and joules though one server had more prompts in its cache");
  app.add_option("--format", flags.format, "text, md or json");
  if (const auto code = parse(app, args)) return *code;
  const auto format = parse_document_format(flags.format);
  if (!format) return report_error(format.error());
  std::vector<score::Gate> gates;
  for (const std::string& text : flags.gates) {
    Result<score::Gate> gate = score::parse_gate(text);
    if (!gate) return report_error({Error::Code::BadInput, "--" + gate.error().message});
    gates.push_back(std::move(*gate));
  }
  std::vector<Price> prices;
  for (const std::string& text : flags.costs) {
    Result<Price> price = parse_price(text);
    if (!price) return report_error(price.error());
    prices.push_back(std::move(*price));
  }
  if (Result<void> distinct = check_distinct(flags.paths); !distinct)
    return report_error(distinct.error());
  std::vector<Source> sources;
  bool unreadable = false;
  const auto known_arm = [&](const std::string& arm) {
    return std::ranges::any_of(sources, [&](const Source& source) {
      return std::ranges::find(source.columns, arm, &score::Column::arm) != source.columns.end();
    });
  };
  for (const std::string& path : flags.paths) {
    Result<Source> source = open_source(path);
    if (!source) return report_error(source.error());
    unreadable |= source->gathered.unreadable;
    sources.push_back(std::move(*source));
  }
  for (const Price& price : prices) {
    if (!known_arm(price.arm))
      return report_error({Error::Code::BadInput, "--cost: there is no arm " + price.arm});
  }
  std::vector<std::string> notes;
  if (Result<void> same = check_comparable(sources, flags, notes); !same)
    return report_error(same.error());
  const auto pairs = make_pairs(sources, flags);
  if (!pairs) return report_error(pairs.error());
  report::CompareReport report = make_report(sources, *pairs, gates, prices, flags.any_cache);
  report.disagreements = flags.disagreements;
  std::ranges::move(notes, std::back_inserter(report.notes));
  if (Result<void> printed = print_document(report, *format); !printed)
    return report_error(printed.error());
  const int code = gates_code(report);
  return code == kDone && unreadable ? kNotMeasured : code;
}

}  // namespace deem::cli
