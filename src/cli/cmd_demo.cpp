#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>

#include "base/embedded.h"
#include "base/file.h"
#include "bench/run.h"
#include "cli/flag_ranges.h"
#include "cli/gather_rows.h"
#include "cli/make_report.h"
#include "cli/run_flags.h"
#include "cli/show_choice.h"
#include "cli/show_score.h"
#include "cli/verbs.h"
#include "report/fit_report.h"

namespace deem::cli {
namespace {

/// Writes the demo kit the program carries into `folder`.
Result<void> unpack_demo_kit(const std::string& folder) {
  for (const EmbeddedFile& file : demo_kit()) {
    const std::string path = join_path(folder, file.path);
    if (Result<void> made = make_folders(path.substr(0, path.rfind('/'))); !made) return made;
    if (Result<void> written = write_file_atomically(path, file.bytes); !written) return written;
  }
  return {};
}

/// --model, else DEEM_MODEL.
Result<std::string> find_model(const std::string& typed) {
  const char* env = std::getenv("DEEM_MODEL");
  const std::string path = !typed.empty() ? typed : env != nullptr ? env : "";
  if (path.empty()) {
    return fail(Error::Code::BadInput,
                "no model: name a GGUF file with --model or DEEM_MODEL (make demo fetches the "
                "default one, tools/fetch-model prints where it lies)");
  }
  if (!file_exists(path)) return fail(Error::Code::NotFound, path + ": no such file");
  return path;
}

/// The three arms: letters and likelihoods of the same model, and what it writes.
std::vector<bench::Arm> demo_arms(const std::string& model, int threads, bool full) {
  bench::Arm letters;
  letters.name = "readout";
  letters.seat.kind = "local";
  letters.seat.address = std::filesystem::absolute(model).lexically_normal().string();
  letters.seat.threads = threads;
  letters.readings = {{"letters", false}};
  bench::Arm texts = letters;
  texts.name = "likelihood";
  texts.group = 16;
  texts.readings = {{"cloze", true}, {"channel", false}, {"gain", true}};
  if (full)
    texts.readings.insert(texts.readings.begin(), {{"words", true}, {"words-unlisted", true}});
  bench::Arm written = letters;
  written.name = "generate";
  written.limit = full ? 0 : 5;
  written.mode = bench::Mode::Generate;
  written.readings = {{"written", false}};
  return {letters, texts, written};
}

/// The page of a run that has just ended, beside its rows. What the run came to stays the exit code
/// unless the page can not be written.
int add_page(const std::string& folder, int code) {
  const Result<MadeReport> made = make_report({folder}, /*prompts=*/true);
  if (!made) return report_error(made.error());
  const std::string path = join_path(folder, "report.html");
  const std::string page = report::as_html(made->report, made->gathered.rows);
  if (const Result<void> written = write_report(path, page, /*force=*/false); !written) {
    return report_error(written.error());
  }
  std::fflush(stdout);  // what was printed there comes first
  fmt::print(stderr, "page    {}\n", path);
  return code;
}

}  // namespace

int run_demo(const Args& args) {
  CLI::App app(
      "Ask the bundled kit of a local model by its letters, by the likelihoods of texts and by\n"
      "written answers, all once more in reverse order and one item a task under noise, print the\n"
      "scored table, choose a reading for each task, and leave a page to look at (report.html).\n\n"
      "  deem demo --model SmolLM2-135M-Instruct.Q4_1.gguf\n",
      "deem demo");
  std::string model, out, format_name = "text";
  int threads = 0;
  std::int64_t limit = 0;
  bool quiet = false, full = false;
  app.add_option("--model", model, "a GGUF file; DEEM_MODEL when absent");
  app.add_option("--out", out, "run folder; runs/TIME-demo when absent");
  app.add_option("--limit", limit, "only the first N items of each task (0: all)");
  app.add_flag("--full", full, "written answers to every item and more readings (minutes more)");
  app.add_option("--threads", threads, "threads of the model; the machine's cores when absent")
      ->check(thread_count());
  app.add_option("--format", format_name, "of the table: text, md, csv or json");
  app.add_flag("--quiet", quiet, "no progress");
  if (const auto code = parse(app, args)) return *code;
  const auto format = parse_output_format(format_name);
  if (!format) return report_error(format.error());
  const Result<std::string> path = find_model(model);
  if (!path) return report_error(path.error());
  bench::Config config;
  config.out = out.empty() ? new_run_folder("runs", "demo") : out;
  config.kit = std::filesystem::absolute(join_path(config.out, "kit")).lexically_normal().string();
  config.limit = limit;
  config.arms = demo_arms(*path, threads, full);
  config.probes.permute = full ? 3 : 1;  // the reverse order is a baseline of the table
  config.probes.noise = 1;
  if (file_exists(join_path(config.out, "run.json"))) {
    return report_error({Error::Code::BadInput, config.out + ": holds a run already; deem resume " +
                                                    config.out + ", or another --out"});
  }
  if (file_exists(config.kit)) {  // it may be the user's own
    return report_error({Error::Code::BadInput, config.kit + ": is there already; another --out"});
  }
  const bool new_folder = !is_folder(config.out);
  if (Result<void> unpacked = unpack_demo_kit(config.kit); !unpacked)
    return report_error(unpacked.error());
  const auto outcome = run_interruptibly(config, {}, quiet);
  if (!file_exists(join_path(config.out, "run.json"))) {  // it never began
    std::error_code ignored;
    std::filesystem::remove_all(config.kit, ignored);
    if (new_folder) std::filesystem::remove(config.out, ignored);  // when empty
  }
  const int code = finish_run(outcome, config.out, *format, quiet);
  if (!outcome || outcome->end != bench::Outcome::End::Done) return code;
  if (code != kDone && code != kNotMeasured) return code;
  const Result<Chosen> chosen = choose_reading(config.out, {});
  if (!chosen) return report_error(chosen.error());
  if (*format == OutputFormat::Text) {
    fmt::print("\n{}", report::as_text(chosen->report, terminal_width(), wants_colour()));
  } else if (*format == OutputFormat::Markdown) {
    fmt::print("\n{}", report::as_markdown(chosen->report));
  } else if (!quiet && chosen->chosen) {
    fmt::print(stderr, "fit     {}\n", chosen->report.fit_path);
  }
  if (!chosen->saved) return report_error(chosen->saved.error());
  return add_page(config.out, code);
}

}  // namespace deem::cli
