#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/digest.h"
#include "base/file.h"
#include "base/text.h"
#include "decision/layout.h"
#include "kit/kit.h"
#include "kit/test_folder.h"

namespace deem::kit {
namespace {

const std::string kReference = DEEM_SOURCE_DIR "/../shared/reference";
const std::string kXquad = DEEM_SOURCE_DIR "/../shared/kits/xquad-en";

/// The reference kit holds one item whose label is none of its options; it is kept on request.
LoadOptions keeping_labels() {
  LoadOptions options;
  options.open_labels = true;
  return options;
}

/// "task id" → prompt_sha256 of every asked row the reference bench wrote, all arms.
std::map<std::string, std::string> reference_prompts() {
  std::map<std::string, std::string> prompts;
  const auto names = list_folder(kReference + "/rows");
  for (const std::string& name : names.value_or(std::vector<std::string>())) {
    if (!name.ends_with(".jsonl")) continue;
    const std::string bytes = *read_file(kReference + "/rows/" + name);
    for (const std::string_view line : split(bytes, '\n')) {
      if (line.empty()) continue;
      const auto row = codec::parse_json(line, codec::JsonMode::Python);
      EXPECT_TRUE(row.has_value()) << name;
      const auto sha = row ? row->get_string("prompt_sha256") : std::nullopt;
      if (!sha) continue;
      const std::string key = *row->get_string("task") + " " + *row->get_string("id");
      const auto [known, is_new] = prompts.emplace(key, *sha);
      EXPECT_EQ(known->second, *sha) << key << " differs between arms";
    }
  }
  return prompts;
}

std::map<std::string, std::string> prompts_of(const Kit& kit) {
  std::map<std::string, std::string> prompts;
  for (const Task& task : kit.tasks) {
    for (const Item& item : task.items) {
      if (item.question.options.size() > decision::kLetters) continue;
      prompts[task.name + " " + item.id] =
          sha256_hex(decision::render_letters(kit.layout, kit.states[item.state].text,
                                              item.question, item.question.options, item.meta));
    }
  }
  return prompts;
}

void expect_same_items(const Kit& a, const Kit& b) {
  ASSERT_EQ(a.tasks.size(), b.tasks.size());
  EXPECT_EQ(a.layout.digest(), b.layout.digest());
  for (std::size_t t = 0; t < a.tasks.size(); ++t) {
    const Task& left = a.tasks[t];
    const Task& right = b.tasks[t];
    EXPECT_EQ(left.name, right.name);
    EXPECT_EQ(left.type, right.type);
    EXPECT_EQ(left.empty, right.empty);
    ASSERT_EQ(left.readings.size(), right.readings.size());
    for (std::size_t r = 0; r < left.readings.size(); ++r) {
      EXPECT_EQ(left.readings[r].name, right.readings[r].name);
      EXPECT_EQ(left.readings[r].digest(), right.readings[r].digest());
    }
    ASSERT_EQ(left.items.size(), right.items.size());
    for (std::size_t i = 0; i < left.items.size(); ++i) {
      const Item& x = left.items[i];
      const Item& y = right.items[i];
      EXPECT_EQ(x.id, y.id);
      EXPECT_EQ(x.question.instructions, y.question.instructions);
      EXPECT_EQ(x.question.question, y.question.question);
      EXPECT_EQ(x.question.options, y.question.options) << x.id;
      EXPECT_EQ(x.label, y.label);
      EXPECT_EQ(x.kind, y.kind);
      EXPECT_EQ(x.meta, y.meta);
      EXPECT_EQ(x.raw_meta, y.raw_meta);
      EXPECT_EQ(a.states[x.state].id, b.states[y.state].id);
      EXPECT_EQ(a.states[x.state].sha256, b.states[y.state].sha256);
    }
  }
}

class ReferenceKit : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_folder(kReference)) GTEST_SKIP() << "the reference bench is not here";
  }
};

