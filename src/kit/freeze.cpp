#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "kit/formats.h"
#include "kit/kit.h"
#include "kit/manifest.h"
#include "kit/toml_text.h"

namespace deem::kit {
namespace fs = std::filesystem;
namespace {

using codec::Json;

std::string json_line(const Json& value) {
  return codec::dump_json(value, {.ascii = false}) + "\n";
}

Json state_json(const State& state) {
  Json json = Json::object();
  json.set("id", state.id);
  json.set("text", state.text);
  if (state.sections.empty()) return json;
  std::vector<Json> sections;
  for (const Section& section : state.sections) {
    sections.push_back(
        Json::object({{"id", section.id}, {"heading", section.heading}, {"body", section.body}}));
  }
  json.set("sections", Json::array(std::move(sections)));
  return json;
}

/// Whether `option` is what options_from = "sections" makes of its key.
bool is_section(const decision::Option& option, const State& state) {
  const auto found = std::ranges::find(state.sections, option.key, &Section::id);
  return found != state.sections.end() && option.description == found->heading &&
         option.text == section_text(*found);
}

Json option_json(const decision::Option& option) {
  if (option.text.empty()) return Json::array({option.key, option.description});
  return Json::object(
      {{"key", option.key}, {"description", option.description}, {"text", option.text}});
}

/// What a frozen task says once instead of in every item.
struct Common {
  std::string instructions;               // template; "" when items carry their own
  std::vector<decision::Option> options;  // empty when items carry their own
  bool sections = false;                  // some option is a section by its key
};

/// The template "before{question}after" that gives every item's instructions, or "" when none does.
std::string common_instructions(const Task& task) {
  const auto& first = task.items.front().question;
  std::string pattern;
  if (first.question.empty()) {
    pattern = escape_template(first.instructions);
  } else {
    const std::size_t at = first.instructions.rfind(first.question);
    if (at == std::string::npos) return "";
    pattern = escape_template(first.instructions.substr(0, at)) + "{question}" +
              escape_template(first.instructions.substr(at + first.question.size()));
  }
  const auto parsed = decision::Template::parse(pattern);
  if (!parsed) return "";
  const bool fits = std::ranges::all_of(task.items, [&](const Item& item) {
    return item.question.question.empty() == first.question.empty() &&
           fill_instructions(*parsed, {}, item) == item.question.instructions;
  });
  return fits ? pattern : "";
}

Common common_of(const Kit& kit, const Task& task) {
  Common common;
  if (task.items.empty()) return common;
  common.instructions = common_instructions(task);
  const auto& options = task.items.front().question.options;
  const bool same = std::ranges::all_of(
      task.items, [&](const Item& item) { return item.question.options == options; });
  common.sections = std::ranges::any_of(task.items, [&](const Item& item) {
    return std::ranges::any_of(item.question.options, [&](const decision::Option& option) {
      return is_section(option, kit.states[item.state]);
    });
  });
  if (same && !common.sections) common.options = options;
  return common;
}

Json item_json(const Kit& kit, const Item& item, const Common& common) {
  const State& state = kit.states[item.state];
  Json json = Json::object();
  json.set("id", item.id);
  json.set("state", state.id);
  if (!item.question.question.empty()) json.set("question", item.question.question);
  if (common.instructions.empty()) json.set("instructions", item.question.instructions);
  if (common.options.empty()) {
    std::vector<Json> options;
    for (const decision::Option& option : item.question.options) {
      const bool by_key = common.sections && is_section(option, state);
      options.push_back(by_key ? Json(option.key) : option_json(option));
    }
    json.set("options", Json::array(std::move(options)));
  }
  if (item.label) json.set("label", *item.label);
  if (!item.kind.empty()) json.set("kind", item.kind);
  if (!item.raw_meta.is_null()) json.set("meta", item.raw_meta);
  return json;
}

bool labels_stray(const Task& task) {
  return std::ranges::any_of(task.items, [](const Item& item) {
    return item.label && std::ranges::find(item.question.options, *item.label,
                                           &decision::Option::key) == item.question.options.end();
  });
}

std::string kit_toml(const Kit& kit, const std::vector<Common>& commons) {
  std::string out = "schema = \"deem.kit/1\"\n";
  const std::pair<const char*, const std::string*> facts[] = {{"name", &kit.name},
                                                              {"version", &kit.version},
                                                              {"licence", &kit.licence},
                                                              {"source", &kit.source}};
  for (const auto& [key, value] : facts) append_toml(out, key, *value);
  out += "\n[layout]\n";
  append_toml(out, "prompt", kit.layout.prompt.text());
  append_toml(out, "option", kit.layout.option.text());
  append_toml(out, "words_prompt", kit.layout.words_listed.text());
  append_toml(out, "words_option", kit.layout.words_option.text());
  append_toml(out, "words_unlisted", kit.layout.words_unlisted.text());
  for (std::size_t t = 0; t < kit.tasks.size(); ++t) {
    const Task& task = kit.tasks[t];
    const Common& common = commons[t];
    out += "\n[task." + task.name + "]\n";
    append_toml(out, "type", to_string(task.type));
    if (!common.instructions.empty()) append_toml(out, "instructions", common.instructions);
    if (common.sections) append_toml(out, "options_from", "sections");
    if (!common.options.empty()) append_toml(out, "options", common.options);
    append_toml(out, "empty", task.empty);
    if (labels_stray(task)) out += "open_labels = true\n";
    for (const LikelihoodReading& reading : task.readings) {
      out += "\n[[task." + task.name + ".reading]]\n";
      append_toml(out, "name", reading.name);
      append_toml(out, "given", reading.given.text());
      append_toml(out, "score", reading.score.text());
      if (reading.chat) out += "chat = true\n";
      if (reading.empty != task.empty) append_toml(out, "empty", reading.empty);
    }
  }
  return out;
}

}  // namespace

Result<void> freeze_kit(const Kit& kit, const std::string& folder) {
  if (file_exists(folder)) {
    if (!is_folder(folder)) return fail(Error::Code::BadInput, folder + ": is a file");
    const auto names = list_folder(folder);
    if (!names) return fail(names.error());
    if (!names->empty()) {
      return fail(Error::Code::BadInput, folder + ": has files; name a new or empty folder");
    }
  }
  if (const auto made = make_folders(join_path(folder, "items")); !made) return fail(made.error());
  std::vector<Common> commons;
  for (const Task& task : kit.tasks) commons.push_back(common_of(kit, task));

  std::vector<std::pair<std::string, std::string>> files;
  files.emplace_back("kit.toml", kit_toml(kit, commons));
  std::string states;
  for (const State& state : kit.states) states += json_line(state_json(state));
  files.emplace_back("states.jsonl", std::move(states));
  for (std::size_t t = 0; t < kit.tasks.size(); ++t) {
    std::string items;
    for (const Item& item : kit.tasks[t].items)
      items += json_line(item_json(kit, item, commons[t]));
    files.emplace_back("items/" + kit.tasks[t].name + ".jsonl", std::move(items));
  }
  for (const auto& [name, bytes] : files) {
    if (const auto written = write_file_atomically(join_path(folder, name), bytes); !written) {
      return fail(written.error());
    }
  }
  const auto digests = digest_folder(folder);
  if (!digests) return fail(digests.error());
  const auto written =
      write_file_atomically(join_path(folder, "manifest.json"), format_manifest(*digests, kit));
  if (!written) return fail(written.error());
  return {};
}

Result<void> freeze_manifest(const std::string& folder) {
  LoadOptions options;
  options.format = "deem";
  options.verify_digests = false;
  const auto loaded = load_kit(folder, options);
  if (!loaded) return fail(loaded.error());
  for (const Finding& finding : loaded->findings) {
    if (finding.level != Finding::Level::Refusal) continue;
    const std::string line = finding.line > 0 ? ":" + std::to_string(finding.line) : "";
    return fail(Error::Code::BadInput, finding.file + line + ": " + finding.message);
  }
  const auto digests = digest_folder(folder);
  if (!digests) return fail(digests.error());
  const auto written = write_file_atomically(join_path(folder, "manifest.json"),
                                             format_manifest(*digests, loaded->kit));
  if (!written) return fail(written.error());
  return {};
}

}  // namespace deem::kit
