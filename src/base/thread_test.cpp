#include "base/thread.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <thread>

namespace deem {
namespace {

int policy_of_this_thread() {
  int policy = -1;
  sched_param parameters{};
  return pthread_getschedparam(pthread_self(), &policy, &parameters) == 0 ? policy : -1;
}

TEST(PreferThroughput, ChangesTheCallingThreadAlone) {
  const int before = policy_of_this_thread();
  int inside = -1;
  std::thread([&] {
    prefer_throughput();
    inside = policy_of_this_thread();
  }).join();
  EXPECT_EQ(inside, before == SCHED_OTHER ? SCHED_BATCH : before);
  EXPECT_EQ(policy_of_this_thread(), before);
}

}  // namespace
}  // namespace deem
