#include "kit/deem_toml.h"

#include <algorithm>
#include <utility>

#include "codec/toml.h"
#include "decision/layout.h"
#include "kit/fields.h"
#include "kit/formats.h"
#include "kit/readings.h"

namespace deem::kit {
namespace {

constexpr std::string_view kRoot[] = {"schema", "name",   "version", "licence",
                                      "source", "layout", "roster",  "task"};
constexpr std::string_view kLayout[] = {"prompt", "option", "words_prompt", "words_option",
                                        "words_unlisted"};
constexpr std::string_view kTask[] = {"type",  "instructions", "options", "options_from",
                                      "empty", "open_labels",  "reading"};
constexpr std::string_view kReading[] = {"name", "given", "score", "chat", "empty"};

struct Reader {
  Draft& draft;
  std::size_t file;
  const codec::TomlDoc& toml;
  const LoadOptions& options;
  DeemToml out{};

  Origin at(const std::string& path) const { return {file, toml.line(path)}; }

  /// Refuses unknown members, each at its own line.
  void refuse_unknown(const codec::Json& table, const std::string& path,
                      std::span<const std::string_view> known) {
    for (const auto& [key, value] : table.members()) {
      if (std::ranges::find(known, std::string_view(key)) != known.end()) continue;
      draft.refuse(at(join(path, key)),
                   "unknown member " + in_quotes(key) + did_you_mean(key, known));
    }
  }

  static std::string join(const std::string& path, std::string_view key) {
    return path.empty() ? std::string(key) : path + "/" + std::string(key);
  }

  std::optional<std::string> text(const codec::Json& table, const std::string& path,
                                  std::string_view key) {
    const std::string place = join(path, key);
    return Fields(draft, at(place), table, "kit.toml").text(key);
  }

  bool flag(const codec::Json& table, const std::string& path, std::string_view key) {
    const codec::Json* value = table.find(key);
    if (value == nullptr) return false;
    if (value->is_bool()) return value->as_bool();
    draft.refuse(at(join(path, key)), std::string(key) + " must be true or false");
    return false;
  }

  void read_root() {
    const codec::Json& root = toml.root;
    refuse_unknown(root, "", kRoot);
    if (root.get_string("schema") != "deem.kit/1") {
      draft.refuse({file, std::max<std::size_t>(toml.line("schema"), 1)},
                   "schema must be \"deem.kit/1\"");
    }
    Kit& kit = draft.kit;
    kit.name = text(root, "", "name").value_or(kit.name);
    kit.version = text(root, "", "version").value_or("");
    kit.licence = text(root, "", "licence").value_or("");
    kit.source = text(root, "", "source").value_or("");
    if (const codec::Json* layout = table(root, "", "layout")) read_layout(*layout);
    if (const codec::Json* roster = table(root, "", "roster")) {
      for (const auto& [key, value] : roster->members()) {
        if (auto guest = text(*roster, "roster", key)) out.roster.emplace(key, std::move(*guest));
      }
    }
    const codec::Json* tasks = table(root, "", "task");
    if (tasks == nullptr || tasks->members().empty()) {
      draft.refuse({file, 0}, "names no [task.NAME]");
      return;
    }
    for (const auto& [name, task] : tasks->members()) read_task(name, task);
  }

  const codec::Json* table(const codec::Json& parent, const std::string& path,
                           std::string_view key) {
    const codec::Json* value = parent.find(key);
    if (value == nullptr || value->is_object()) return value;
    draft.refuse(at(join(path, key)), std::string(key) + " must be a table");
    return nullptr;
  }

  void read_layout(const codec::Json& table) {
    refuse_unknown(table, "layout", kLayout);
    decision::Layout& layout = draft.kit.layout;
    decision::Template* const parts[] = {&layout.prompt, &layout.option, &layout.words_listed,
                                         &layout.words_option, &layout.words_unlisted};
    for (std::size_t i = 0; i < std::size(kLayout); ++i) {
      const auto written = text(table, "layout", kLayout[i]);
      if (!written) continue;
      const std::string what(kLayout[i]);
      const Origin place = at("layout/" + what);
      auto parsed = decision::Template::parse(*written);
      if (!parsed) {
        draft.refuse(place, what + ": " + parsed.error().message);
        continue;
      }
      const bool is_line = kLayout[i].ends_with("option");
      if (!is_line && parsed->uses_option()) {
        draft.refuse(place, what + ": fields of one option belong in the option's line");
      } else if (is_line && parsed->uses("options")) {
        draft.refuse(place, what + ": {options} belongs in the prompt");
      } else if (!is_line && !parsed->uses("instructions") && !parsed->uses("question")) {
        draft.refuse(place, what + ": shows neither {instructions} nor {question}");
      } else if (kLayout[i].ends_with("prompt") && !parsed->uses("options")) {
        draft.refuse(place, what + ": does not show {options}");
      } else {
        *parts[i] = std::move(*parsed);
      }
    }
  }

