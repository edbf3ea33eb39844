#include "board/power_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "record/power_limits.h"

namespace deem::board {
namespace {

record::PowerSegment heading_of(std::size_t boards) {
  record::PowerSegment out;
  out.period_s = 1;
  for (std::size_t i = 0; i < boards; ++i) {
    out.boards.push_back(
        {.id = "GPU-" + std::to_string(i), .name = "", .pci = "", .source = "nvml"});
  }
  return out;
}

class PowerLogFile : public testing::Test {
 protected:
  PowerLogFile() {
    std::string name = testing::TempDir() + "power-log-XXXXXX";
    folder = ::mkdtemp(name.data());
    path = folder + "/p.jsonl";
  }
  ~PowerLogFile() override { std::filesystem::remove_all(folder); }
  std::string folder, path;
};

TEST_F(PowerLogFile, OneLoggerAtATimeByWhateverName) {
  const auto log = PowerLog::open(path, heading_of(1));
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_FALSE(PowerLog::open(path, heading_of(1)));
  std::filesystem::create_symlink(path, folder + "/s.jsonl");
  std::filesystem::create_hard_link(path, folder + "/h.jsonl");
  for (const char* other : {"/s.jsonl", "/h.jsonl"}) {
    const auto second = PowerLog::open(folder + other, heading_of(1));
    ASSERT_FALSE(second) << other;
    EXPECT_EQ(second.error().code, Error::Code::Unavailable);
  }
}

TEST_F(PowerLogFile, GoesOnBehindItsOwnLinesAndCutsATornOne) {
  {
    const auto log = PowerLog::open(path, heading_of(1));
    ASSERT_TRUE(log);
    ASSERT_TRUE((*log)->sample({.mono_s = 1, .wall_s = 2, .boards = {record::PowerReading()}}));
  }
  std::ofstream(path, std::ios::app) << "{\"t\":2,\"u";
  {
    const auto log = PowerLog::open(path, heading_of(1));
    ASSERT_TRUE(log) << log.error().message;
  }
  const auto file = record::load_power(path);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->problems.empty());
  EXPECT_FALSE(file->torn_tail);
  ASSERT_EQ(file->segments.size(), 2U);
  EXPECT_EQ(file->segments[0].samples.size(), 1U);
}

TEST_F(PowerLogFile, NoticesThatItWasDeletedOrCutShort) {
  for (const bool deleted : {true, false}) {
    const auto log = PowerLog::open(path, heading_of(1));
    ASSERT_TRUE(log) << log.error().message;
    ASSERT_TRUE((*log)->sync());
    if (deleted) {
      std::filesystem::remove(path);
    } else {
      std::filesystem::resize_file(path, 0);
    }
    ASSERT_TRUE((*log)->event({.what = "missed", .board = "", .detail = ""}));
    const auto synced = (*log)->sync();
    ASSERT_FALSE(synced);
    EXPECT_NE(synced.error().message.find(deleted ? "was deleted" : "was cut short"),
              std::string::npos)
        << synced.error().message;
    EXPECT_FALSE((*log)->event({.what = "missed", .board = "", .detail = ""}))
        << "the next line is not lost in silence";
  }
}

TEST_F(PowerLogFile, RefusesWhatIsNoLogOfThisVersion) {
  for (const char* text : {"{\"schema\":\"deem.power/99\"}\n", "notes\n"}) {
    std::ofstream(path) << text;
    const auto log = PowerLog::open(path, heading_of(1));
    ASSERT_FALSE(log) << text;
    EXPECT_EQ(log.error().code, Error::Code::BadInput);
    EXPECT_EQ(std::filesystem::file_size(path), std::string(text).size()) << "nothing lost";
  }
}

TEST_F(PowerLogFile, RefusesMoreBoardsThanItsReaderTakes) {
  EXPECT_TRUE(PowerLog::open(path, heading_of(record::kMaxBoards)));
  const auto log = PowerLog::open(folder + "/q.jsonl", heading_of(record::kMaxBoards + 1));
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().code, Error::Code::BadInput);
}

}  // namespace
}  // namespace deem::board
