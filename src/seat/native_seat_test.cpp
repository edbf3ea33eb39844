// Seats of decision endpoints against scripted ones: every form, every fault of an answer and of a
// server.
#include <gtest/gtest.h>

#include <cmath>

#include "codec/json.h"
#include "net/http_server.h"
#include "seat/seat_test_support.h"

namespace deem::seat {
namespace {

using decision::QuestionType;
using decision::VoidCause;
using Code = Error::Code;

FakeServer start(const Form& form, FakeOptions options = {}) {
  options.sglang_form = form.sglang;
  return start_fake(form.kind, std::move(options));
}

DecideRequest ask(QuestionType type, std::size_t options, std::size_t questions = 1) {
  DecideRequest out;
  out.state = "The cat sat on the mat.";
  const std::vector<decision::Option> all = {
      {.key = "mat", .description = "on it"}, {.key = "roof"}, {.key = "car"}, {.key = "—"}};
  for (std::size_t q = 0; q < questions; ++q) {
    out.questions.push_back(
        {.id = "q" + std::to_string(q + 1),
         .question = {
             .type = type,
             .instructions = "Where?",
             .question = {},
             .options = {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(options)}}});
  }
  return out;
}

VoidCause judge(const decision::NativeAnswer& answer, const DecideRequest& request) {
  const auto& question = request.questions[0].question;
  return judge_native(answer, question.type, question.options.size(), 0.05);
}

/// exp(z) over their sum, of the scores the scripted model gives the first `n` options.
std::vector<double> shares(std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += std::exp(kFourScores[i]);
  std::vector<double> out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(std::exp(kFourScores[i]) / sum);
  return out;
}

class NativeSeats : public testing::TestWithParam<Form> {};

TEST_P(NativeSeats, SayWhoAnswersAndThatTheyAnswerThemselves) {
  auto server = start(GetParam(), {.served = "fake-model-1.13.0"});
  const auto seat = seat_of(server.seat());
  const auto identity = seat->identify();
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_EQ(identity->kind, server.seat().kind);
  EXPECT_EQ(identity->model, "fake-model");        // an alias
  EXPECT_EQ(identity->root, "fake-model-1.13.0");  // what it stands for now
  const auto can = seat->capabilities();
  ASSERT_TRUE(can) << can.error().message;
  EXPECT_TRUE(can->native);
  EXPECT_EQ(can->letters, Capabilities::Letters::None);
  EXPECT_FALSE(can->likelihood || can->census || can->written);
  EXPECT_EQ(seat->count_chat("x").error().code, Code::Unsupported);
  EXPECT_EQ(seat->first_position(four_letters(), {}).error().code, Code::Unsupported);
  EXPECT_EQ(seat->write({.prompt = "x"}, {}).error().code, Code::Unsupported);
}

TEST_P(NativeSeats, ReadEveryTypeOfQuestion) {
  auto server = start(GetParam());
  const auto seat = seat_of(server.seat());
  for (const auto& [type, n] : {std::pair{QuestionType::Choice, std::size_t{4}},
                                std::pair{QuestionType::Score, std::size_t{3}},
                                std::pair{QuestionType::Noul, std::size_t{2}}}) {
    const DecideRequest request = ask(type, n);
    const auto reply = seat->decide(request, {});
    ASSERT_TRUE(reply) << reply.error().message;
    ASSERT_EQ(reply->answers.size(), 1U);
    ASSERT_EQ(to_string(judge(reply->answers[0], request)), to_string(VoidCause::None));
    const std::vector<double> want = shares(n);
    const auto& probs = reply->answers[0].probs;
    ASSERT_TRUE(probs.size() == n || (type == QuestionType::Noul && probs.size() == 1));
    for (std::size_t i = 0; i < probs.size(); ++i) EXPECT_NEAR(probs[i].value_or(9), want[i], 1e-9);
    EXPECT_EQ(reply->usage.prompt_tokens, 40 + std::ssize(request.state));
    EXPECT_GE(reply->timing.done_s, reply->timing.sent_s);
  }
}

TEST_P(NativeSeats, ManyQuestionsOfOneRequestComeBackInTheOrderAsked) {
  auto server = start(GetParam(), {.answers = {AnswerFault::Reordered}});
  const auto seat = seat_of(server.seat());
  DecideRequest request = ask(QuestionType::Choice, 4, 3);
  request.questions[1].question.options.pop_back();
  const auto reply = seat->decide(request, {});
  ASSERT_TRUE(reply) << reply.error().message;
  ASSERT_EQ(reply->answers.size(), 3U);
  EXPECT_EQ(reply->answers[0].probs.size(), 4U);
  EXPECT_EQ(reply->answers[1].probs.size(), 3U);
  EXPECT_NEAR(*reply->answers[1].probs[0], shares(3)[0], 1e-9);
  EXPECT_EQ(reply->usage.prompt_tokens, 120 + std::ssize(request.state));
}

TEST_P(NativeSeats, AnOverlongStateCarriesTheServersWords) {
  auto server = start(GetParam(), {.context = 100});
  DecideRequest request = ask(QuestionType::Noul, 2);
  request.state = std::string(200, 'x');
  const auto reply = seat_of(server.seat())->decide(request, {});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Code::BadInput);
  EXPECT_NE(reply.error().message.find("does not fit the context of 100"), std::string::npos)
      << reply.error().message;
}

INSTANTIATE_TEST_SUITE_P(Forms, NativeSeats, testing::ValuesIn(kForms),
                         [](const auto& p) { return p.param.name; });

// ---- answers gone wrong

struct AnswerCase {
  const char* name;
  AnswerFault fault;
  VoidCause choice;
  VoidCause noul;
};
const AnswerCase kAnswers[] = {
    {"RenamedId", AnswerFault::RenamedId, VoidCause::NoAnswer, VoidCause::NoAnswer},
    {"NoAnswers", AnswerFault::NoAnswers, VoidCause::NoAnswer, VoidCause::NoAnswer},
    {"NullAnswer", AnswerFault::NullAnswer, VoidCause::NoAnswer, VoidCause::NoAnswer},
    {"WrongType", AnswerFault::WrongType, VoidCause::NoAnswer, VoidCause::NoAnswer},
    {"Declined", AnswerFault::Declined, VoidCause::Declined, VoidCause::Declined},
    {"MissingOption", AnswerFault::MissingOption, VoidCause::MissingOption,
     VoidCause::MissingOption},
    {"NullOption", AnswerFault::NullOption, VoidCause::MissingOption, VoidCause::MissingOption},
    {"NanOption", AnswerFault::NanOption, VoidCause::NotANumber, VoidCause::NotANumber},
    {"TextOption", AnswerFault::TextOption, VoidCause::NotANumber, VoidCause::NotANumber},
    {"Negative", AnswerFault::Negative, VoidCause::NotAProbability, VoidCause::NotAProbability},
    {"Percent", AnswerFault::Percent, VoidCause::NotAProbability, VoidCause::NotAProbability},
    {"Rounded", AnswerFault::Rounded, VoidCause::None, VoidCause::None},
    {"Reordered", AnswerFault::Reordered, VoidCause::None, VoidCause::None},
    {"ExtraOption", AnswerFault::ExtraOption, VoidCause::None, VoidCause::None},
    {"ExtraAnswer", AnswerFault::ExtraAnswer, VoidCause::None, VoidCause::None},
    {"ExtraMembers", AnswerFault::ExtraMembers, VoidCause::None, VoidCause::None},
    {"NoConfidence", AnswerFault::NoConfidence, VoidCause::None, VoidCause::None}};

class NativeAnswers : public testing::TestWithParam<std::tuple<Form, AnswerCase>> {};

TEST_P(NativeAnswers, AreNamedOrRead) {
  const auto& [form, expected] = GetParam();
  auto server = start(form, {.answers = {expected.fault}});
  const auto seat = seat_of(server.seat());
  for (const auto& [type, n, want] :
       {std::tuple{QuestionType::Choice, std::size_t{4}, expected.choice},
        std::tuple{QuestionType::Noul, std::size_t{2}, expected.noul}}) {
    const DecideRequest request = ask(type, n);
    const auto reply = seat->decide(request, {});
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(to_string(judge(reply->answers[0], request)), to_string(want));
  }
}

INSTANTIATE_TEST_SUITE_P(Table, NativeAnswers,
                         testing::Combine(testing::ValuesIn(kForms), testing::ValuesIn(kAnswers)),
                         [](const auto& p) {
                           return std::string(std::get<0>(p.param).name) + "_" +
                                  std::get<1>(p.param).name;
                         });

// Those that a yes/no answer of one number can not show.
TEST(NativeChoices, OfWrongSumsAndNamesAreVoid) {
  const std::pair<AnswerFault, VoidCause> cases[] = {
      {AnswerFault::SumLow, VoidCause::SumNotOne},
      {AnswerFault::AllZero, VoidCause::SumNotOne},
      {AnswerFault::ChoiceDiffers, VoidCause::ChoiceDiffers},
      {AnswerFault::ChoiceUnknown, VoidCause::ChoiceDiffers}};
  for (const Form& form : kForms) {
    for (const auto& [fault, want] : cases) {
      auto server = start(form, {.answers = {fault}});
      const DecideRequest request = ask(QuestionType::Choice, 4);
      const auto reply = seat_of(server.seat())->decide(request, {});
      ASSERT_TRUE(reply) << reply.error().message;
      EXPECT_EQ(to_string(judge(reply->answers[0], request)), to_string(want)) << form.name;
    }
  }
}

TEST(NativeChoices, HardlyAnyMassOnTheLabelsIsVoidWhereItIsTold) {
  const DecideRequest request = ask(QuestionType::Noul, 2);
  for (const Form& form : kForms) {
    auto server = start(form, {.answers = {AnswerFault::LowMass}});
    const auto reply = seat_of(server.seat())->decide(request, {});
    ASSERT_TRUE(reply) << reply.error().message;
    const bool told = std::string(form.name) != "decisions";
    EXPECT_EQ(judge(reply->answers[0], request), told ? VoidCause::LowLabelMass : VoidCause::None);
  }
}

TEST(NativeChoices, AnOptionThatStandsTwiceIsNoReply) {
  for (const Form& form : kForms) {
    auto server = start(form, {.answers = {AnswerFault::Duplicate}});
    const auto reply = seat_of(server.seat())->decide(ask(QuestionType::Choice, 4), {});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Code::Corrupt) << reply.error().message;
    EXPECT_NE(reply.error().message.find("twice"), std::string::npos) << reply.error().message;
  }
}

