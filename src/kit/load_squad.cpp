#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <utility>

#include "base/text.h"
#include "decision/layout.h"
#include "kit/fields.h"
#include "kit/formats.h"
#include "kit/json_scan.h"
#include "kit/readings.h"
#include "kit/source.h"

// SQuAD's shape (1.1 and 2.0, XQuAD, …): {"data": [{"title", "paragraphs": [{"context", "qas":
// [{"id", "question", "answers": [{"text", "answer_start"}], "is_impossible"}]}]}]}.
// An article becomes a state with a section per paragraph; its questions become the items of
// `answered` (does the article answer it) and `section` (which paragraph does).

namespace deem::kit {
namespace {

/// splitmix64 (Steele, Lea, Flood 2014): one step of a generator whose output is the same
/// everywhere.
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

struct Asked {
  std::string id, question;
  std::size_t article = 0;  // index into the draft's states
  std::string section;
  bool impossible = false;
  Origin at;
};

/// The first six words, without a closing full stop or comma: what a paragraph is called by.
std::string heading_of(std::string_view context) {
  std::string heading;
  std::size_t words = 0;
  for (std::size_t at = 0; at < context.size() && words < 6;) {
    const std::size_t begin = context.find_first_not_of(" \t\r\n", at);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(context.find_first_of(" \t\r\n", begin), context.size());
    if (words++ > 0) heading += ' ';
    heading += context.substr(begin, end - begin);
    at = end;
  }
  while (heading.ends_with('.') || heading.ends_with(',')) heading.pop_back();
  return heading;
}

struct Reader {
  Draft& draft;
  std::size_t file;
  const LoadOptions& options;
  std::vector<std::size_t> question_lines{};  // of every question, in file order
  std::size_t questions_seen = 0;
  std::vector<Asked> asked{};

  const std::vector<codec::Json>& list(const Fields& fields, std::string_view key) {
    static const std::vector<codec::Json> kNone;
    const codec::Json* value = fields.find(key);
    if (value != nullptr && value->is_array()) return value->items();
    fields.refuse("no list of " + std::string(key));
    return kNone;
  }

  void read_article(const codec::Json& article, std::size_t number, Origin at) {
    const Fields fields(draft, at, article, "article " + std::to_string(number + 1));
    std::string title = fields.text("title").value_or("Article " + std::to_string(number + 1));
    std::ranges::replace(title, '_', ' ');
    State state{.id = slug_of(title), .text = "# " + title, .sha256 = {}, .sections = {}};
    if (state.id.empty()) state.id = "article-" + std::to_string(number + 1);
    const std::string stem = state.id;
    for (int n = 2; draft.find_state(state.id); ++n) state.id = stem + "-" + std::to_string(n);
    const std::size_t index = draft.kit.states.size();
    for (const codec::Json& paragraph : list(fields, "paragraphs")) {
      const std::string id = "p" + std::to_string(state.sections.size() + 1);
      const Fields part = fields.inside(paragraph, "paragraph " + id);
      auto context = part.needed_text("context");
      const std::string body(trim(context.value_or("")));
      const std::string heading = heading_of(body);
      state.text += "\n\n## " + heading + "\n\n" + body;
      state.sections.push_back({.id = id, .heading = heading, .body = body});
      for (const codec::Json& qa : list(part, "qas")) {
        const std::size_t seen = questions_seen++;
        const std::size_t line = seen < question_lines.size() ? question_lines[seen] : 0;
        read_question(qa, context.value_or(""), index, id, {file, line});
      }
    }
    draft.add_state(std::move(state), at);
  }

  void read_question(const codec::Json& qa, std::string_view context, std::size_t article,
                     const std::string& section, Origin at) {
    const Fields fields(draft, at, qa,
                        "question " + printable(qa.get_string("id").value_or("?"), 60));
    auto id = fields.scalar("id");
    auto question = fields.needed_text("question");
    if (!id) fields.refuse("no id");
    if (!id || !question) return;
    check_answers(fields, context);
    asked.push_back({.id = std::move(*id),
                     .question = std::string(trim(*question)),
                     .article = article,
                     .section = section,
                     .impossible = qa.get_bool("is_impossible").value_or(false),
                     .at = at});
  }

  /// Answers must stand where they say; a mismatch means the text was changed since.
  void check_answers(const Fields& fields, std::string_view context) {
    const codec::Json* answers = fields.find("answers");
    if (answers == nullptr || !answers->is_array()) return;
    for (const codec::Json& answer : answers->items()) {
      const auto text = answer.get_string("text");
      const auto start = answer.get_int("answer_start");
      if (!text || !start) continue;
      const std::size_t byte = *start < 0 ? context.size() : skip_code_points(context, *start);
      if (!context.substr(byte).starts_with(*text)) {
        fields.warn("answer " + in_quotes(*text) + " does not stand at " + std::to_string(*start));
        return;
      }
    }
  }

