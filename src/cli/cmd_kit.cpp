#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/digest.h"
#include "base/file.h"
#include "cli/verbs.h"
#include "codec/json.h"
#include "kit/kit.h"

namespace deem::cli {
namespace {

using codec::Json;

struct KitFlags {
  std::string path, format, task;
  std::vector<std::string> columns;
};

void add_kit_flags(CLI::App& app, KitFlags& flags) {
  app.add_option("KIT", flags.path, "kit folder or file")->required();
  app.add_option("--kit-format", flags.format, "deem, reference, jsonl, squad, csv or tsv; guessed when absent");
  app.add_option("--task-name", flags.task, "one-file formats: the task's name");
  app.add_option("--column", flags.columns, "csv/tsv: field=column, repeatable");
}

Result<kit::Loaded> load(const KitFlags& flags, bool verify = true) {
  kit::LoadOptions options;
  options.format = flags.format;
  options.task = flags.task;
  options.verify_digests = verify;
  for (const std::string& column : flags.columns) {
    const std::size_t equals = column.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(Error::Code::BadInput, "--column " + column + ": wants field=column");
    }
    options.columns[column.substr(0, equals)] = column.substr(equals + 1);
  }
  return kit::load_kit(flags.path, options);
}

std::string place(const kit::Finding& finding) {
  return finding.file + (finding.line > 0 ? ":" + std::to_string(finding.line) : "");
}

std::string_view level_name(const kit::Finding& finding) {
  return finding.level == kit::Finding::Level::Refusal ? "refused" : "warning";
}

/// Prints findings to stderr; true when one is a refusal.
bool print_findings(const kit::Loaded& loaded) {
  for (const kit::Finding& finding : loaded.findings) {
    fmt::print(stderr, "{}: {}: {}\n", place(finding), level_name(finding), finding.message);
  }
  return loaded.refused();
}

Json findings_json(const kit::Loaded& loaded) {
  Json out = Json::array();
  for (const kit::Finding& finding : loaded.findings) {
    Json one = Json::object();
    one.set("level", level_name(finding));
    one.set("file", finding.file);
    if (finding.line > 0) one.set("line", static_cast<std::uint64_t>(finding.line));
    one.set("message", finding.message);
    out.push(std::move(one));
  }
  return out;
}

Json kit_json(const kit::Kit& kit) {
  Json out = Json::object();
  out.set("schema", "deem.kit.show/1");
  out.set("name", kit.name);
  out.set("version", kit.version);
  out.set("licence", kit.licence);
  out.set("format", kit.format);
  out.set("digest", kit.digest);
  out.set("states", static_cast<std::uint64_t>(kit.states.size()));
  Json tasks = Json::array();
  for (const kit::Task& task : kit.tasks) {
    Json one = Json::object();
    one.set("name", task.name);
    one.set("type", decision::to_string(task.type));
    one.set("items", static_cast<std::uint64_t>(task.items.size()));
    Json readings = Json::array();
    for (const auto& reading : task.readings) readings.push(reading.name);
    one.set("readings", std::move(readings));
    tasks.push(std::move(one));
  }
  out.set("tasks", std::move(tasks));
  return out;
}

void print_item(const kit::Kit& kit, const kit::Task& task, const kit::Item& item) {
  const std::string_view state = kit.states[item.state].text;
  const auto& options = item.question.options;
  const bool fits = options.size() <= decision::kLetters;
  const std::string prompt =
      fits ? decision::render_letters(kit.layout, state, item.question, options, item.meta)
           : decision::render_words(kit.layout, true, state, item.question, item.meta);
  fmt::print("task {}  item {}  label {}{}\nprompt sha256 {}{}\n\n{}\n", task.name, item.id,
             item.label.value_or("-"), item.kind.empty() ? "" : "  kind " + item.kind,
             sha256_hex(prompt), fits ? "" : "  (over 52 options: asked as a tournament; listed here)", prompt);
}

std::string option_range(const kit::Task& task) {
  std::size_t low = task.items.empty() ? 0 : ~std::size_t{0}, high = 0;
  for (const kit::Item& item : task.items) {
    low = std::min(low, item.question.options.size());
    high = std::max(high, item.question.options.size());
  }
  return low == high ? std::to_string(low) : fmt::format("{}–{}", low, high);
}

void print_kit(const kit::Kit& kit) {
  fmt::print("{} {}  licence {}  format {}\n", kit.name, kit.version,
             kit.licence.empty() ? "not stated" : kit.licence, kit.format);
  if (!kit.source.empty()) fmt::print("source  {}\n", kit.source);
  fmt::print("digest  {}\n", kit.digest);
  std::size_t longest = 0;
  for (const kit::State& state : kit.states) longest = std::max(longest, state.text.size());
  fmt::print("states  {}, the longest {} bytes\n\n", kit.states.size(), longest);
  fmt::print("{:<16} {:<7} {:>6} {:>9} {:>8}  {}\n", "task", "type", "items", "labelled", "options", "readings");
  for (const kit::Task& task : kit.tasks) {
    std::size_t labelled = 0;
    for (const kit::Item& item : task.items) labelled += item.label ? 1 : 0;
    std::string readings = "letters words words-unlisted";
    for (const auto& reading : task.readings) readings += " " + reading.name;
    fmt::print("{:<16} {:<7} {:>6} {:>9} {:>8}  {}\n", task.name, decision::to_string(task.type),
               task.items.size(), labelled, option_range(task), readings);
  }
}

}  // namespace

