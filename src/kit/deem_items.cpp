#include "kit/deem_items.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "kit/fields.h"
#include "kit/formats.h"
#include "kit/lines.h"

namespace deem::kit {
namespace {

constexpr std::string_view kStateMembers[] = {"id", "text", "json", "sections"};
constexpr std::string_view kSectionMembers[] = {"id", "heading", "body"};
constexpr std::string_view kItemMembers[] = {
    "id", "state", "state_text", "question", "instructions", "options", "label", "kind", "meta"};

std::vector<Section> read_sections(const Fields& fields) {
  std::vector<Section> sections;
  const codec::Json* list = fields.find("sections");
  if (list == nullptr) return sections;
  if (!list->is_array()) {
    fields.refuse("sections must be a list");
    return sections;
  }
  for (const codec::Json& entry : list->items()) {
    const Fields part = fields.inside(entry, "section");
    if (!entry.is_object()) {
      part.refuse("must be an object");
      continue;
    }
    part.refuse_unknown(kSectionMembers);
    auto id = part.needed_text("id");
    auto heading = part.needed_text("heading");
    auto body = part.needed_text("body");
    if (!id || !heading || !body) continue;
    sections.push_back({std::move(*id), std::move(*heading), std::move(*body)});
  }
  return sections;
}

void read_state(Draft& draft, Origin at, const codec::Json& json) {
  const std::string id = json.get_string("id").value_or("");
  const Fields fields(draft, at, json, id.empty() ? "state" : "state " + printable(id, 60));
  fields.refuse_unknown(kStateMembers);
  auto needed = fields.needed_text("id");
  auto text = fields.text("text");
  const codec::Json* value = json.find("json");
  if (text && value != nullptr) fields.refuse("has both text and json");
  if (!text && value != nullptr) text = codec::dump_json(*value, {.ascii = false});
  if (!text) fields.refuse("has neither text nor json");
  auto sections = read_sections(fields);
  if (!needed || !text) return;
  draft.add_state({.id = std::move(*needed),
                   .text = std::move(*text),
                   .sha256 = {},
                   .sections = std::move(sections)},
                  at);
}

struct ItemReader {
  Draft& draft;
  const TaskRules& rules;
  const Roster& roster;
  std::size_t task_option_bytes = 0;  // of the options an item takes over from its task

  void read(Origin at, const codec::Json& json) {
    const std::string id = json.get_string("id").value_or("");
    const Fields fields(draft, at, json, id.empty() ? "item" : "item " + printable(id, 60));
    fields.refuse_unknown(kItemMembers);
    Item item;
    auto needed = fields.needed_text("id");
    item.id = needed.value_or("");
    item.label = fields.text("label");
    item.kind = fields.text("kind").value_or("");
    if (const codec::Json* meta = fields.find("meta"); meta != nullptr) {
      if (!meta->is_object() && !meta->is_null()) fields.refuse("meta must be an object");
      set_meta(item, *meta);
    }
    const auto state = find_state(fields, item.id, at);
    if (!needed || !state) return;
    item.state = *state;
    item.question.type = draft.kit.tasks[rules.task].type;
    if (!read_words(item, fields) || !read_item_options(item, fields)) return;
    draft.add_item(rules.task, std::move(item), at);
  }

  std::optional<std::size_t> find_state(const Fields& fields, const std::string& id, Origin at) {
    const auto name = fields.text("state");
    const auto text = fields.text("state_text");
    if (name && text) fields.refuse("has both state and state_text");
    if (text) return draft.inline_state(*text, id, at);
    if (!name) {
      fields.refuse("no state");
      return std::nullopt;
    }
    const auto found = draft.find_state(*name);
    if (!found) fields.refuse("there is no state " + in_quotes(*name) + near_state(*name));
    return found;
  }

  std::string near_state(std::string_view name) const {
    std::vector<std::string_view> ids;
    for (const State& state : draft.kit.states) ids.push_back(state.id);
    return did_you_mean(name, ids);
  }

  bool read_words(Item& item, const Fields& fields) {
    const auto question = fields.text("question");
    auto instructions = fields.text("instructions");
    item.question.question = question.value_or("");
    if (!instructions && rules.instructions) {
      if (rules.instructions->uses("question") && !question) {
        fields.refuse("no question, which the task's instructions ask for");
        return false;
      }
      const State& state = draft.kit.states[item.state];
      if (!draft.afford(state.text.size(), fields.at())) return false;
      instructions = fill_instructions(*rules.instructions, state.text, item);
    }
    if (!instructions) {
      fields.refuse("no instructions, and the task has none");
      return false;
    }
    item.question.instructions = std::move(*instructions);
    return true;
  }

  bool read_item_options(Item& item, const Fields& fields) {
    const codec::Json* list = fields.find("options");
    if (list == nullptr) {
      if (rules.options_refused || !draft.afford(task_option_bytes, fields.at())) return false;
      item.question.options = rules.options;
      return true;  // none at all is for the check to say
    }
    const auto look_up = [&](const std::string& key) -> std::optional<decision::Option> {
      switch (rules.options_from) {
        case TaskRules::From::Sections:
          return from_section(item, fields, key);
        case TaskRules::From::Roster:
          return from_roster(fields, key);
        case TaskRules::From::Nowhere:
          break;
      }
      fields.refuse("option " + in_quotes(key) +
                    " is a bare key, but the task names no options_from");
      return std::nullopt;
    };
    auto read = read_options(fields, *list, look_up);
    if (read) item.question.options = std::move(*read);
    return read.has_value();
  }

  std::optional<decision::Option> from_section(const Item& item, const Fields& fields,
                                               const std::string& key) {
    const State& state = draft.kit.states[item.state];
    const auto found = std::ranges::find(state.sections, key, &Section::id);
    if (found != state.sections.end()) {
      if (!draft.afford(found->body.size() + found->heading.size(), fields.at())) {
        return std::nullopt;
      }
      return decision::Option{key, found->heading, section_text(*found)};
    }
    std::vector<std::string_view> ids;
    for (const Section& section : state.sections) ids.push_back(section.id);
    fields.refuse("option " + in_quotes(key) + " is no section of state " + in_quotes(state.id) +
                  did_you_mean(key, ids));
    return std::nullopt;
  }

  std::optional<decision::Option> from_roster(const Fields& fields, const std::string& key) const {
    if (const auto found = roster.find(key); found != roster.end()) {
      return decision::Option{key, found->second, {}};
    }
    std::vector<std::string_view> keys;
    for (const auto& [name, text] : roster) keys.push_back(name);
    fields.refuse("option " + in_quotes(key) + " is not in the roster" + did_you_mean(key, keys));
    return std::nullopt;
  }
};

}  // namespace

void read_states(Draft& draft, std::size_t file, std::string_view bytes) {
  for_each_object(draft, file, bytes,
                  [&](Origin at, const codec::Json& json) { read_state(draft, at, json); });
}

void read_items(Draft& draft, const TaskRules& rules, const Roster& roster, std::size_t file,
                std::string_view bytes) {
  ItemReader reader{draft, rules, roster};
  for (const decision::Option& option : rules.options) {
    reader.task_option_bytes += option.key.size() + option.description.size() + option.text.size();
  }
  for_each_object(draft, file, bytes,
                  [&](Origin at, const codec::Json& json) { reader.read(at, json); });
}

}  // namespace deem::kit
