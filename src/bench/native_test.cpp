// Arms on endpoints that answer decisions themselves: what is asked, kept, probed and refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bench/ask.h"
#include "bench/config.h"
#include "bench/probe.h"
#include "bench/prompts.h"
#include "bench/test_run.h"

namespace deem::bench {
namespace {

using decision::NativeAnswer;
using decision::VoidCause;

Arm native_arm(int group = 1) {
  Arm arm = small_arm("native", {{"native", false}});
  arm.seat.kind = "systemone";
  arm.group = group;
  return arm;
}

/// The first option at .7, the rest shared, the choice named; of a yes/no question one number.
NativeAnswer decide(const seat::DecideRequest& request, std::size_t i) {
  const auto& question = request.questions[i].question;
  NativeAnswer out{.present = true};
  if (question.type == decision::QuestionType::Noul) {
    out.probs = {0.7};
    return out;
  }
  const std::size_t n = question.options.size();
  for (std::size_t o = 0; o < n; ++o) {
    out.probs.emplace_back(o == 0 ? 0.7 : 0.3 / static_cast<double>(n - 1));
  }
  out.choice = 0;
  return out;
}

class AskingNative : public testing::Test {
 protected:
  AskingNative() { script.decides = decide; }

  std::vector<record::Row> ask(const Arm& arm, Unit unit) {
    ScriptedSeat seat(script, calls);
    return Asker(kit, census, *seat.identify(), seat, memo).ask(arm, unit);
  }

  kit::Kit kit = small_kit();
  Census census;
  ScriptedSeat::Script script;
  ScriptedSeat::Calls calls;
  PriorMemo memo;
};

TEST_F(AskingNative, KeepsWhatWasGivenAndTheDigestOfStateAndQuestion) {
  const auto rows = ask(native_arm(), {0, 0, {0}, 0});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].mode, "readout");
  const auto& native = rows[0].readings.at("native");
  EXPECT_EQ(native.kind, record::ReadingRecord::Kind::Native);
  EXPECT_EQ(native.native.probs, (std::vector<std::optional<double>>{0.7, 0.15, 0.15}));
  EXPECT_EQ(native.cause, VoidCause::None);
  const std::string text =
      R"({"state":"The north gate opens at nine.","question":{"type":"choice","instructions":)"
      R"("Which one?","criteria":{"a":"alpha","b":"beta","c":null}}})";
  EXPECT_EQ(native.prompt_sha256, sha256_hex(text));
  EXPECT_EQ(native.prompt_chars, static_cast<std::int64_t>(text.size()));
  EXPECT_EQ(native.prompt_tokens, 42);
  EXPECT_EQ(native.calls, 1);
  EXPECT_EQ(native.group, 1);
  const auto noul = ask(native_arm(), {0, 1, {0}, 0});
  EXPECT_EQ(noul[0].readings.at("native").native.probs.size(), 1U);
}

TEST_F(AskingNative, ItemsOnOneStateGoInOneRequestAndShareItsCost) {
  std::vector<std::vector<std::string>> requests;
  script.decides = [&](const seat::DecideRequest& request, std::size_t i) {
    if (i == 0) {
      requests.emplace_back();
      for (const auto& question : request.questions) requests.back().push_back(question.id);
    }
    return decide(request, i);
  };
  const auto rows = ask(native_arm(4), {0, 0, {0, 1, 2, 3}, 0});  // two states of two items each
  EXPECT_EQ(requests, (std::vector<std::vector<std::string>>{{"q1", "q2"}, {"q1", "q2"}}));
  std::int64_t tokens = 0;
  for (const auto& row : rows) {
    const auto& native = row.readings.at("native");
    EXPECT_EQ(native.group, 2);
    EXPECT_NEAR(native.planned_to_done_s, 0.003, 1e-12);
    tokens += native.prompt_tokens.value_or(0);
  }
  EXPECT_EQ(tokens, 2 * 83);
}

