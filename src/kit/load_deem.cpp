#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "decision/layout.h"
#include "kit/deem_items.h"
#include "kit/deem_toml.h"
#include "kit/fields.h"
#include "kit/formats.h"
#include "kit/manifest.h"
#include "kit/source.h"

namespace deem::kit {
namespace {

/// states/<id>.txt | .md | .json: the text without its last line end; a .md's sections are its
/// "## Heading" parts; a .json is printed.
void read_state_file(Draft& draft, KitFolder& folder, const std::string& name) {
  const auto bytes = folder.read("states/" + name);
  if (!bytes) return;
  State state{.id = base_name(name, true), .text = {}, .sha256 = {}, .sections = {}};
  std::string_view text = bytes->text;
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (name.ends_with(".json")) {
    const auto json = parse_checked(draft, bytes->file, bytes->text, 1);
    if (!json) return;
    state.text = json->is_string() ? json->as_string() : codec::dump_json(*json, {.ascii = false});
  } else {
    state.text = text;
    if (name.ends_with(".md")) state.sections = sections_of(text);
  }
  draft.add_state(std::move(state), {bytes->file, 0});
}

void read_all_states(Draft& draft, KitFolder& folder) {
  if (folder.has("states.jsonl")) {
    if (const auto bytes = folder.read("states.jsonl")) {
      read_states(draft, bytes->file, bytes->text);
    }
  }
  const std::string states = join_path(folder.path(), "states");
  if (!is_folder(states)) return;
  const auto names = list_folder(states);
  if (!names) {
    draft.refuse({draft.add_file(states), 0}, names.error().message);
    return;
  }
  for (const std::string& name : *names) {
    if (name.starts_with('.')) continue;
    if (name.ends_with(".txt") || name.ends_with(".md") || name.ends_with(".json")) {
      read_state_file(draft, folder, name);
    } else {
      draft.refuse({draft.add_file(join_path(states, name)), 0},
                   "a state must be a .txt, .md or .json file");
    }
  }
}

void check_counts(Draft& draft, Origin at, const codec::Json& manifest) {
  const codec::Json* counts = manifest.find("counts");
  if (counts == nullptr) return;
  const codec::Json* items = counts->find("items");
  for (const Task& task : draft.kit.tasks) {
    const auto count = items == nullptr ? std::nullopt : items->get_int(task.name);
    if (count && *count != static_cast<std::int64_t>(task.items.size())) {
      draft.refuse(at, "counts " + std::to_string(*count) + " items of task " + task.name +
                           ", there are " + std::to_string(task.items.size()));
    }
  }
}

void verify_manifest(Draft& draft, KitFolder& folder) {
  if (!folder.has("manifest.json")) {
    draft.warn({SIZE_MAX, 0},
               "no manifest.json: nothing says the files are unchanged; write it "
               "with deem kit freeze");
    return;
  }
  const auto bytes = read_inside(folder.path(), "manifest.json");
  const std::size_t file = draft.add_file(join_path(folder.path(), "manifest.json"));
  if (!bytes) return draft.refuse({file, 0}, bytes.error().message);
  if (const auto line = bad_utf8_line(*bytes)) return draft.refuse({file, *line}, "not UTF-8");
  const auto json = parse_checked(draft, file, *bytes, 1);
  if (!json) return;
  if (json->get_string("schema") != "deem.manifest/1") {
    draft.refuse({file, 0}, "schema must be \"deem.manifest/1\"");
  }
  folder.verify(file, read_file_digests(draft, {file, 0}, *json), true);
  check_counts(draft, {file, 0}, *json);
}

/// Item files no task claims are most likely a misspelt task.
void refuse_unclaimed(Draft& draft, const KitFolder& folder) {
  const std::string items = join_path(folder.path(), "items");
  const auto names = list_folder(items);
  if (!names) return;
  std::vector<std::string_view> tasks;
  for (const Task& task : draft.kit.tasks) tasks.push_back(task.name);
  for (const std::string& name : *names) {
    if (name.starts_with('.') || folder.read_files().contains("items/" + name)) continue;
    const std::string stem = base_name(name, true);
    if (std::ranges::find(tasks, stem) != tasks.end() && name.ends_with(".jsonl")) continue;
    draft.refuse({draft.add_file(join_path(items, name)), 0},
                 "kit.toml has no task " + in_quotes(stem) + did_you_mean(stem, tasks));
  }
}

}  // namespace

void load_deem(Draft& draft, const std::string& folder_path, const LoadOptions& options) {
  KitFolder folder(draft, folder_path);
  draft.kit.name = base_name(folder_path, false);
  draft.kit.layout = decision::reference_layout();
  const auto toml = folder.read("kit.toml");
  if (!toml) return;
  const DeemToml settings = read_kit_toml(draft, toml->file, toml->text, options);
  read_all_states(draft, folder);
  for (const TaskRules& rules : settings.tasks) {
    const std::string name = draft.kit.tasks[rules.task].name;
    const auto items = folder.read("items/" + name + ".jsonl");
    if (!items) continue;
    read_items(draft, rules, settings.roster, items->file, items->text);
    if (trim(items->text).empty()) {
      draft.refuse({items->file, 0}, "task " + name + " has no items");
    }
  }
  refuse_unclaimed(draft, folder);
  draft.kit.digest = kit_digest(folder.read_files());
  if (options.verify_digests) verify_manifest(draft, folder);
}

}  // namespace deem::kit