TEST_F(ReferenceKit, PromptsAreThoseOfEveryAskedReferenceRow) {
  const Loaded loaded = must_load(kReference + "/kit", keeping_labels());
  ASSERT_FALSE(loaded.refused()) << all_findings(loaded);
  const auto got = prompts_of(loaded.kit);
  const auto want = reference_prompts();
  EXPECT_EQ(want.size(), 215U);  // 60 + 45 + 110: the jev arms were asked all
  std::set<std::string> tasks;
  for (const auto& [key, sha] : want) {
    ASSERT_TRUE(got.contains(key)) << key;
    EXPECT_EQ(got.at(key), sha) << key;
    tasks.insert(key.substr(0, 1));
  }
  EXPECT_EQ(tasks, (std::set<std::string>{"a", "b", "c"}));
}

TEST_F(ReferenceKit, ItemsStatesAndTypesAreAllThere) {
  const Loaded loaded = must_load(kReference + "/kit", keeping_labels());
  const Kit& kit = loaded.kit;
  EXPECT_EQ(kit.format, "reference");
  EXPECT_EQ(kit.name, "oracle-kit-1");
  EXPECT_EQ(kit.licence, "CC0-1.0; invented prose");
  ASSERT_EQ(kit.tasks.size(), 3U);
  EXPECT_EQ(kit.tasks[0].items.size(), 60U);
  EXPECT_EQ(kit.tasks[1].items.size(), 45U);
  EXPECT_EQ(kit.tasks[2].items.size(), 110U);
  EXPECT_EQ(kit.tasks[0].type, decision::QuestionType::Noul);
  EXPECT_EQ(kit.tasks[0].readings.front().name, "gain");
  EXPECT_EQ(kit.tasks[1].readings.front().name, "channel");
  const Item& skeps = *std::ranges::find(kit.tasks[1].items, "b-007", &Item::id);
  EXPECT_EQ(skeps.question.options[0].key, "bole");
  EXPECT_EQ(skeps.question.options[0].description, "Bee Boles");
  EXPECT_EQ(skeps.question.options[0].text,
            "Bee Boles\n\nSkeps were set in boles, arched niches in a south wall. A wall with "
            "twelve boles was a dowry.");
  EXPECT_NE(find_finding(loaded, Finding::Level::Warning,
                         "item c-041: the question contains an options block"),
            nullptr);
  EXPECT_NE(find_finding(loaded, Finding::Level::Warning, "3 of 45 items have no label"), nullptr)
      << all_findings(loaded);
}

TEST_F(ReferenceKit, LabelThatIsNoOptionIsRefusedAtItsLineUnlessAskedFor) {
  const Loaded loaded = must_load(kReference + "/kit");
  EXPECT_TRUE(loaded.refused());
  const Finding* finding = find_finding(loaded, Finding::Level::Refusal, "b-005");
  ASSERT_NE(finding, nullptr) << all_findings(loaded);
  EXPECT_TRUE(finding->file.ends_with("kit/task_b.json"));
  EXPECT_NE(finding->message.find("label \"bole\" is no option"), std::string::npos);
  const std::string text = *read_file(kReference + "/kit/task_b.json");
  const std::size_t item = text.rfind('{', text.find("\"b-005\""));
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(item), '\n');
  EXPECT_EQ(finding->line, static_cast<std::size_t>(line));
}

TEST_F(ReferenceKit, FreezingKeepsItemsPromptsAndReadings) {
  const TestFolder folder;
  const Loaded loaded = must_load(kReference + "/kit", keeping_labels());
  const auto frozen = freeze_kit(loaded.kit, folder / "frozen");
  ASSERT_TRUE(frozen.has_value()) << frozen.error().message;
  const Loaded again = must_load(folder / "frozen");
  EXPECT_FALSE(again.refused()) << all_findings(again);
  EXPECT_EQ(again.kit.format, "deem");
  expect_same_items(loaded.kit, again.kit);
  EXPECT_EQ(prompts_of(loaded.kit), prompts_of(again.kit));

  const TestFolder& second = folder;
  ASSERT_TRUE(freeze_kit(again.kit, second / "twice").has_value());
  for (const char* name : {"kit.toml", "states.jsonl", "items/b.jsonl", "manifest.json"}) {
    EXPECT_EQ(folder.read(std::string("frozen/") + name), folder.read(std::string("twice/") + name))
        << name;
  }
  EXPECT_EQ(must_load(folder / "twice").kit.digest, again.kit.digest);
}