TEST_F(AskingNative, NamesWhyAnAnswerIsNone) {
  script.decides = [](const seat::DecideRequest&, std::size_t) { return NativeAnswer{}; };
  EXPECT_EQ(ask(native_arm(), {0, 0, {0}, 0})[0].readings.at("native").cause, VoidCause::NoAnswer);
  script.decides = [](const seat::DecideRequest& request, std::size_t i) {
    NativeAnswer out = decide(request, i);
    out.label_mass = 0.04;
    return out;
  };
  EXPECT_EQ(ask(native_arm(), {0, 0, {0}, 0})[0].readings.at("native").cause,
            VoidCause::LowLabelMass);
  Arm lenient = native_arm();
  lenient.min_mass = 0.01;
  EXPECT_EQ(ask(lenient, {0, 0, {0}, 0})[0].readings.at("native").cause, VoidCause::None);
}

TEST_F(AskingNative, AFailedRequestIsTheErrorOfEveryItemInIt) {
  script.fails = [](const std::string& state) -> std::optional<Error> {
    if (state.find("north") == std::string::npos) return std::nullopt;
    return Error{Error::Code::Unavailable, "HTTP 529: overloaded"};
  };
  const auto rows = ask(native_arm(4), {0, 0, {0, 1, 2, 3}, 0});
  for (const auto& row : rows) {
    const bool north = row.state_id == "north";
    EXPECT_EQ(row.status, north ? record::Row::Status::Error : record::Row::Status::Asked);
    if (north) {
      EXPECT_EQ(row.reason, "HTTP 529: overloaded");
    }
  }
}

TEST_F(AskingNative, OneRefusedQuestionDoesNotTakeTheOthersOfItsRequestWithIt) {
  kit.tasks[0].items[2].question.instructions = "Which of too many?";  // on the first item's state
  script.refuses = [](const seat::DecideRequest& request) {
    return std::ranges::any_of(request.questions, [](const auto& asked) {
      return asked.question.instructions == "Which of too many?";
    });
  };
  const auto rows = ask(native_arm(4), {0, 0, {0, 1, 2, 3}, 0});
  EXPECT_EQ(calls.decisions, 4);  // two at once, refused; each alone; the other two at once
  EXPECT_EQ(rows[2].status, record::Row::Status::Error);
  EXPECT_EQ(rows[2].reason, "at most 26 options");
  for (const std::size_t i : {0U, 1U, 3U}) {
    EXPECT_EQ(rows[i].status, record::Row::Status::Asked) << i;
    EXPECT_EQ(rows[i].readings.at("native").group, i == 0 ? 1 : 2) << i;
  }
}

// ---- a whole run

class RunningNative : public Running {
 protected:
  void SetUp() override {
    Running::SetUp();
    script.decides = decide;
    config.arms = {native_arm()};
  }
};

TEST_F(RunningNative, AsksEveryItemOnceWithoutLettersOrCensus) {
  script.census = false;
  const auto outcome = go();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(rows().size(), 6U);
  EXPECT_EQ(calls.decisions, 6);
  EXPECT_EQ(calls.positions + calls.likelihoods + calls.writes, 0);
  const auto run = record::load_run(config.out);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->arms[0].letter_proof.get_string("how"), "no letters are read");
  EXPECT_TRUE(run->arms[0].census.get_string("status")->starts_with("not measured"));
}

// ---- settings

TEST(NativeArm, IsReadByNativeWithoutBeingTold) {
  const auto arm = parse_arm_flag("name=jev,seat=systemone:https://h/v1,model=jev-latest");
  ASSERT_TRUE(arm) << arm.error().message;
  EXPECT_EQ(arm->readings, (std::vector<ReadingChoice>{{"native", false}}));
  const auto again = parse_arm(to_json(*arm));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, *arm);
  const auto named = parse_arm_flag("readings=native,name=d,seat=decisions:https://h");
  ASSERT_TRUE(named) << named.error().message;
  Arm all = *arm;
  all.readings = {{"all", false}};
  EXPECT_TRUE(check_arm(all));
  EXPECT_EQ(readings_for(all, small_kit().tasks[0]), arm->readings);
  Arm chosen = *arm;
  chosen.readings = {{"chosen", false}};
  EXPECT_TRUE(check_arm(chosen));
  EXPECT_EQ(readings_for(chosen, small_kit().tasks[0]), arm->readings);
}

