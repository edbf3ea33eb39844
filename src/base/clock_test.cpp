#include "base/clock.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>

namespace deem {
namespace {

TEST(UtcStamp, IsNowInIsoFormToTheSecond) {
  const std::time_t before = std::time(nullptr);
  std::tm parts{};
  const std::string stamp = utc_stamp();
  ASSERT_EQ(stamp.size(), std::string("2026-12-01T05:11:23Z").size());
  const char* end = strptime(stamp.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  ASSERT_EQ(end, stamp.c_str() + stamp.size());
  const std::time_t read = timegm(&parts);
  EXPECT_GE(read, before);
  EXPECT_LE(read, std::time(nullptr));
}

}  // namespace
}  // namespace deem
