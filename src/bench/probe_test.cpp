#include "bench/probe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "bench/ask.h"
#include "bench/prompts.h"
#include "bench/test_kit.h"

namespace deem::bench {
namespace {

struct OrdersCase {
  const char* name;
  std::size_t n;
  int wanted;
  std::size_t count;
};
class OptionOrders : public testing::TestWithParam<OrdersCase> {};

TEST_P(OptionOrders, AreAsManyAsAskedAllDifferentWithoutTheKitsOwn) {
  const auto [name, n, wanted, count] = GetParam();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto orders = option_orders(n, wanted, seed);
    ASSERT_EQ(orders.size(), count);
    EXPECT_EQ(std::set(orders.begin(), orders.end()).size(), count);
    std::vector<std::size_t> kits(n);
    std::iota(kits.begin(), kits.end(), std::size_t{0});
    for (const auto& order : orders) {
      EXPECT_NE(order, kits);
      EXPECT_TRUE(std::ranges::is_permutation(order, kits));
    }
    if (count > 0) {
      EXPECT_EQ(orders.front(), std::vector<std::size_t>(kits.rbegin(), kits.rend()));
    }
    EXPECT_EQ(orders, option_orders(n, wanted, seed)) << "a seed means the same orders everywhere";
    EXPECT_EQ(count_orders(n, wanted), count);
    for (std::size_t at = 0; at < count; ++at) {
      ASSERT_EQ(option_order(n, wanted, seed, at), orders[at]) << at;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, OptionOrders,
                         testing::Values(OrdersCase{"OneOptionHasNone", 1, kAllOrders, 0},
                                         OrdersCase{"TwoHaveTheReverse", 2, 24, 1},
                                         OrdersCase{"AllOfThree", 3, kAllOrders, 5},
                                         OrdersCase{"AllOfFive", 5, kAllOrders, 119},
                                         OrdersCase{"ManyOfSix", 6, kAllOrders, 24},
                                         OrdersCase{"SevenAsked", 4, 7, 7},
                                         OrdersCase{"MoreThanThereAre", 4, 100, 23},
                                         OrdersCase{"AllOfSixByNumber", 6, 719, 719},
                                         OrdersCase{"OverFiftyTwo", 60, 3, 3},
                                         OrdersCase{"NoneAsked", 4, 0, 0}),
                         [](const auto& p) { return p.param.name; });

TEST(OptionOrders, DifferBetweenSeeds) {
  EXPECT_NE(option_orders(8, 3, 1), option_orders(8, 3, 2));
}

Config config_of(Arm arm, Probes probes) {
  Config config;
  config.kit = "small";
  config.out = "out";
  config.arms = {std::move(arm)};
  config.probes = probes;
  return config;
}

Unit unit_of(std::size_t task, std::size_t item, std::string probe) {
  return {.arm = 0, .task = task, .items = {item}, .repeat = 0, .probe = std::move(probe)};
}

std::string prompt_of(const Probed& probed) {
  const kit::Item& item = probed.kit.tasks[0].items[0];
  return make_letters_prompt(probed.kit, item, probed.kit.states[item.state].text).prompts[0];
}

const Arm kLetters = small_arm("a", {{"letters", false}});

TEST(Probe, AnOrderChangesTheListAndNothingElse) {
  const kit::Kit kit = small_kit();
  const Config config = config_of(kLetters, {.permute = 5});
  const Probed probed = make_probed(config, kit, unit_of(0, 0, "order:reverse"));
  EXPECT_NE(prompt_of(probed).find("[A] c: \n[B] b: beta\n[C] a: alpha"), std::string::npos);
  std::set<std::string> prompts;
  for (std::size_t at = 0; at < count_order_probes(kit.tasks[0].items[0], config.probes); ++at) {
    const std::string name = order_probe(at);
    prompts.insert(prompt_of(make_probed(config, kit, unit_of(0, 0, name))));
  }
  EXPECT_EQ(prompts.size(), 5U);
}

TEST(Probe, LevelsAreOnlyReversed) {
  kit::Item item = small_kit().tasks[0].items[0];
  item.question.type = decision::QuestionType::Score;
  EXPECT_EQ(count_order_probes(item, {.permute = kAllOrders}), 1U);
  EXPECT_EQ(order_probe(0), "order:reverse");
}

TEST(Probe, ANegationTurnsLabelAndOwnDescriptionsRound) {
  kit::Kit kit = small_kit();
  const Config config = config_of(kLetters, {.laws = true});
  const auto ask = [&] { return make_probed(config, kit, unit_of(1, 0, "law:negation")); };
  Probed probed = ask();
  EXPECT_EQ(probed.kit.tasks[0].items[0].label, "no");
  EXPECT_NE(prompt_of(probed).find("Is \"no\" the right answer to this question? Which one?"),
            std::string::npos);
  EXPECT_NE(prompt_of(probed).find("[A] yes: False.\n[B] no: True."), std::string::npos);
  kit.tasks[1].items[0].question.instructions = "The gate is open.";
  kit.tasks[1].items[0].question.options = {{"yes", "The statement is true.", ""},
                                            {"no", "The statement is false.", ""}};
  probed = ask();
  EXPECT_NE(prompt_of(probed).find("It is not true that: The gate is open."), std::string::npos);
  EXPECT_NE(prompt_of(probed).find("[A] yes: The statement is true."), std::string::npos);
}

TEST(Probe, ARenamedOptionKeepsItsKeyInTheRow) {
  kit::Kit kit = small_kit();
  kit.tasks[0].items[0].question.options[2].description = "gamma";
  const Config config = config_of(kLetters, {.laws = true});
  const Unit unit = unit_of(0, 0, "law:rename");
  const Probed probed = make_probed(config, kit, unit);
  EXPECT_NE(prompt_of(probed).find("[A] option_1: alpha\n[B] option_2: beta"), std::string::npos);
  record::Row row =
      make_row(probed.arm, probed.kit, probed.kit.tasks[0], probed.kit.tasks[0].items[0], 0);
  finish_probe_row(row, kit.tasks[0].items[0], unit.probe);
  EXPECT_EQ(row.keys, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(row.label, "a");
  EXPECT_EQ(row.probe, "law:rename");
}

TEST(Probe, IsTakenOnlyByReadingsThatItChanges) {
  const kit::Kit kit = small_kit();
  const auto takes = [&](std::size_t task, const char* reading, const char* probe) {
    return takes_probe(kLetters, kit, kit.tasks[task], kit.tasks[task].items[0], reading, probe);
  };
  EXPECT_TRUE(takes(0, "letters", "order:reverse"));
  EXPECT_TRUE(takes(0, "words", "order:1"));
  EXPECT_TRUE(takes(0, "written", "order:1"));
  EXPECT_FALSE(takes(0, "words-unlisted", "order:reverse")) << "lists no options";
  EXPECT_FALSE(takes(0, "cloze", "order:reverse"));
  EXPECT_TRUE(takes(1, "letters", "law:negation"));
  EXPECT_FALSE(takes(0, "letters", "law:negation")) << "no statement";
  EXPECT_FALSE(takes(1, "gain", "law:negation"));
  EXPECT_FALSE(takes(0, "letters", "law:rename")) << "an option without a description is its key";
  EXPECT_TRUE(takes(1, "letters", "law:rename"));
  EXPECT_FALSE(takes(1, "words", "law:rename")) << "shows no keys";
  EXPECT_TRUE(takes(0, "cloze", "law:whitespace"));
  EXPECT_FALSE(takes(0, "channel", "law:whitespace")) << "the state is what is scored";
}

/// How many rows of each probe a plan has.
std::map<std::string, std::size_t> rows_by_probe(const Config& config, const kit::Kit& kit) {
  std::map<std::string, std::size_t> out;
  const auto plan = make_plan(config, kit);
  if (!plan) return out;
  for (const Unit& unit : *plan) out[unit.probe] += unit.items.size();
  return out;
}

TEST(ProbePlan, HasEachProbeOfEachItemOnce) {
  const kit::Kit kit = small_kit();
  const auto rows =
      rows_by_probe(config_of(kLetters, {.permute = kAllOrders, .laws = true, .noise = 2}), kit);
  EXPECT_EQ(rows, (std::map<std::string, std::size_t>{{"", 6},
                                                      {"order:reverse", 6},
                                                      {"order:1", 4},
                                                      {"order:2", 4},
                                                      {"order:3", 4},
                                                      {"order:4", 4},
                                                      {"law:negation", 2},
                                                      {"law:choice", 2},
                                                      {"law:rename", 2},
                                                      {"law:whitespace", 6},
                                                      {"noise:again", 4},
                                                      {"noise:crowd", 4}}));
}

TEST(ProbePlan, AsksCompanyWhereTheSeatEvaluatesTogether) {
  const kit::Kit kit = small_kit();
  Arm arm = kLetters;
  arm.seat.kind = "local";
  arm.group = 2;
  const auto rows = rows_by_probe(config_of(arm, {.laws = true, .noise = 1}), kit);
  EXPECT_EQ(rows.at("law:alone"), 6U);
  EXPECT_EQ(rows.at("law:beside"), 4U) << "pick has two items on each state";
  EXPECT_EQ(rows.at("law:batch"), 2U) << "open has one";
  EXPECT_EQ(rows.at("noise:alone"), 2U);
  EXPECT_EQ(rows.at("noise:cold"), 2U);
}

TEST(ProbePlan, PutsProbesBehindPlainRowsAndAsksThemOnce) {
  const kit::Kit kit = small_kit();
  Config config = config_of(kLetters, {.permute = 2});
  config.repeat = 3;
  const auto plan = make_plan(config, kit);
  ASSERT_TRUE(plan);
  const auto probe = std::ranges::find_if(*plan, [](const Unit& u) { return !u.probe.empty(); });
  EXPECT_EQ(probe - plan->begin(), 18);
  EXPECT_TRUE(std::all_of(probe, plan->end(), [](const Unit& u) { return !u.probe.empty(); }));
  EXPECT_EQ(count_rows(*plan), 18U + 4 * 2 + 2);
}

TEST(Probes, AreReadFromWords) {
  EXPECT_EQ(parse_permute("all").value_or(0), kAllOrders);
  EXPECT_EQ(parse_permute("3").value_or(0), 3);
  for (const char* bad : {"", "-1", "3x", "1001", "al"}) EXPECT_FALSE(parse_permute(bad)) << bad;
  EXPECT_EQ(parse_duration_s("10m").value_or(0), 600);
  EXPECT_EQ(parse_duration_s("90s").value_or(0), 90);
  EXPECT_EQ(parse_duration_s("1.5h").value_or(0), 5400);
  EXPECT_EQ(parse_duration_s("7").value_or(0), 7);
  for (const char* bad : {"", "m", "-1s", "10 m", "10d", "9999999", "nan", "inf"}) {
    EXPECT_FALSE(parse_duration_s(bad)) << bad;
  }
}

TEST(Probes, AreKeptInTheSettingsAndAbsentWhereNoneIsAsked) {
  Config config = config_of(kLetters, {});
  EXPECT_EQ(settings_json(config).find("probes"), nullptr);
  for (const int permute : {kAllOrders, 0, 3}) {
    config.probes = {.permute = permute, .laws = true, .noise = 4, .sustained_s = 1.5};
    Config again;
    ASSERT_TRUE(read_settings(settings_json(config), again));
    EXPECT_EQ(again.probes, config.probes);
  }
}

}  // namespace
}  // namespace deem::bench