TEST(NativeArm, TakesNoOtherReadingAndIsTakenByNoOtherSeat) {
  const auto refused = [](const char* text) {
    const auto arm = parse_arm_flag(text);
    EXPECT_FALSE(arm) << text;
    return arm ? "" : arm.error().message;
  };
  for (const char* text : {"name=a,seat=systemone:http://h,readings=letters",
                           "name=a,readings=letters,seat=systemone:http://h"}) {
    EXPECT_NE(refused(text).find("by the reading native, not by letters"), std::string::npos);
  }
  EXPECT_NE(refused("name=a,seat=vllm:http://h,readings=native").find("systemone:URL"),
            std::string::npos);
  EXPECT_NE(refused("name=a,seat=decisions:http://h,mode=generate").find("writes nothing"),
            std::string::npos);
  EXPECT_NE(refused("name=a,seat=systemone:http://h,readings=native+prior").find("no prior"),
            std::string::npos);
  EXPECT_NE(refused("name=a,seat=systemone:http://h,context=100").find("no meaning"),
            std::string::npos);
}

// ---- probes

TEST(NativeProbes, AreThoseItsFormCanShow) {
  const kit::Kit kit = small_kit();
  const auto takes = [&](std::size_t task, std::string_view probe) {
    kit::Item item = kit.tasks[task].items[0];
    for (auto& option : item.question.options) option.description = "text";
    return takes_probe(native_arm(), kit, kit.tasks[task], item, "native", probe);
  };
  for (const char* probe : {"order:reverse", "law:rename", "law:whitespace", "law:beside",
                            "noise:again", "noise:crowd"}) {
    EXPECT_TRUE(takes(0, probe)) << probe;
  }
  EXPECT_FALSE(takes(0, "law:batch"));  // items of several states do not fit one request
  EXPECT_FALSE(takes(0, "law:negation"));
  for (const char* probe : {"law:negation", "law:choice", "law:whitespace"}) {
    EXPECT_TRUE(takes(1, probe)) << probe;
  }
  // A yes/no question is sent without keys and order.
  EXPECT_FALSE(takes(1, "order:reverse"));
  EXPECT_FALSE(takes(1, "law:rename"));
}

TEST_F(RunningNative, ACrowdIsInFlightAndCompanyInTheSameRequest) {
  config.probes = {.permute = 1, .laws = true, .noise = 1};
  std::mutex mutex;
  std::multiset<std::size_t> sizes;
  script.decides = [&](const seat::DecideRequest& request, std::size_t i) {
    const std::scoped_lock lock(mutex);
    if (i == 0) sizes.insert(request.questions.size());
    return decide(request, i);
  };
  const auto outcome = go();
  ASSERT_TRUE(outcome) << outcome.error().message;
  // Each of the four items on a shared state was asked once beside the other; all else alone.
  EXPECT_EQ(sizes.count(2), 4U);
  EXPECT_EQ(sizes.count(1) + sizes.count(2), sizes.size());
  const std::string bytes = read_file(join_path(config.out, "rows.jsonl")).value_or("");
  EXPECT_NE(bytes.find("\"probe\":\"law:beside\""), std::string::npos);
  EXPECT_NE(bytes.find("\"probe\":\"noise:crowd\""), std::string::npos);
  EXPECT_EQ(bytes.find("\"probe\":\"law:batch\""), std::string::npos);
}

}  // namespace
}  // namespace deem::bench