  static std::size_t skip_code_points(std::string_view text, std::int64_t n) {
    std::size_t at = 0;
    for (; at < text.size(); ++at) {
      if ((static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U) continue;
      if (n-- == 0) break;
    }
    return at;
  }

  Item make_item(const Asked& from, decision::QuestionType type, std::string_view words) const {
    Item item;
    item.id = from.id;
    item.state = from.article;
    item.question.type = type;
    item.question.instructions = std::string(words) + from.question;
    item.question.question = from.question;
    return item;
  }

  void add_answered() {
    const std::size_t task = draft.add_task({.name = "answered",
                                             .type = decision::QuestionType::Noul,
                                             .readings = answered_readings(),
                                             .items = {}},
                                            false);
    const auto add = [&](const Asked& from, std::string id, std::size_t article, const char* label,
                         const char* kind) {
      Item item = make_item(from, decision::QuestionType::Noul, kAnsweredInstructions);
      item.id = std::move(id);
      item.state = article;
      item.question.options = answered_options();
      item.label = label;
      item.kind = kind;
      draft.add_item(task, std::move(item), from.at);
    };
    const bool has_impossible = std::ranges::any_of(asked, &Asked::impossible);
    std::uint64_t random = options.seed;
    bool lone = false;
    for (const Asked& own : asked) {
      if (own.impossible) {
        add(own, own.id, own.article, "no", "impossible");
        continue;
      }
      add(own, own.id, own.article, "yes", "answered");
      if (has_impossible) continue;
      const auto other = other_article(own, random);
      if (other) {
        add(own, own.id + ":elsewhere", *other, "no", "elsewhere");
      } else {
        lone = true;
      }
    }
    if (lone) {
      draft.warn({file, 0},
                 "answered: no other article to take unanswered questions from, so "
                 "every label is yes");
    }
  }

  /// A state other than the question's own in which the same question is not asked.
  std::optional<std::size_t> other_article(const Asked& own, std::uint64_t& random) {
    const std::size_t states = draft.kit.states.size();
    if (states < 2) return std::nullopt;
    const std::size_t step = 1 + next_random(random) % (states - 1);
    for (std::size_t tried = 0; tried < states - 1; ++tried) {
      const std::size_t offset = 1 + (step - 1 + tried) % (states - 1);
      const std::size_t other = (own.article + offset) % states;
      if (!questions_of_.contains({other, own.question})) return other;
    }
    return std::nullopt;
  }

  void add_sections() {
    const std::size_t task = draft.add_task({.name = "section",
                                             .type = decision::QuestionType::Choice,
                                             .readings = {question_channel()},
                                             .items = {}},
                                            false);
    for (const Asked& own : asked) {
      if (own.impossible) continue;
      Item item = make_item(own, decision::QuestionType::Choice, kSectionInstructions);
      const State& state = draft.kit.states[own.article];
      if (!draft.afford(state.text.size(), own.at)) return;
      for (const Section& section : state.sections) {
        item.question.options.push_back({section.id, section.heading, section_text(section)});
      }
      item.label = own.section;
      draft.add_item(task, std::move(item), own.at);
    }
  }

  void index_questions() {
    for (const Asked& own : asked) questions_of_.emplace(own.article, own.question);
  }

  std::set<std::pair<std::size_t, std::string>> questions_of_{};
};

}  // namespace

void load_squad(Draft& draft, std::size_t file, std::string_view bytes,
                const LoadOptions& options) {
  const auto json = parse_checked(draft, file, bytes, 1);
  if (!json) return;
  draft.kit.layout = decision::reference_layout();
  if (const auto version = json->get_string("version")) draft.kit.version = *version;
  static constexpr std::string_view kArticles[] = {"data", "*"};
  static constexpr std::string_view kQuestions[] = {"data", "*", "paragraphs", "*", "qas", "*"};
  const auto article_lines = scan_json(bytes, kArticles).lines;
  Reader reader{draft, file, options};
  reader.question_lines = scan_json(bytes, kQuestions).lines;
  const Fields fields(draft, {file, 1}, *json, "SQuAD file");
  std::size_t number = 0;
  for (const codec::Json& article : reader.list(fields, "data")) {
    const std::size_t line = number < article_lines.size() ? article_lines[number] : 0;
    reader.read_article(article, number++, {file, line});
  }
  reader.index_questions();
  reader.add_answered();
  reader.add_sections();
}

}  // namespace deem::kit
