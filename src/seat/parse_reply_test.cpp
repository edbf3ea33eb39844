#include "seat/parse_reply.h"

#include <gtest/gtest.h>

#include <cmath>

#include "seat/remote.h"

namespace deem::seat {
namespace {

// A reply of vLLM's chat route.
constexpr std::string_view kChat = R"({"id":"x","model":"m","choices":[{"index":0,
  "message":{"role":"assistant","content":"B"},"finish_reason":"length","logprobs":{"content":[
  {"token":"B","logprob":-0.12,"bytes":[66],"top_logprobs":[{"token":"B","logprob":-0.12,"bytes":[66]},
   {"token":"A","logprob":-2.4,"bytes":[65]}]}],"refusal":null}}],
  "usage":{"prompt_tokens":31,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":16}}})";

// A row that held one could not be read again.
TEST(ParseChatReply, CountsThatCanNotBeAreNotTold) {
  for (const char* count : {"-5", "9223372036854775807", "1e15", "1.5", "\"31\"", "null"}) {
    std::string body(kChat);
    body.replace(body.find("31"), 2, count);
    const auto reply = parse_chat_reply(body);
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_FALSE(reply->usage.prompt_tokens) << count;
    EXPECT_EQ(reply->usage.output_tokens, 1);
  }
}

TEST(ModelEntry, AContextThatCanNotBeIsNotTold) {
  for (const auto& [size, told] :
       {std::pair{"-1", false}, {"0", false}, {"4096", true}, {"9223372036854775807", false}}) {
    const auto entry =
        parse_model_entry(std::string(R"({"data":[{"id":"m","max_model_len":)") + size + "}]}", "");
    ASSERT_TRUE(entry) << entry.error().message;
    EXPECT_EQ(entry->max_model_len.has_value(), told) << size;
  }
}

TEST(ParseChatReply, ReadsTheFirstPositionAndUsage) {
  const auto reply = parse_chat_reply(kChat);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "B");
  EXPECT_TRUE(reply->position.logprobs_present);
  ASSERT_EQ(reply->position.top.size(), 2u);
  EXPECT_EQ(reply->position.top[1].token, "A");
  EXPECT_EQ(reply->position.top[1].logprob, -2.4);
  EXPECT_FALSE(reply->position.top[1].id);
  ASSERT_TRUE(reply->position.sampled);
  EXPECT_EQ(reply->position.sampled->token, "B");
  EXPECT_NEAR(*reply->position.top_mass, std::exp(-0.12) + std::exp(-2.4), 1e-12);
  EXPECT_EQ(reply->usage.prompt_tokens, 31);
  EXPECT_EQ(reply->usage.cached_tokens, 16);
  EXPECT_EQ(reply->usage.output_tokens, 1);
  EXPECT_EQ(reply->usage.finish_reason, "length");
  EXPECT_EQ(reply->usage.served_model, "m");
}

std::string with_content(std::string_view logprobs) {
  return R"({"choices":[{"message":{"content":null},"logprobs":)" + std::string(logprobs) + "}]}";
}

TEST(ParseChatReply, ListsThatAreNotThereAreNotPresent) {
  for (const char* shape :
       {"null", "{}", R"({"content":null})", R"({"content":[]})", R"({"content":[null]})", "7"}) {
    const auto reply = parse_chat_reply(with_content(shape));
    ASSERT_TRUE(reply) << shape;
    EXPECT_FALSE(reply->position.logprobs_present) << shape;
    EXPECT_FALSE(reply->position.sampled) << shape;
    EXPECT_EQ(reply->text, "");
  }
  EXPECT_FALSE(
      parse_chat_reply(R"({"choices":[{"message":{"content":"A"}}]})")->position.logprobs_present);
}

struct NumberCase {
  const char* name;
  const char* json;
  double want;  // NaN means NaN; ignored when !present
  bool present;
};
class ParseLogprob : public testing::TestWithParam<NumberCase> {};

