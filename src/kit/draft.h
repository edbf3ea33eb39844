#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kit/kit.h"

namespace deem::kit {

/// Where something was read: an index into Draft's files and a 1-based line (0: the whole file).
struct Origin {
  std::size_t file = 0;
  std::size_t line = 0;
};

/// A kit being read: what was understood so far, where it stood, and every problem found.
/// Loaders only read shapes; finish_draft judges what was read, whatever the format.
class Draft {
 public:
  Kit kit;
  std::vector<Origin> state_origins;              // beside kit.states
  std::vector<std::vector<Origin>> item_origins;  // beside kit.tasks and their items
  std::vector<bool> open_labels;                  // beside kit.tasks: a label that is no option
                                                  // is a warning and stays

  /// Registers a file by the name findings should show.
  std::size_t add_file(std::string name);
  const std::string& file_name(std::size_t file) const { return files_[file]; }

  /// Keeps the first 1,000 of each level; the rest are counted in one closing finding.
  void refuse(Origin at, std::string message);
  void warn(Origin at, std::string message);

  bool has_refusals() const { return kept_[0] > 0; }

  /// Adds a state under its own id; its digest is filled in here.
  std::size_t add_state(State state, Origin at);
  /// The state with exactly this text that came without an id, or a new one named `id` (made
  /// unique with "~2"…), so that items with one text share one state.
  std::size_t inline_state(std::string_view text, std::string_view id, Origin at);
  /// The state named `id`, or none; with equal ids the first.
  std::optional<std::size_t> find_state(std::string_view id) const;

  std::size_t add_task(Task task, bool open_labels);
  void add_item(std::size_t task, Item item, Origin at);

  /// Accounts for text about to be copied into an item. False, and refused once, when a small file
  /// would make the kit hold more than 2 GiB of copies.
  bool afford(std::size_t bytes, Origin at);

  std::vector<Finding> take_findings();

 private:
  void note(Finding::Level level, Origin at, std::string message);

  std::vector<std::string> files_;
  std::vector<Finding> findings_;
  std::size_t kept_[2] = {0, 0};
  std::size_t dropped_[2] = {0, 0};
  std::size_t copied_bytes_ = 0;
  bool too_large_ = false;
  std::map<std::string, std::size_t, std::less<>> states_by_id_;
  std::map<std::string, std::size_t, std::less<>> inline_by_sha_;
};

/// What is wrong with an option list; empty when nothing is.
std::vector<std::string> option_problems(std::span<const decision::Option> options,
                                         decision::QuestionType type);

/// Judges a draft: ids, options, labels, types, templates, hidden bytes; then what is merely
/// suspicious (docs/formats/kit.md, "What kit check says").
void finish_draft(Draft& draft);

}  // namespace deem::kit
