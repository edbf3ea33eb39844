#include "bench/arm.h"

#include <gtest/gtest.h>

#include "bench/test_kit.h"

namespace deem::bench {
namespace {

TEST(ArmFlag, ReadsNamesReadingsAndPriors) {
  const auto arm =
      parse_arm_flag("name=mine,seat=local:m.gguf,readings=letters+cloze+prior+channel,threads=2");
  ASSERT_TRUE(arm) << arm.error().message;
  EXPECT_EQ(arm->name, "mine");
  EXPECT_EQ(arm->seat.kind, "local");
  EXPECT_EQ(arm->seat.address, "m.gguf");
  EXPECT_EQ(arm->seat.threads, 2);
  EXPECT_EQ(arm->readings,
            (std::vector<ReadingChoice>{{"letters", false}, {"cloze", true}, {"channel", false}}));
}

TEST(ArmFlag, ReadsTheReferencesWayAsAPolicy) {
  const auto arm = parse_arm_flag("name=r,seat=local:m.gguf,readings=reference");
  ASSERT_TRUE(arm) << arm.error().message;
  EXPECT_EQ(arm->policy, decision::LetterPolicy::Reference);
  EXPECT_EQ(arm->readings[0].name, "letters");
}

struct BadFlag {
  const char* name;
  const char* flag;
  const char* says;
};
class BadArmFlag : public testing::TestWithParam<BadFlag> {};

TEST_P(BadArmFlag, IsRefusedWithWhatIsWrong) {
  const auto arm = parse_arm_flag(GetParam().flag);
  ASSERT_FALSE(arm);
  EXPECT_EQ(arm.error().code, Error::Code::BadInput);
  EXPECT_NE(arm.error().message.find(GetParam().says), std::string::npos) << arm.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadArmFlag,
    testing::Values(
        BadFlag{"UnknownMember", "name=a,seat=local:m,treads=2", "did you mean threads"},
        BadFlag{"NoEquals", "name", "name=value"},
        BadFlag{"NoName", "seat=local:m", "without a name"}, BadFlag{"NoSeat", "name=a", "no seat"},
        BadFlag{"BadNumber", "name=a,seat=local:m,group=zero", "whole number"},
        BadFlag{"KeyOfALocalSeat", "name=a,seat=local:m,key-env=K", "key-env has no meaning"},
        BadFlag{"RootsOverPlainHttp", "name=a,seat=vllm:http://h,ca-file=f",
                "ca-file has no meaning"},
        BadFlag{"ThreadsOfAServer", "name=a,seat=openai:http://h,threads=2", "threads has no"},
        BadFlag{"LayersOfAServer", "name=a,seat=ollama:http://h,gpu-layers=2", "gpu-layers has no"},
        BadFlag{"ContextOfAServer", "name=a,seat=vllm:http://h,context=512", "context has no"},
        BadFlag{"TwiceAReading", "name=a,seat=local:m,readings=letters+letters", "twice"},
        BadFlag{"BadSuffix", "name=a,seat=local:m,readings=", "without a name"},
        BadFlag{"WrittenInReadout", "name=a,seat=local:m,readings=written", "mode generate"},
        BadFlag{"BadMode", "name=a,seat=local:m,mode=talk", "readout or generate"},
        BadFlag{"BadPolicy", "name=a,seat=local:m,policy=x", "sum-exact"},
        BadFlag{"NotANumber", "name=a,seat=local:m,timeout=nan", "timeout"},
        BadFlag{"TwiceASetting", "name=a,name=b,seat=local:m", "given twice"},
        BadFlag{"AKeyInTheOpen", "name=a,seat=local:m,key=sk-1", "key-env"},
        BadFlag{"BadMass", "name=a,seat=local:m,min-mass=2", "min-mass"}),
    [](const auto& p) { return p.param.name; });

TEST(ArmSettings, ReadBackAsTheyWere) {
  Arm arm = small_arm("w", {{"letters", true}, {"cloze", false}});
  arm.seat.kind = "vllm";
  arm.seat.address = "http://127.0.0.1:8000";
  arm.seat.model = "m";
  arm.seat.key_env = "SOME_KEY";
  arm.seat.chat_template_kwargs["enable_thinking"] = "true";
  arm.policy = decision::LetterPolicy::Fold;
  arm.group = 4;
  const auto again = parse_arm(to_json(arm));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, arm);
}

TEST(ArmSettings, ReadBackAGeneratingArm) {
  Arm arm = small_arm("w", {{"written", false}});
  arm.seat.kind = "local";
  arm.seat.address = "m.gguf";
  const auto again = parse_arm(to_json(arm));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, arm);
}

}  // namespace
}  // namespace deem::bench
