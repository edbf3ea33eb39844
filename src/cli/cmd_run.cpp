#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "bench/run.h"
#include "cli/price_flags.h"
#include "cli/run_flags.h"
#include "cli/run_printer.h"
#include "cli/show_score.h"
#include "cli/verbs.h"

namespace deem::cli {
namespace {

int print_dry_run(const bench::Config& config) {
  const Result<bench::DryRun> plan = bench::dry_run(config);
  if (!plan) return report_error(plan.error());
  fmt::print("kit {} {} ({}), {} states, digest {}\n", plan->kit.name, plan->kit.version,
             plan->kit.format, plan->kit.states.size(), plan->kit.digest.substr(0, 16));
  fmt::print("order {}, seed {}, repeat {}, concurrency {}\n", bench::to_string(plan->order),
             config.seed, config.repeat, config.concurrency);
  fmt::print("joules {}\n", printable(plan->energy, 2'000));
  for (const auto& [seat, probes] : plan->probes_by_seat)
    fmt::print("doctor {}: {}\n", printable(seat, 200), probes);
  for (const auto& [name, rows] : plan->rows_by_arm) fmt::print("arm {}: {} rows\n", name, rows);
  for (const auto& [name, rows] : plan->rows_by_task) fmt::print("task {}: {} rows\n", name, rows);
  for (const auto& [name, rows] : plan->rows_by_probe) {
    fmt::print("probe {}: {} of these rows\n", name, rows);
  }
  if (config.probes.sustained_s > 0) {
    fmt::print("then on and on for {:g} s on each seat\n", config.probes.sustained_s);
  }
  fmt::print("{} rows in all, into {}\n", plan->rows, config.out);
  return kDone;
}

}  // namespace

Result<bench::Outcome> run_interruptibly(const bench::Config& config,
                                         const bench::RunOptions& options, bool quiet) {
  const Interrupt interrupt;
  RunPrinter printer(quiet);
  const std::stop_callback hint(interrupt.token(), [&printer] {
    printer.note("stopping after what is in flight; press Ctrl-C again to stop at once");
  });
  return bench::run(config, options, seat::make_seat, printer, interrupt.token());
}

int finish_run(const Result<bench::Outcome>& outcome, const std::string& folder,
               OutputFormat format, bool quiet, const report::EnergyPrice& price) {
  using End = bench::Outcome::End;
  if (!outcome) {
    const int code = report_error(outcome.error());
    if (code == kOutsideFailed && file_exists(join_path(folder, "run.json"))) {
      fmt::print(stderr, "rows so far are kept; go on with: deem resume {}\n", folder);
    }
    return code;
  }
  if (outcome->end == End::PinFailed || outcome->end == End::PinNotMeasured) {
    fmt::print(stderr, "deem: {}; nothing was asked (--require-pin)\n",
               printable(outcome->why, 2'000));
    return outcome->end == End::PinFailed ? kFound : kNotMeasured;
  }
  if (outcome->end == End::SeatRefused || outcome->end == End::SeatNotMeasured) {
    fmt::print(stderr, "deem: {}; nothing was asked\n", printable(outcome->why, 2'000));
    return outcome->end == End::SeatRefused ? kFound : kNotMeasured;
  }
  if (outcome->end == End::Interrupted && !outcome->began && outcome->rows == 0) {
    fmt::print(stderr, "interrupted before the first question; nothing was written\n");
    return kInterrupted;
  }
  if (outcome->end != End::Done && outcome->end != End::SeatDoubted) {
    fmt::print(stderr, "{}; {} rows kept; go on with: deem resume {}\n",
               outcome->end == End::Interrupted ? "interrupted" : "stopped: too many errors",
               outcome->rows, folder);
    return outcome->end == End::Interrupted ? kInterrupted : kOutsideFailed;
  }
  const int code = show_score({folder}, format, /*save=*/true, "", price);
  if (!quiet && code != kOutsideFailed) {
    fmt::print(
        stderr,
        "\nrows    {0}/rows.jsonl\nrun     {0}/run.json\nreport  {0}/report.md, {0}/score.json\n"
        "next    deem report {0} (a page), deem choose {0} (which reading to trust)\n",
        folder);
  }
  if (outcome->end == End::SeatDoubted && code == kDone) {
    fmt::print(stderr, "deem: {} (--doctor require)\n", printable(outcome->why, 2'000));
    return kFound;
  }
  return code;
}

int run_run(const Args& args) {
  CLI::App app(
      "Ask a kit of one or more arms; write raw rows and print a scored table.\n\n"
      "  deem run --kit kits/demo --seat local:model.gguf --reading all\n"
      "  deem run --kit kit/ --seat ollama:http://127.0.0.1:11434 --model gemma3:1b "
      "--mode readout --mode generate\n"
      "  deem run --config deem.toml\n",
      "deem run");
  RunFlags flags;
  add_run_flags(app, flags);
  PriceFlags prices;
  add_price_flags(app, prices);
  if (const auto code = parse(app, args)) return *code;
  const auto format = parse_output_format(flags.format_out);
  if (!format) return report_error(format.error());
  const Result<report::EnergyPrice> price = parse_prices(prices);
  if (!price) return report_error(price.error());
  Result<bench::Config> config = make_config(app, flags);
  if (!config) return report_error(config.error());
  if (config->out.empty()) {
    std::string name = config->kit;
    while (name.ends_with('/')) name.pop_back();
    config->out = new_run_folder("runs", name.substr(name.rfind('/') + 1));
  }
  if (Result<void> good = bench::check_config(*config); !good) return report_error(good.error());
  if (flags.dry_run) return print_dry_run(*config);
  const auto outcome = run_interruptibly(*config, {}, flags.quiet);
  return finish_run(outcome, config->out, *format, flags.quiet, *price);
}

int run_resume(const Args& args) {
  CLI::App app(
      "Ask only what a run folder still lacks. Refuses when kit, settings or seat changed.\n\n"
      "  deem resume runs/2026-12-01T051123-demo\n",
      "deem resume");
  std::string folder, format_name = "text";
  bool quiet = false, retry = false;
  std::int64_t max_errors = 0;
  RunFlags power;
  app.add_option("RUN", folder, "the run folder")->required();
  app.add_flag("--retry-errors", retry, "ask rows that ended in an error again");
  app.add_option("--max-errors", max_errors, "stop after N rows with errors (0: go on)");
  add_doctor_flag(app, power);
  add_power_flags(app, power);
  PriceFlags prices;
  add_price_flags(app, prices);
  app.add_flag("--quiet", quiet, "no progress");
  app.add_option("--format", format_name, "of the table: text, md, csv or json");
  if (const auto code = parse(app, args)) return *code;
  const auto format = parse_output_format(format_name);
  if (!format) return report_error(format.error());
  const Result<report::EnergyPrice> price = parse_prices(prices);
  if (!price) return report_error(price.error());
  Result<bench::Config> config = bench::load_run_config(folder);
  if (!config) return report_error(config.error());
  config->max_errors = max_errors;
  if (Result<void> set = set_power(app, power, config->power); !set)
    return report_error(set.error());
  if (Result<void> set = set_doctor(app, power, *config); !set) return report_error(set.error());
  const auto outcome = run_interruptibly(*config, {.resume = true, .retry_errors = retry}, quiet);
  return finish_run(outcome, folder, *format, quiet, *price);
}

}  // namespace deem::cli
