#include "seat/local/chat_template.h"

#include <common/jinja/caps.h>
#include <common/jinja/lexer.h>
#include <common/jinja/parser.h>
#include <common/jinja/runtime.h>
#include <common/json.h>
#include <llama.h>

#include <ctime>
#include <exception>

#include "seat/local/thinking.h"
#include "seat/local/vocabulary.h"

namespace deem::seat::local {
namespace {

// What llama.cpp takes where a file carries no template; models without one rarely know it.
constexpr std::string_view kChatMl =
    "{%- for message in messages -%}\n"
    "  {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' -}}\n"
    "{%- endfor -%}\n"
    "{%- if add_generation_prompt -%}\n"
    "  {{- '<|im_start|>assistant\\n' -}}\n"
    "{%- endif -%}";

std::string today(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::string text(64, '\0');
  text.resize(std::strftime(text.data(), text.size(), format, &local));
  return text;
}

}  // namespace

struct ChatTemplate::Program {
  jinja::program program;
  jinja::caps caps;
  common_json variables = common_json::object();
  std::string bos;
  bool tokenizer_sets_bos = false;
};

ChatTemplate::ChatTemplate(std::unique_ptr<Program> program) : program_(std::move(program)) {}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

Result<ChatTemplate> ChatTemplate::load(const llama_model& model, const Vocabulary& vocabulary,
                                        const std::map<std::string, std::string>& arguments) {
  ChatTemplate made(std::make_unique<Program>());
  const char* carried = llama_model_chat_template(&model, nullptr);
  made.from_model_ = carried != nullptr && *carried != '\0';
  made.source_ = made.from_model_ ? std::string(carried) : std::string(kChatMl);

  Program& program = *made.program_;
  program.bos = vocabulary.bos_text();
  program.tokenizer_sets_bos = vocabulary.leading().has_value();
  program.variables["bos_token"] = program.bos;
  program.variables["eos_token"] = vocabulary.eos_text();
  program.variables["enable_thinking"] = false;
  program.variables["datetime"] = today("%b %d %Y");
  program.variables["date_string"] = today("%d %b %Y");
  for (const auto& [name, json] : arguments) {
    try {
      program.variables[name] = common_json::parse(json);
    } catch (const std::exception&) {
      return fail(Error::Code::BadInput, "chat template argument '" + name + "': '" + json +
                                             "' is no JSON value (a text needs quotes)");
    }
  }
  try {
    jinja::lexer lexer;
    program.program = jinja::parse_from_tokens(lexer.tokenize(made.source_));
    program.caps = jinja::caps_get(program.program);
  } catch (const std::exception& e) {
    return fail(Error::Code::Unsupported, std::string("chat template: ") + e.what());
  }
  if (auto learnt = made.learn(vocabulary); !learnt) return fail(learnt.error());
  return made;
}

Result<std::string> ChatTemplate::render(std::string_view user, const std::string* reply) const {
  const auto message = [&](const char* role, std::string_view text) {
    common_json made = common_json::object();
    made["role"] = std::string(role);
    if (program_->caps.supports_typed_content && !program_->caps.supports_string_content) {
      common_json part = common_json::object();
      part["type"] = std::string("text");
      part["text"] = std::string(text);
      made["content"] = common_json::array({part});
    } else {
      made["content"] = std::string(text);
    }
    return made;
  };
  try {
    common_json messages = common_json::array();
    messages.push_back(message("user", user));
    if (reply != nullptr) messages.push_back(message("assistant", *reply));
    common_json variables = program_->variables;
    variables["messages"] = messages;
    if (reply == nullptr) variables["add_generation_prompt"] = true;

    jinja::context context(source_);
    if (variables.contains("reasoning_effort") && variables["reasoning_effort"].is_string()) {
      jinja::caps_apply_reasoning_effort(context, variables["reasoning_effort"].get<std::string>());
    }
    jinja::global_from_json(context, variables, /*mark_input=*/false);
    jinja::runtime runtime(context);
    const auto results = runtime.execute(program_->program);
    std::string text = jinja::runtime::gather_string_parts(results)->as_string().str();
    if (program_->tokenizer_sets_bos && text.starts_with(program_->bos)) {
      text.erase(0, program_->bos.size());
    }
    return text;
  } catch (const std::exception& e) {
    return fail(Error::Code::Unsupported, std::string("chat template: ") + e.what());
  }
}

Result<std::string> ChatTemplate::render_prompt(std::string_view user) const {
  return render(user, nullptr);
}

Result<void> ChatTemplate::learn(const Vocabulary& vocabulary) {
  const auto prompt = render("Hello.", nullptr);
  if (!prompt) return fail(prompt.error());
  opens_thinking_ = ends_inside_thinking(*prompt);

  const std::string reply = "qzreplyqz";
  if (const auto whole = render("Hello.", &reply)) {
    const std::size_t at = whole->rfind(reply);
    if (at != std::string::npos) {
      std::string tail;
      for (const Token token :
           vocabulary.tokenize(std::string_view(*whole).substr(at + reply.size()))) {
        tail += vocabulary.piece(token);
        if (vocabulary.ends_turn(token)) {
          end_of_reply_ = tail;
          return {};
        }
      }
    }
  }
  // A template that closes no turn, or takes no assistant's message.
  if (const auto token = vocabulary.end_of_turn()) end_of_reply_ = vocabulary.piece(*token);
  return {};
}

}  // namespace deem::seat::local
