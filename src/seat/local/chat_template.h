#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct llama_model;

namespace deem::seat::local {

class Vocabulary;

/// The chat template a model file carries (ChatML where it carries none), run by llama.cpp's Jinja
/// engine as llama-server runs it: same variables, same content forms. One caller at a time.
class ChatTemplate {
 public:
  /// `arguments` are JSON texts by name; `enable_thinking` is false unless named there. Errors:
  /// Unsupported "chat template: …" when the engine can not read or run it; BadInput naming the
  /// argument that is no JSON.
  static Result<ChatTemplate> load(const llama_model& model, const Vocabulary& vocabulary,
                                   const std::map<std::string, std::string>& arguments);
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  /// One user's turn and the opening of the assistant's. A leading BOS is left out where the
  /// tokenizer sets one itself, so that it stands there exactly once. Errors: Unsupported.
  Result<std::string> render_prompt(std::string_view user) const;

  /// What the template writes after an assistant's reply, up to and including the first special
  /// token that ends the turn: "<|im_end|>".
  const std::string& end_of_reply() const { return end_of_reply_; }

  /// Whether the assistant's turn opens inside a thinking block, so that a reply begins there.
  bool opens_thinking() const { return opens_thinking_; }

  const std::string& source() const { return source_; }
  bool from_model() const { return from_model_; }

 private:
  struct Program;
  explicit ChatTemplate(std::unique_ptr<Program> program);
  Result<std::string> render(std::string_view user, const std::string* reply) const;
  Result<void> learn(const Vocabulary& vocabulary);

  std::unique_ptr<Program> program_;
  std::string source_;
  bool from_model_ = true;
  std::string end_of_reply_;
  bool opens_thinking_ = false;
};

}  // namespace deem::seat::local