TEST_P(ParseLogprob, KeepsWhatWasSent) {
  const auto reply =
      parse_chat_reply(with_content(R"({"content":[{"token":"A","logprob":)" +
                                    std::string(GetParam().json) + R"(,"top_logprobs":[]}]})"));
  ASSERT_TRUE(reply) << reply.error().message;
  ASSERT_TRUE(reply->position.sampled);
  const auto logprob = reply->position.sampled->logprob;
  ASSERT_EQ(logprob.has_value(), GetParam().present);
  if (!logprob) return;
  if (std::isnan(GetParam().want)) {
    EXPECT_TRUE(std::isnan(*logprob));
  } else {
    EXPECT_EQ(*logprob, GetParam().want);
  }
}

INSTANTIATE_TEST_SUITE_P(Table, ParseLogprob,
                         testing::Values(NumberCase{"Plain", "-1.5", -1.5, true},
                                         NumberCase{"Whole", "-2", -2, true},
                                         NumberCase{"Zero", "0", 0, true},
                                         NumberCase{"Sentinel", "-9999.0", -9999, true},
                                         NumberCase{"Null", "null", 0, false},
                                         NumberCase{"MinusInfinityText", "\"-Infinity\"", 0, false},
                                         NumberCase{"MinusInfinityBare", "-Infinity", 0, false},
                                         NumberCase{"Overflow", "-1e400", 0, false},
                                         NumberCase{"InfinityBare", "Infinity", HUGE_VAL, true},
                                         NumberCase{"NanBare", "NaN", NAN, true},
                                         NumberCase{"NanText", "\"NaN\"", NAN, true},
                                         NumberCase{"Text", "\"low\"", NAN, true},
                                         NumberCase{"Bool", "true", NAN, true}),
                         [](const auto& p) { return p.param.name; });

TEST(ParseChatReply, TokenIdsAreIdsAndNoText) {
  const auto reply = parse_chat_reply(
      with_content(R"({"content":[{"token":"token_id:32","logprob":-1,"top_logprobs":[
    {"token":"token_id:32","logprob":-1},{"token":"token_id:x","logprob":-2},{"id":7,"token":"G","logprob":-3}]}]})"));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->position.sampled->id, 32);
  EXPECT_EQ(reply->position.sampled->token, "");
  EXPECT_EQ(reply->position.top[0].id, 32);
  EXPECT_FALSE(reply->position.top[1].id);
  EXPECT_EQ(reply->position.top[1].token, "token_id:x");
  EXPECT_EQ(reply->position.top[2].id, 7);
}

TEST(ParseChatReply, ThinkingIsApartUnderEveryName) {
  for (const char* name : {"reasoning", "reasoning_content", "thinking"}) {
    const auto reply = parse_chat_reply(R"({"choices":[{"message":{"content":"B",")" +
                                        std::string(name) + R"(":"hm"}}]})");
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->text, "B");
    EXPECT_EQ(reply->thinking, "hm");
  }
  const auto inside =
      parse_chat_reply(R"({"choices":[{"message":{"content":"<think>\nA or B?</think>\n\nB"}}]})");
  EXPECT_EQ(inside->text, "B");
  EXPECT_EQ(inside->thinking, "\nA or B?");
  const auto open = parse_chat_reply(R"({"choices":[{"message":{"content":"<think>A or"}}]})");
  EXPECT_EQ(open->text, "");
  EXPECT_EQ(open->thinking, "A or");
}

TEST(ParseChatReply, RefusesWhatIsNoReply) {
  for (const char* bytes :
       {"", "{", "[]", "{}", "NaN", "<html>", R"({"choices":[]})", R"({"choices":{}})"}) {
    const auto reply = parse_chat_reply(bytes);
    ASSERT_FALSE(reply) << bytes;
    EXPECT_EQ(reply.error().code, Error::Code::Corrupt) << bytes;
  }
  const auto error = parse_chat_reply(R"({"error":{"message":"engine died"}})");
  EXPECT_EQ(error.error().code, Error::Code::Unavailable);
  EXPECT_EQ(error.error().message, "engine died");
}