  void read_task(const std::string& name, const codec::Json& json) {
    const std::string path = "task/" + name;
    if (!is_task_name(name)) {
      return draft.refuse(at(path), "task name " + in_quotes(name) +
                                        " may hold letters, digits, \"_\" and \"-\" only");
    }
    if (!json.is_object()) return draft.refuse(at(path), "task " + name + " must be a table");
    refuse_unknown(json, path, kTask);
    Task task{.name = name, .type = decision::QuestionType::Choice, .readings = {}, .items = {}};
    const auto type_name = text(json, path, "type");
    const auto type = type_name ? decision::parse_question_type(*type_name) : std::nullopt;
    if (type) {
      task.type = *type;
    } else {
      draft.refuse(at(type_name ? path + "/type" : path),
                   type_name ? "type " + in_quotes(*type_name) + " is none of noul, choice, score"
                             : "task " + name + " has no type");
    }
    task.empty = text(json, path, "empty").value_or(task.empty);
    read_readings(task, json, path);
    TaskRules rules{.instructions = {}, .options = {}, .at = at(path)};
    rules.instructions = parse_instructions(draft, at(path + "/instructions"),
                                            text(json, path, "instructions").value_or(""));
    read_options_from(rules, json, path);
    if (const codec::Json* list = json.find("options")) {
      read_task_options(rules, *list, path, task.type);
    }
    const bool open = options.open_labels || flag(json, path, "open_labels");
    rules.task = draft.add_task(std::move(task), open);
    out.tasks.push_back(std::move(rules));
  }

  void read_options_from(TaskRules& rules, const codec::Json& json, const std::string& path) {
    const auto from = text(json, path, "options_from");
    if (!from) return;
    if (*from == "sections") {
      rules.options_from = TaskRules::From::Sections;
    } else if (*from == "roster") {
      rules.options_from = TaskRules::From::Roster;
    } else {
      static constexpr std::string_view kFrom[] = {"sections", "roster"};
      draft.refuse(at(path + "/options_from"), "options_from " + in_quotes(*from) +
                                                   " is neither sections nor roster" +
                                                   did_you_mean(*from, kFrom));
    }
  }

  void read_task_options(TaskRules& rules, const codec::Json& list, const std::string& path,
                         decision::QuestionType type) {
    const Origin place = at(path + "/options");
    const Fields fields(draft, place, list, path_dots(path));
    auto read =
        read_options(fields, list, [&](const std::string& key) -> std::optional<decision::Option> {
          const auto guest = out.roster.find(key);
          if (rules.options_from == TaskRules::From::Roster && guest != out.roster.end()) {
            return decision::Option{key, guest->second, {}};
          }
          fields.refuse(
              "a task's options are [\"key\", \"description\"] "
              "pairs, or roster keys with options_from");
          return std::nullopt;
        });
    rules.options_refused = !read.has_value();
    if (!read) return;
    for (const std::string& problem : option_problems(*read, type)) {
      fields.refuse(problem);
      rules.options_refused = true;
    }
    rules.options = std::move(*read);
  }

  void read_readings(Task& task, const codec::Json& json, const std::string& path) {
    const codec::Json* list = json.find("reading");
    if (list == nullptr) return;
    if (!list->is_array()) {
      return draft.refuse(at(path + "/reading"),
                          "write readings as [[" + path_dots(path) + ".reading]]");
    }
    for (std::size_t i = 0; i < list->items().size(); ++i) {
      read_reading(task, list->items()[i], path + "/reading/" + std::to_string(i));
    }
  }

  static std::string path_dots(std::string path) {
    std::ranges::replace(path, '/', '.');
    return path;
  }

  void read_reading(Task& task, const codec::Json& json, const std::string& path) {
    if (!json.is_object()) return draft.refuse(at(path), "a reading must be a table");
    refuse_unknown(json, path, kReading);
    const auto name = text(json, path, "name");
    const auto given = text(json, path, "given");
    const auto score = text(json, path, "score");
    if (!name || !given || !score) {
      return draft.refuse(at(path), "a reading needs name, given and score");
    }
    const bool chat = flag(json, path, "chat");
    auto reading =
        make_reading(*name, *given, *score, chat, text(json, path, "empty").value_or(task.empty));
    if (reading) {
      task.readings.push_back(std::move(*reading));
      return;
    }
    const std::string& message = reading.error().message;
    const std::string part = message.substr(0, message.find_first_of(" :"));
    draft.refuse(at(path + "/" + part), "reading " + in_quotes(*name) + ": " + message);
  }
};

}  // namespace

DeemToml read_kit_toml(Draft& draft, std::size_t file, std::string_view text,
                       const LoadOptions& options) {
  const auto toml = codec::parse_toml(text, "line");
  if (!toml) {
    const auto [line, what] = split_position(toml.error().message);
    draft.refuse({file, line}, "not TOML: " + what);
    return {};
  }
  Reader reader{draft, file, *toml, options};
  reader.read_root();
  return std::move(reader.out);
}

}  // namespace deem::kit
