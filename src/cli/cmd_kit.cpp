#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/digest.h"
#include "base/file.h"
#include "cli/verbs.h"
#include "codec/json.h"
#include "decision/layout.h"
#include "decision/letters.h"
#include "kit/kit.h"
#include "kit/show.h"

namespace deem::cli {
namespace {

using codec::Json;

struct KitFlags {
  std::string path, format, task, type, instructions;
  std::vector<std::string> columns;
  bool open_labels = false;
};

void add_kit_flags(CLI::App& app, KitFlags& flags) {
  app.add_option("KIT", flags.path, "kit folder or file")->required();
  app.add_option("--kit-format", flags.format,
                 "deem, reference, jsonl, squad, csv or tsv; guessed when absent");
  app.add_option("--task-name", flags.task, "one-file formats: the task's name");
  app.add_option("--type", flags.type,
                 "jsonl, csv: of items that name none: choice (default), noul or score");
  app.add_option("--instructions", flags.instructions,
                 "jsonl, csv: template for items without instructions");
  app.add_option("--column", flags.columns, "csv/tsv: field=column, repeatable");
  app.add_flag("--open-labels", flags.open_labels,
               "keep a label that is no option (wrong whatever is answered)");
}

Result<kit::Loaded> load(const KitFlags& flags, bool verify = true) {
  kit::LoadOptions options;
  options.format = flags.format;
  options.task = flags.task;
  options.verify_digests = verify;
  options.open_labels = flags.open_labels;
  options.instructions = flags.instructions;
  if (!flags.type.empty()) {
    options.type = decision::parse_question_type(flags.type);
    if (!options.type)
      return fail(Error::Code::BadInput, "--type " + flags.type + ": choice, noul or score");
  }
  for (const std::string& column : flags.columns) {
    const std::size_t equals = column.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(Error::Code::BadInput, "--column " + column + ": wants field=column");
    }
    options.columns[column.substr(0, equals)] = column.substr(equals + 1);
  }
  return kit::load_kit(flags.path, options);
}

std::string_view level_name(const kit::Finding& finding) {
  return finding.level == kit::Finding::Level::Refusal ? "refused" : "warning";
}

/// Prints findings to stderr; true when one is a refusal.
bool print_findings(const kit::Loaded& loaded) {
  for (const kit::Finding& finding : loaded.findings) {
    fmt::print(stderr, "{}\n", kit::to_string(finding));
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

void print_json(const Json& json) {
  fmt::print("{}\n", codec::dump_json(json, {.ascii = false, .indent = 1}));
}

/// One item and what is asked of it: its letters prompt where it has one (up to 52 options).
Json item_json(const kit::Kit& kit, const kit::Task& task, const kit::Item& item) {
  const kit::State& state = kit.states[item.state];
  Json out = Json::object();
  out.set("schema", "deem.kit.item/1");
  out.set("id", item.id);
  out.set("task", task.name);
  out.set("type", decision::to_string(task.type));
  out.set("state", state.id);
  out.set("state_sha256", state.sha256);
  out.set("instructions", item.question.instructions);
  out.set("question", item.question.question);
  Json options = Json::array();
  for (const decision::Option& option : item.question.options) {
    Json one = Json::object();
    one.set("key", option.key);
    one.set("description", option.description);
    options.push(std::move(one));
  }
  out.set("options", std::move(options));
  out.set("label", item.label ? Json(*item.label) : Json());
  if (!item.kind.empty()) out.set("kind", item.kind);
  if (item.question.options.size() <= decision::kLetters) {
    const std::string prompt = decision::render_letters(kit.layout, state.text, item.question,
                                                        item.question.options, item.meta);
    out.set("letters_prompt", prompt);
    out.set("letters_prompt_sha256", sha256_hex(prompt));
  }
  return out;
}

Json kit_json(const kit::Kit& kit, std::string_view only) {
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
    if (!only.empty() && task.name != only) continue;
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

}  // namespace

int run_kit_check(const Args& args) {
  CLI::App app(
      "Check a kit; every problem is named with file and line. Exit 1 when it is refused.\n\n"
      "  deem kit check kits/demo\n  deem kit check items.jsonl --json\n",
      "deem kit check");
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
    print_json(out);
    return loaded->refused() ? kFound : kDone;
  }
  if (print_findings(*loaded)) return kFound;
  fmt::print("ok: {} {}, {} items in {} tasks, {} states, {} warnings\n", loaded->kit.name,
             loaded->kit.version, loaded->kit.item_count(), loaded->kit.tasks.size(),
             loaded->kit.states.size(), loaded->findings.size());
  return kDone;
}

int run_kit_show(const Args& args) {
  CLI::App app(
      "What is in a kit; with --item, one item's prompt as a model sees it.\n\n"
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
  if (!task_name.empty()) {
    const auto task = kit::find_task(loaded->kit, task_name);
    if (!task) return report_error(task.error());
  }
  if (item_id.empty()) {
    if (json)
      print_json(kit_json(loaded->kit, task_name));
    else
      std::fputs(kit::describe(loaded->kit, task_name).c_str(), stdout);
    return kDone;
  }
  for (const kit::Task& task : loaded->kit.tasks) {
    if (task_name.empty() &&
        std::ranges::find(task.items, item_id, &kit::Item::id) != task.items.end()) {
      task_name = task.name;
    }
  }
  if (task_name.empty()) {
    return report_error(
        {Error::Code::NotFound, flags.path + ": no item " + item_id + " in any task"});
  }
  const auto item = kit::find_item(loaded->kit, task_name, item_id);
  if (!item) return report_error(item.error());
  if (json) {
    print_json(item_json(loaded->kit, *loaded->kit.find_task(task_name), **item));
  } else {
    std::fputs(kit::describe_item(loaded->kit, task_name, item_id).value().c_str(), stdout);
  }
  return kDone;
}

int run_kit_import(const Args& args) {
  CLI::App app(
      "Turn another format (the reference bench's layout, JSONL, SQuAD JSON, CSV/TSV) into a kit "
      "of ours.\n\n"
      "  deem kit import intent.jsonl --out kits/intent\n"
      "  deem kit import tickets.csv --column state=body --column label=topic --out kits/tickets\n"
      "  deem kit import reference/kit --open-labels --out kits/reference\n",
      "deem kit import");
  KitFlags flags;
  std::string out;
  add_kit_flags(app, flags);
  app.add_option("--out", out, "new folder to write")->required();
  if (const auto code = parse(app, args)) return *code;
  const Result<kit::Loaded> loaded = load(flags);
  if (!loaded) return report_error(loaded.error());
  if (print_findings(*loaded)) return kFound;
  if (Result<void> frozen = kit::freeze_kit(loaded->kit, out); !frozen)
    return report_error(frozen.error());
  fmt::print("{}: {} items in {} tasks, {} states\n", out, loaded->kit.item_count(),
             loaded->kit.tasks.size(), loaded->kit.states.size());
  return kDone;
}

int run_kit_freeze(const Args& args) {
  CLI::App app(
      "Write manifest.json, the digests of a kit folder's files, after it was edited.\n\n"
      "  deem kit freeze kits/mine\n",
      "deem kit freeze");
  KitFlags flags;
  app.add_option("KIT", flags.path, "kit folder in our own format")->required();
  if (const auto code = parse(app, args)) return *code;
  const Result<kit::Loaded> loaded = load(flags, /*verify=*/false);
  if (!loaded) return report_error(loaded.error());
  if (print_findings(*loaded)) return kFound;
  if (Result<void> frozen = kit::freeze_manifest(flags.path); !frozen)
    return report_error(frozen.error());
  fmt::print("{}: frozen, {} items\n", join_path(flags.path, "manifest.json"),
             loaded->kit.item_count());
  return kDone;
}

}  // namespace deem::cli
