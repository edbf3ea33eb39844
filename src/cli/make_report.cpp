#include "cli/make_report.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "base/file_kind.h"
#include "cli/report_prompts.h"
#include "cli/show_choice.h"
#include "report/probes.h"

namespace deem::cli {
namespace {

/// The first bytes of a file; empty when it can not be read.
std::string start_of(const std::string& path) {
  if (is_named_pipe(path)) return {};
  std::string out(400, '\0');
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return {};
  out.resize(std::fread(out.data(), 1, out.size(), file));
  std::fclose(file);
  return out;
}

/// What deem choose says of a run, where it has a run.json and something can be chosen.
void add_choice(const std::string& path, std::vector<report::Section>& sections) {
  if (!is_folder(path)) return;
  const Result<Chosen> chosen = choose_reading(path, {.no_fit = true});
  if (!chosen || !chosen->chosen) return;
  report::Section section = report::as_section(chosen->report);
  if (!sections.empty() && sections.back().id.starts_with("choosing"))
    section.id += "-" + std::to_string(sections.size());
  sections.push_back(std::move(section));
}

}  // namespace

Result<MadeReport> make_report(const std::vector<std::string>& paths, bool prompts,
                               const report::EnergyPrice& price) {
  if (Result<void> distinct = check_distinct(paths); !distinct) return fail(distinct.error());
  MadeReport out;
  std::vector<RowRange> ranges;
  for (const std::string& path : paths) {
    if (!file_exists(rows_of(path))) {
      return fail(Error::Code::NotFound,
                  rows_of(path) + ": no such file; a run folder or a rows file");
    }
    const std::size_t first = out.gathered.rows.size();
    gather(path, paths.size() > 1, out.gathered);
    ranges.push_back({path, first, out.gathered.rows.size()});
    if (!is_folder(path)) continue;
    if (Result<record::RunRecord> run = record::load_run(path)) {
      out.report.receipts.push_back({.path = path, .run = std::move(*run)});
    }
  }
  report::FullReport& made = out.report;
  made.version = DEEM_VERSION;
  made.heading = out.gathered.heading;
  made.heading.price = price;
  for (std::size_t i = 0; i < out.gathered.power.size(); ++i) {
    std::ranges::move(report::plot_power(out.gathered.power[i], made.heading.energy[i].run),
                      std::back_inserter(made.power));
  }
  made.scores = score::score_rows(out.gathered.rows, out.gathered.fits);
  made.evidence = score::find_evidence(out.gathered.rows, made.scores, out.gathered.fits);
  if (auto section = report::probes_section(made.scores.probes))
    made.sections.push_back(std::move(*section));
  for (const std::string& path : paths) add_choice(path, made.sections);
  const auto wanted = report::wanted_prompts(made.evidence);
  if (prompts) {
    made.prompts = find_prompts(out.gathered.rows, ranges, wanted);
  } else {
    for (const report::PromptKey& key : wanted) {
      made.prompts[key].missing = "left out by --no-prompts";
    }
  }
  out.answered = std::ranges::any_of(
      made.scores.columns, [](const score::Column& column) { return column.all.answered > 0; });
  return out;
}

Result<void> write_report(const std::string& path, std::string_view bytes, bool force) {
  std::error_code none;
  const auto kind = std::filesystem::status(path, none).type();
  if (kind != std::filesystem::file_type::not_found &&
      kind != std::filesystem::file_type::regular) {
    return fail(Error::Code::BadInput, path + ": is no regular file; name another --out");
  }
  if (file_exists(path) && !force && !report::is_report(start_of(path))) {
    return fail(Error::Code::BadInput,
                path + ": is there already and is no report; --force writes over it");
  }
  return write_file_atomically(path, bytes);
}

}  // namespace deem::cli
