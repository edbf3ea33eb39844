#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "bench/run.h"
#include "bench/scripted_seat.h"
#include "bench/test_folder.h"
#include "bench/test_kit.h"

namespace deem::bench {

class Listener : public Observer {
 public:
  void stage(const std::string&) override {}
  void announce(const Announcement& a) override { announced = a; }
  void row(const record::Row&, const Progress& p) override {
    last = p;
    if (stop_after > 0 && p.asked_now >= stop_after) stop.request_stop();
  }
  void note(const std::string& what) override { notes.push_back(what); }

  Announcement announced;
  Progress last;
  std::vector<std::string> notes;
  std::size_t stop_after = 0;
  std::stop_source stop;
};

class Running : public testing::Test {
 protected:
  void SetUp() override {
    kit_path = join_path(folder.path(), "kit");
    ASSERT_TRUE(kit::freeze_kit(small_kit(), kit_path));
    config.kit = kit_path;
    config.doctor = Doctor::Off;  // it counts what the run itself asks
    config.out = join_path(folder.path(), "run");
    config.arms = {small_arm("read", {{"letters", false}, {"cloze", true}}),
                   small_arm("write", {{"written", false}})};
  }

  Result<Outcome> go(RunOptions options = {}) {
    const SeatFactory factory = [&](const seat::SeatSpec&) -> Result<std::unique_ptr<seat::Seat>> {
      return std::unique_ptr<seat::Seat>(std::make_unique<ScriptedSeat>(script, calls));
    };
    return run(config, options, factory, listener, listener.stop.get_token());
  }

  /// How often each row stands in the file; a row that stands twice shows as 2.
  std::map<std::string, int> rows() {
    std::map<std::string, int> out;
    const std::string bytes = read_file(join_path(config.out, "rows.jsonl")).value_or("");
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t end = bytes.find('\n', at);
      const auto row = record::parse_row(std::string_view(bytes).substr(at, end - at));
      EXPECT_TRUE(row);
      if (row) ++out[row->arm + "/" + row->task + "/" + row->id];
      at = end + 1;
    }
    return out;
  }
  void expect_complete() {
    const auto found = rows();
    EXPECT_EQ(found.size(), 12U);
    for (const auto& [name, n] : found) EXPECT_EQ(n, 1) << name;
  }

  TestFolder folder;
  std::string kit_path;
  Config config;
  ScriptedSeat::Script script;
  ScriptedSeat::Calls calls;
  Listener listener;
};

}  // namespace deem::bench