TEST(ParseChatReply, HalfASurrogatePairIsReplaced) {
  const auto reply = parse_chat_reply(R"({"choices":[{"message":{"content":"a\ud83d"}}]})");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "a\xEF\xBF\xBD");
}

TEST(ParseOllamaReply, TheListIsFlatAndTimesAreNanoseconds) {
  const auto reply = parse_ollama_reply(
      R"({"model":"m:latest","message":{"role":"assistant","content":"A","thinking":"hm"},
    "done":true,"done_reason":"length","total_duration":5000000,"prompt_eval_count":12,"prompt_eval_duration":2500000,
    "eval_count":1,"logprobs":[{"token":"A","logprob":-0.25,"bytes":[65],"top_logprobs":[{"token":"A","logprob":-0.25}]}]})");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_TRUE(reply->position.logprobs_present);
  EXPECT_EQ(reply->position.top[0].logprob, -0.25);
  EXPECT_EQ(reply->thinking, "hm");
  EXPECT_EQ(reply->usage.prompt_tokens, 12);
  EXPECT_EQ(reply->usage.prompt_ms, 2.5);
  EXPECT_EQ(reply->usage.total_ms, 5.0);
  EXPECT_FALSE(
      parse_ollama_reply(R"({"model":"m","message":{"content":"A"}})")->usage.prompt_tokens);
  EXPECT_EQ(parse_ollama_reply(R"({"error":"model is busy"})").error().message, "model is busy");
}

TEST(ParseCompletionReply, EntriesCarryIdsAndUnderflowIsMinusInfinity) {
  const auto reply = parse_completion_reply(
      R"({"content":"\n","tokens_evaluated":3,"tokens_predicted":1,"stop_type":"limit",
    "timings":{"cache_n":2,"prompt_ms":17.95,"predicted_ms":0.5},"completion_probabilities":[{"id":198,"token":"\n",
    "logprob":-2.5,"top_logprobs":[{"id":198,"token":"\n","logprob":-2.5},{"id":5,"token":"","logprob":-3.4028234663852886e+38}]}]})");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->position.sampled->id, 198);
  EXPECT_EQ(reply->position.top[1].id, 5);
  EXPECT_FALSE(reply->position.top[1].logprob);
  EXPECT_EQ(reply->usage.prompt_tokens, 3);
  EXPECT_EQ(reply->usage.cached_tokens, 2);
  EXPECT_EQ(reply->usage.total_ms, 18.45);
}

TEST(ParseCompletionReply, TellsThatThePromptWasCut) {
  EXPECT_TRUE(parse_completion_reply(R"({"content":"A","truncated":true})")->usage.truncated);
  for (const char* whole : {R"({"content":"A","truncated":false})", R"({"content":"A"})",
                            R"({"content":"A","truncated":null})"}) {
    EXPECT_FALSE(parse_completion_reply(whole)->usage.truncated) << whole;
  }
}

struct ModelsCase {
  const char* name;
  const char* list;
  const char* wanted;
  const char* id;    // "" : refused
  const char* says;  // then
};
class Models : public testing::TestWithParam<ModelsCase> {};

TEST_P(Models, AreNamedOrRefused) {
  const auto& c = GetParam();
  const auto entry = parse_model_entry(std::string(R"({"data":)") + c.list + "}", c.wanted);
  EXPECT_EQ(entry ? entry->id : "", c.id);
  if (entry) return;
  EXPECT_NE(entry.error().message.find(c.says), std::string::npos) << entry.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Table, Models,
    testing::Values(
        ModelsCase{"TheOnlyOne", R"([{"id":"m"}])", "", "m", ""},
        ModelsCase{"ByName", R"([{"id":"a"},{"id":"m"}])", "m", "m", ""},
        ModelsCase{"OneOfSeveral", R"([{"id":"a"},{"id":"m"}])", "", "", "one of: a, m"},
        ModelsCase{"Another", R"([{"id":"a"}])", "m", "", "does not serve \"m\", but: a"},
        ModelsCase{"None", "[]", "", "", "serves no model"},
        ModelsCase{"NoneByName", "[]", "m", "", "serves no model"},
        ModelsCase{"WithoutIds", R"([1,"s",null,{"root":"x"}])", "", "", "serves no model"},
        ModelsCase{"NoList", "{}", "", "", "data"}),
    [](const auto& p) { return p.param.name; });

