#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json.h"
#include "decision/layout.h"
#include "decision/question.h"

namespace deem::kit {

struct Section {
  std::string id, heading, body;
};

/// What is judged. `text` is what the prompt shows: given as text, or a JSON value printed as the
/// kit states (docs/formats/kit.md).
struct State {
  std::string id;
  std::string text;
  std::string sha256;  // of text
  std::vector<Section> sections;
};

/// A reading by likelihood that the kit defines: the log-likelihood of `score` after `given`.
struct LikelihoodReading {
  std::string name;  // "cloze", "channel", …
  decision::Template given, score;
  bool chat = false;           // given goes through the chat template as the user's turn and
                               // score is the assistant's reply; false: plain text
  std::string digest() const;  // sha256 of name-independent parts: given, score, chat, empty
  std::string empty;           // what stands for the state in `prior`
};

struct Item {
  std::string id;
  std::size_t state = 0;                    // index into Kit::states
  decision::Question question;              // instructions rendered, options complete
  std::optional<std::string> label;         // an option's key
  std::string kind;                         // "" when absent
  std::map<std::string, std::string> meta;  // for {meta.NAME}; numbers printed as in JSON
  codec::Json raw_meta;                     // as read, for the row
};

struct Task {
  std::string name;
  decision::QuestionType type = decision::QuestionType::Choice;
  std::string empty = "N/A";  // the task's empty text
  std::vector<LikelihoodReading> readings;
  std::vector<Item> items;
};

struct Kit {
  std::string name, version, licence, source;
  std::string path;    // folder or file it came from
  std::string digest;  // sha256 over manifest.json's file digests, or of the file
  std::string format;  // "deem", "reference", "jsonl", "squad", "csv"
  decision::Layout layout;
  std::vector<State> states;
  std::vector<Task> tasks;

  std::size_t item_count() const;
  const Task* find_task(std::string_view name) const;
};

/// One thing `kit check` says. Refusals carry file and line; warnings do not stop a run.
struct Finding {
  enum class Level { Refusal, Warning };
  Level level = Level::Warning;
  std::string file;
  std::size_t line = 0;  // 1-based; 0: the whole file
  std::string message;
};

struct Loaded {
  Kit kit;  // usable only when no finding is a Refusal
  std::vector<Finding> findings;
  bool refused() const;
};

struct LoadOptions {
  std::string format;  // "" : recognised from the content
  std::string task;    // task name for one-file formats; "" : the file's stem
  std::map<std::string, std::string> columns;               // csv/tsv: field → column name
  std::map<std::string, LikelihoodReading> extra_readings;  // from deem.toml, by "task.name"
  bool verify_digests = true;
  bool open_labels = false;  // a label that is no option is kept with a warning (it is wrong
                             // whatever is answered) instead of refused
  std::optional<decision::QuestionType> type;  // jsonl, csv: of items that name none
  std::string instructions;  // jsonl, csv: template for items without instructions
  std::uint64_t seed = 1;    // squad: which foreign questions are asked
};

/// Loads any format kit check|run takes: our own folder, the reference bench's layout, JSONL,
/// SQuAD-shaped JSON, CSV/TSV. Every problem found is a finding, not just the first.
/// Errors: NotFound, Unavailable for the path itself; BadInput when the format is unknown.
Result<Loaded> load_kit(const std::string& path, const LoadOptions& options = {});

/// Writes `kit` in our own format with manifest.json into an empty or new folder.
/// Errors: BadInput when the folder has files, Unavailable.
Result<void> freeze_kit(const Kit& kit, const std::string& folder);

/// Rewrites manifest.json of a folder in our own format from its files. Errors: as load_kit.
Result<void> freeze_manifest(const std::string& folder);

}  // namespace deem::kit