int run_kit_check(const Args& args) {
  CLI::App app("Check a kit; every problem is named with file and line. Exit 1 when it is refused.\n\n"
               "  deem kit check kits/demo\n  deem kit check items.jsonl --json\n", "deem kit check");
  KitFlags flags;
  bool json = false;
  add_kit_flags(app, flags);
  app.add_flag("--json", json, "findings as JSON on stdout");
  if (const auto code = parse(app, args)) return *code;
  const Result<kit::Loaded> loaded = load(flags);
  if (!loaded) return report_error(loaded.error());
  if (json) {
    Json out = Json::object();
    out.set("schema", "deem.kit.check/1");
    out.set("refused", loaded->refused());
    out.set("findings", findings_json(*loaded));
    fmt::print("{}\n", codec::dump_json(out, {.ascii = false, .indent = 1}));
    return loaded->refused() ? kFound : kDone;
  }
  if (print_findings(*loaded)) return kFound;
  fmt::print("ok: {} {}, {} items in {} tasks, {} states, {} warnings\n", loaded->kit.name,
             loaded->kit.version, loaded->kit.item_count(), loaded->kit.tasks.size(),
             loaded->kit.states.size(), loaded->findings.size());
  return kDone;
}

int run_kit_show(const Args& args) {
  CLI::App app("What is in a kit; with --item, one item's prompt as a model sees it.\n\n"
               "  deem kit show kits/demo\n  deem kit show kits/demo --task intent --item i-001\n",
               "deem kit show");
  KitFlags flags;
  std::string task_name, item_id;
  bool json = false;
  add_kit_flags(app, flags);
  app.add_option("--task", task_name, "a task of the kit");
  app.add_option("--item", item_id, "an item's id");
  app.add_flag("--json", json, "as JSON");
  if (const auto code = parse(app, args)) return *code;
  const Result<kit::Loaded> loaded = load(flags);
  if (!loaded) return report_error(loaded.error());
  if (loaded->refused()) return print_findings(*loaded) ? kFound : kDone;
  if (item_id.empty()) {
    if (json) fmt::print("{}\n", codec::dump_json(kit_json(loaded->kit), {.ascii = false, .indent = 1}));
    else print_kit(loaded->kit);
    return kDone;
  }
  for (const kit::Task& task : loaded->kit.tasks) {
    if (!task_name.empty() && task.name != task_name) continue;
    for (const kit::Item& item : task.items) {
      if (item.id != item_id) continue;
      print_item(loaded->kit, task, item);
      return kDone;
    }
  }
  return report_error({Error::Code::NotFound, flags.path + ": no item " + item_id +
                                                  (task_name.empty() ? "" : " in task " + task_name)});
}

int run_kit_import(const Args& args) {
  CLI::App app("Turn another format (the reference bench's layout, JSONL, SQuAD JSON, CSV/TSV) into a kit of ours.\n\n"
               "  deem kit import intent.jsonl --out kits/intent\n"
               "  deem kit import tickets.csv --column state=body --column label=topic --out kits/tickets\n",
               "deem kit import");
  KitFlags flags;
  std::string out;
  add_kit_flags(app, flags);
  app.add_option("--out", out, "new folder to write")->required();
  if (const auto code = parse(app, args)) return *code;
  const Result<kit::Loaded> loaded = load(flags);
  if (!loaded) return report_error(loaded.error());
  if (print_findings(*loaded)) return kFound;
  if (Result<void> frozen = kit::freeze_kit(loaded->kit, out); !frozen) return report_error(frozen.error());
  fmt::print("{}: {} items in {} tasks, {} states\n", out, loaded->kit.item_count(),
             loaded->kit.tasks.size(), loaded->kit.states.size());
  return kDone;
}

int run_kit_freeze(const Args& args) {
  CLI::App app("Write manifest.json, the digests of a kit folder's files, after it was edited.\n\n"
               "  deem kit freeze kits/mine\n", "deem kit freeze");
  KitFlags flags;
  app.add_option("KIT", flags.path, "kit folder in our own format")->required();
  if (const auto code = parse(app, args)) return *code;
  const Result<kit::Loaded> loaded = load(flags, /*verify=*/false);
  if (!loaded) return report_error(loaded.error());
  if (print_findings(*loaded)) return kFound;
  if (Result<void> frozen = kit::freeze_manifest(flags.path); !frozen) return report_error(frozen.error());
  fmt::print("{}: frozen, {} items\n", join_path(flags.path, "manifest.json"), loaded->kit.item_count());
  return kDone;
}

}  // namespace deem::cli
