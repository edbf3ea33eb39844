// Requests to decision endpoints in every form, and their replies as public recordings show them.
#include "seat/native_form.h"

#include <gtest/gtest.h>

#include <cmath>

#include "codec/json.h"

namespace deem::seat {
namespace {

using decision::QuestionType;
using decision::VoidCause;

DecideRequest one(QuestionType type, std::vector<decision::Option> options) {
  DecideRequest out;
  out.state = "The \"north\" gate";
  out.questions = {
      {.id = "q1",
       .question = {
           .type = type, .instructions = "Which?", .question = {}, .options = std::move(options)}}};
  return out;
}

DecideRequest choice() {
  return one(QuestionType::Choice, {{.key = "a", .description = "alpha"}, {.key = "b"}});
}
DecideRequest noul() { return one(QuestionType::Noul, {{.key = "yes"}, {.key = "no"}}); }
DecideRequest described() {
  return one(QuestionType::Noul, {{.key = "yes", .description = "it opens"}, {.key = "no"}});
}
DecideRequest score() {
  return one(QuestionType::Score, {{.key = "low", .description = "not at all"}, {.key = "high"}});
}

struct BodyCase {
  const char* name;
  NativeForm form;
  DecideRequest request;
  const char* want;
};
class NativeBody : public testing::TestWithParam<BodyCase> {};

TEST_P(NativeBody, IsInItsForm) {
  const auto& [name, form, request, want] = GetParam();
  EXPECT_EQ(native_body(form, "m", request), want);
}

constexpr auto kSystemOne = NativeForm::SystemOne;
constexpr auto kOpenAi = NativeForm::OpenAi;
constexpr auto kSglang = NativeForm::Sglang;

INSTANTIATE_TEST_SUITE_P(
    Table, NativeBody,
    testing::Values(
        BodyCase{"SystemOneChoice", kSystemOne, choice(),
                 R"({"model":"m","state":"The \"north\" gate","questions":{"q1":{"type":"choice",)"
                 R"("instructions":"Which?","criteria":{"a":"alpha","b":null}}}})"},
        BodyCase{"SystemOneNoul", kSystemOne, noul(),
                 R"({"model":"m","state":"The \"north\" gate","questions":{"q1":{"type":"noul",)"
                 R"("instructions":"Which?"}}})"},
        BodyCase{"SystemOneNoulDescribed", kSystemOne, described(),
                 R"({"model":"m","state":"The \"north\" gate","questions":{"q1":{"type":"noul",)"
                 R"("instructions":"Which?","criteria":{"true":"it opens",)"
                 R"("false":"The statement is false."}}}})"},
        BodyCase{"SystemOneScore", kSystemOne, score(),
                 R"({"model":"m","state":"The \"north\" gate","questions":{"q1":{"type":"score",)"
                 R"("instructions":"Which?","criteria":["not at all","high"]}}})"},
        BodyCase{"OpenAiChoice", kOpenAi, choice(),
                 R"({"model":"m","input":"The \"north\" gate","questions":[{"type":"choice",)"
                 R"("name":"q1","instructions":"Which?","choices":[{"value":"a",)"
                 R"("description":"alpha"},{"value":"b"}]}]})"},
        BodyCase{"OpenAiPredicate", kOpenAi, described(),
                 R"({"model":"m","input":"The \"north\" gate","questions":[{"type":"predicate",)"
                 R"("name":"q1","instructions":"Which?\nTrue: it opens"}]})"},
        BodyCase{"OpenAiScore", kOpenAi, score(),
                 R"({"model":"m","input":"The \"north\" gate","questions":[{"type":"score",)"
                 R"("name":"q1","instructions":"Which?","levels":[{"label":"low",)"
                 R"("description":"not at all"},{"label":"high"}]}]})"},
        BodyCase{"SglangChoice", kSglang, choice(),
                 R"({"model":"m","input":"The \"north\" gate","questions":[{"id":"q1",)"
                 R"("type":"choice","question":"Which?","options":[{"name":"a",)"
                 R"("description":"alpha"},{"name":"b","description":null}]}]})"},
        BodyCase{"SglangYesNo", kSglang, described(),
                 R"({"model":"m","input":"The \"north\" gate","questions":[{"id":"q1",)"
                 R"("type":"yes_no","question":"Which?","yes":"it opens","no":null}]})"},
        BodyCase{"SglangScore", kSglang, score(),
                 R"({"model":"m","input":"The \"north\" gate","questions":[{"id":"q1",)"
                 R"("type":"score","question":"Which?","levels":["not at all","high"]}]})"}),
    [](const auto& p) { return p.param.name; });

TEST(NativeText, IsStateAndQuestionWhateverTheFormAndTheId) {
  const DecideRequest asked = choice();
  const std::string text = native_text(asked.state, asked.questions[0].question);
  EXPECT_EQ(text, R"({"state":"The \"north\" gate","question":{"type":"choice",)"
                  R"("instructions":"Which?","criteria":{"a":"alpha","b":null}}})");
}

NativeReply read(std::string_view body, NativeForm form, const DecideRequest& request) {
  auto reply = parse_native_reply(body, form, request);
  if (!reply) {
    ADD_FAILURE() << reply.error().message;
    return {};
  }
  return std::move(*reply);
}

VoidCause cause(const decision::NativeAnswer& answer, const DecideRequest& request) {
  const auto& question = request.questions[0].question;
  return judge_native(answer, question.type, question.options.size(), 0.05);
}

// The public recordings of System One's documentation and clients, keys renamed.
TEST(ParseNative, ReadsSystemOnesAnswersByIdAndOptionsByKey) {
  DecideRequest asked = noul();
  asked.questions.push_back(choice().questions[0]);
  asked.questions[1].id = "q2";
  const auto reply = read(R"({"model":"jev-1.13.0","answers":{
      "q2":{"type":"choice","choice":"b","probabilities":{"b":0.98,"a":0.02},"confidence":0.96},
      "q1":{"type":"noul","noul":0.81}},"usage":{"input_tokens":316,"output_tokens":61}})",
                          kSystemOne, asked);
  ASSERT_EQ(reply.answers.size(), 2U);
  EXPECT_EQ(reply.answers[0].probs, (std::vector<std::optional<double>>{0.81}));
  EXPECT_FALSE(reply.answers[0].confidence);
  EXPECT_EQ(reply.answers[1].probs, (std::vector<std::optional<double>>{0.02, 0.98}));
  EXPECT_EQ(reply.answers[1].choice, 1U);
  EXPECT_EQ(reply.answers[1].confidence, 0.96);
  EXPECT_EQ(reply.usage.prompt_tokens, 316);
  EXPECT_EQ(reply.usage.output_tokens, 61);
  EXPECT_EQ(reply.usage.served_model, "jev-1.13.0");
}

TEST(ParseNative, WhatIsGivenToOtherNamesCounts) {
  const DecideRequest asked = choice();
  const auto judged = [&](const std::string& other, NativeForm form) {
    const auto reply =
        read(form == kOpenAi ? R"({"answers":[{"type":"choice","choice":"a","probabilities":[
              {"value":"a","probability":0.8},{"value":"b","probability":0.2},)" +
                                   other + "]}]}"
                             : R"({"answers":{"q1":{"type":"choice","choice":"a",
              "probabilities":{"a":0.8,"b":0.2,)" +
                                   other + "}}}}",
             form, asked);
    return cause(reply.answers.at(0), asked);
  };
  EXPECT_EQ(judged(R"("Other":0)", kSystemOne), VoidCause::None);
  EXPECT_EQ(judged(R"("Other":null)", kSystemOne), VoidCause::None);
  EXPECT_EQ(judged(R"("Other":0.9)", kSystemOne), VoidCause::SumNotOne);
  EXPECT_EQ(judged(R"("Other":-1)", kSystemOne), VoidCause::NotAProbability);
  EXPECT_EQ(judged(R"("Other":"abc")", kSystemOne), VoidCause::NotANumber);
  EXPECT_EQ(judged(R"({"value":"c","probability":0.9})", kOpenAi), VoidCause::SumNotOne);
  // Together they are one: still something else was answered.
  const auto moved = read(R"({"answers":{"q1":{"type":"choice","choice":"a",
      "probabilities":{"a":0.5,"b":0.1,"Other":0.4}}}})",
                          kSystemOne, asked);
  EXPECT_EQ(cause(moved.answers.at(0), asked), VoidCause::SumNotOne);
}

TEST(ParseNative, LevelsAreNumberedFromZeroAndTheLegendMayHoldAnything) {
  const DecideRequest asked = one(QuestionType::Score, {{"k0"}, {"k1"}, {"k2"}, {"k3"}});
  const auto reply = read(R"({"answers":{"q1":{"type":"score","score":2.18,
      "legend":{"0":null,"1":{"a":1},"2":"x","3":[]},
      "probabilities":{"3":0.21,"0":0,"1":0.04,"2":0.75},"confidence":0.75}}})",
                          kSystemOne, asked);
  EXPECT_EQ(reply.answers[0].probs, (std::vector<std::optional<double>>{0.0, 0.04, 0.75, 0.21}));
  EXPECT_EQ(reply.answers[0].score, 2.18);
  EXPECT_EQ(cause(reply.answers[0], asked), VoidCause::None);
}

