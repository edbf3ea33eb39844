#include "kit/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/digest.h"
#include "base/text.h"
#include "kit/balance.h"
#include "kit/fields.h"

namespace deem::kit {
namespace {

using Counts = std::vector<std::pair<std::string, std::size_t>>;

Counts by_frequency(const std::map<std::string, std::size_t>& counts) {
  Counts sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::greater{}, &Counts::value_type::second);
  return sorted;
}

TaskSummary summarise_task(const Task& task) {
  TaskSummary summary{.name = task.name,
                      .type = task.type,
                      .items = task.items.size(),
                      .labels = {},
                      .gold_positions = balance_of(task).counts,
                      .kinds = {},
                      .readings = {}};
  std::map<std::string, std::size_t> labels, kinds;
  std::set<std::size_t> states;
  for (const Item& item : task.items) {
    const std::size_t n = item.question.options.size();
    summary.options_min = states.empty() ? n : std::min(summary.options_min, n);
    summary.options_max = std::max(summary.options_max, n);
    states.insert(item.state);
    if (item.label) {
      ++summary.labelled;
      ++labels[*item.label];
    }
    if (!item.kind.empty()) ++kinds[item.kind];
  }
  summary.states = states.size();
  summary.labels = by_frequency(labels);
  summary.kinds = by_frequency(kinds);
  for (const auto& reading : task.readings) {
    summary.readings.emplace_back(reading.name, reading.digest());
  }
  return summary;
}

std::string listed(const Counts& counts) {
  constexpr std::size_t kShown = 12;
  std::string out;
  for (std::size_t i = 0; i < std::min(counts.size(), kShown); ++i) {
    out +=
        fmt::format("{}{} {}", i > 0 ? ", " : "", printable(counts[i].first, 40), counts[i].second);
  }
  if (counts.size() > kShown) out += fmt::format(", and {} more", counts.size() - kShown);
  return out;
}

std::string numbers(const std::vector<std::size_t>& counts) {
  constexpr std::size_t kShown = 20;
  std::string out;
  for (std::size_t i = 0; i < std::min(counts.size(), kShown); ++i) {
    out += fmt::format("{}{}", i > 0 ? " " : "", counts[i]);
  }
  return out + (counts.size() > kShown ? " …" : "");
}

std::string range(std::size_t low, std::size_t high) {
  return low == high ? std::to_string(low) : fmt::format("{} to {}", low, high);
}

void describe_task(std::string& out, const TaskSummary& task) {
  out += fmt::format("\n{}: {}, {} items ({} labelled) on {} states, {} options\n", task.name,
                     decision::to_string(task.type), task.items, task.labelled, task.states,
                     range(task.options_min, task.options_max));
  if (!task.labels.empty()) out += fmt::format("  labels     {}\n", listed(task.labels));
  if (!task.gold_positions.empty()) {
    out += fmt::format("  positions  {}\n", numbers(task.gold_positions));
  }
  if (!task.kinds.empty()) out += fmt::format("  kinds      {}\n", listed(task.kinds));
  for (const auto& [name, digest] : task.readings) {
    out += fmt::format("  reading    {} ({})\n", printable(name, 40), digest.substr(0, 12));
  }
}

std::string prompt_part(std::string_view title, const std::string& prompt) {
  return fmt::format("\n--- {}: {} characters, sha256 {}\n{}\n", title, count_code_points(prompt),
                     sha256_hex(prompt), prompt);
}

std::string reading_part(const Kit& kit, const Item& item, const LikelihoodReading& reading) {
  const bool per_option = reading.given.uses_option() || reading.score.uses_option();
  decision::Template::Fields fields;
  fields.state = kit.states[item.state].text;
  fields.instructions = item.question.instructions;
  fields.question = item.question.question;
  fields.meta = &item.meta;
  if (per_option) fields.option = &item.question.options.front();
  return fmt::format("\n--- reading {} ({}{}), given:\n{}\n--- score:\n{}\n", reading.name,
                     reading.chat ? "chat" : "plain text",
                     per_option ? ", for the first option" : "", reading.given.fill(fields),
                     reading.score.fill(fields));
}

}  // namespace

