// What servers say of where their model sits.
#include <gtest/gtest.h>

#include "seat/seat_test_support.h"

namespace deem::seat {
namespace {

TEST(LlamaServerSeat, ItsClaimIsItsSlotsAndNoMemory) {
  auto server = start_fake(ServerKind::LlamaServer, {.context = 4096});
  const auto claim = seat_of(server.seat())->claim();
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_EQ(claim->context, 4096);
  EXPECT_EQ(claim->slots, 1);
  EXPECT_FALSE(claim->total_bytes);
  EXPECT_FALSE(claim->vram_bytes);
}

TEST(OllamaSeat, ItsClaimIsWhatItSaysOfTheLoadedModel) {
  auto server = start_fake(ServerKind::Ollama, {.context = 4096});
  const auto seat = seat_of(server.seat());
  const auto claim = seat->claim();
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_EQ(claim->total_bytes, 98'000'000);
  EXPECT_EQ(claim->vram_bytes, 98'000'000);
  EXPECT_EQ(claim->context, 4096);
  EXPECT_EQ(claim->text, "/api/ps: size 98000000 size_vram 98000000 context_length 4096");
  auto empty = start_fake(ServerKind::Ollama, {.context = 4096, .resident = false});
  EXPECT_FALSE(seat_of(empty.seat())->claim()) << "a model that is not loaded holds nothing";
}

}  // namespace
}  // namespace deem::seat