TEST(ParseNative, ReadsOpenAisListByNameOrByPlace) {
  const DecideRequest asked = choice();
  const auto by_name = read(R"({"answers":[{"type":"predicate","name":"other","probability":0.5},
      {"type":"choice","name":"q1","choice":"a","confidence":0.6,
       "probabilities":[{"value":"b","probability":0.2},{"value":"a","probability":0.8}]}],
      "usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4},"output_tokens":0}})",
                            kOpenAi, asked);
  EXPECT_EQ(by_name.answers[0].probs, (std::vector<std::optional<double>>{0.8, 0.2}));
  EXPECT_EQ(by_name.answers[0].choice, 0U);
  EXPECT_EQ(by_name.usage.cached_tokens, 4);
  const auto by_place =
      read(R"({"answers":[{"type":"predicate","probability":0.25}]})", kOpenAi, noul());
  EXPECT_EQ(by_place.answers[0].probs, (std::vector<std::optional<double>>{0.25}));
  const auto levels = read(R"({"answers":[{"type":"score","name":"q1","score":0.75,"probabilities":[
      {"label":"low","value":0,"probability":0.25},{"label":"high","value":1,"probability":0.75}]}]})",
                           kOpenAi, score());
  EXPECT_EQ(levels.answers[0].probs, (std::vector<std::optional<double>>{0.25, 0.75}));
  const auto numbered = read(R"({"answers":[{"type":"score","name":"q1","probabilities":[
      {"value":1,"probability":0.75},{"value":0,"probability":0.25}]}]})",
                             kOpenAi, score());
  EXPECT_EQ(numbered.answers[0].probs, (std::vector<std::optional<double>>{0.25, 0.75}));
  const auto declined = read(R"({"answers":[{"type":"refusal","name":"q1"}]})", kOpenAi, asked);
  EXPECT_EQ(cause(declined.answers[0], asked), VoidCause::Declined);
}