KitSummary summarise(const Kit& kit) {
  KitSummary summary{.name = kit.name,
                     .version = kit.version,
                     .licence = kit.licence,
                     .source = kit.source,
                     .path = kit.path,
                     .format = kit.format,
                     .digest = kit.digest,
                     .layout_digest = kit.layout.digest(),
                     .items = kit.item_count(),
                     .states = kit.states.size(),
                     .longest_state = {},
                     .tasks = {}};
  std::vector<std::size_t> sizes;
  for (const State& state : kit.states) {
    if (sizes.empty() || state.text.size() > summary.state_bytes_max) {
      summary.state_bytes_max = state.text.size();
      summary.longest_state = state.id;
    }
    sizes.push_back(state.text.size());
  }
  if (!sizes.empty()) {
    std::ranges::sort(sizes);
    summary.state_bytes_min = sizes.front();
    summary.state_bytes_median = sizes[(sizes.size() - 1) / 2];
  }
  for (const Task& task : kit.tasks) summary.tasks.push_back(summarise_task(task));
  return summary;
}

std::string describe(const Kit& kit, std::string_view only) {
  const KitSummary summary = summarise(kit);
  std::string out =
      fmt::format("{}{}{}\n", printable(summary.name, 80),
                  summary.version.empty() ? "" : ", version ", printable(summary.version, 40));
  const auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) out += fmt::format("  {:<10} {}\n", name, printable(value, 200));
  };
  line("licence", summary.licence);
  line("source", summary.source);
  line("format", summary.format);
  line("digest", summary.digest);
  line("layout", summary.layout_digest);
  out += fmt::format("  {:<10} {} of {} to {} bytes, median {}; the longest is {}\n", "states",
                     summary.states, summary.state_bytes_min, summary.state_bytes_max,
                     summary.state_bytes_median, printable(summary.longest_state, 60));
  out += fmt::format("  {:<10} {}\n", "items", summary.items);
  for (const TaskSummary& task : summary.tasks) {
    if (only.empty() || task.name == only) describe_task(out, task);
  }
  return out;
}

Result<const Task*> find_task(const Kit& kit, std::string_view name) {
  if (const Task* task = kit.find_task(name)) return task;
  std::vector<std::string_view> names;
  for (const Task& each : kit.tasks) names.push_back(each.name);
  return fail(Error::Code::NotFound,
              kit.path + ": no task " + in_quotes(name) + did_you_mean(name, names));
}

Result<const Item*> find_item(const Kit& kit, std::string_view task_name, std::string_view id) {
  const auto task = find_task(kit, task_name);
  if (!task) return fail(task.error());
  const auto item = std::ranges::find((*task)->items, id, &Item::id);
  if (item != (*task)->items.end()) return &*item;
  std::vector<std::string_view> ids;
  for (const Item& each : (*task)->items) ids.push_back(each.id);
  return fail(Error::Code::NotFound, kit.path + ": task " + (*task)->name + " has no item " +
                                         in_quotes(id) + did_you_mean(id, ids));
}

Result<std::string> describe_item(const Kit& kit, std::string_view task_name, std::string_view id) {
  const auto found = find_item(kit, task_name, id);
  if (!found) return fail(found.error());
  const Task* task = kit.find_task(task_name);
  const Item* item = *found;
  const State& state = kit.states[item->state];
  const auto& options = item->question.options;
  std::string out =
      fmt::format("{} {}: {}, {} options, label {}, state {}{}\n", task->name,
                  printable(item->id, 80), decision::to_string(task->type), options.size(),
                  item->label ? printable(*item->label, 80) : "none", printable(state.id, 80),
                  item->kind.empty() ? "" : ", kind " + printable(item->kind, 60));
  if (options.empty()) return out;
  if (options.size() <= decision::kLetters) {
    out += prompt_part("letters", decision::render_letters(kit.layout, state.text, item->question,
                                                           options, item->meta));
  } else {
    out += fmt::format("\n--- letters: {} options, asked as a tournament\n", options.size());
  }
  for (const bool shown : {true, false}) {
    out += prompt_part(
        shown ? "words, options listed" : "words, options not listed",
        decision::render_words(kit.layout, shown, state.text, item->question, item->meta));
  }
  for (const auto& reading : task->readings) out += reading_part(kit, *item, reading);
  return out;
}

std::string to_string(const Finding& finding) {
  const std::string line = finding.line > 0 ? ":" + std::to_string(finding.line) : "";
  const bool refused = finding.level == Finding::Level::Refusal;
  return finding.file + line + ": " + (refused ? "refused: " : "warning: ") + finding.message;
}

}  // namespace deem::kit
