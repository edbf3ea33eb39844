#include "kit/kit.h"

#include <algorithm>

#include "base/digest.h"
#include "base/file.h"
#include "base/text.h"
#include "kit/draft.h"
#include "kit/fields.h"
#include "kit/formats.h"
#include "kit/readings.h"
#include "kit/source.h"

namespace deem::kit {
namespace {

/// The format of a file by its first byte that is no white space and its name's ending.
std::string recognise_file(std::string_view path, std::string_view bytes) {
  const std::string lower = to_lower(path);
  if (lower.ends_with(".csv")) return "csv";
  if (lower.ends_with(".tsv")) return "tsv";
  if (lower.ends_with(".jsonl") || lower.ends_with(".ndjson")) return "jsonl";
  const std::string_view text = trim(bytes);
  if (!text.starts_with('{')) return "";
  // One object a line, or one object in all: a first line that is complete decides.
  const std::string_view first = trim(text.substr(0, text.find('\n')));
  const auto line = codec::parse_json(first);
  if (line && line->find("data") == nullptr) return "jsonl";
  return "squad";
}

std::string recognise_folder(const std::string& folder) {
  if (file_exists(join_path(folder, "kit.toml"))) return "deem";
  if (file_exists(join_path(folder, "articles.json"))) return "reference";
  return "";
}

constexpr std::string_view kFormats[] = {"deem", "reference", "jsonl", "squad", "csv", "tsv"};

/// Whether what was asked for is a format and one of a folder, or of a file.
Result<void> check_format(const std::string& format, bool folder) {
  if (format.empty()) return {};
  if (std::ranges::find(kFormats, format) == std::end(kFormats)) {
    return fail(Error::Code::BadInput, "kit format " + in_quotes(format) +
                                           " is none of deem, reference, jsonl, squad, csv, tsv" +
                                           did_you_mean(format, kFormats));
  }
  if ((format == "deem" || format == "reference") != folder) {
    return fail(Error::Code::BadInput,
                "kit format " + format + (folder ? " is a file" : " is a folder"));
  }
  return {};
}

Result<void> load_folder(Draft& draft, const LoadOptions& options) {
  Kit& kit = draft.kit;
  kit.format = options.format.empty() ? recognise_folder(kit.path) : options.format;
  if (kit.format == "deem") {
    load_deem(draft, kit.path, options);
  } else if (kit.format == "reference") {
    load_reference(draft, kit.path, options);
  } else {
    return fail(Error::Code::BadInput,
                kit.path +
                    ": no kit: a folder holds kit.toml (our format) or articles.json (the "
                    "reference bench's)");
  }
  return {};
}

Result<void> load_file(Draft& draft, const LoadOptions& options) {
  Kit& kit = draft.kit;
  auto bytes = read_plain(kit.path);
  if (!bytes) return fail(kit.path, bytes.error());
  kit.format = options.format.empty() ? recognise_file(kit.path, *bytes) : options.format;
  kit.name = base_name(kit.path, true);
  kit.digest = sha256_hex(*bytes);
  const std::size_t file = draft.add_file(kit.path);
  if (kit.format == "jsonl") {
    load_jsonl(draft, file, *bytes, options);
    return {};
  }
  if (kit.format != "squad" && kit.format != "csv" && kit.format != "tsv") {
    return fail(Error::Code::BadInput,
                kit.path + ": format not recognised; name it: jsonl, squad, csv or tsv");
  }
  if (const auto line = bad_utf8_line(*bytes)) {
    draft.refuse({file, *line}, "not UTF-8");
  } else if (kit.format == "squad") {
    load_squad(draft, file, *bytes, options);
  } else {
    load_table(draft, file, *bytes, kit.format == "csv" ? ',' : '\t', options);
  }
  return {};
}

}  // namespace

std::size_t Kit::item_count() const {
  std::size_t n = 0;
  for (const Task& task : tasks) n += task.items.size();
  return n;
}

const Task* Kit::find_task(std::string_view wanted) const {
  const auto found = std::ranges::find(tasks, wanted, &Task::name);
  return found == tasks.end() ? nullptr : &*found;
}

bool Loaded::refused() const {
  return std::ranges::any_of(findings,
                             [](const Finding& f) { return f.level == Finding::Level::Refusal; });
}

Result<Loaded> load_kit(const std::string& path, const LoadOptions& options) {
  Draft draft;
  draft.kit.path = path;
  if (file_exists(path)) {
    const auto good = check_format(options.format, is_folder(path));
    if (!good) return fail(path, good.error());
  }
  const auto loaded = is_folder(path) ? load_folder(draft, options) : load_file(draft, options);
  if (!loaded) return fail(loaded.error());
  apply_extra_readings(draft, options);
  finish_draft(draft);
  return Loaded{.kit = std::move(draft.kit), .findings = draft.take_findings()};
}

}  // namespace deem::kit
