#include "cli/report_prompts.h"

#include <algorithm>

#include "base/digest.h"
#include "base/file.h"
#include "bench/prompts.h"
#include "bench/run.h"
#include "record/run.h"

namespace deem::cli {
namespace {

using record::ReadingRecord;
using report::Prompt;

/// A run's kit as it was, or why there is none.
struct RunKit {
  kit::Kit kit = {};
  std::map<std::pair<std::string, std::string>, const kit::Item*> items = {};
  std::string missing = {};
};

RunKit open_kit(const std::string& folder) {
  RunKit out;
  const auto without = [&](std::string why) {
    out.missing = std::move(why);
    return std::move(out);
  };
  const Result<record::RunRecord> run = record::load_run(folder);
  if (!run) return without("there is no run.json to name the kit");
  Result<bench::Config> config = bench::load_run_config(folder);
  if (!config) return without("run.json does not say how the kit was read");
  std::string path = run->kit_path;
  // A run folder that carries its kit may have been moved.
  const std::string carried = join_path(folder, "kit");
  if (!file_exists(path) && file_exists(carried)) path = carried;
  if (!file_exists(path)) return without("the kit is not where the run found it, " + path);
  Result<kit::Loaded> loaded = kit::load_kit(path, config->kit_options);
  if (!loaded) return without("the kit can not be read: " + loaded.error().message);
  if (loaded->refused()) return without("the kit is no longer sound; deem kit check " + path);
  if (loaded->kit.digest != run->kit_digest) {
    return without("the kit has changed since the run, its digest differs");
  }
  out.kit = std::move(loaded->kit);
  for (const kit::Task& task : out.kit.tasks) {
    for (const kit::Item& item : task.items) out.items[{task.name, item.id}] = &item;
  }
  return out;
}

/// Every option's text after what is given, as a reading by likelihood scores them; the label's
/// first.
std::string shown_texts(const bench::TextsPrompt& prompt, const record::Row& row) {
  const bool by_option = prompt.texts.size() == row.keys.size();
  std::string label, others;
  for (std::size_t i = 0; i < prompt.texts.size(); ++i) {
    const bool right = by_option && row.label == row.keys[i];
    std::string& out = right ? label : others;
    if (by_option) out += "[" + row.keys[i] + (right ? ", the label] " : "] ");
    out += prompt.texts[i].given + " ⟶ " + prompt.texts[i].score + "\n";
  }
  return label + others;
}

Prompt render(const RunKit& source, const record::Row& row, const std::string& name) {
  if (!source.missing.empty()) return {.text = {}, .missing = source.missing};
  const auto item = source.items.find({row.task, row.id});
  const kit::Task* task = source.kit.find_task(row.task);
  if (item == source.items.end() || task == nullptr) {
    return {.text = {}, .missing = "the kit has no such item"};
  }
  const ReadingRecord& reading = row.readings.at(name);
  const kit::State& state = source.kit.states[item->second->state];
  const auto kind = bench::find_reading(*task, name);
  if (!kind) return {.text = {}, .missing = "the kit has no such reading"};
  std::string text, digest;
  switch (*kind) {
    case bench::ReadingKind::Letters:
      text = bench::make_letters_prompt(source.kit, *item->second, state.text).prompts.front();
      break;
    case bench::ReadingKind::Written:
      text = bench::make_written_prompt(source.kit, *item->second);
      break;
    case bench::ReadingKind::Native:
      text = bench::make_native_text(source.kit, *item->second);
      break;
    default: {
      const bench::TextsPrompt prompt =
          bench::make_texts_prompt(source.kit, *task, *item->second, name, false);
      if (prompt.digest.empty()) {
        text = prompt.texts.front().given;
      } else {
        text = shown_texts(prompt, row);
        digest = prompt.digest;  // of the templates; the state has one of its own
        if (state.sha256 != row.state_sha256) digest.clear();
      }
    }
  }
  if (digest.empty()) digest = sha256_hex(text);
  if (digest != reading.prompt_sha256) {
    return {.text = {}, .missing = "rendered again it has another digest than the row's"};
  }
  return {.text = std::move(text), .missing = {}};
}

}  // namespace

std::map<report::PromptKey, Prompt> find_prompts(std::span<const record::Row> rows,
                                                 const std::vector<RowRange>& ranges,
                                                 const std::vector<report::PromptKey>& wanted) {
  std::map<report::PromptKey, Prompt> out;
  for (const RowRange& range : ranges) {
    std::optional<RunKit> source;
    for (const report::PromptKey& key : wanted) {
      if (key.first < range.first || key.first >= range.last) continue;
      if (!rows[key.first].readings.contains(key.second)) continue;
      if (!source) source = open_kit(range.path);
      out[key] = render(*source, rows[key.first], key.second);
    }
  }
  return out;
}

}  // namespace deem::cli