TEST(ParseNative, ReadsSglangsAnswersWithTheirLabelMass) {
  const auto reply = read(R"({"object":"decisions","model":"m","prompt_format_version":1,
      "answers":{"q1":{"type":"yes_no","probabilities":{"yes":0.7,"no":0.3},"label_mass":0.01}},
      "usage":{"prompt_tokens":21,"total_tokens":21,"completion_tokens":0}})",
                          kSglang, noul());
  EXPECT_EQ(reply.answers[0].probs, (std::vector<std::optional<double>>{0.7, 0.3}));
  EXPECT_EQ(reply.usage.prompt_tokens, 21);
  EXPECT_EQ(cause(reply.answers[0], noul()), VoidCause::LowLabelMass);
}

TEST(ParseNative, WhatIsNotAnAnswerToTheQuestionIsNone) {
  for (const char* answers :
       {"{}", R"({"q1":null})", R"({"q2":{"type":"choice","probabilities":{"a":1,"b":0}}})",
        R"({"q1":5})", R"({"q1":{"type":"noul","noul":0.5}})"}) {
    const DecideRequest asked = choice();
    const auto reply = read(R"({"answers":)" + std::string(answers) + "}", kSystemOne, asked);
    ASSERT_EQ(reply.answers.size(), 1U) << answers;
    EXPECT_EQ(cause(reply.answers[0], asked), VoidCause::NoAnswer) << answers;
  }
  const auto fewer = read(R"({"answers":[]})", kOpenAi, choice());
  EXPECT_EQ(cause(fewer.answers[0], choice()), VoidCause::NoAnswer);
}

TEST(ParseNative, SaysWhatCanNotBeRead) {
  const auto error = [](std::string_view body, NativeForm form = kSystemOne) {
    const auto reply = parse_native_reply(body, form, choice());
    return reply ? Error{Error::Code::NotFound, "read"} : reply.error();
  };
  EXPECT_EQ(error("<html>").code, Error::Code::Corrupt);
  EXPECT_EQ(error(R"({"answers":[]})").code, Error::Code::Corrupt);
  EXPECT_EQ(error(R"({"answers":{}})", kOpenAi).code, Error::Code::Corrupt);
  EXPECT_EQ(error(R"({"error":{"message":"overloaded"}})").code, Error::Code::Unavailable);
  EXPECT_EQ(error(R"({"answers":{"q1":{},"q1":{}}})").message, "\"q1\" stands twice in the reply");
  EXPECT_EQ(error(R"({"answers":{"q1":{"type":"choice","probabilities":{"a":1,"a":0}}}})").message,
            "\"a\" stands twice in the reply");
  EXPECT_EQ(error(R"({"answers":[{"name":"q1"},{"name":"q1"}]})", kOpenAi).message,
            "\"q1\" is answered twice");
  EXPECT_EQ(error(R"({"answers":[{"type":"choice","probabilities":[{"value":"a","probability":1},
                     {"value":"a","probability":0}]}]})",
                  kOpenAi)
                .message,
            "option \"a\" stands twice in the reply");
}

}  // namespace
}  // namespace deem::seat
