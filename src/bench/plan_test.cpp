#include "bench/plan.h"

#include <gtest/gtest.h>

#include <set>

#include "bench/test_kit.h"

namespace deem::bench {
namespace {

/// "arm:task:items" of each unit.
std::vector<std::string> written(const std::vector<Unit>& plan, const kit::Kit& kit) {
  std::vector<std::string> out;
  for (const Unit& unit : plan) {
    std::string text = std::to_string(unit.arm) + ":";
    for (const std::size_t i : unit.items)
      text += (text.ends_with(':') ? "" : "+") + kit.tasks[unit.task].items[i].id;
    out.push_back(text);
  }
  return out;
}

Config config_of(std::vector<Arm> arms) {
  Config config;
  config.kit = "small";
  config.out = "out";
  config.arms = std::move(arms);
  return config;
}

TEST(Plan, TakesItemsOfAStateTogether) {
  const kit::Kit kit = small_kit();
  const auto plan = make_plan(config_of({small_arm("a", {{"letters", false}})}), kit);
  ASSERT_TRUE(plan);
  EXPECT_EQ(written(*plan, kit),
            (std::vector<std::string>{"0:p0", "0:p2", "0:o0", "0:p1", "0:p3", "0:o1"}));
}

TEST(Plan, KeepsTheKitsOrderWhenAsked) {
  const kit::Kit kit = small_kit();
  Config config = config_of({small_arm("a", {{"letters", false}})});
  config.order = Order::Item;
  const auto plan = make_plan(config, kit);
  ASSERT_TRUE(plan);
  EXPECT_EQ(written(*plan, kit),
            (std::vector<std::string>{"0:p0", "0:p1", "0:p2", "0:p3", "0:o0", "0:o1"}));
}

TEST(Plan, GroupsUpToTheArmsSizeAndLetsArmsOnOneSeatTakeTurns) {
  const kit::Kit kit = small_kit();
  Arm grouped = small_arm("g", {{"cloze", false}});
  grouped.group = 2;
  const auto plan = make_plan(config_of({small_arm("a", {{"letters", false}}), grouped}), kit);
  ASSERT_TRUE(plan);
  EXPECT_EQ(written(*plan, kit),
            (std::vector<std::string>{"0:p0", "0:p2", "1:p0+p2", "0:o0", "1:o0", "0:p1", "0:p3",
                                      "1:p1+p3", "0:o1", "1:o1"}));
}

TEST(Plan, FinishesOneSeatBeforeTheNext) {
  const kit::Kit kit = small_kit();
  Arm elsewhere = small_arm("b", {{"letters", false}});
  elsewhere.seat.address = "elsewhere";
  const auto plan = make_plan(config_of({small_arm("a", {{"letters", false}}), elsewhere}), kit);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->size(), 12U);
  for (std::size_t u = 0; u < plan->size(); ++u) EXPECT_EQ((*plan)[u].arm, u < 6 ? 0U : 1U);
}

TEST(Plan, LimitsTheItemsOfEachTaskBeforeAnythingIsAsked) {
  const kit::Kit kit = small_kit();
  Config config = config_of({small_arm("a", {{"letters", false}})});
  config.limit = 1;
  const auto plan = make_plan(config, kit);
  ASSERT_TRUE(plan);
  EXPECT_EQ(written(*plan, kit), (std::vector<std::string>{"0:p0", "0:o0"}));
}

TEST(Plan, LimitsOneArmAlone) {
  const kit::Kit kit = small_kit();
  Arm short_arm = small_arm("w", {{"written", false}});
  short_arm.limit = 1;
  const auto plan = make_plan(config_of({small_arm("a", {{"letters", false}}), short_arm}), kit);
  ASSERT_TRUE(plan);
  EXPECT_EQ(written(*plan, kit), (std::vector<std::string>{"0:p0", "0:p2", "1:p0", "0:o0", "1:o0",
                                                           "0:p1", "0:p3", "0:o1"}));
}

TEST(Plan, ShufflesByItsSeedAloneAndLosesNothing) {
  const kit::Kit kit = small_kit();
  Config config = config_of({small_arm("a", {{"letters", false}})});
  config.order = Order::Shuffle;
  config.repeat = 2;
  std::set<std::vector<std::string>> orders;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    config.seed = seed;
    const auto once = make_plan(config, kit), twice = make_plan(config, kit);
    ASSERT_TRUE(once);
    EXPECT_EQ(written(*once, kit), written(*twice, kit));
    std::set<std::tuple<std::size_t, std::size_t, int>> places;
    for (const Unit& unit : *once) {
      for (const std::size_t i : unit.items) places.emplace(unit.task, i, unit.repeat);
    }
    EXPECT_EQ(places.size(), 12U);
    EXPECT_EQ(count_rows(*once), 12U);
    orders.insert(written(*once, kit));
  }
  EXPECT_GT(orders.size(), 1U);
}

TEST(Plan, CountsProbesAgainstTheMostRowsOfARun) {
  // 1000 orders of 26 options and the item itself, 20,000 items: 20,020,000 rows.
  kit::Kit kit = small_kit();
  kit::Task& task = kit.tasks[0];
  kit::Item item = task.items[0];
  item.question.options.clear();
  for (char c = 'a'; c <= 'z'; ++c) {
    item.question.options.push_back({.key = std::string(1, c), .description = "", .text = ""});
  }
  item.label.reset();
  task.items.assign(20'000, item);
  Config config = config_of({small_arm("a", {{"letters", false}})});
  config.tasks = {task.name};
  config.probes.permute = 1'000;
  const auto plan = make_plan(config, kit);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, Error::Code::BadInput);
  EXPECT_NE(plan.error().message.find("--permute"), std::string::npos) << plan.error().message;
}

TEST(Plan, RefusesAReadingNoTaskHasAndSaysWhichThereAre) {
  const auto plan = make_plan(config_of({small_arm("a", {{"clooze", false}})}), small_kit());
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, Error::Code::BadInput);
  EXPECT_NE(plan.error().message.find("cloze, channel, gain"), std::string::npos)
      << plan.error().message;
}

TEST(Plan, RefusesATaskTheKitDoesNotHaveAndSaysWhichItHas) {
  Config config = config_of({small_arm("a", {{"letters", false}})});
  config.tasks = {"pikc"};
  const auto plan = make_plan(config, small_kit());
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, Error::Code::BadInput);
  EXPECT_NE(plan.error().message.find("pick, open"), std::string::npos) << plan.error().message;
}

}  // namespace
}  // namespace deem::bench
