#include "bench/config.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "bench/test_folder.h"

namespace deem::bench {
namespace {

class ConfigFile : public testing::Test {
 protected:
  Result<Config> load(std::string_view text) {
    path = join_path(folder.path(), "deem.toml");
    EXPECT_TRUE(write_file_atomically(path, text));
    return load_config(path);
  }
  TestFolder folder;
  std::string path;
};

TEST_F(ConfigFile, GivesKitArmsSettingsAndReadings) {
  const auto config = load(R"(
kit = "kits/demo"
order = "shuffle"
seed = 7
repeat = 2
tasks = ["intent"]

[[arm]]
name = "letters"
seat = "local:models/m.gguf"
readings = ["letters", "topic+prior"]

[[arm]]
name = "written"
seat = "vllm:http://127.0.0.1:8000"
mode = "generate"
key-env = "SOME_KEY"

[[reading]]
task = "intent"
name = "topic"
given = "{state}\nTopic:"
score = " {description}"
)");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->kit, folder.path() + "/kits/demo");
  EXPECT_EQ(config->order, Order::Shuffle);
  EXPECT_EQ(config->seed, 7U);
  EXPECT_EQ(config->repeat, 2);
  ASSERT_EQ(config->arms.size(), 2U);
  EXPECT_EQ(config->arms[0].seat.address, folder.path() + "/models/m.gguf");
  EXPECT_EQ(config->arms[0].readings,
            (std::vector<ReadingChoice>{{"letters", false}, {"topic", true}}));
  EXPECT_EQ(config->arms[1].mode, Mode::Generate);
  EXPECT_EQ(config->arms[1].seat.key_env, "SOME_KEY");
  ASSERT_TRUE(config->kit_options.extra_readings.contains("intent.topic"));
  EXPECT_EQ(config->kit_options.extra_readings.at("intent.topic").empty, "N/A");
}

TEST_F(ConfigFile, NamesProbes) {
  const auto config = load("permute = \"all\"\nlaws = true\nnoise = 3\nsustained = \"10m\"\n");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->probes,
            (Probes{.permute = kAllOrders, .laws = true, .noise = 3, .sustained_s = 600}));
  EXPECT_EQ(load("permute = 4\nsustained = 90\n")->probes,
            (Probes{.permute = 4, .laws = false, .noise = 0, .sustained_s = 90}));
}

TEST_F(ConfigFile, NamesPowerAndBoards) {
  const auto config = load(
      "power = false\nidle = \"20s\"\npower-period = 0.5\nrequire-pin = true\n[[arm]]\n"
      "name = \"a\"\nseat = \"vllm:http://127.0.0.1:8000\"\nboards = [\"GPU-1\", \"GPU-2\"]\n");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->power, (PowerOptions{true, 0.5, 20, true}));
  EXPECT_EQ(config->arms.at(0).boards, (std::vector<std::string>{"GPU-1", "GPU-2"}));
  const auto arm = parse_arm(to_json(config->arms[0]));
  ASSERT_TRUE(arm);
  EXPECT_EQ(*arm, config->arms[0]);
}

struct BadFile {
  const char* name;
  const char* text;
  const char* says;
};
class BadConfigFile : public ConfigFile, public testing::WithParamInterface<BadFile> {};

