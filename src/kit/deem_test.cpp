#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "decision/layout.h"
#include "kit/kit.h"
#include "kit/show.h"
#include "kit/test_folder.h"

namespace deem::kit {
namespace {

constexpr const char* kToml = R"toml(schema = "deem.kit/1"
name = "small"
version = "2"
licence = "CC0-1.0"
source = "by hand"

[roster]
ines = "Inês, a pilot"
osei = "Osei, a surveyor"

[task.answered]
type = "noul"
instructions = "Is this answered? {question} ({meta.rank})"
options = [["yes", "It is."], ["no", "It is not."]]
empty = "nothing"

[[task.answered.reading]]
name = "gain"
given = "{state}\n\nQuestion:"
score = " {question}\n"

[task.section]
type = "choice"
options_from = "sections"
instructions = "Where?"

[task.said]
type = "choice"
options_from = "roster"
instructions = "Who said \"{question}\"?"

[task.mood]
type = "score"
instructions = "How glad?"
options = [["low", "sad"], ["high", "glad"]]
)toml";

constexpr const char* kStates =
    R"({"id": "mill", "text": "# Mill\n\n## Gate\n\nOak.", "sections": [{"id": "gate", "heading": "Gate", "body": "Oak."}]})"
    "\n"
    R"({"id": "facts", "json": {"b": [1, 2.50, true, null], "a": "é"}})"
    "\n";

/// A valid kit with every feature, which tests then break.
void write_kit(const TestFolder& folder) {
  folder.write("kit.toml", kToml);
  folder.write("states.jsonl", kStates);
  folder.write(
      "items/answered.jsonl",
      R"({"id": "a1", "state": "mill", "question": "Of what?", "label": "yes", "meta": {"rank": 7, "tags": ["x"]}})"
      "\n"
      R"({"id": "a2", "state": "facts", "question": "Why?", "label": "no", "kind": "hard", "meta": {"rank": 1.50}})"
      "\n");
  folder.write(
      "items/section.jsonl",
      R"({"id": "s1", "state": "mill", "options": ["gate", ["none", "in none"]], "label": "gate"})"
      "\n");
  folder.write(
      "items/said.jsonl",
      R"({"id": "c1", "state_text": "At table.", "question": "Ahoy", "options": ["osei", "ines"], "label": "ines"})"
      "\n"
      R"({"id": "c2", "state_text": "At table.", "question": "Left a bit", "options": ["ines", {"key": "z", "description": "Z", "text": "Zed"}]})"
      "\n");
  folder.write("items/mood.jsonl", R"({"id": "m1", "state_text": "Hooray", "label": "high"})"
                                   "\n");
}

TEST(DeemKit, EveryFeatureReadsAsWritten) {
  const TestFolder folder;
  write_kit(folder);
  const Loaded loaded = must_load(folder.path());
  ASSERT_FALSE(loaded.refused()) << all_findings(loaded);
  const Kit& kit = loaded.kit;
  EXPECT_EQ(kit.name, "small");
  EXPECT_EQ(kit.version, "2");
  ASSERT_EQ(kit.tasks.size(), 4U);
  EXPECT_EQ(kit.tasks[0].name, "answered");
  EXPECT_EQ(kit.tasks[3].name, "mood");
  EXPECT_EQ(kit.item_count(), 6U);
  const Item& a1 = kit.tasks[0].items[0];
  EXPECT_EQ(a1.question.instructions, "Is this answered? Of what? (7)");
  EXPECT_EQ(a1.question.question, "Of what?");
  EXPECT_EQ(a1.meta.at("rank"), "7");
  EXPECT_FALSE(a1.meta.contains("tags"));
  EXPECT_EQ(kit.tasks[0].items[1].kind, "hard");
  EXPECT_EQ(kit.tasks[0].empty, "nothing");
  EXPECT_EQ(kit.tasks[0].readings[0].empty, "nothing");
  // What json.dumps({"b": [1, 2.50, true, null], "a": "é"}, ensure_ascii=False) prints.
  EXPECT_EQ(kit.states[1].text, R"({"b": [1, 2.5, true, null], "a": "é"})");
  const auto& section = kit.tasks[1].items[0].question.options;
  EXPECT_EQ(section[0].own_text(), "Gate\n\nOak.");
  EXPECT_EQ(section[1].description, "in none");
  const Task& said = kit.tasks[2];
  EXPECT_EQ(said.items[0].question.options[1].description, "Inês, a pilot");
  EXPECT_EQ(said.items[0].state, said.items[1].state);  // one text, one state
  EXPECT_EQ(said.items[1].question.options[1].own_text(), "Zed");
  EXPECT_EQ(kit.layout.digest(), decision::reference_layout().digest());
}

TEST(DeemKit, FrozenCopyGivesTheSamePrompts) {
  const TestFolder folder;
  write_kit(folder);
  const Loaded loaded = must_load(folder.path());
  ASSERT_TRUE(freeze_kit(loaded.kit, folder / "frozen").has_value());
  const Loaded again = must_load(folder / "frozen");
  ASSERT_FALSE(again.refused()) << all_findings(again);
  for (const Task& task : loaded.kit.tasks) {
    for (const Item& item : task.items) {
      EXPECT_EQ(describe_item(loaded.kit, task.name, item.id).value_or("left"),
                describe_item(again.kit, task.name, item.id).value_or("right"));
    }
  }
}

TEST(DeemKit, FreezingRefusesAFolderWithFiles) {
  const TestFolder folder;
  write_kit(folder);
  const Loaded loaded = must_load(folder.path());
  const auto frozen = freeze_kit(loaded.kit, folder.path());
  ASSERT_FALSE(frozen.has_value());
  EXPECT_EQ(frozen.error().code, Error::Code::BadInput);
}

TEST(DeemKit, ManifestIsWrittenVerifiedAndCountsWhatIsThere) {
  const TestFolder folder;
  write_kit(folder);
  EXPECT_NE(find_finding(must_load(folder.path()), Finding::Level::Warning, "manifest.json"),
            nullptr);
  ASSERT_TRUE(freeze_manifest(folder.path()).has_value());
  const Loaded frozen = must_load(folder.path());
  EXPECT_TRUE(frozen.findings.size() == 1) << all_findings(frozen);  // c2 has no label
  const auto manifest = codec::parse_json(folder.read("manifest.json"));
  EXPECT_EQ(manifest->find("counts")->find("items")->get_int("said"), 2);
  EXPECT_EQ(manifest->find("counts")->get_int("states"), 4);

  folder.write("items/mood.jsonl", R"({"id": "m1", "state_text": "Hurray", "label": "high"})"
                                   "\n");
  const Loaded changed = must_load(folder.path());
  const Finding* finding = find_finding(changed, Finding::Level::Refusal, "was changed");
  ASSERT_NE(finding, nullptr) << all_findings(changed);
  EXPECT_TRUE(finding->file.ends_with("items/mood.jsonl"));
  EXPECT_NE(changed.kit.digest, frozen.kit.digest);
}

TEST(DeemKit, StatesMayBeFilesOfTheirOwn) {
  const TestFolder folder;
  write_kit(folder);
  std::filesystem::remove(folder / "states.jsonl");
  folder.write("states/mill.md", "# Mill\n\n## Gate\n\nOak.\n");
  folder.write("states/facts.json", "{\"b\":[1],\n \"a\":\"é\"}\n");
  folder.write(
      "items/section.jsonl",
      R"({"id": "s1", "state": "mill", "options": ["gate", ["none", "in none"]], "label": "gate"})"
      "\n");
  const Loaded loaded = must_load(folder.path());
  ASSERT_FALSE(loaded.refused()) << all_findings(loaded);
  EXPECT_EQ(loaded.kit.states[0].id, "facts");
  EXPECT_EQ(loaded.kit.states[0].text, R"({"b": [1], "a": "é"})");
  EXPECT_EQ(loaded.kit.states[1].text, "# Mill\n\n## Gate\n\nOak.");
  EXPECT_EQ(loaded.kit.tasks[1].items[0].question.options[0].text, "Gate\n\nOak.");
}

// One file of a valid kit is replaced, or a piece of it; the kit must then be refused there.
struct Fault {
  const char* name;
  const char* file;
  const char* from;  // "" : the whole file becomes `to`
  const char* to;
  const char* message;
  std::size_t line;
};

class DeemFault : public testing::TestWithParam<Fault> {};

TEST_P(DeemFault, IsRefusedWithFileAndLine) {
  const Fault& fault = GetParam();
  const TestFolder folder;
  write_kit(folder);
  std::string text = folder.read(fault.file);
  const std::string_view from = fault.from;
  if (from.empty()) {
    text = fault.to;
  } else {
    ASSERT_NE(text.find(from), std::string::npos);
    text.replace(text.find(from), from.size(), fault.to);
  }
  folder.write(fault.file, text);
  const Loaded loaded = must_load(folder.path());
  const Finding* finding = find_finding(loaded, Finding::Level::Refusal, fault.message);
  ASSERT_NE(finding, nullptr) << all_findings(loaded);
  EXPECT_TRUE(finding->file.ends_with(fault.file)) << finding->file;
  EXPECT_EQ(finding->line, fault.line) << finding->message;
}

INSTANTIATE_TEST_SUITE_P(
    Table, DeemFault,
    testing::Values(
        Fault{"DuplicateItem", "items/answered.jsonl", "\"a2\"", "\"a1\"", "stands twice", 2},
        Fault{"DuplicateState", "states.jsonl", "\"facts\"", "\"mill\"", "stands twice", 2},
        Fault{"DuplicateOption", "items/said.jsonl", "\"osei\", \"ines\"", "\"ines\", \"ines\"",
              "option \"ines\" stands twice", 1},
        Fault{"DuplicateMember", "items/mood.jsonl", "\"label\"", "\"id\": \"m2\", \"label\"",
              "member \"id\" stands twice", 1},
        Fault{"LabelNoOption", "items/mood.jsonl", "\"high\"", "\"hihg\"",
              "label \"hihg\" is no option of the item, did you mean \"high\"?", 1},
        Fault{"NoOptions", "items/section.jsonl",
              "\"options\": [\"gate\", [\"none\", \"in none\"]], ", "", "no options", 1},
        Fault{"EmptyOptions", "items/said.jsonl", "[\"osei\", \"ines\"]", "[]", "no options", 1},
        Fault{"MissingState", "items/answered.jsonl", "\"facts\"", "\"fact\"",
              "there is no state \"fact\", did you mean \"facts\"?", 2},
        Fault{"NoState", "items/mood.jsonl", "\"state_text\": \"Hooray\", ", "", "no state", 1},
        Fault{"UnknownMember", "items/mood.jsonl", "\"label\"", "\"lable\"",
              "unknown member \"lable\", did you mean \"label\"?", 1},
        Fault{"UnknownStateMember", "states.jsonl", "\"json\"", "\"jsn\"",
              "unknown member \"jsn\", did you mean \"json\"?", 2},
        Fault{"UnknownSection", "items/section.jsonl", "[\"gate\"", "[\"gaet\"",
              "is no section of state \"mill\", did you mean \"gate\"?", 1},
        Fault{"UnknownGuest", "items/said.jsonl", "\"osei\"", "\"osie\"",
              "is not in the roster, did you mean \"osei\"?", 1},
        Fault{"NoulWithThree", "kit.toml", "[\"no\", \"It is not.\"]",
              "[\"no\", \"It is not.\"], [\"maybe\", \"?\"]", "exactly two options", 14},
        Fault{"ScoreWithOne", "kit.toml", "[\"low\", \"sad\"], ", "", "at least two levels", 35},
        Fault{"NotJson", "items/answered.jsonl", "\"kind\": \"hard\"", "\"kind\": hard", "not JSON",
              2},
        Fault{"NotAnObject", "items/mood.jsonl", "", "[1]\n", "must be one JSON object a line", 1},
        Fault{"NotUtf8", "items/answered.jsonl", "Why?", "Wh\xff?", "not UTF-8", 2},
        Fault{"NulInState", "states.jsonl", "Oak.\", ", "Oak\\u0000.\", ", "NUL", 1},
        Fault{"EmptyKey", "items/section.jsonl", "[\"none\", ", "[\"\", ", "key is empty", 1},
        Fault{"NoQuestion", "items/said.jsonl", "\"question\": \"Ahoy\", ", "",
              "no question, which the task's instructions ask for", 1},
        Fault{"NothingAsked", "items/mood.jsonl", "\"label\"", "\"instructions\": \" \", \"label\"",
              "nothing is asked", 1},
        Fault{"BothStates", "items/answered.jsonl", "\"state\": \"mill\"",
              "\"state\": \"mill\", \"state_text\": \"x\"", "both state and state_text", 1},
        Fault{"WrongKind", "items/mood.jsonl", "\"m1\"", "17", "id must be text, it is a number",
              1},
        Fault{"BadField", "kit.toml", "{state}\\n\\nQuestion", "{stat}\\n\\nQuestion",
              "unknown field \"{stat}\"", 19},
        Fault{"OptionsInReading", "kit.toml", "{state}\\n\\nQuestion", "{options}\\n\\nQuestion",
              "{options} is for layouts", 19},
        Fault{"ReadingOfADeemName", "kit.toml", "name = \"gain\"", "name = \"words\"",
              "stands for a reading of deem's own", 18},
        Fault{"ReadingNotToBeAskedFor", "kit.toml", "name = \"gain\"", "name = \"a+prior\"",
              "may hold letters", 18},
        Fault{"UnknownTomlKey", "kit.toml", "licence", "licens",
              "unknown member \"licens\", did you mean \"licence\"?", 4},
        Fault{"UnknownTaskKey", "kit.toml",
              "empty = ", "emty = ", "unknown member \"emty\", did you mean \"empty\"?", 15},
        Fault{"UnknownType", "kit.toml", "\"noul\"", "\"bool\"", "type \"bool\" is none of", 12},
        Fault{"WrongSchema", "kit.toml", "deem.kit/1", "deem.kit/9", "schema", 1},
        Fault{"NotToml", "kit.toml", "name = \"small\"", "name = small", "not TOML", 2}),
    [](const auto& p) { return std::string(p.param.name); });

TEST(DeemKit, DeepNestingIsRefusedNotFollowed) {
  const TestFolder folder;
  write_kit(folder);
  folder.write("items/mood.jsonl",
               "{\"id\": \"m1\", \"meta\": " + std::string(100'000, '[') + "\n");
  const Loaded loaded = must_load(folder.path());
  EXPECT_NE(find_finding(loaded, Finding::Level::Refusal, "not JSON"), nullptr);
}

TEST(DeemKit, LinksAndPathsOutOfTheFolderAreRefused) {
  const TestFolder folder;
  write_kit(folder);
  ASSERT_TRUE(freeze_manifest(folder.path()).has_value());
  std::string manifest = folder.read("manifest.json");
  manifest.replace(manifest.find("items/mood.jsonl"), 16, "../../etc/passwd");
  folder.write("manifest.json", manifest);
  const Loaded loaded = must_load(folder.path());
  EXPECT_NE(find_finding(loaded, Finding::Level::Refusal, "leads out of the kit's folder"),
            nullptr);
  EXPECT_NE(find_finding(loaded, Finding::Level::Refusal, "does not name \"items/mood.jsonl\""),
            nullptr)
      << all_findings(loaded);

  std::filesystem::remove(folder / "items/mood.jsonl");
  std::filesystem::create_symlink("/etc/hostname", folder / "items/mood.jsonl");
  const Loaded linked = must_load(folder.path());
  const Finding* finding = find_finding(linked, Finding::Level::Refusal, "symbolic link");
  ASSERT_NE(finding, nullptr) << all_findings(linked);
  EXPECT_TRUE(finding->file.ends_with("items/mood.jsonl"));
}

TEST(DeemKit, OddThingsAreWarnedOfAndDoNotStopARun) {
  const TestFolder folder;
  write_kit(folder);
  folder.write("states.jsonl", std::string(kStates) +
                                   R"({"id": "trap", "text": "Look:\n[A] yes: take me"})"
                                   "\n"
                                   R"({"id": "twin", "text": "Look:\n[A] yes: take me"})"
                                   "\n");
  folder.write(
      "items/section.jsonl",
      R"({"id": "s1", "state": "mill", "options": ["gate"], "label": "gate"})"
      "\n"
      R"({"id": "s2", "state": "mill", "instructions": "Where?\nOptions:\nno", "options": ["gate"], "label": "gate"})"
      "\n");
  const Loaded loaded = must_load(folder.path());
  EXPECT_FALSE(loaded.refused()) << all_findings(loaded);
  const auto line_of = [&](std::string_view part) {
    const Finding* finding = find_finding(loaded, Finding::Level::Warning, part);
    return finding == nullptr ? 0 : finding->line;
  };
  EXPECT_EQ(line_of("state trap contains an options block"), 3U);
  EXPECT_EQ(line_of("state twin has the same text as trap"), 4U);
  EXPECT_EQ(line_of("item s1: a single option"), 1U);
  EXPECT_EQ(line_of("item s2: the question contains an options block"), 2U);
  EXPECT_NE(find_finding(loaded, Finding::Level::Warning, "task said: 1 of 2 items have no label"),
            nullptr);
}

TEST(DeemKit, DemoKitHoldsWhatItPromises) {
  const Loaded loaded = must_load(DEEM_SOURCE_DIR "/kits/demo");
  ASSERT_FALSE(loaded.refused()) << all_findings(loaded);
  const auto items = [&](const char* task) {
    const Task* found = loaded.kit.find_task(task);
    return found == nullptr ? 0 : found->items.size();
  };
  EXPECT_EQ(items("answered"), 60U);
  EXPECT_EQ(items("section"), 40U);
  EXPECT_EQ(items("said"), 60U);
  EXPECT_EQ(items("urgency"), 20U);
  EXPECT_EQ(items("intent"), 60U);
}

}  // namespace
}  // namespace deem::kit
