#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "decision/question.h"

namespace deem::decision {

/// A text with {fields}; "{{" and "}}" stand for braces. Parsed once, filled many times.
/// Fields: state, instructions, question, options (the listed lines; layouts only), and of one
/// option: letter, key, description, option (its own text), words (description, else key);
/// meta.NAME: the item's metadata.
class Template {
 public:
  /// Errors: BadInput for an unknown field or a lone brace, naming it and its offset.
  static Result<Template> parse(std::string_view text);

  struct Fields {
    std::string_view state = {}, instructions = {}, question = {}, options = {};
    const Option* option = nullptr;
    std::string_view letter = {};
    const std::map<std::string, std::string>* meta = nullptr;  // string and number values, printed
  };
  /// A missing meta field or a missing option fills in as empty; an empty question as the
  /// instructions.
  std::string fill(const Fields& fields) const;

  bool uses(std::string_view field) const;
  bool uses_option() const;  // any of letter, key, description, option
  const std::string& text() const { return text_; }

 private:
  struct Piece {
    bool is_field = false;
    std::string text;  // literal text, or the field's name
  };
  std::string text_;
  std::vector<Piece> pieces_;
};

/// How a question is laid out for `letters`, `words` (listed) and written answers.
struct Layout {
  Template prompt;
  Template option;             // one line per option, joined by "\n" into {options}
  Template words_listed;       // prompt of `words`: options listed without letters
  Template words_option;       // its option line
  Template words_unlisted;     // prompt of `words`: options not listed
  std::string digest() const;  // sha256 over the five texts in this order, "\n\0" between them
};

/// The reference bench's layout; byte-identical to run.py's prompts.
///   State:\n{state}\n\nQuestion: {instructions}\nOptions:\n{options}\n\nAnswer with the letter of
///   the best option only.
/// with option lines "[{letter}] {key}: {description}".
Layout reference_layout();

/// The letters prompt for `options` (a group of at most 52). Requires 1..52 options.
std::string render_letters(const Layout& layout, std::string_view state, const Question& question,
                           std::span<const Option> options,
                           const std::map<std::string, std::string>& meta = {});

/// The prompt of `words`, options listed or not. Any number of options.
std::string render_words(const Layout& layout, bool listed, std::string_view state,
                         const Question& question,
                         const std::map<std::string, std::string>& meta = {});

}  // namespace deem::decision