TEST_P(BadConfigFile, NamesTheLineAndWhatIsWrong) {
  const auto config = load(GetParam().text);
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, Error::Code::BadInput);
  EXPECT_NE(config.error().message.find(GetParam().says), std::string::npos)
      << config.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadConfigFile,
    testing::Values(
        BadFile{"NotToml", "kit = \n", "deem.toml:1"},
        BadFile{"UnknownMember", "kit = \"k\"\nsede = 3\n", "did you mean seed"},
        BadFile{"UnknownMemberLine", "kit = \"k\"\nsede = 3\n", "deem.toml:2"},
        BadFile{"ArmTable", "[arm]\nname = \"a\"\n", "[[arm]]"},
        BadFile{"ArmMember", "[[arm]]\nname = \"a\"\nsaet = \"x\"\n", "did you mean seat"},
        BadFile{"ArmMemberLine", "[[arm]]\nname = \"a\"\nsaet = \"x\"\n", "deem.toml:3:1: "},
        BadFile{"ArmValueLine",
                "[[arm]]\nname = \"a\"\nseat = \"local:m\"\n[[arm]]\n\ngroup = \"many\"\n",
                "deem.toml:6:1: "},
        BadFile{"ArmAsAWhole", "[[arm]]\nname = \"a\"\n\n[[arm]]\nname = \"b\"\n", "deem.toml:1:"},
        BadFile{"ReadingMemberLine",
                "[[reading]]\ntask = \"t\"\nname = \"r\"\ngiven = \"{sate}\"\nscore = \"x\"\n",
                "deem.toml:4:1: "},
        BadFile{"ReadingOfADeemName",
                "[[reading]]\ntask = \"t\"\nname = \"letters\"\ngiven = \"{state}\"\nscore = "
                "\"x\"\n",
                "deem.toml:3:1: "},
        BadFile{"ReadingKind",
                "[[reading]]\ntask = \"t\"\nname = \"r\"\ngiven = 3\nscore = \"x\"\n",
                "given wants a text"},
        BadFile{"SeatKind", "[[arm]]\nname = \"a\"\nseat = \"olama:http://x\"\n", "ollama"},
        BadFile{"Power", "power = 1\n", "power: wants true or false"},
        BadFile{"Idle", "idle = true\n", "idle: wants seconds"},
        BadFile{"PowerPeriod", "power-period = \"soon\"\n", "power-period: wants a time"},
        BadFile{"Boards", "[[arm]]\nname = \"a\"\nboards = [1]\n", "UUIDs or PCI addresses"},
        BadFile{"Order", "order = \"random\"\n", "state, item, shuffle or block"},
        BadFile{"Permute", "\npermute = \"some\"\n", "deem.toml:2:1: permute: wants a number of"},
        BadFile{"PermuteKind", "permute = true\n", "whole number, or \"all\""},
        BadFile{"Laws", "laws = 1\n", "true or false"},
        BadFile{"Noise", "noise = -2\n", "whole number"},
        BadFile{"Sustained", "sustained = \"10d\"\n", "a time such as 90s"},
        BadFile{"Negative", "limit = -1\n", "whole number"},
        BadFile{"ReadingField",
                "[[reading]]\ntask = \"t\"\nname = \"r\"\ngiven = \"{sate}\"\nscore = \"x\"\n",
                "sate"},
        BadFile{"ReadingMember", "[[reading]]\ntask = \"t\"\nnmae = \"r\"\n", "nmae"}),
    [](const auto& p) { return p.param.name; });

TEST(RunSettings, ReadBackAsTheyWere) {
  Config config;
  config.order = Order::Item;
  config.seed = 9;
  config.repeat = 3;
  config.limit = 4;
  config.concurrency = 2;
  config.tasks = {"a", "b"};
  config.kit_options.columns["state"] = "body";
  ASSERT_TRUE(add_reading(
      config,
      codec::Json::object({{"task", "t"}, {"name", "r"}, {"given", "{state}"}, {"score", "x"}})));
  Config again;
  ASSERT_TRUE(read_settings(settings_json(config), again));
  EXPECT_EQ(settings_json(again), settings_json(config));
}

TEST(LoadConfig, NumbersThatDoNotFitAreRefused) {
  const TestFolder folder;
  const std::string path = join_path(folder.path(), "deem.toml");
  for (const char* key : {"repeat", "concurrency", "noise"}) {
    ASSERT_TRUE(write_file_atomically(path, std::string(key) + " = 4294967297\n"));
    const auto config = load_config(path);
    ASSERT_FALSE(config) << key;
    EXPECT_EQ(config.error().code, Error::Code::BadInput);
  }
}

}  // namespace
}  // namespace deem::bench
