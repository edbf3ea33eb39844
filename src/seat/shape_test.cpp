// How lists of log-probabilities come when they do not come as they should, and servers' counters.
#include <gtest/gtest.h>

#include "seat/metrics_text.h"
#include "seat/parse_reply.h"

namespace deem::seat {
namespace {

struct ShapeCase {
  const char* name;
  const char* logprobs;  // the member of the choice, with its name; "": none
  const char* words;     // in the shape; "": nothing is odd
};

class ChatShape : public testing::TestWithParam<ShapeCase> {};

TEST_P(ChatShape, IsNamed) {
  const std::string member = GetParam().logprobs;
  const auto reply = parse_chat_reply(R"({"choices":[{"message":{"content":"A"})" +
                                      (member.empty() ? "" : "," + member) + "}]}");
  ASSERT_TRUE(reply) << reply.error().message;
  if (*GetParam().words == '\0') {
    EXPECT_EQ(reply->shape, "");
    EXPECT_TRUE(reply->position.logprobs_present);
  } else {
    EXPECT_NE(reply->shape.find(GetParam().words), std::string::npos) << reply->shape;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, ChatShape,
    testing::Values(
        ShapeCase{"AsItShould",
                  R"("logprobs":{"content":[{"token":"A","logprob":-0.1,
                     "top_logprobs":[{"token":"A","logprob":-0.1}]}]})",
                  ""},
        ShapeCase{"Missing", "", "\"logprobs\" is missing"},
        ShapeCase{"Null", R"("logprobs":null)", "\"logprobs\" is null"},
        ShapeCase{"NoContent", R"("logprobs":{})", "\"content\" is missing"},
        ShapeCase{"NullContent", R"("logprobs":{"content":null})", "\"content\" is null"},
        ShapeCase{"EmptyContent", R"("logprobs":{"content":[]})", "\"content\" is empty"},
        ShapeCase{"TextForAList", R"("logprobs":{"content":"none"})", "\"content\" is no list"},
        ShapeCase{"NoPosition", R"("logprobs":{"content":[7]})", "a position is no object"},
        ShapeCase{"WrittenTokenAlone", R"("logprobs":{"content":[{"token":"A","logprob":-0.1}]})",
                  "\"top_logprobs\" is missing"},
        ShapeCase{"EmptyTop",
                  R"("logprobs":{"content":[{"token":"A","logprob":-0.1,"top_logprobs":[]}]})",
                  "\"top_logprobs\" is empty"},
        ShapeCase{"Legacy",
                  R"("logprobs":{"tokens":["A"],"token_logprobs":[-0.1],"top_logprobs":[{"A":-0.1}],
                     "text_offset":[0]})",
                  "/v1/completions"},
        ShapeCase{"KeyedByText",
                  R"("logprobs":{"content":[{"token":"A","logprob":-0.1,
                     "top_logprobs":{"A":-0.1}}]})",
                  "keyed by text"},
        ShapeCase{"NoNumbers",
                  R"("logprobs":{"content":[{"token":"A","logprob":null,
                     "top_logprobs":[{"token":"A","logprob":null},{"token":"B"}]}]})",
                  "no entry of the list has a number"}),
    [](const auto& p) { return p.param.name; });

TEST(CompletionShape, OldAndSampledLayoutsAreNamed) {
  const auto old = parse_completion_reply(
      R"({"content":"A","completion_probabilities":[{"content":"A",
          "probs":[{"tok_str":"A","prob":0.9}]}]})");
  ASSERT_TRUE(old);
  EXPECT_NE(old->shape.find("before December 2024"), std::string::npos) << old->shape;
  const auto sampled = parse_completion_reply(
      R"({"content":"A","completion_probabilities":[{"id":1,"token":"A","prob":0.9,
          "top_probs":[{"id":1,"token":"A","prob":0.9}]}]})");
  ASSERT_TRUE(sampled);
  EXPECT_NE(sampled->shape.find("after sampling"), std::string::npos) << sampled->shape;
}

TEST(Positions, ThoseAfterTheFirstAreKept) {
  const auto reply = parse_completion_reply(
      R"({"content":"ABC","completion_probabilities":[
          {"id":1,"token":"A","logprob":-0.1,"top_logprobs":[{"id":1,"token":"A","logprob":-0.1}]},
          {"id":2,"token":"B","logprob":0.0,"top_logprobs":[]},
          {"id":3,"token":"C","logprob":-0.3,"top_logprobs":[{"id":3,"token":"C","logprob":-0.3}]}
         ]})");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->shape, "");
  ASSERT_EQ(reply->more.size(), 2u);
  EXPECT_TRUE(reply->more[0].top.empty());
  EXPECT_EQ(reply->more[1].top.at(0).id, 3);
}

TEST(Metrics, OfSeveralNamesTheFirstThatIsThereAndTheSumOfItsLabels) {
  const char* text =
      "# HELP a_total words\n# TYPE a_total counter\na_total{engine=\"0\"} 3\n"
      "a_total{engine=\"1\"} 4.5\na_total_more 100\nb_total 7\nbad_total x\nnan_total NaN\n";
  EXPECT_EQ(metric_sum(text, {"a_total", "b_total"}), 7.5);
  EXPECT_EQ(metric_sum(text, {"old_total", "b_total"}), 7);
  EXPECT_EQ(metric_sum(text, {"a"}), std::nullopt);
  EXPECT_EQ(metric_sum(text, {"bad_total"}), std::nullopt);
  EXPECT_EQ(metric_sum(text, {"nan_total"}), std::nullopt);
  EXPECT_EQ(metric_sum("", {"a_total"}), std::nullopt);
}

TEST(Metrics, VllmDraftsWhereItCountsDrafts) {
  const std::string plain = "vllm:num_requests_running{model_name=\"m\"} 0.0\n";
  EXPECT_EQ(read_vllm_counters(plain).speculates, false);
  const auto drafts =
      read_vllm_counters(plain +
                         "vllm:spec_decode_num_drafts_total{engine=\"0\"} 10.0\n"
                         "vllm:spec_decode_num_draft_tokens_total{engine=\"0\"} 30.0\n"
                         "vllm:spec_decode_num_accepted_tokens_total{engine=\"0\"} 21.0\n"
                         "vllm:gpu_prefix_cache_hits_total{engine=\"0\"} 16.0\n");
  EXPECT_EQ(drafts.speculates, true);
  EXPECT_EQ(drafts.drafts, 10);
  EXPECT_EQ(drafts.draft_tokens, 30);
  EXPECT_EQ(drafts.accepted_tokens, 21);
  EXPECT_EQ(drafts.cache_hits, 16);
  EXPECT_EQ(drafts.cache_queries, std::nullopt);
  EXPECT_EQ(read_vllm_counters("").speculates, std::nullopt);
}

}  // namespace
}  // namespace deem::seat
