#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "decision/layout.h"
#include "kit/fields.h"
#include "kit/formats.h"
#include "kit/lines.h"
#include "kit/readings.h"
#include "kit/source.h"

// One item a line: {"id", "state", "instructions", "options", "label"} and, if wanted, "question",
// "type", "kind"; other members are the item's metadata.

namespace deem::kit {
namespace {

constexpr std::string_view kKnown[] = {"id",    "state", "instructions", "question", "options",
                                       "label", "type",  "kind",         "meta"};

/// The state as text: a JSON value is printed.
std::optional<std::string> state_text(const Fields& fields) {
  const codec::Json* state = fields.find("state");
  if (state == nullptr || state->is_null()) {
    fields.refuse("no state");
    return std::nullopt;
  }
  return state->is_string() ? state->as_string() : codec::dump_json(*state, {.ascii = false});
}

std::optional<decision::QuestionType> read_type(const Fields& fields, const LoadOptions& options) {
  const auto name = fields.text("type");
  if (!name) return options.type.value_or(decision::QuestionType::Choice);
  const auto type = decision::parse_question_type(*name);
  if (!type) fields.refuse("type " + in_quotes(*name) + " is none of noul, choice, score");
  return type;
}

std::optional<std::string> read_label(const Fields& fields, decision::QuestionType type) {
  const codec::Json* label = fields.find("label");
  if (label != nullptr && label->is_bool() && type == decision::QuestionType::Noul) {
    return label->as_bool() ? "yes" : "no";
  }
  return fields.scalar("label");
}

std::optional<std::vector<decision::Option>> read_item_options(const Fields& fields,
                                                               decision::QuestionType type) {
  if (const codec::Json* list = fields.find("options")) {
    return read_options(fields, *list,
                        [](const std::string& key) { return std::optional(option_from_key(key)); });
  }
  if (type == decision::QuestionType::Noul) return yes_no();
  fields.refuse("no options");
  return std::nullopt;
}

/// Fills instructions and question; false when there is nothing to ask.
bool read_words(Item& item, const Fields& fields, std::string_view state,
                const std::optional<decision::Template>& common) {
  auto instructions = fields.text("instructions");
  auto question = fields.text("question");
  if (!instructions && common) {
    item.question.question = question.value_or("");
    instructions = fill_instructions(*common, state, item);
  }
  if (!instructions && !question) {
    fields.refuse("no instructions: nothing is asked");
    return false;
  }
  item.question.instructions = instructions ? *instructions : *question;
  item.question.question = question.value_or("");
  return true;
}

}  // namespace

bool is_task_name(std::string_view name) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && name.size() <= 64 && is_word(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_word(c) || c == '_' || c == '-'; });
}

std::string one_file_task_name(const Draft& draft, const LoadOptions& options) {
  std::string name = options.task.empty() ? base_name(draft.kit.path, true) : options.task;
  if (name.size() > 64) name.resize(64);
  for (char& c : name) {
    if (!is_task_name(std::string_view(&c, 1)) && c != '_') c = '-';
  }
  while (!name.empty() && !is_task_name(name)) name.erase(0, 1);
  return name.empty() ? "items" : name;
}

std::vector<decision::Option> yes_no() { return {{"yes", "Yes", {}}, {"no", "No", {}}}; }

void load_jsonl(Draft& draft, std::size_t file, std::string_view bytes,
                const LoadOptions& options) {
  draft.kit.layout = decision::reference_layout();
  const std::string name = one_file_task_name(draft, options);
  const auto common = parse_instructions(draft, {file, 0}, options.instructions);
  // Items of another type than the first go to a task of their own, so that a task has one type.
  std::map<decision::QuestionType, std::size_t> tasks;
  for_each_object(draft, file, bytes, [&](Origin at, const codec::Json& json) {
    const std::string id = json.find("id") != nullptr ? print_scalar(*json.find("id")).value_or("")
                                                      : "line-" + std::to_string(at.line);
    const Fields fields(draft, at, json, "item " + printable(id, 60));
    const auto type = read_type(fields, options);
    auto text = state_text(fields);
    if (!type || !text) return;
    Item item;
    item.id = id;
    codec::Json rest = fields.take_rest(kKnown);
    if (const codec::Json* meta = fields.find("meta"); meta != nullptr && meta->is_object()) {
      for (const auto& [key, value] : meta->members()) rest.set(key, value);
    } else if (meta != nullptr) {
      rest.set("meta", *meta);
    }
    set_meta(item, std::move(rest));
    item.question.type = *type;
    item.label = read_label(fields, *type);
    item.kind = fields.text("kind").value_or("");
    auto listed = read_item_options(fields, *type);
    if (!read_words(item, fields, *text, common) || !listed) return;
    item.question.options = std::move(*listed);
    item.state = draft.inline_state(*text, item.id, at);
    auto task = tasks.find(*type);
    if (task == tasks.end()) {
      const std::string suffix = tasks.empty() ? "" : "-" + std::string(to_string(*type));
      const std::size_t added = draft.add_task(
          {.name = name + suffix, .type = *type, .readings = message_readings(), .items = {}},
          options.open_labels);
      task = tasks.emplace(*type, added).first;
    }
    draft.add_item(task->second, std::move(item), at);
  });
}

}  // namespace deem::kit
