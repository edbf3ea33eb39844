#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "kit/kit.h"
#include "kit/test_folder.h"

namespace deem::kit {
namespace {

constexpr const char* kTwoArticles = R"json({
 "version": "1.1",
 "data": [
  {"title": "Tide_Mill", "paragraphs": [
   {"context": "The mill at Sallow Creek ran on the tide.", "qas": [
    {"id": "q1", "question": "What did the mill run on?", "answers": [{"text": "the tide", "answer_start": 32}]}]},
   {"context": "Its café closed in 1931.", "qas": [
    {"id": "q2", "question": "When did it close?", "answers": [{"text": "1931", "answer_start": 19}]}]}]},
  {"title": "Bees", "paragraphs": [
   {"context": "Bees swarm in May.", "qas": [
    {"id": "q3", "question": "When do bees swarm?", "answers": [{"text": "May", "answer_start": 14}]}]}]}
 ]
}
)json";

const Item& item(const Task& task, std::string_view id) {
  const auto found = std::ranges::find(task.items, id, &Item::id);
  EXPECT_NE(found, task.items.end()) << id;
  return *found;
}

TEST(Squad, ArticleBecomesAStateWithASectionPerParagraph) {
  const TestFolder folder;
  const Loaded loaded = must_load(folder.write("two.json", kTwoArticles));
  ASSERT_FALSE(loaded.refused()) << all_findings(loaded);
  const Kit& kit = loaded.kit;
  EXPECT_EQ(kit.format, "squad");
  ASSERT_EQ(kit.states.size(), 2U);
  EXPECT_EQ(kit.states[0].id, "tide-mill");
  EXPECT_EQ(kit.states[0].text,
            "# Tide Mill\n\n"
            "## The mill at Sallow Creek ran\n\nThe mill at Sallow Creek ran on the tide.\n\n"
            "## Its café closed in 1931\n\nIts café closed in 1931.");
  ASSERT_EQ(kit.states[0].sections.size(), 2U);
  EXPECT_EQ(kit.states[0].sections[1].id, "p2");
}

TEST(Squad, QuestionsAreAskedOfTheirOwnArticleAndOnceOfAnother) {
  const TestFolder folder;
  const Loaded loaded = must_load(folder.write("two.json", kTwoArticles));
  const Task* answered = loaded.kit.find_task("answered");
  ASSERT_NE(answered, nullptr);
  EXPECT_EQ(answered->type, decision::QuestionType::Noul);
  ASSERT_EQ(answered->items.size(), 6U);
  EXPECT_EQ(item(*answered, "q1").label, "yes");
  EXPECT_EQ(item(*answered, "q1").question.instructions,
            "Does the article in the state answer this reader's question? Question: What did the "
            "mill run on?");
  // With two articles the other one is certain.
  EXPECT_EQ(item(*answered, "q1:elsewhere").label, "no");
  EXPECT_EQ(item(*answered, "q1:elsewhere").state, 1U);
  EXPECT_EQ(item(*answered, "q3:elsewhere").state, 0U);
}

TEST(Squad, SectionAsksWhichParagraphHoldsTheAnswer) {
  const TestFolder folder;
  const Loaded loaded = must_load(folder.write("two.json", kTwoArticles));
  const Task* section = loaded.kit.find_task("section");
  ASSERT_NE(section, nullptr);
  ASSERT_EQ(section->items.size(), 3U);
  const Item& q2 = item(*section, "q2");
  EXPECT_EQ(q2.label, "p2");
  ASSERT_EQ(q2.question.options.size(), 2U);
  EXPECT_EQ(q2.question.options[1].text, "Its café closed in 1931\n\nIts café closed in 1931.");
}

TEST(Squad, ImpossibleQuestionsAreTheNoes) {
  const TestFolder folder;
  std::string text = kTwoArticles;
  text.replace(text.find("\"id\": \"q2\""), 10, "\"is_impossible\": true, \"id\": \"q2\"");
  const Loaded loaded = must_load(folder.write("two.json", text));
  const Task* answered = loaded.kit.find_task("answered");
  ASSERT_NE(answered, nullptr);
  ASSERT_EQ(answered->items.size(), 3U);
  EXPECT_EQ(item(*answered, "q2").label, "no");
  EXPECT_EQ(item(*answered, "q2").kind, "impossible");
  EXPECT_EQ(loaded.kit.find_task("section")->items.size(), 2U);
}

TEST(Squad, SeedDecidesWhichArticleAForeignQuestionIsAskedOf) {
  const TestFolder folder;
  std::string data;
  for (int i = 0; i < 40; ++i) {
    const std::string n = std::to_string(i);
    data += std::string(i > 0 ? "," : "") + R"({"title": "t)" + n +
            R"(", "paragraphs": [{"context": "Body )" + n + R"(.", "qas": [{"id": "q)" + n +
            R"(", "question": "What is )" + n + R"(?", "answers": []}]}]})";
  }
  const std::string path = folder.write("many.json", "{\"data\": [" + data + "]}");
  const auto elsewhere = [&](std::uint64_t seed) {
    LoadOptions options;
    options.seed = seed;
    const Loaded loaded = must_load(path, options);
    std::vector<std::size_t> states;
    for (const Item& each : loaded.kit.find_task("answered")->items) {
      if (each.label == "no") states.push_back(each.state);
    }
    return states;
  };
  const auto first = elsewhere(1);
  EXPECT_EQ(first.size(), 40U);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_NE(first[i], i);
  EXPECT_EQ(first, elsewhere(1));
  EXPECT_NE(first, elsewhere(2));
}

TEST(Squad, FaultsAreNamedAtTheQuestionsLine) {
  const TestFolder folder;
  std::string text = kTwoArticles;
  text.replace(text.find("\"q3\""), 4, "\"q1\"");
  text.replace(text.find("\"answer_start\": 19"), 18, "\"answer_start\": 18");
  const Loaded loaded = must_load(folder.write("two.json", text));
  const Finding* twice = find_finding(loaded, Finding::Level::Refusal, "item q1 stands twice");
  ASSERT_NE(twice, nullptr) << all_findings(loaded);
  EXPECT_EQ(twice->line, 11U);
  const Finding* moved = find_finding(loaded, Finding::Level::Warning, "does not stand at 18");
  ASSERT_NE(moved, nullptr) << all_findings(loaded);
  EXPECT_EQ(moved->line, 8U);
}

}  // namespace
}  // namespace deem::kit
