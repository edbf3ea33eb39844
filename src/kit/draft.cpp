#include "kit/draft.h"

#include <algorithm>
#include <utility>

#include "base/digest.h"

namespace deem::kit {
namespace {
constexpr std::size_t kMostFindings = 1'000;  // of each level
constexpr std::size_t kMostCopied = std::size_t{2} << 30;
}  // namespace

std::size_t Draft::add_file(std::string name) {
  files_.push_back(std::move(name));
  return files_.size() - 1;
}

void Draft::refuse(Origin at, std::string message) {
  note(Finding::Level::Refusal, at, std::move(message));
}

void Draft::warn(Origin at, std::string message) {
  note(Finding::Level::Warning, at, std::move(message));
}

void Draft::note(Finding::Level level, Origin at, std::string message) {
  const std::size_t slot = level == Finding::Level::Refusal ? 0 : 1;
  if (kept_[slot] == kMostFindings) {
    ++dropped_[slot];
    return;
  }
  ++kept_[slot];
  findings_.push_back({.level = level,
                       .file = at.file < files_.size() ? files_[at.file] : kit.path,
                       .line = at.line,
                       .message = std::move(message)});
}

std::size_t Draft::add_state(State state, Origin at) {
  state.sha256 = sha256_hex(state.text);
  states_by_id_.emplace(state.id, kit.states.size());
  kit.states.push_back(std::move(state));
  state_origins.push_back(at);
  return kit.states.size() - 1;
}

std::size_t Draft::inline_state(std::string_view text, std::string_view id, Origin at) {
  const std::string sha = sha256_hex(text);
  if (const auto found = inline_by_sha_.find(sha); found != inline_by_sha_.end()) {
    return found->second;
  }
  State state{.id = std::string(id), .text = std::string(text), .sha256 = {}, .sections = {}};
  for (int n = 2; states_by_id_.contains(state.id); ++n) {
    state.id = std::string(id) + "~" + std::to_string(n);
  }
  const std::size_t index = add_state(std::move(state), at);
  inline_by_sha_.emplace(sha, index);
  return index;
}

std::optional<std::size_t> Draft::find_state(std::string_view id) const {
  const auto found = states_by_id_.find(id);
  if (found == states_by_id_.end()) return std::nullopt;
  return found->second;
}

std::size_t Draft::add_task(Task task, bool labels_open) {
  kit.tasks.push_back(std::move(task));
  item_origins.emplace_back();
  open_labels.push_back(labels_open);
  return kit.tasks.size() - 1;
}

void Draft::add_item(std::size_t task, Item item, Origin at) {
  kit.tasks[task].items.push_back(std::move(item));
  item_origins[task].push_back(at);
}

bool Draft::afford(std::size_t bytes, Origin at) {
  if (too_large_) return false;
  copied_bytes_ += bytes;
  if (copied_bytes_ <= kMostCopied) return true;
  too_large_ = true;
  refuse(at, "from here on the items' options hold over 2 GiB of text in all; split the kit");
  return false;
}

std::vector<Finding> Draft::take_findings() {
  static constexpr const char* kNames[] = {"refusals", "warnings"};
  const auto place = [this](const Finding& finding) {
    const auto file = std::ranges::find(files_, finding.file);  // the kit's own come last
    return std::pair(file - files_.begin(), finding.line);
  };
  std::ranges::stable_sort(findings_, {}, place);
  for (const std::size_t slot : {std::size_t{0}, std::size_t{1}}) {
    if (dropped_[slot] == 0) continue;
    findings_.push_back(
        {.level = slot == 0 ? Finding::Level::Refusal : Finding::Level::Warning,
         .file = kit.path,
         .line = 0,
         .message = std::to_string(dropped_[slot]) + " more " + kNames[slot] + " not listed"});
    dropped_[slot] = 0;
  }
  return std::move(findings_);
}

}  // namespace deem::kit
