#include "base/interrupt.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <future>

namespace deem {
namespace {

void wait_for(const std::stop_token& token) {
  std::promise<void> stopped;
  const std::stop_callback callback(token, [&] { stopped.set_value(); });
  stopped.get_future().wait();
}

class InterruptBy : public testing::TestWithParam<int> {};

TEST_P(InterruptBy, ASignalAsksForAStop) {
  const Interrupt interrupt;
  EXPECT_EQ(interrupt.signal(), 0);
  EXPECT_FALSE(interrupt.token().stop_requested());
  std::raise(GetParam());
  wait_for(interrupt.token());
  EXPECT_TRUE(interrupt.token().stop_requested());
  EXPECT_EQ(interrupt.signal(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Signals, InterruptBy, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST(InterruptDeathTest, TheSecondSignalExitsAtOnceWith130) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const Interrupt interrupt;
        std::raise(SIGINT);
        wait_for(interrupt.token());
        std::raise(SIGINT);
        _exit(0);
      },
      testing::ExitedWithCode(130), "");
}

TEST(InterruptDeathTest, ASecondHangupIsNothing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const Interrupt interrupt;
        std::raise(SIGHUP);
        wait_for(interrupt.token());
        std::raise(SIGHUP);
        _exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(InterruptTest, AHangupThatNohupIgnoresStaysIgnored) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  {
    const Interrupt interrupt;
    std::raise(SIGHUP);
    EXPECT_EQ(interrupt.signal(), 0);
  }
  EXPECT_EQ(std::signal(SIGHUP, before), SIG_IGN);
}

TEST(InterruptTest, HandlersOfBeforeComeBack) {
  struct sigaction before{};
  sigaction(SIGINT, nullptr, &before);
  {
    const Interrupt interrupt;
  }
  struct sigaction after{};
  sigaction(SIGINT, nullptr, &after);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
}

}  // namespace
}  // namespace deem
