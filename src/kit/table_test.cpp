#include <gtest/gtest.h>

#include "kit/kit.h"
#include "kit/test_folder.h"

namespace deem::kit {
namespace {

std::vector<std::string> keys(const Item& item) {
  std::vector<std::string> all;
  for (const auto& option : item.question.options) all.push_back(option.key);
  return all;
}
using Keys = std::vector<std::string>;

TEST(Table, OptionsInOneColumnAndOtherColumnsAsMetadata) {
  const TestFolder folder;
  const Loaded loaded = must_load(
      folder.write("mail.csv",
                   "id,state,question,options,label,lang\n"
                   "m1,\"Where is my card, please?\",About?,card_lost| refund ,card_lost,en\n"
                   "m2,\"Two\nlines\",About?,refund|card_lost|other,,fr\n"));
  ASSERT_FALSE(loaded.refused()) << all_findings(loaded);
  ASSERT_EQ(loaded.kit.tasks.size(), 1U);
  const Task& task = loaded.kit.tasks[0];
  EXPECT_EQ(loaded.kit.format, "csv");
  EXPECT_EQ(task.name, "mail");
  EXPECT_EQ(keys(task.items[0]), (Keys{"card_lost", "refund"}));
  EXPECT_EQ(task.items[0].question.options[0].description, "card lost");
  EXPECT_EQ(task.items[0].question.instructions, "About?");
  EXPECT_EQ(task.items[0].meta.at("lang"), "en");
  EXPECT_EQ(loaded.kit.states[task.items[1].state].text, "Two\nlines");
  EXPECT_FALSE(task.items[1].label.has_value());
}

TEST(Table, ColumnsAreMappedAndOptionsAreTheLabels) {
  const TestFolder folder;
  LoadOptions options;
  options.columns = {{"state", "body"}, {"label", "topic"}};
  options.instructions = "What is this {meta.lang} message about?";
  options.task = "topic";
  const Loaded loaded = must_load(
      folder.write("mail.tsv",
                   "body\ttopic\tlang\nHi\tgreeting\ten\nMoney\tbill\tde\nHo\tgreeting\ten\n"),
      options);
  ASSERT_FALSE(loaded.refused()) << all_findings(loaded);
  const Task& task = loaded.kit.tasks[0];
  EXPECT_EQ(task.name, "topic");
  EXPECT_EQ(keys(task.items[0]), (Keys{"bill", "greeting"}));
  EXPECT_EQ(task.items[1].question.instructions, "What is this de message about?");
  EXPECT_EQ(task.items[1].label, "bill");
}

TEST(Table, OptionColumnsStandInNumberOrder) {
  const TestFolder folder;
  const Loaded loaded = must_load(folder.write(
      "quiz.csv", "state,question,option_2,option_1,option_10,label\nS,Q?,b,a,z,z\nT,Q?,b,a,,a\n"));
  ASSERT_FALSE(loaded.refused()) << all_findings(loaded);
  EXPECT_EQ(keys(loaded.kit.tasks[0].items[0]), (Keys{"a", "b", "z"}));
  EXPECT_EQ(keys(loaded.kit.tasks[0].items[1]), (Keys{"a", "b"}));
}

TEST(Table, LevelsOfAScoreAreNumbersInOrder) {
  const TestFolder folder;
  LoadOptions options;
  options.type = decision::QuestionType::Score;
  options.instructions = "How many stars?";
  const Loaded loaded =
      must_load(folder.write("stars.csv", "state,label\na,10\nb,9\nc,2\n"), options);
  ASSERT_FALSE(loaded.refused()) << all_findings(loaded);
  EXPECT_EQ(keys(loaded.kit.tasks[0].items[0]), (Keys{"2", "9", "10"}));
}

TEST(Table, YesAndNoNeedNoColumn) {
  const TestFolder folder;
  LoadOptions options;
  options.type = decision::QuestionType::Noul;
  const Loaded loaded =
      must_load(folder.write("claims.csv", "state,question,label\na,So?,True\nb,So?,0\n"), options);
  ASSERT_FALSE(loaded.refused()) << all_findings(loaded);
  EXPECT_EQ(loaded.kit.tasks[0].items[0].label, "yes");
  EXPECT_EQ(loaded.kit.tasks[0].items[1].label, "no");
}

struct Fault {
  const char* name;
  const char* bytes;
  const char* message;
  std::size_t line;
};
class TableFault : public testing::TestWithParam<Fault> {};

TEST_P(TableFault, IsRefusedWithItsLine) {
  const TestFolder folder;
  LoadOptions options;
  if (std::string_view(GetParam().name) == "UnknownColumn") options.columns = {{"state", "boddy"}};
  if (std::string_view(GetParam().name) == "UnknownField") options.columns = {{"stat", "body"}};
  const Loaded loaded = must_load(folder.write("t.csv", GetParam().bytes), options);
  const Finding* finding = find_finding(loaded, Finding::Level::Refusal, GetParam().message);
  ASSERT_NE(finding, nullptr) << all_findings(loaded);
  EXPECT_EQ(finding->line, GetParam().line);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, TableFault,
    testing::Values(
        Fault{"NoState", "text,question,label\na,b,c\n", "no column \"state\"", 1},
        Fault{"NothingAsked", "state,label\na,b\n", "no column \"question\"", 1},
        Fault{"UnknownColumn", "body,question,label\na,b,c\n",
              "no column \"boddy\", did you mean \"body\"?", 1},
        Fault{"UnknownField", "body,question,label\na,b,c\n",
              "no field \"stat\", did you mean \"state\"?", 0},
        Fault{"ShortRow", "state,question,label\na,b,c\na,b\n", "", 3},
        Fault{"NoLabels", "state,question\na,b\n", "no options", 1},
        Fault{"DuplicateId", "id,state,question,label\nx,a,b,c\nx,d,e,f\n", "stands twice", 3},
        Fault{"LabelNoOption", "state,question,options,label\na,b,c|d,e\n", "is no option", 2},
        Fault{"EmptyState", "state,question,label\n,b,c\na,b,d\n", "is empty", 2}),
    [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace deem::kit
