#include "bench/probe.h"

#include <algorithm>

#include "base/digest.h"
#include "bench/prompts.h"

namespace deem::bench {
namespace {

using decision::Option;
using decision::QuestionType;

constexpr std::string_view kOrder = "order:";

/// An item's own stream of chance: the same orders whatever else is asked.
std::uint64_t item_seed(const Config& config, const kit::Task& task, const kit::Item& item) {
  const std::string digest = sha256_hex(task.name + "\n" + item.id);
  return config.seed ^ std::stoull(digest.substr(0, 16), nullptr, 16);
}

std::vector<std::size_t> order_of(const Config& config, const kit::Task& task,
                                  const kit::Item& item, std::string_view probe) {
  const std::string_view which = probe.substr(kOrder.size());
  const std::size_t at =
      which == "reverse" ? 0 : static_cast<std::size_t>(std::stoul(std::string(which)));
  const int wanted = config.probes.permute == 0 ? 1 : config.probes.permute;
  return option_order(item.question.options.size(), wanted, item_seed(config, task, item), at);
}

/// What the options of a statement are described by where the kit says nothing of its own.
bool describes_any_statement(const std::vector<Option>& options) {
  return options[0].description == "The statement is true." &&
         options[1].description == "The statement is false.";
}

void change_item(const Config& config, const kit::Task& task, kit::Item& item,
                 const std::string& probe) {
  std::vector<Option>& options = item.question.options;
  if (probe.starts_with(kOrder)) {
    std::vector<Option> ordered;
    for (const std::size_t i : order_of(config, task, item, probe)) ordered.push_back(options[i]);
    options = std::move(ordered);
  } else if (probe == "law:negation") {
    item.question.instructions = negated(item.question.instructions);
    if (!item.question.question.empty()) {
      item.question.question = negated(item.question.question);
    }
    if (!describes_any_statement(options)) {
      std::swap(options[0].description, options[1].description);
      std::swap(options[0].text, options[1].text);
    }
    if (item.label == options[0].key) {
      item.label = options[1].key;
    } else if (item.label == options[1].key) {
      item.label = options[0].key;
    }
  } else if (probe == "law:choice") {
    item.question.type = QuestionType::Choice;
    item.question.instructions = "Which of the two is right? " + item.question.instructions;
    options[0].key = "right_one";
    options[1].key = "right_two";
  } else if (probe == "law:rename") {
    for (std::size_t i = 0; i < options.size(); ++i) {
      options[i].key = "option_" + std::to_string(i + 1);
    }
  }
}

bool is_noise(std::string_view probe) { return probe.starts_with("noise:"); }

}  // namespace

std::string negated(std::string_view instructions) {
  const bool question = instructions.ends_with('?');
  return (question ? "Is \"no\" the right answer to this question? " : "It is not true that: ") +
         std::string(instructions);
}

std::size_t count_order_probes(const kit::Item& item, const Probes& probes) {
  const int wanted = probes.permute == 0 && probes.laws ? 1 : probes.permute;
  const std::size_t count = count_orders(item.question.options.size(), wanted);
  return item.question.type == QuestionType::Score ? std::min<std::size_t>(count, 1) : count;
}

std::string order_probe(std::size_t at) {
  return at == 0 ? "order:reverse" : "order:" + std::to_string(at);
}

bool changes_prompt(std::string_view probe) {
  return probe.starts_with(kOrder) || probe == "law:negation" || probe == "law:choice" ||
         probe == "law:rename" || probe == "law:whitespace";
}

bool takes_probe(const Arm& arm, const kit::Kit& kit, const kit::Task& task, const kit::Item& item,
                 std::string_view reading, std::string_view probe) {
  const auto kind = find_reading(task, reading);
  if (!kind) return false;
  const std::vector<Option>& options = item.question.options;
  const bool chat = *kind != ReadingKind::Likelihood;
  const bool written = *kind == ReadingKind::Written;
  if (probe.starts_with(kOrder)) {
    return chat && *kind != ReadingKind::WordsUnlisted && options.size() > 1;
  }
  if (probe == "law:negation" || probe == "law:choice") {
    return chat && item.question.type == QuestionType::Noul && options.size() == 2;
  }
  if (probe == "law:rename") {
    if (!chat || *kind == ReadingKind::WordsUnlisted || item.question.type == QuestionType::Score ||
        std::ranges::any_of(options, [](const Option& o) { return o.description.empty(); })) {
      return false;
    }
    const bool lettered =
        *kind == ReadingKind::Letters || (written && options.size() <= decision::kLetters);
    return (lettered ? kit.layout.option : kit.layout.words_option).uses("key");
  }
  if (probe == "law:whitespace") {
    if (chat) return true;
    const auto found = std::ranges::find(task.readings, reading, &kit::LikelihoodReading::name);
    return found->given.uses("state") && !found->score.uses("state");
  }
  if (probe == "law:alone" || probe == "law:beside" || probe == "law:batch" ||
      probe == "noise:alone") {
    return !written;
  }
  if (probe == "noise:crowd") return !written || !suits(arm.seat, "beside");
  return true;  // noise:again, noise:cold
}

Probed make_probed(const Config& config, const kit::Kit& kit, const Unit& unit) {
  const kit::Task& task = kit.tasks[unit.task];
  Probed out{.kit = {.name = kit.name,
                     .version = {},
                     .licence = {},
                     .source = {},
                     .path = {},
                     .digest = {},
                     .format = {},
                     .layout = kit.layout,
                     .states = {},
                     .tasks = {}},
             .arm = config.arms[unit.arm],
             .unit = {.arm = 0, .task = 0, .items = {}, .repeat = unit.repeat}};
  kit::Task asked{.name = task.name,
                  .type = task.type,
                  .empty = task.empty,
                  .readings = task.readings,
                  .items = {}};
  for (const auto* items : {&unit.items, &unit.beside}) {
    for (const std::size_t i : *items) {
      kit::Item item = task.items[i];
      kit::State state = kit.states[item.state];
      change_item(config, task, item, unit.probe);
      if (unit.probe == "law:whitespace") state.text = "\n\n  " + state.text + "  \n\n";
      item.state = out.kit.states.size();
      out.kit.states.push_back(std::move(state));
      out.unit.items.push_back(asked.items.size());
      asked.items.push_back(std::move(item));
    }
  }
  out.kit.tasks.push_back(std::move(asked));
  std::vector<ReadingChoice> readings;
  for (ReadingChoice choice : readings_for(out.arm, task)) {
    const bool taken = std::ranges::any_of(unit.items, [&](std::size_t i) {
      return takes_probe(out.arm, kit, task, task.items[i], choice.name, unit.probe);
    });
    if (!taken) continue;
    if (is_noise(unit.probe)) choice.prior = false;
    readings.push_back(std::move(choice));
  }
  out.arm.readings = std::move(readings);
  out.cold = unit.probe == "noise:cold";
  out.one_by_one = unit.probe == "noise:crowd" && !suits(out.arm.seat, "beside");
  return out;
}

void finish_probe_row(record::Row& row, const kit::Item& item, const std::string& probe) {
  row.probe = probe;
  if (probe != "law:rename" && probe != "law:choice") return;
  row.keys.clear();
  for (const Option& option : item.question.options) row.keys.push_back(option.key);
  row.label = item.label;
}

}  // namespace deem::bench