// ---- servers gone wrong

struct ServerCase {
  const char* name;
  Fault fault;
  Code code;
  const char* words;
};
const ServerCase kServers[] = {
    {"InvalidJson", Fault::InvalidJson, Code::Corrupt, "not JSON"},
    {"NotJson", Fault::NotJson, Code::Corrupt, "It works!"},
    {"BadRequest", Fault::BadRequest, Code::BadInput, "HTTP 400: the request is not to"},
    {"TooManyRequests", Fault::TooManyRequests, Code::Unavailable,
     "HTTP 429: too many requests at once (retry after 2)"},
    {"ServerError", Fault::ServerError, Code::Unavailable, "HTTP 500: EngineCore"},
    {"Loading", Fault::Loading, Code::Unavailable, "HTTP 503: Loading model"},
    {"PlainTextError", Fault::PlainTextError, Code::Unavailable, "HTTP 502: upstream"},
    {"Hang", Fault::Hang, Code::Timeout, "by the deadline"},
    {"Close", Fault::Close, Code::Unavailable, "without a reply"},
    {"Stall", Fault::Stall, Code::Timeout, "by the deadline"}};

class NativeServers : public testing::TestWithParam<std::tuple<Form, ServerCase>> {};

TEST_P(NativeServers, AreNamedAndTheNextAnswerIsRead) {
  const auto& [form, expected] = GetParam();
  auto server = start(form);
  const auto seat = seat_of(server.seat());
  ASSERT_TRUE(seat->identify());
  server.set_faults({{.fault = expected.fault, .count = 2}});
  const auto wait = std::chrono::milliseconds(expected.code == Code::Timeout ? 60 : 20'000);
  const Schedule schedule{.planned = Clock::now(), .deadline = Clock::now() + wait};
  const auto reply = seat->decide(ask(QuestionType::Choice, 4), schedule);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, expected.code) << reply.error().message;
  EXPECT_NE(reply.error().message.find(expected.words), std::string::npos) << reply.error().message;
  EXPECT_NE(reply.error().message.find(server.address()), std::string::npos);
  server.set_faults({});
  const auto after = seat->decide(ask(QuestionType::Choice, 4), {});
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_NEAR(*after->answers[0].probs[0], shares(4)[0], 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Table, NativeServers,
                         testing::Combine(testing::ValuesIn(kForms), testing::ValuesIn(kServers)),
                         [](const auto& p) {
                           return std::string(std::get<0>(p.param).name) + "_" +
                                  std::get<1>(p.param).name;
                         });

// ---- addresses and names

/// Answers any path with what stands there, and keeps the last.
struct Recorder {
  std::string path, body;
};

TEST(NativeAddress, MayNameTheWholeRoute) {
  Recorder seen;
  const auto server = net::HttpServer::start({}, [&](const net::ServerRequest& request) {
    seen = {request.target, request.body};
    return net::ServerReply{
        .body =
            R"({"answers":{"q1":{"type":"choice","choice":"a","probabilities":{"a":1,"b":0}}}})"};
  });
  ASSERT_TRUE(server);
  const std::pair<const char*, const char*> cases[] = {
      {"", "/v1/systemone"},
      {"/v1", "/v1/systemone"},
      {"/v1/systemone", "/v1/systemone"},
      {"/v2/systemone", "/v2/systemone"},
      {"/typesafe", "/typesafe/v1/systemone"},
      {"/api/alpha/decisions", "/api/alpha/decisions"}};
  for (const auto& [tail, route] : cases) {
    const auto seat = seat_of(
        {.kind = "systemone", .address = server->address() + tail, .model = "typesafe/jev"});
    ASSERT_TRUE(seat->identify()) << tail;
    EXPECT_EQ(seen.path, route);
    EXPECT_EQ(codec::parse_json(seen.body)->get_string("model"), "typesafe/jev");
  }
}

TEST(NativeAddress, WithoutANameTheOnlyModelIsAsked) {
  auto server = start(kForms[0]);
  EXPECT_EQ(seat_of(server.seat())->identify()->model, "fake-model");
  const auto nameless = net::HttpServer::start({}, [](const net::ServerRequest&) {
    return net::ServerReply{.body = R"({"models":[{"name":"jev-latest"},{"name":"jev-preview"}]})"};
  });
  ASSERT_TRUE(nameless);
  const auto identity = seat_of({.kind = "systemone", .address = nameless->address()})->identify();
  ASSERT_FALSE(identity);
  EXPECT_NE(identity.error().message.find("name the one to ask"), std::string::npos)
      << identity.error().message;
}

TEST(NativeAddress, AServerThatAnswersNoDecisionsSaysSo) {
  const auto server = net::HttpServer::start({}, [](const net::ServerRequest&) {
    return net::ServerReply{.status = 501,
                            .body = R"({"error":{"code":501,"message":"not a decision model"}})"};
  });
  ASSERT_TRUE(server);
  for (const char* kind : {"systemone", "decisions"}) {
    const auto can =
        seat_of({.kind = kind, .address = server->address(), .model = "m"})->capabilities();
    ASSERT_FALSE(can);
    EXPECT_EQ(can.error().code, Code::Unavailable);
    EXPECT_NE(can.error().message.find("HTTP 501: not a decision model"), std::string::npos)
        << can.error().message;
  }
}

TEST(NativeAddress, RefusedInEveryFormAllWordsAreTold) {
  const auto server = net::HttpServer::start({}, [](const net::ServerRequest&) {
    return net::ServerReply{.status = 422, .body = R"({"detail":"no such field"})"};
  });
  ASSERT_TRUE(server);
  const auto can =
      seat_of({.kind = "decisions", .address = server->address(), .model = "m"})->capabilities();
  ASSERT_FALSE(can);
  EXPECT_EQ(can.error().code, Code::BadInput);
  for (const char* form : {"System One form", "OpenAI form", "SGLang form"}) {
    EXPECT_NE(can.error().message.find(form), std::string::npos) << can.error().message;
  }
}

}  // namespace
}  // namespace deem::seat
