#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/file.h"
#include "base/text.h"
#include "cli/make_report.h"
#include "cli/price_flags.h"
#include "cli/verbs.h"

namespace deem::cli {
namespace {

constexpr std::string_view kFormats[] = {"html", "md", "json", "csv"};

/// The format that is asked for: by name, else by the file's ending, else html.
Result<std::string> find_format(const std::string& typed, const std::string& out) {
  const auto known = [](std::string_view name) {
    return std::ranges::find(kFormats, name) != std::end(kFormats);
  };
  if (!typed.empty()) {
    if (known(typed)) return typed;
    return fail(Error::Code::BadInput,
                "--format " + printable(typed, 40) + ": html, md, json or csv");
  }
  const std::string ending = out.substr(std::min(out.size(), out.rfind('.') + 1));
  return known(ending) ? ending : "html";
}

std::string render(const MadeReport& made, const std::string& format) {
  if (format == "md") return report::as_markdown(made.report);
  if (format == "json") return report::as_json(made.report, made.gathered.rows);
  if (format == "csv") return report::as_csv(made.report.scores, made.report.heading);
  return report::as_html(made.report, made.gathered.rows);
}

}  // namespace

int run_report(const Args& args) {
  CLI::App app(
      "One page on one run or several: what can be trusted, every figure beside its baselines,\n"
      "plots, disagreements and mistakes with their prompts, counts, receipts. The page is one\n"
      "file and fetches nothing.\n\n"
      "  deem report runs/2026-12-01T051123-demo       # writes report.html into the run's folder\n"
      "  deem report runs/q8 runs/q4 --out q8-q4.html\n"
      "  deem report runs/q8 --format md               # for a pull request, on stdout\n",
      "deem report");
  std::vector<std::string> paths;
  std::string out, format_name;
  bool force = false, no_prompts = false;
  app.add_option("RUN", paths, "run folders or rows files")->required();
  app.add_option("--out", out,
                 "where to write; of html RUN/report.html (of several ./report.html) when absent, "
                 "else stdout");
  app.add_option("--format", format_name, "html, md, json or csv; by the ending of --out");
  app.add_flag("--no-prompts", no_prompts, "leave out what was asked");
  app.add_flag("--force", force, "write over a file that is no report");
  PriceFlags prices;
  add_price_flags(app, prices);
  if (const auto code = parse(app, args)) return *code;
  const Result<report::EnergyPrice> price = parse_prices(prices);
  if (!price) return report_error(price.error());
  const Result<std::string> format = find_format(format_name, out);
  if (!format) return report_error(format.error());
  const Result<MadeReport> made = make_report(paths, !no_prompts, *price);
  if (!made) return report_error(made.error());
  if (made->gathered.rows.empty() && made->gathered.unreadable) return kNotMeasured;
  const std::string bytes = render(*made, *format);
  if (out.empty() && *format == "html") {
    out = paths.size() == 1 && is_folder(paths[0]) ? join_path(paths[0], "report.html")
                                                   : "report.html";
  } else if (!out.empty() && is_folder(out)) {
    out = join_path(out, "report." + *format);
  }
  if (out.empty()) {
    std::fputs(bytes.c_str(), stdout);
  } else {
    if (const Result<void> written = write_report(out, bytes, force); !written) {
      return report_error(written.error());
    }
    fmt::print("{}\n", out);
  }
  if (std::fflush(stdout) != 0) {
    return report_error({Error::Code::Unavailable, "stdout: can not write"});
  }
  if (!made->answered) fmt::print(stderr, "deem: nothing was measured: no row has an answer\n");
  return made->gathered.unreadable || !made->answered ? kNotMeasured : kDone;
}

}  // namespace deem::cli
