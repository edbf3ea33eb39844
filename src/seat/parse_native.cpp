// What endpoints that answer decisions themselves send back.
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/text.h"
#include "seat/document.h"
#include "seat/native_form.h"

namespace deem::seat {
namespace {

using decision::NativeAnswer;
using decision::Question;
using decision::QuestionType;
using Members = std::map<std::string, std::optional<Element>, std::less<>>;

/// Members of an object by name, null for null; empty where it is none. Errors: Corrupt when a name
/// stands twice: which of the two would be meant?
Result<Members> members_of(const std::optional<Element>& element) {
  Members out;
  simdjson::dom::object object;
  if (!element || element->get_object().get(object) != simdjson::SUCCESS) return out;
  for (const auto& [key, value] : object) {
    const auto given = value.is_null() ? std::nullopt : std::optional<Element>(value);
    if (!out.emplace(key, given).second) {
      return fail(Error::Code::Corrupt, "\"" + printable(key, 80) + "\" stands twice in the reply");
    }
  }
  return out;
}

std::optional<Element> find(const Members& members, std::string_view key) {
  const auto found = members.find(key);
  return found == members.end() ? std::nullopt : found->second;
}

/// A probability as it stands: none where it is absent or null, NaN where it is no number.
std::optional<double> read_probability(const std::optional<Element>& element) {
  if (!element) return std::nullopt;
  return read_number(element).value_or(std::numeric_limits<double>::quiet_NaN());
}

std::string_view type_name(NativeForm form, QuestionType type) {
  if (type == QuestionType::Choice) return "choice";
  if (type == QuestionType::Score) return "score";
  return form == NativeForm::SystemOne ? "noul"
         : form == NativeForm::OpenAi  ? "predicate"
                                       : "yes_no";
}

/// What option `i` goes by in a map of probabilities.
std::string option_name(const Question& question, std::size_t i) {
  if (question.type == QuestionType::Score) return std::to_string(i);
  if (question.type == QuestionType::Noul) return i == 0 ? "yes" : "no";
  return question.options[i].key;
}

/// Text as it stands, true and false as words: OpenAI's values may be either.
std::optional<std::string> read_name(const std::optional<Element>& element) {
  bool truth = false;
  if (element && element->get_bool().get(truth) == simdjson::SUCCESS)
    return truth ? "true" : "false";
  return read_string(element);
}

Result<void> read_map(const std::optional<Element>& map, const Question& question,
                      NativeAnswer& out) {
  const auto members = members_of(map);
  if (!members) return fail(members.error());
  if (members->empty()) return {};
  std::set<std::string, std::less<>> asked;
  for (std::size_t i = 0; i < question.options.size(); ++i) {
    out.probs.push_back(read_probability(find(*members, option_name(question, i))));
    asked.insert(option_name(question, i));
  }
  for (const auto& [name, element] : *members) {
    if (asked.contains(name)) continue;
    if (const auto p = read_probability(element)) out.strays.push_back(*p);
  }
  return {};
}

/// A list of {"value" or "label", "probability"}; levels may be told by number alone.
Result<void> read_list(const std::optional<Element>& list, const Question& question,
                       NativeAnswer& out) {
  simdjson::dom::array entries;
  if (!list || list->get_array().get(entries) != simdjson::SUCCESS) return {};
  out.probs.resize(question.options.size());
  std::vector<bool> seen(question.options.size());
  for (const Element entry : entries) {
    auto name = read_name(member(entry, "label"));
    if (!name) name = read_name(member(entry, "value"));
    const auto number = read_int(member(entry, "value"));
    const auto probability = read_probability(member(entry, "probability"));
    bool asked = false;
    for (std::size_t i = 0; i < question.options.size(); ++i) {
      const bool named =
          name ? *name == question.options[i].key : number == static_cast<std::int64_t>(i);
      if (!named) continue;
      if (seen[i]) {
        return fail(Error::Code::Corrupt, "option \"" + printable(question.options[i].key, 80) +
                                              "\" stands twice in the reply");
      }
      seen[i] = asked = true;
      out.probs[i] = probability;
    }
    if (!asked && probability) out.strays.push_back(*probability);
  }
  return {};
}

void read_choice(const std::optional<Element>& element, const Question& question,
                 NativeAnswer& out) {
  const auto name = read_name(element);
  if (!name) return;
  for (std::size_t i = 0; i < question.options.size(); ++i) {
    if (question.options[i].key == *name) out.choice = i;
  }
  out.names_no_option = !out.choice;
}

Result<NativeAnswer> read_answer(const Element& element, NativeForm form,
                                 const Question& question) {
  NativeAnswer out;
  const auto members = members_of(element);
  if (!members) return fail(members.error());
  const auto type = read_string(find(*members, "type"));
  out.declined = type == "refusal";
  out.present =
      element.is_object() && !out.declined && (!type || *type == type_name(form, question.type));
  if (!out.present) return out;
  const auto probabilities = find(*members, "probabilities");
  if (question.type == QuestionType::Noul && form != NativeForm::Sglang) {
    const bool systemone = form == NativeForm::SystemOne;
    const auto p = read_probability(find(*members, systemone ? "noul" : "probability"));
    if (p) out.probs = {p};
  } else {
    auto read = form == NativeForm::OpenAi ? read_list(probabilities, question, out)
                                           : read_map(probabilities, question, out);
    if (!read) return fail(read.error());
  }
  if (question.type == QuestionType::Choice) read_choice(find(*members, "choice"), question, out);
  out.score = read_number(find(*members, "score"));
  out.confidence = read_number(find(*members, "confidence"));
  out.label_mass = read_number(find(*members, "label_mass"));
  if (!out.label_mass) out.label_mass = read_number(find(*members, "x_label_mass"));
  return out;
}

Usage read_counts(const Element& root) {
  Usage usage;
  const auto counts = member(root, "usage");
  const auto count = [&](const char* name, const char* other) {
    const auto found = read_count(member(counts, name));
    return found ? found : read_count(member(counts, other));
  };
  usage.prompt_tokens = count("input_tokens", "prompt_tokens");
  usage.output_tokens = count("output_tokens", "completion_tokens");
  usage.cached_tokens = read_count(member(member(counts, "input_tokens_details"), "cached_tokens"));
  usage.served_model = read_told(member(root, "model"));
  return usage;
}

/// The answers of a list by the id they name, or by place where none names any.
Result<std::vector<std::optional<Element>>> find_in_list(const Element& answers,
                                                         const DecideRequest& request) {
  simdjson::dom::array list;
  if (answers.get_array().get(list) != simdjson::SUCCESS) {
    return fail(Error::Code::Corrupt, "\"answers\" is no list in the reply");
  }
  std::vector<std::optional<Element>> by_place;
  Members by_name;
  for (const Element answer : list) {
    by_place.push_back(answer.is_null() ? std::nullopt : std::optional(answer));
    const auto name = read_string(member(answer, "name"));
    if (name && !by_name.emplace(*name, answer).second) {
      return fail(Error::Code::Corrupt, "\"" + printable(*name, 80) + "\" is answered twice");
    }
  }
  if (by_name.empty()) {
    by_place.resize(request.questions.size());
    return by_place;
  }
  std::vector<std::optional<Element>> out;
  for (const auto& asked : request.questions) out.push_back(find(by_name, asked.id));
  return out;
}

Result<std::vector<std::optional<Element>>> find_answers(const Element& answers, NativeForm form,
                                                         const DecideRequest& request) {
  if (form == NativeForm::OpenAi) return find_in_list(answers, request);
  if (!answers.is_object()) {
    return fail(Error::Code::Corrupt, "\"answers\" is no object in the reply");
  }
  const auto members = members_of(answers);
  if (!members) return fail(members.error());
  std::vector<std::optional<Element>> out;
  for (const auto& asked : request.questions) out.push_back(find(*members, asked.id));
  return out;
}

}  // namespace

Result<NativeReply> parse_native_reply(std::string_view bytes, NativeForm form,
                                       const DecideRequest& request) {
  const auto document = parse_document(bytes, "answers");
  if (!document) return fail(document.error());
  const auto found = find_answers(*member(document->root(), "answers"), form, request);
  if (!found) return fail(found.error());
  NativeReply out;
  for (std::size_t i = 0; i < request.questions.size(); ++i) {
    if (!(*found)[i]) {
      out.answers.emplace_back();
      continue;
    }
    auto answer = read_answer(*(*found)[i], form, request.questions[i].question);
    if (!answer) return fail(answer.error());
    out.answers.push_back(std::move(*answer));
  }
  out.usage = read_counts(document->root());
  return out;
}

}  // namespace deem::seat
