#include "decision/layout.h"

#include <gtest/gtest.h>

#include "base/digest.h"

namespace deem::decision {
namespace {

Template parsed(std::string_view text) {
  auto result = Template::parse(text);
  EXPECT_TRUE(result) << text;
  return result ? *result : Template();
}

TEST(Template, FillsEveryField) {
  const Option option{"tide", "The tide mill", "It turns twice a day."};
  const std::map<std::string, std::string> meta = {{"lang", "en"}, {"year", "1804"}};
  const Template::Fields fields{.state = "S",
                                .instructions = "I",
                                .question = "Q",
                                .options = "O",
                                .option = &option,
                                .letter = "B",
                                .meta = &meta};
  EXPECT_EQ(parsed("{state}|{instructions}|{question}|{options}|{letter}|{key}|{description}|"
                   "{option}|{meta.lang}|{meta.year}")
                .fill(fields),
            "S|I|Q|O|B|tide|The tide mill|It turns twice a day.|en|1804");
}

TEST(Template, WhatIsMissingIsEmptyAndTheQuestionFallsBack) {
  const Template text = parsed("<{key}{option}{letter}{meta.x}{state}>{question}");
  EXPECT_EQ(text.fill({.instructions = "Which?"}), "<>Which?");
}

TEST(Template, DoubledBracesAreBraces) {
  EXPECT_EQ(parsed("{{\"a\": {{}}}}{{state}}").fill({.state = "S"}), "{\"a\": {}}{state}");
  EXPECT_EQ(parsed("{{{state}}}").fill({.state = "S"}), "{S}");
  EXPECT_EQ(parsed("").fill({}), "");
}

TEST(Template, FilledTextIsNotReadAgain) {
  EXPECT_EQ(parsed("{state}").fill({.state = "{question} }} {"}), "{question} }} {");
}

struct Refused {
  const char* text;
  const char* message;
};
class RefusedTemplate : public testing::TestWithParam<Refused> {};

TEST_P(RefusedTemplate, NamesTheOffset) {
  const auto result = Template::parse(GetParam().text);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Error::Code::BadInput);
  EXPECT_TRUE(result.error().message.starts_with(GetParam().message)) << result.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Table, RefusedTemplate,
    testing::Values(Refused{"a {stat} b", "template, byte 2: unknown field \"{stat}\""},
                    Refused{"{}", "template, byte 0: unknown field \"{}\""},
                    Refused{"{ state }", "template, byte 0: unknown field \"{ state }\""},
                    Refused{"{meta.}", "template, byte 0: unknown field \"{meta.}\""},
                    Refused{"{State}", "template, byte 0: unknown field"},
                    Refused{"abc {", "template, byte 4: lone \"{\""},
                    Refused{"{state", "template, byte 0: lone \"{\""},
                    Refused{"{st{ate}", "template, byte 0: lone \"{\""},
                    Refused{"state}", "template, byte 5: lone \"}\""},
                    Refused{"{state}}", "template, byte 7: lone \"}\""}));

TEST(Template, SaysWhatItUses) {
  const Template text = parsed("{state} {{key}} {meta.a}");
  EXPECT_TRUE(text.uses("state"));
  EXPECT_TRUE(text.uses("meta.a"));
  EXPECT_FALSE(text.uses("key"));
  EXPECT_FALSE(text.uses_option());
  for (const char* field : {"{letter}", "{key}", "{description}", "{option}", "{words}"}) {
    EXPECT_TRUE(parsed(field).uses_option()) << field;
  }
}

Question tide_question() {
  return {.type = QuestionType::Choice,
          .instructions = "Which section?",
          .question = "",
          .options = {{"wheel", "The Wheel", "The Wheel\n\nOak."}, {"tide", "", ""}}};
}

TEST(ReferenceLayout, IsTheReferenceBenchsPrompt) {
  // Python: readout_prompt("É {x}", "Which section?", [("wheel", "The Wheel"), ("tide", "")])
  const Question question = tide_question();
  EXPECT_EQ(render_letters(reference_layout(), "É {x}", question, question.options),
            "State:\nÉ {x}\n\nQuestion: Which section?\nOptions:\n[A] wheel: The Wheel\n[B] tide: "
            "\n\nAnswer with the letter of the best option only.");
}

TEST(ReferenceLayout, LettersGoOnBelowZ) {
  Question question{.instructions = "Q"};
  for (int i = 0; i < 52; ++i) question.options.push_back({"k" + std::to_string(i), "d", ""});
  const std::string text = render_letters(reference_layout(), "S", question, question.options);
  EXPECT_NE(text.find("\n[Z] k25: d\n[a] k26: d\n"), std::string::npos);
  EXPECT_NE(text.find("\n[z] k51: d\n\nAnswer"), std::string::npos);
}

TEST(ReferenceLayout, LetterGroupsStartAgainAtA) {
  const Question question = tide_question();
  const std::string text =
      render_letters(reference_layout(), "S", question, std::span(question.options).subspan(1));
  EXPECT_NE(text.find("Options:\n[A] tide: \n\n"), std::string::npos);
}

TEST(ReferenceLayout, WordsListWhatTheOptionsAreCalled) {
  EXPECT_EQ(render_words(reference_layout(), true, "S", tide_question()),
            "State:\nS\n\nQuestion: Which section?\nOptions:\n- The Wheel\n- tide\n\n"
            "Answer with the text of the best option only.");
  EXPECT_EQ(render_words(reference_layout(), false, "S", tide_question()),
            "State:\nS\n\nQuestion: Which section?\n\nAnswer briefly, with the answer only.");
}

TEST(Layout, MetaReachesPromptAndLines) {
  Layout layout = reference_layout();
  layout.prompt = parsed("{meta.who}: {options}");
  layout.option = parsed("{letter}={meta.who}");
  const Question question = tide_question();
  EXPECT_EQ(render_letters(layout, "S", question, question.options, {{"who", "Pell"}}),
            "Pell: A=Pell\nB=Pell");
}

TEST(Layout, DigestCoversEveryTextAndItsPlace) {
  Layout layout{parsed("a"), parsed("b"), parsed("c"), parsed("d"), parsed("e")};
  using namespace std::string_literals;
  EXPECT_EQ(layout.digest(), sha256_hex("a\n\0b\n\0c\n\0d\n\0e"s));
  Layout moved{parsed("ab"), parsed(""), parsed("c"), parsed("d"), parsed("e")};
  EXPECT_NE(layout.digest(), moved.digest());
}

}  // namespace
}  // namespace deem::decision
