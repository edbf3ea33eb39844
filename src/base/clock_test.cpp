#include "base/clock.h"

#include <gtest/gtest.h>

#include <ctime>
#include <regex>

namespace deem {
namespace {

TEST(UtcStamp, IsIsoInUtcToTheSecond) {
  EXPECT_TRUE(std::regex_match(utc_stamp(), std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")));
}

TEST(UtcStamp, ReadsBackAsNow) {
  const std::time_t before = std::time(nullptr);
  std::tm parts{};
  ASSERT_NE(strptime(utc_stamp().c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts), nullptr);
  const std::time_t read = timegm(&parts);
  EXPECT_GE(read, before);
  EXPECT_LE(read, std::time(nullptr));
}

}  // namespace
}  // namespace deem
