#include "decision/layout.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/digest.h"

namespace deem::decision {
namespace {

constexpr std::array<std::string_view, 9> kFields = {"state",       "instructions", "question",
                                                     "options",     "letter",       "key",
                                                     "description", "option",       "words"};
constexpr std::string_view kMeta = "meta.";

bool is_field_name(std::string_view name) {
  if (name.starts_with(kMeta)) return name.size() > kMeta.size();
  return std::ranges::find(kFields, name) != kFields.end();
}

std::unexpected<Error> refuse(std::size_t offset, const std::string& what) {
  return fail(Error::Code::BadInput, "template, byte " + std::to_string(offset) + ": " + what);
}

/// Only for texts written in this file.
Template must_parse(std::string_view text) {
  Result<Template> parsed = Template::parse(text);
  DEEM_CHECK(parsed);
  return *std::move(parsed);
}

std::string listed(const Template& line, const Template::Fields& fields,
                   std::span<const Option> options, bool lettered) {
  std::string lines;
  for (std::size_t i = 0; i < options.size(); ++i) {
    Template::Fields own = fields;
    own.option = &options[i];
    const char mark = lettered ? letter(i) : '\0';
    if (lettered) own.letter = std::string_view(&mark, 1);
    if (i > 0) lines += '\n';
    lines += line.fill(own);
  }
  return lines;
}

Template::Fields fields_of(std::string_view state, const Question& question,
                           const std::map<std::string, std::string>& meta) {
  Template::Fields fields;
  fields.state = state;
  fields.instructions = question.instructions;
  fields.question = question.question;
  fields.meta = &meta;
  return fields;
}

}  // namespace

Result<Template> Template::parse(std::string_view text) {
  Template out;
  out.text_ = text;
  std::string literal;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c != '{' && c != '}') {
      literal += c;
      ++i;
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == c) {
      literal += c;
      i += 2;
      continue;
    }
    if (c == '}') return refuse(i, "lone \"}\"; write \"}}\" for a brace");
    const std::size_t end = text.find_first_of("{}", i + 1);
    if (end == std::string_view::npos || text[end] == '{') {
      return refuse(i, "lone \"{\"; write \"{{\" for a brace");
    }
    const std::string name(text.substr(i + 1, end - i - 1));
    if (!is_field_name(name)) {
      return refuse(i, "unknown field \"{" + name +
                           "}\"; fields are state, instructions, question, options, letter, key, "
                           "description, option, words, meta.NAME");
    }
    if (!literal.empty()) out.pieces_.push_back({.is_field = false, .text = std::move(literal)});
    literal.clear();
    out.pieces_.push_back({.is_field = true, .text = name});
    i = end + 1;
  }
  if (!literal.empty()) out.pieces_.push_back({.is_field = false, .text = std::move(literal)});
  return out;
}

std::string Template::fill(const Fields& fields) const {
  std::string out;
  for (const Piece& piece : pieces_) {
    const std::string_view name = piece.text;
    if (!piece.is_field) {
      out += name;
    } else if (name == "state") {
      out += fields.state;
    } else if (name == "instructions") {
      out += fields.instructions;
    } else if (name == "question") {
      out += fields.question.empty() ? fields.instructions : fields.question;
    } else if (name == "options") {
      out += fields.options;
    } else if (name == "letter") {
      out += fields.letter;
    } else if (name.starts_with(kMeta)) {
      if (fields.meta == nullptr) continue;
      const auto found = fields.meta->find(std::string(name.substr(kMeta.size())));
      if (found != fields.meta->end()) out += found->second;
    } else if (fields.option != nullptr) {
      out += name == "key"           ? std::string_view(fields.option->key)
             : name == "description" ? std::string_view(fields.option->description)
             : name == "words"       ? fields.option->words()
                                     : fields.option->own_text();
    }
  }
  return out;
}

bool Template::uses(std::string_view field) const {
  return std::ranges::any_of(
      pieces_, [&](const Piece& piece) { return piece.is_field && piece.text == field; });
}

bool Template::uses_option() const {
  return uses("letter") || uses("key") || uses("description") || uses("option") || uses("words");
}

std::string Layout::digest() const {
  constexpr std::string_view kSeparator("\n\0", 2);
  std::string bytes = prompt.text();
  for (const Template* part : {&option, &words_listed, &words_option, &words_unlisted}) {
    bytes += kSeparator;
    bytes += part->text();
  }
  return sha256_hex(bytes);
}

Layout reference_layout() {
  return Layout{
      .prompt = must_parse("State:\n{state}\n\nQuestion: {instructions}\nOptions:\n{options}\n\n"
                           "Answer with the letter of the best option only."),
      .option = must_parse("[{letter}] {key}: {description}"),
      .words_listed =
          must_parse("State:\n{state}\n\nQuestion: {instructions}\nOptions:\n{options}\n\n"
                     "Answer with the text of the best option only."),
      .words_option = must_parse("- {words}"),
      .words_unlisted = must_parse("State:\n{state}\n\nQuestion: {instructions}\n\n"
                                   "Answer briefly, with the answer only."),
  };
}

std::string render_letters(const Layout& layout, std::string_view state, const Question& question,
                           std::span<const Option> options,
                           const std::map<std::string, std::string>& meta) {
  DEEM_CHECK(!options.empty() && options.size() <= kLetters);
  Template::Fields fields = fields_of(state, question, meta);
  const std::string lines = listed(layout.option, fields, options, true);
  fields.options = lines;
  return layout.prompt.fill(fields);
}

std::string render_words(const Layout& layout, bool listed_options, std::string_view state,
                         const Question& question, const std::map<std::string, std::string>& meta) {
  Template::Fields fields = fields_of(state, question, meta);
  if (!listed_options) return layout.words_unlisted.fill(fields);
  const std::string lines = listed(layout.words_option, fields, question.options, false);
  fields.options = lines;
  return layout.words_listed.fill(fields);
}

}  // namespace deem::decision
