// Bytes a decision endpoint may send → the parser, in every form, and the judge. The first byte
// picks the form and the question.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "decision/native.h"
#include "seat/native_form.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using deem::decision::QuestionType;
  using deem::seat::NativeForm;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr std::array kForms = {NativeForm::SystemOne, NativeForm::OpenAi, NativeForm::Sglang};
  constexpr std::array kTypes = {QuestionType::Noul, QuestionType::Choice, QuestionType::Score};
  deem::seat::DecideRequest request;
  request.questions = {
      {.id = "q1",
       .question = {.type = kTypes[data[0] / 3 % 3], .options = {{.key = "a"}, {.key = "b"}}}}};
  const auto reply = deem::seat::parse_native_reply(bytes, kForms[data[0] % 3], request);
  if (!reply) return 0;
  const auto& answer = reply->answers.at(0);
  const QuestionType type = request.questions[0].question.type;
  if (judge_native(answer, type, 2, 0.05) != deem::decision::VoidCause::None) return 0;
  std::vector<double> probs;
  for (const auto& p : answer.probs) probs.push_back(*p);
  double sum = 0;
  for (const double p : deem::decision::native_probs(probs, answer.choice, 2)) sum += p;
  if (!(sum > 0.999999 && sum < 1.000001)) std::abort();
  return 0;
}
