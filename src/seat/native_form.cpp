#include "seat/native_form.h"

#include <array>

#include "codec/json.h"

namespace deem::seat {
namespace {

using decision::Option;
using decision::Question;
using decision::QuestionType;

/// JSON text under construction; a member or item after another gets its comma.
class Text {
 public:
  Text& open(char bracket) {
    comma();
    out_ += bracket;
    fresh_ = true;
    return *this;
  }
  Text& close(char bracket) {
    out_ += bracket;
    fresh_ = false;
    return *this;
  }
  Text& key(std::string_view name) {
    text(name);
    out_ += ':';
    fresh_ = true;
    return *this;
  }
  Text& text(std::string_view value) {
    comma();
    codec::append_json_string(out_, value, false);
    return *this;
  }
  /// null where there is none.
  Text& optional(std::string_view value) {
    if (!value.empty()) return text(value);
    comma();
    out_ += "null";
    return *this;
  }
  std::string take() { return std::move(out_); }

 private:
  void comma() {
    if (!fresh_) out_ += ',';
    fresh_ = false;
  }
  std::string out_;
  bool fresh_ = true;
};

bool is_described(const Question& question) {
  return question.options.size() == 2 &&
         (!question.options[0].description.empty() || !question.options[1].description.empty());
}

/// Some clients and routers take both or neither, so one alone gets what the other commonly is.
std::string_view described(const Option& option, std::string_view otherwise) {
  return option.description.empty() ? otherwise : std::string_view(option.description);
}

void add_systemone(Text& out, const Question& question) {
  out.open('{').key("type").text(decision::to_string(question.type));
  out.key("instructions").text(question.instructions);
  if (question.type == QuestionType::Score) {
    out.key("criteria").open('[');
    for (const Option& option : question.options) out.text(option.words());
    out.close(']');
  } else if (question.type == QuestionType::Choice) {
    out.key("criteria").open('{');
    for (const Option& option : question.options) out.key(option.key).optional(option.description);
    out.close('}');
  } else if (is_described(question)) {
    out.key("criteria").open('{');
    out.key("true").text(described(question.options[0], "The statement is true."));
    out.key("false").text(described(question.options[1], "The statement is false.")).close('}');
  }
  out.close('}');
}

/// A statement has no place for what true and false mean there, so that follows the instructions.
std::string with_descriptions(const Question& question) {
  std::string out = question.instructions;
  if (!is_described(question)) return out;
  constexpr std::array<std::string_view, 2> kMarks = {"\nTrue: ", "\nFalse: "};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string& description = question.options[i].description;
    if (!description.empty()) out.append(kMarks[i]).append(description);
  }
  return out;
}

void add_openai(Text& out, const DecideRequest::Question& asked) {
  const Question& question = asked.question;
  const bool noul = question.type == QuestionType::Noul;
  const bool score = question.type == QuestionType::Score;
  out.open('{').key("type").text(noul ? "predicate" : score ? "score" : "choice");
  out.key("name").text(asked.id);
  out.key("instructions").text(noul ? with_descriptions(question) : question.instructions);
  if (!noul) {
    out.key(score ? "levels" : "choices").open('[');
    for (const Option& option : question.options) {
      out.open('{').key(score ? "label" : "value").text(option.key);
      if (!option.description.empty()) out.key("description").text(option.description);
      out.close('}');
    }
    out.close(']');
  }
  out.close('}');
}

void add_sglang(Text& out, const DecideRequest::Question& asked) {
  const Question& question = asked.question;
  const bool noul = question.type == QuestionType::Noul;
  const bool score = question.type == QuestionType::Score;
  out.open('{').key("id").text(asked.id);
  out.key("type").text(noul ? "yes_no" : score ? "score" : "choice");
  out.key("question").text(question.instructions);
  if (score) {
    out.key("levels").open('[');
    for (const Option& option : question.options) out.text(option.words());
    out.close(']');
  } else if (!noul) {
    out.key("options").open('[');
    for (const Option& option : question.options) {
      out.open('{').key("name").text(option.key);
      out.key("description").optional(option.description).close('}');
    }
    out.close(']');
  } else if (is_described(question)) {
    out.key("yes").optional(question.options[0].description);
    out.key("no").optional(question.options[1].description);
  }
  out.close('}');
}

}  // namespace

std::string_view to_string(NativeForm form) {
  switch (form) {
    case NativeForm::SystemOne:
      return "System One";
    case NativeForm::OpenAi:
      return "OpenAI";
    case NativeForm::Sglang:
      return "SGLang";
  }
  return "System One";
}

std::string native_body(NativeForm form, const std::string& model, const DecideRequest& request) {
  Text out;
  out.open('{').key("model").text(model);
  if (form == NativeForm::SystemOne) {
    out.key("state").text(request.state).key("questions").open('{');
    for (const auto& asked : request.questions) {
      out.key(asked.id);
      add_systemone(out, asked.question);
    }
    return out.close('}').close('}').take();
  }
  out.key("input").text(request.state).key("questions").open('[');
  for (const auto& asked : request.questions) {
    if (form == NativeForm::OpenAi) {
      add_openai(out, asked);
    } else {
      add_sglang(out, asked);
    }
  }
  return out.close(']').close('}').take();
}

std::string native_text(std::string_view state, const Question& question) {
  Text out;
  out.open('{').key("state").text(state).key("question");
  add_systemone(out, question);
  return out.close('}').take();
}

}  // namespace deem::seat