TEST(ParsePromptScores, PicksTheTokensAskedFor) {
  const std::vector<std::int64_t> ids = {9, 8, 7};
  const std::string_view bytes =
      R"({"choices":[{"prompt_logprobs":[null,{"8":{"logprob":-1.5},"3":{"logprob":-0.1}},
    {"7":{"logprob":-2.25}}]}],"usage":{"prompt_tokens":3}})";
  const auto scores = parse_prompt_scores(bytes, ids, 1);
  ASSERT_TRUE(scores) << scores.error().message;
  EXPECT_EQ(scores->logprobs, (std::vector<std::optional<double>>{-1.5, -2.25}));
  EXPECT_EQ(parse_prompt_scores(bytes, ids, 2)->logprobs.size(), 1u);
  const std::vector<std::int64_t> others = {9, 5, 7}, longer = {9, 8, 7, 6};
  EXPECT_EQ(parse_prompt_scores(bytes, others, 1).error().code, Error::Code::Corrupt);
  EXPECT_EQ(parse_prompt_scores(bytes, longer, 1).error().code, Error::Code::Corrupt);
  EXPECT_EQ(parse_prompt_scores(R"({"choices":[{"prompt_logprobs":null}]})", ids, 1).error().code,
            Error::Code::Corrupt);
}

TEST(ParseTokenList, TakesBareIdsAndPieces) {
  EXPECT_EQ(parse_token_list(R"({"count":2,"max_model_len":9,"tokens":[1,2]})")->ids,
            (std::vector<std::int64_t>{1, 2}));
  const auto pieces =
      parse_token_list(R"({"tokens":[{"id":1,"piece":"a"},{"id":2,"piece":[195,40]}]})");
  ASSERT_TRUE(pieces);
  EXPECT_EQ(pieces->pieces, (std::vector<std::string>{"a", "\xC3("}));
  for (const char* bytes :
       {"{}", R"({"tokens":7})", R"({"tokens":["a"]})", R"({"tokens":[1.5]})"}) {
    EXPECT_EQ(parse_token_list(bytes).error().code, Error::Code::Corrupt) << bytes;
  }
}

struct SentenceCase {
  const char* name;
  const char* body;
  const char* want;
};
class ErrorSentence : public testing::TestWithParam<SentenceCase> {};
TEST_P(ErrorSentence, IsTheServersOwn) {
  EXPECT_EQ(parse_error_sentence(GetParam().body), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, ErrorSentence,
    testing::Values(
        SentenceCase{"WebPage", "\n<!DOCTYPE html><html><title>Not\n found</title><p>no</html>",
                     "a web page: Not found no"},
        SentenceCase{"OpenAi", R"({"error":{"message":"no such model","type":"x"}})",
                     "no such model"},
        SentenceCase{"Ollama", R"({"error":"model 'x' not found"})", "model 'x' not found"},
        SentenceCase{"OldVllm", R"({"object":"error","message":"too long","code":400})",
                     "too long"},
        SentenceCase{"FastApi", R"({"detail":"Not Found"})", "Not Found"},
        SentenceCase{"FastApiObject", R"({"detail":{"error_type":"x","message":"no key"}})",
                     "no key"},
        SentenceCase{
            "Pydantic",
            R"({"detail":[{"loc":["body","messages",0],"msg":"Field required","type":"m"}]})",
            "messages.0: Field required"},
        SentenceCase{"Text", "upstream connect error\n", "upstream connect error"},
        SentenceCase{"String", R"("just words")", "just words"},
        SentenceCase{"Credentials", R"({"error":"can not reach http://u:secret@h/x"})",
                     "can not reach http://***@h/x"},
        SentenceCase{"Empty", "", ""}),
    [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace deem::seat