TEST_F(ReferenceKit, ChangedFileIsRefusedByDigest) {
  const TestFolder folder;
  for (const char* name :
       {"articles.json", "task_a.json", "task_b.json", "task_c.json", "manifest.json"}) {
    folder.write(name, *read_file(kReference + "/kit/" + name));
  }
  std::string articles = folder.read("articles.json");
  articles.replace(articles.find("rye straw"), 9, "oat straw");
  folder.write("articles.json", articles);
  const Loaded loaded = must_load(folder.path(), keeping_labels());
  EXPECT_NE(find_finding(loaded, Finding::Level::Refusal, "changed after the kit was frozen"),
            nullptr);
  const Finding* state = find_finding(loaded, Finding::Level::Refusal, "state_sha256");
  ASSERT_NE(state, nullptr) << all_findings(loaded);
  EXPECT_EQ(state->line, 2U);  // bee-skeps is the first member
  LoadOptions trusting = keeping_labels();
  trusting.verify_digests = false;
  EXPECT_FALSE(must_load(folder.path(), trusting).refused());
}

TEST_F(ReferenceKit, XquadLoadsAndSurvivesFreezing) {
  if (!is_folder(kXquad)) GTEST_SKIP() << "no xquad-en";
  const TestFolder folder;
  const Loaded loaded = must_load(kXquad);
  EXPECT_FALSE(loaded.refused()) << all_findings(loaded);
  ASSERT_EQ(loaded.kit.tasks.size(), 2U);  // task_c.json is an empty list
  EXPECT_EQ(loaded.kit.tasks[0].items.size(), 240U);
  EXPECT_EQ(loaded.kit.tasks[1].items.size(), 160U);
  for (const Item& item : loaded.kit.tasks[1].items) {
    for (const auto& option : item.question.options) EXPECT_FALSE(option.text.empty()) << item.id;
  }
  ASSERT_TRUE(freeze_kit(loaded.kit, folder / "frozen").has_value());
  const Loaded again = must_load(folder / "frozen");
  EXPECT_FALSE(again.refused()) << all_findings(again);
  expect_same_items(loaded.kit, again.kit);
  EXPECT_EQ(prompts_of(loaded.kit), prompts_of(again.kit));
}

TEST_F(ReferenceKit, IntentLinesLoadAndSurviveFreezing) {
  const std::string intent = DEEM_SOURCE_DIR "/../shared/kits/intent-12way.jsonl";
  if (!file_exists(intent)) GTEST_SKIP() << "no intent-12way.jsonl";
  const TestFolder folder;
  const Loaded loaded = must_load(intent);
  EXPECT_FALSE(loaded.refused()) << all_findings(loaded);
  ASSERT_EQ(loaded.kit.tasks.size(), 1U);
  EXPECT_EQ(loaded.kit.tasks[0].name, "intent-12way");
  EXPECT_EQ(loaded.kit.tasks[0].items.size(), 400U);
  EXPECT_EQ(loaded.kit.tasks[0].items[0].question.options.size(), 12U);
  ASSERT_TRUE(freeze_kit(loaded.kit, folder / "frozen").has_value());
  const Loaded again = must_load(folder / "frozen");
  EXPECT_FALSE(again.refused()) << all_findings(again);
  expect_same_items(loaded.kit, again.kit);
  EXPECT_EQ(prompts_of(loaded.kit), prompts_of(again.kit));
}

}  // namespace
}  // namespace deem::kit
