#include "codec/sse.h"

#include <gtest/gtest.h>

namespace deem::codec {
namespace {

using Events = std::vector<SseEvent>;

// All events of a stream that arrives in pieces of `size` bytes.
Events read(std::string_view stream, std::size_t size) {
  SseParser parser;
  Events events;
  for (std::size_t at = 0; at < stream.size(); at += size) {
    auto done = parser.feed(stream.substr(at, size));
    EXPECT_TRUE(done);
    events.insert(events.end(), done->begin(), done->end());
  }
  return events;
}

struct StreamCase {
  const char* name;
  std::string stream;
  Events want;
};
class Sse : public testing::TestWithParam<StreamCase> {};

TEST_P(Sse, ReadsAlikeHoweverTheBytesAreCut) {
  for (std::size_t size = 1; size <= GetParam().stream.size(); ++size) {
    EXPECT_EQ(read(GetParam().stream, size), GetParam().want) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, Sse,
    testing::Values(
        StreamCase{"OneEvent", "data: {\"a\": 1}\n\n", {{.data = "{\"a\": 1}"}}},
        StreamCase{"Done", "data: x\n\ndata: [DONE]\n\n", {{.data = "x"}, {.data = "[DONE]"}}},
        StreamCase{"CrLf", "data: x\r\n\r\ndata: y\r\n\r\n", {{.data = "x"}, {.data = "y"}}},
        StreamCase{"LoneCr", "data: x\r\rdata: y\r\r", {{.data = "x"}, {.data = "y"}}},
        StreamCase{"MixedEnds", "data: x\r\n\ndata: y\n\r\n", {{.data = "x"}, {.data = "y"}}},
        StreamCase{"JoinsData", "data: YHOO\ndata: +2\ndata: 10\n\n", {{.data = "YHOO\n+2\n10"}}},
        StreamCase{"SkipsPings", ": ping - 2026\n\n:\n\ndata: x\n: ping\n\n", {{.data = "x"}}},
        StreamCase{"NamesEvents",
                   "event: error\ndata: x\n\ndata: y\n\n",
                   {{.event = "error", .data = "x"}, {.data = "y"}}},
        StreamCase{"DropsEventsWithoutData", "event: ping\n\ndata: x\n\n", {{.data = "x"}}},
        // The standard's own examples of the one space and of a field without colon.
        StreamCase{"TakesOneSpaceOff",
                   "data:test\n\ndata:  test\n\n",
                   {{.data = "test"}, {.data = " test"}}},
        StreamCase{"EmptyData", "data\n\ndata\ndata\n\n", {{.data = ""}, {.data = "\n"}}},
        StreamCase{"KeepsTheId",
                   "id: 7\ndata: x\n\ndata: y\n\nid\ndata: z\n\n",
                   {{.data = "x", .id = "7"}, {.data = "y", .id = "7"}, {.data = "z"}}},
        StreamCase{
            "SkipsUnknownFields", "retry: 10\nwhat: ever\nDATA: no\ndata: x\n\n", {{.data = "x"}}},
        StreamCase{"Bom",
                   "\xef\xbb\xbf"
                   "data: x\n\n\xef\xbb\xbf"
                   "data: y\n\n",
                   {{.data = "x"}}},
        StreamCase{"ColonsInData", "data: a: b\n\n", {{.data = "a: b"}}},
        StreamCase{"UnfinishedIsNotGiven", "data: x\n\ndata: cut", {{.data = "x"}}}),
    [](const auto& p) { return p.param.name; });

TEST(SseParser, FinishGivesWhatTheEndCutOff) {
  for (const char* stream : {"data: x", "data: x\n", "data: x\r"}) {
    SseParser parser;
    ASSERT_TRUE(parser.feed(stream)->empty());
    EXPECT_EQ(parser.finish(), SseEvent{.data = "x"});
    EXPECT_EQ(parser.finish(), std::nullopt);
  }
}

TEST(SseParser, RefusesAnEndlessEvent) {
  SseParser line(100);
  EXPECT_TRUE(line.feed(std::string(100, 'x')));
  const auto refused = line.feed("x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Error::Code::Corrupt);
  EXPECT_EQ(refused.error().message, "an event of more than 100 bytes");
  SseParser data(100);
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(data.feed("data: 12345678\n"));
  EXPECT_FALSE(data.feed("data: 1\n"));
}

}  // namespace
}  // namespace deem::codec
