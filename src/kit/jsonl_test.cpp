#include <gtest/gtest.h>

#include <filesystem>

#include "kit/kit.h"
#include "kit/readings.h"
#include "kit/test_folder.h"

namespace deem::kit {
namespace {

TEST(Jsonl, StatesMayBeJsonAndEqualOnesAreOne) {
  const TestFolder folder;
  const Loaded loaded = must_load(folder.write(
      "pets.jsonl",
      "{\"id\": \"a\", \"state\": {\"k\": [1.0, \"é\"]}, \"instructions\": \"I\", \"options\": "
      "[\"x_y\", [\"z\", \"Z\"]], \"label\": \"z\", \"rank\": 3}\r\n\n"
      "{\"id\": 7, \"state\": {\"k\": [1.0, \"é\"]}, \"question\": \"Q\", \"options\": [\"x\", "
      "\"y\"], \"label\": \"x\"}"));
  ASSERT_FALSE(loaded.refused()) << all_findings(loaded);
  ASSERT_EQ(loaded.kit.states.size(), 1U);
  EXPECT_EQ(loaded.kit.states[0].text, "{\"k\": [1.0, \"é\"]}");
  const Task& task = loaded.kit.tasks[0];
  EXPECT_EQ(task.name, "pets");
  EXPECT_EQ(task.items[0].question.options[0].description, "x y");
  EXPECT_EQ(task.items[0].meta.at("rank"), "3");
  EXPECT_EQ(task.items[1].id, "7");
  EXPECT_EQ(task.items[1].question.instructions, "Q");
}

TEST(Jsonl, EachTypeIsATaskOfItsOwn) {
  const TestFolder folder;
  const Loaded loaded = must_load(folder.write(
      "mix.jsonl",
      R"({"id": "a", "state": "S", "instructions": "I", "options": ["x", "y"], "label": "x"})"
      "\n"
      R"({"id": "a", "state": "S", "instructions": "I", "type": "noul", "label": true})"
      "\n"));
  ASSERT_FALSE(loaded.refused()) << all_findings(loaded);
  ASSERT_EQ(loaded.kit.tasks.size(), 2U);
  EXPECT_EQ(loaded.kit.tasks[1].name, "mix-noul");
  EXPECT_EQ(loaded.kit.tasks[1].items[0].label, "yes");
}

TEST(Jsonl, ReadingsFromSettingsAddAndReplace) {
  const TestFolder folder;
  LoadOptions options;
  options.extra_readings["pets.cloze"] = *make_reading("cloze", "G {state}", "{option}", false, "");
  options.extra_readings["pets.mine"] = *make_reading("mine", "", "{state}", true, "none");
  options.extra_readings["dogs.mine"] = *make_reading("mine", "", "{state}", true, "none");
  const Loaded loaded = must_load(
      folder.write("pets.jsonl",
                   R"({"id": "a", "state": "S", "instructions": "I", "options": ["x", "y"]})"),
      options);
  const Task& task = loaded.kit.tasks[0];
  ASSERT_EQ(task.readings.size(), 3U);  // cloze, channel, mine
  EXPECT_EQ(task.readings[0].given.text(), "G {state}");
  EXPECT_EQ(task.readings[0].empty, "N/A");
  EXPECT_EQ(task.readings[2].name, "mine");
  EXPECT_NE(find_finding(loaded, Finding::Level::Refusal, "\"dogs.mine\""), nullptr);
}

struct Fault {
  const char* name;
  const char* line;
  const char* message;
};
class JsonlFault : public testing::TestWithParam<Fault> {};

TEST_P(JsonlFault, IsRefusedAtItsLineBesideGoodOnes) {
  const TestFolder folder;
  const std::string good =
      R"({"id": "g", "state": "S", "instructions": "I", "options": ["x", "y"], "label": "x"})"
      "\n";
  const Loaded loaded = must_load(folder.write("t.jsonl", good + GetParam().line + "\n"));
  const Finding* finding = find_finding(loaded, Finding::Level::Refusal, GetParam().message);
  ASSERT_NE(finding, nullptr) << all_findings(loaded);
  EXPECT_EQ(finding->line, 2U);
}

INSTANTIATE_TEST_SUITE_P(
    Table, JsonlFault,
    testing::Values(
        Fault{"Misspelt",
              R"({"id": "b", "state": "S", "instructions": "I", "options": ["x"], "lable": "x"})",
              "unknown member \"lable\", did you mean \"label\"?"},
        Fault{"NoState", R"({"id": "b", "instructions": "I", "options": ["x", "y"]})", "no state"},
        Fault{"NothingAsked", R"({"id": "b", "state": "S", "options": ["x", "y"]})",
              "nothing is asked"},
        Fault{"NoOptions", R"({"id": "b", "state": "S", "instructions": "I"})", "no options"},
        Fault{"BadOptions", R"({"id": "b", "state": "S", "instructions": "I", "options": [["x"]]})",
              "must be [\"key\", \"description\"]"},
        Fault{"OptionsNoList", R"({"id": "b", "state": "S", "instructions": "I", "options": "x"})",
              "options must be a list"},
        Fault{"BadType",
              R"({"id": "b", "state": "S", "instructions": "I", "options": ["x"], "type": "rank"})",
              "is none of noul, choice, score"},
        Fault{"Twice", R"({"id": "g", "state": "S", "instructions": "I", "options": ["x", "y"]})",
              "item g stands twice in task t, first in line 1"},
        Fault{"Torn", R"({"id": "b", "sta)", "not JSON"},
        Fault{"NotUtf8", "{\"id\": \"\xc3\"}", "not UTF-8"}),
    [](const auto& p) { return std::string(p.param.name); });

TEST(LoadKit, PathAndFormatProblemsAreErrors) {
  const TestFolder folder;
  EXPECT_EQ(load_kit(folder / "none.jsonl").error().code, Error::Code::NotFound);
  EXPECT_EQ(load_kit(folder.path()).error().code, Error::Code::BadInput);
  EXPECT_EQ(load_kit(folder.write("x.bin", "\x01")).error().code, Error::Code::BadInput);
  EXPECT_EQ(load_kit("/dev/null").error().code, Error::Code::BadInput);
}

TEST(LoadKit, FindingsAreCappedAndTheRestCounted) {
  const TestFolder folder;
  std::string lines;
  for (int i = 0; i < 1'500; ++i) lines += "{\n";
  const Loaded loaded = must_load(folder.write("bad.jsonl", lines));
  EXPECT_TRUE(loaded.refused());
  EXPECT_NE(find_finding(loaded, Finding::Level::Refusal, "500 more refusals not listed"), nullptr)
      << loaded.findings.size();
}

}  // namespace
}  // namespace deem::kit
