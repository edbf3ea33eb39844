#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "codec/csv.h"
#include "decision/layout.h"
#include "kit/fields.h"
#include "kit/formats.h"
#include "kit/readings.h"

// One item a row. A field is read from the column that bears its name, or that
// LoadOptions::columns gives it; other columns are the item's metadata.

namespace deem::kit {
namespace {

constexpr std::string_view kFields[] = {"id",      "state", "question", "instructions",
                                        "options", "label", "type",     "kind"};
constexpr std::string_view kOptionColumn = "option_";
constexpr std::size_t kMostLabels = decision::kLetters * decision::kLetters;

/// "option_12" → 12.
std::optional<int> option_number(std::string_view field) {
  if (!field.starts_with(kOptionColumn)) return std::nullopt;
  field.remove_prefix(kOptionColumn.size());
  int number = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
  if (error != std::errc{} || end != field.data() + field.size() || number < 0) return std::nullopt;
  return number;
}

std::optional<double> as_number(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Numbers by value, else by byte.
std::vector<std::string> in_order(const std::set<std::string>& labels) {
  std::vector<std::string> sorted(labels.begin(), labels.end());
  if (std::ranges::all_of(sorted, [](const auto& label) { return as_number(label).has_value(); })) {
    std::ranges::stable_sort(sorted, {}, [](const auto& label) { return *as_number(label); });
  }
  return sorted;
}

struct Reader {
  Draft& draft;
  std::size_t file;
  const LoadOptions& options;
  const codec::CsvTable& table;
  std::map<std::string, std::size_t, std::less<>> columns{};  // by field
  std::map<int, std::size_t> option_columns{};
  std::vector<std::size_t> meta_columns{};
  decision::QuestionType type = decision::QuestionType::Choice;
  std::optional<decision::Template> common{};
  std::vector<decision::Option> label_options{};  // where no column lists options

  bool find_columns() {
    std::vector<std::string_view> names(table.names.begin(), table.names.end());
    std::set<std::size_t> used;
    bool whole = true;
    const auto use = [&](std::string_view field, std::size_t column) {
      used.insert(column);
      if (const auto number = option_number(field)) {
        option_columns.insert_or_assign(*number, column);
      } else {
        columns.insert_or_assign(std::string(field), column);
      }
    };
    for (const auto& [field, name] : options.columns) {
      const bool known = std::ranges::find(kFields, field) != std::end(kFields);
      const auto column = table.column(name);
      if (!known && !option_number(field)) {
        draft.refuse({file, 0},
                     "column setting: no field " + in_quotes(field) + did_you_mean(field, kFields));
        whole = false;
      } else if (!column) {
        draft.refuse({file, 1}, "no column " + in_quotes(name) + did_you_mean(name, names));
        whole = false;
      } else {
        use(field, *column);
      }
    }
    for (std::size_t i = 0; i < table.names.size(); ++i) {
      const std::string& name = table.names[i];
      if (used.contains(i) || columns.contains(name) || options.columns.contains(name)) continue;
      const bool known = std::ranges::find(kFields, name) != std::end(kFields);
      if (known || option_number(name)) use(name, i);
    }
    for (std::size_t i = 0; i < table.names.size(); ++i) {
      if (!used.contains(i)) meta_columns.push_back(i);
    }
    if (!columns.contains("state")) {
      draft.refuse({file, 1},
                   "no column \"state\"; name it with state=COLUMN, there are: " + listed_names());
      whole = false;
    }
    const bool asks = columns.contains("question") || columns.contains("instructions");
    if (!asks && options.instructions.empty()) {
      draft.refuse({file, 1},
                   "no column \"question\" or \"instructions\"; name one with "
                   "question=COLUMN, or give instructions for all; there are: " +
                       listed_names());
      whole = false;
    }
    return whole;
  }

  std::string listed_names() const {
    std::string all;
    for (const std::string& name : table.names) all += (all.empty() ? "" : ", ") + name;
    return printable(all, 200);
  }

  std::string cell(const codec::CsvTable::Row& row, std::string_view field) const {
    const auto column = columns.find(field);
    return column == columns.end() ? std::string() : row.fields[column->second];
  }

  /// Without a column of options, an item's options are all labels of the file.
  bool take_options_from_labels() {
    if (columns.contains("options") || !option_columns.empty() ||
        type == decision::QuestionType::Noul) {
      return true;
    }
    std::set<std::string> labels;
    for (const auto& row : table.rows) {
      if (const std::string label(trim(cell(row, "label"))); !label.empty()) labels.insert(label);
    }
    if (labels.empty() || labels.size() > kMostLabels) {
      draft.refuse({file, 1}, labels.empty()
                                  ? "no options: no column lists them and there are no labels"
                                  : std::to_string(labels.size()) +
                                        " different labels are too many to be the options");
      return false;
    }
    for (const std::string& label : in_order(labels)) {
      label_options.push_back(option_from_key(label));
    }
    return true;
  }

  std::vector<decision::Option> options_of(const codec::CsvTable::Row& row) const {
    std::vector<decision::Option> listed;
    const auto add = [&](std::string_view text) {
      if (const std::string_view key = trim(text); !key.empty()) {
        listed.push_back(option_from_key(key));
      }
    };
    if (columns.contains("options")) {
      const std::string cell_text = cell(row, "options");
      // An empty one is kept, and refused where options are judged: it may be a slip of the pen.
      for (const std::string_view part : split(cell_text, '|')) {
        if (!trim(cell_text).empty()) listed.push_back(option_from_key(trim(part)));
      }
      return listed;
    }
    for (const auto& [number, column] : option_columns) add(row.fields[column]);
    if (!option_columns.empty()) return listed;
    return label_options.empty() ? yes_no() : label_options;
  }

  std::optional<decision::QuestionType> file_type() {
    const auto column = columns.find("type");
    auto found = options.type;
    for (const auto& row : table.rows) {
      if (column == columns.end()) break;
      const std::string& name = row.fields[column->second];
      const auto type_here = decision::parse_question_type(name);
      if (!type_here || (found && *found != *type_here)) {
        draft.refuse({file, row.line},
                     type_here ? "a table holds items of one type only"
                               : "type " + in_quotes(name) + " is none of noul, choice, score");
        return std::nullopt;
      }
      found = type_here;
    }
    return found.value_or(decision::QuestionType::Choice);
  }

  void read_row(std::size_t task, const codec::CsvTable::Row& row) {
    const Origin at{file, row.line};
    Item item;
    item.id = columns.contains("id") ? cell(row, "id") : "line-" + std::to_string(row.line);
    codec::Json meta;
    for (const std::size_t column : meta_columns) meta.set(table.names[column], row.fields[column]);
    set_meta(item, std::move(meta));
    item.kind = cell(row, "kind");
    item.question.type = type;
    item.question.question = cell(row, "question");
    item.question.options = options_of(row);
    if (std::string label(trim(cell(row, "label"))); !label.empty()) {
      if (type == decision::QuestionType::Noul) label = noul_label(label);
      item.label = std::move(label);
    }
    std::size_t bytes = 0;
    for (const auto& option : item.question.options) bytes += 2 * option.key.size();
    if (!draft.afford(bytes, at)) return;
    const std::string state = cell(row, "state");
    item.question.instructions = cell(row, "instructions");
    if (item.question.instructions.empty() && common) {
      item.question.instructions = fill_instructions(*common, state, item);
    }
    if (item.question.instructions.empty()) item.question.instructions = item.question.question;
    item.state = draft.inline_state(state, item.id, at);
    draft.add_item(task, std::move(item), at);
  }

  static std::string noul_label(const std::string& label) {
    const std::string lower = to_lower(label);
    if (lower == "yes" || lower == "true" || lower == "1") return "yes";
    if (lower == "no" || lower == "false" || lower == "0") return "no";
    return label;
  }
};

}  // namespace

void load_table(Draft& draft, std::size_t file, std::string_view bytes, char separator,
                const LoadOptions& options) {
  draft.kit.layout = decision::reference_layout();
  const auto table = codec::parse_csv(bytes, separator);
  if (!table) {
    const auto [line, what] = split_position(table.error().message);
    return draft.refuse({file, line}, what);
  }
  Reader reader{draft, file, options, *table};
  reader.common = parse_instructions(draft, {file, 0}, options.instructions);
  if (!reader.find_columns()) return;
  const auto type = reader.file_type();
  if (!type) return;
  reader.type = *type;
  if (!reader.take_options_from_labels()) return;
  const std::size_t task = draft.add_task({.name = one_file_task_name(draft, options),
                                           .type = reader.type,
                                           .readings = message_readings(),
                                           .items = {}},
                                          options.open_labels);
  for (const auto& row : table->rows) reader.read_row(task, row);
}

}  // namespace deem::kit
