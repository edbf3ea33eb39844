#include "seat/local/thinking.h"

#include <gtest/gtest.h>

namespace deem::seat::local {
namespace {

struct SplitCase {
  const char* name;
  const char* reply;
  bool inside;
  const char* thinking;
  const char* answer;
};
class SplitThinking : public testing::TestWithParam<SplitCase> {};

TEST_P(SplitThinking, KeepsTheAnswerApart) {
  const SplitReply split = split_thinking(GetParam().reply, GetParam().inside);
  EXPECT_EQ(split.thinking, GetParam().thinking);
  EXPECT_EQ(split.answer, GetParam().answer);
}

INSTANTIATE_TEST_SUITE_P(
    Table, SplitThinking,
    testing::Values(SplitCase{"Plain", " B\n", false, "", " B\n"},
                    SplitCase{"Think", "<think>\nhm\n</think>\n\nB", false, "hm", "B"},
                    SplitCase{"EmptyThink", "<think>\n\n</think>\n\nB", false, "", "B"},
                    SplitCase{"NeverClosed", "<think>hm, A or", false, "hm, A or", ""},
                    SplitCase{"OpenedByThePrompt", "hm\n</think>\n\nB", true, "hm", "B"},
                    SplitCase{"OpenedByThePromptNeverClosed", "hm, A or", true, "hm, A or", ""},
                    SplitCase{"Mistral", "[THINK]hm[/THINK]B", false, "hm", "B"},
                    SplitCase{"Gemma4", "<|channel>thought\nhm<channel|>B", false, "hm", "B"},
                    SplitCase{
                        "GptOss",
                        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final"
                        "<|message|>B",
                        false, "hm", "B"},
                    SplitCase{"GptOssFinalOnly", "<|channel|>final<|message|>B", false, "", "B"},
                    SplitCase{"WordInTheMiddle", "I say <think> B", false, "", "I say <think> B"}),
    [](const auto& p) { return p.param.name; });

TEST(EndsInsideThinking, OnlyWhenTheChannelIsOpenAtTheEnd) {
  EXPECT_TRUE(ends_inside_thinking("<|im_start|>assistant\n<think>\n"));
  EXPECT_FALSE(ends_inside_thinking("<|im_start|>assistant\n<think>\n\n</think>\n\n"));
  EXPECT_FALSE(ends_inside_thinking("a user wrote <think> and more\n<|im_start|>assistant\n"));
}

}  // namespace
}  // namespace deem::seat::local
