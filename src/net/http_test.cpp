#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/file.h"
#include "net/http_pair.h"
#include "net/socket.h"

namespace deem::net {
namespace {

using namespace std::chrono_literals;
using Fault = ServerReply::Fault;

TEST(Http, RepliesComeBackWholeOnOneKeptConnection) {
  const auto server = serve(echo);
  auto client = client_of(server.address() + "/base");
  for (int i = 0; i < 20; ++i) {
    const auto reply = client.send({.path = "/p", .body = "body"});
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->status, 200);
    EXPECT_EQ(reply->body, "POST /base/p body");
    EXPECT_EQ(reply->content_type, "application/json");
    EXPECT_LE(reply->sent, reply->first_byte);
    EXPECT_LE(reply->first_byte, reply->done);
  }
  EXPECT_EQ(server.connections(), 1u);
  EXPECT_EQ(server.requests(), 20u);
  const auto get = client.send({.method = "GET", .path = "/g"});
  ASSERT_TRUE(get);
  EXPECT_EQ(get->body, "GET /base/g ");
}

TEST(Http, ManyThreadsEachGetTheirOwnReply) {
  const auto server = serve(echo, {.threads = 2});
  auto client = client_of(server.address());
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 16; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) {
          const std::string body = std::to_string(t) + "/" + std::to_string(i);
          const auto reply = client.send({.path = "/", .body = body});
          if (!reply || reply->body != "POST / " + body) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(server.connections(), 16u);
}

TEST(Http, LargeBodiesBothWaysAndChunked) {
  for (const bool chunked : {false, true}) {
    const auto server = serve(
        [&](const ServerRequest& r) { return ServerReply{.body = r.body, .chunked = chunked}; });
    auto client = client_of(server.address());
    std::string body(3'000'000, 'a');
    for (std::size_t i = 0; i < body.size(); i += 7) body[i] = static_cast<char>('a' + i % 26);
    const auto reply = client.send({.path = "/", .body = body});
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_TRUE(reply->body == body);
  }
}

TEST(Http, AReplyWithoutLengthEndsWithTheConnection) {
  const auto server =
      serve([](const ServerRequest&) { return ServerReply{.body = "abc", .omit_length = true}; });
  auto client = client_of(server.address());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(client.send({.path = "/"})->body, "abc");
  EXPECT_EQ(server.connections(), 2u);
}

TEST(Http, ErrorStatusIsAReply) {
  const auto server = serve([](const ServerRequest&) {
    return ServerReply{.status = 429, .body = "slow down", .headers = {{"Retry-After", "3"}}};
  });
  const auto reply = client_of(server.address()).send({.path = "/"});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 429);
  EXPECT_EQ(reply->retry_after, "3");
}

TEST(Http, TheKeyIsABearerHeader) {
  const auto server =
      serve([](const ServerRequest& r) { return ServerReply{.body = r.authorization}; });
  auto client = client_of(server.address(), {.url = {}, .bearer = Secret("k3y"), .ca_file = {}});
  EXPECT_EQ(client.send({.path = "/"})->body, "Bearer k3y");
}

TEST(Http, AKeyIsCoveredBeforeAHeaderIsCut) {
  const std::string key = "sk-0123456789abcdefghijklmnopqrstuvwxyz";
  const auto server = serve([&](const ServerRequest&) {
    return ServerReply{.body = "x", .headers = {{"Content-Encoding", key}}};
  });
  auto client = client_of(server.address(), {.url = {}, .bearer = Secret(key), .ca_file = {}});
  const auto reply = client.send({.path = "/"});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message.find("sk-01"), std::string::npos) << reply.error().message;
  EXPECT_NE(reply.error().message.find("compressed with ***"), std::string::npos)
      << reply.error().message;
}

struct FaultCase {
  const char* name;
  Fault fault;
  Error::Code code;
  const char* words;
};
class HttpFault : public testing::TestWithParam<FaultCase> {};

TEST_P(HttpFault, IsOneErrorAndTheClientGoesOn) {
  const auto server = serve([](const ServerRequest& r) {
    return ServerReply{.body = "0123456789",
                       .fault = r.target == "/bad" ? GetParam().fault : Fault::None};
  });
  auto client = client_of(server.address());
  const auto bad = client.send(within(150ms, "/bad"));
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, GetParam().code) << bad.error().message;
  EXPECT_NE(bad.error().message.find(GetParam().words), std::string::npos) << bad.error().message;
  EXPECT_NE(bad.error().message.find(server.address()), std::string::npos) << bad.error().message;
  EXPECT_EQ(client.send({.path = "/good"})->body, "0123456789");
}

INSTANTIATE_TEST_SUITE_P(
    Table, HttpFault,
    testing::Values(FaultCase{"Close", Fault::Close, Error::Code::Unavailable, "without a reply"},
                    FaultCase{"Reset", Fault::Reset, Error::Code::Unavailable, "without a reply"},
                    FaultCase{"Hang", Fault::Hang, Error::Code::Timeout, "by the deadline"},
                    FaultCase{"HalfReply", Fault::HalfReply, Error::Code::Unavailable,
                              "inside its reply"},
                    FaultCase{"Stall", Fault::Stall, Error::Code::Timeout, "by the deadline"}),
    [](const auto& p) { return p.param.name; });

TEST(Http, AKeptConnectionClosedWithoutAByteIsAskedAgainOnce) {
  std::atomic<int> calls = 0;
  const auto server = serve([&](const ServerRequest&) {
    return ServerReply{.body = "ok", .fault = ++calls == 2 ? Fault::Close : Fault::None};
  });
  auto client = client_of(server.address());
  ASSERT_TRUE(client.send({.path = "/"}));
  ASSERT_TRUE(client.send({.path = "/"}));  // closed, then again on a fresh connection
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(server.connections(), 2u);
}

TEST(Http, AFreshConnectionClosedIsNotAskedAgain) {
  std::atomic<int> calls = 0;
  const auto server = serve([&](const ServerRequest&) {
    ++calls;
    return ServerReply{.fault = Fault::Close};
  });
  EXPECT_FALSE(client_of(server.address()).send({.path = "/"}));
  EXPECT_EQ(calls, 1);
}

TEST(Http, ACutReplyIsNeverAskedAgain) {
  std::atomic<int> calls = 0;
  const auto server = serve([&](const ServerRequest&) {
    return ServerReply{.body = "0123456789", .fault = ++calls > 1 ? Fault::HalfReply : Fault::None};
  });
  auto client = client_of(server.address());
  ASSERT_TRUE(client.send({.path = "/"}));
  EXPECT_FALSE(client.send({.path = "/"}));
  EXPECT_EQ(calls, 2);
}

TEST(Http, TheDeadlineCoversADelayedReply) {
  const auto server =
      serve([](const ServerRequest&) { return ServerReply{.body = "late", .delay = 100ms}; });
  auto client = client_of(server.address());
  const auto start = Clock::now();
  const auto early = client.send(within(20ms));
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, Error::Code::Timeout);
  EXPECT_LT(Clock::now() - start, 90ms);
  const auto reply = client.send(within(5s));
  ASSERT_TRUE(reply);
  EXPECT_GE(reply->first_byte - reply->sent, 100ms);
}

TEST(Http, GivingUpEndsACallInFlightAndEveryLaterOne) {
  std::atomic<bool> asked = false;
  const auto server = serve([&](const ServerRequest&) {
    asked = true;
    return ServerReply{.fault = ServerReply::Fault::Hang};
  });
  for (const bool by_poll : {false, true}) {  // the way a read waits depends on the deadline
    auto client = client_of(server.address());
    asked = false;
    const std::jthread ender([&] {
      while (!asked) std::this_thread::sleep_for(1ms);
      client.give_up();
    });
    const auto before = Clock::now();
    const auto deadline = by_poll ? before + 400ms : TimePoint::max();
    const auto reply = client.send({.path = "/", .deadline = deadline});
    ASSERT_FALSE(reply);
    if (!by_poll || reply.error().code != Error::Code::Timeout) {  // on a very slow machine
      EXPECT_EQ(reply.error().code, Error::Code::Unavailable);
      EXPECT_TRUE(reply.error().message.ends_with(": given up")) << reply.error().message;
    }
    const auto later = client.send({.path = "/"});
    ASSERT_FALSE(later);
    EXPECT_EQ(later.error().code, Error::Code::Unavailable);
  }
}

TEST(Http, APastDeadlineIsATimeout) {
  const auto server = serve(echo);
  auto client = client_of(server.address());
  const auto reply = client.send({.path = "/", .deadline = Clock::now() - 1s});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Error::Code::Timeout);
}

TEST(Http, AReplyOverTheLimitIsRefused) {
  for (const bool chunked : {false, true}) {
    const auto server = serve([&](const ServerRequest&) {
      return ServerReply{.body = std::string(5000, 'x'), .chunked = chunked};
    });
    auto client = client_of(server.address());
    const auto reply = client.send({.path = "/list", .reply_limit = 4000});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Error::Code::Corrupt);
    EXPECT_TRUE(
        reply.error().message.ends_with(": a reply to POST /list over the limit of 4000 bytes"))
        << reply.error().message;
    EXPECT_TRUE(client.send({.path = "/list", .reply_limit = 5000}));  // each has its own
  }
}

TEST(Http, ARequestOverTheLimitGetsTheServersWords) {
  const auto server = serve(echo, {.request_limit = 1000});
  const auto reply =
      client_of(server.address()).send({.path = "/", .body = std::string(500'000, 'x')});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 413);
}

TEST(Http, NobodyListeningIsNamed) {
  std::string address;
  {
    address = serve(echo).address();
  }
  const auto reply = client_of(address).send(within(2s));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Error::Code::Unavailable);
  EXPECT_NE(reply.error().message.find("connection refused"), std::string::npos)
      << reply.error().message;
}

TEST(Http, UnixSocketsServeAndAreRemoved) {
  const std::string path = testing::TempDir() + "deem_http_test.sock";
  {
    const auto server = serve(echo, {.address = "unix:" + path});
    EXPECT_EQ(server.address(), "unix:" + path);
    EXPECT_EQ(client_of(server.address() + ":/b").send({.path = "/p"})->body, "POST /b/p ");
  }
  EXPECT_FALSE(file_exists(path));
  EXPECT_FALSE(client_of("unix:" + path).send(within(1s)));
}

TEST(HttpServer, RefusesOtherInterfacesUnlessAllowed) {
  EXPECT_EQ(HttpServer::start({.address = "http://0.0.0.0:0"}, echo).error().code,
            Error::Code::BadInput);
  EXPECT_TRUE(HttpServer::start({.address = "http://0.0.0.0:0", .any_interface = true}, echo));
  EXPECT_EQ(HttpServer::start({.address = "http://localhost:0"}, echo).error().code,
            Error::Code::BadInput);
}

/// A raw peer that says exactly `bytes` to each connection and closes.
class RawServer {
 public:
  explicit RawServer(std::string bytes) : bytes_(std::move(bytes)) {
    Url url = *parse_url("http://127.0.0.1");
    url.port = 0;
    listener_ = std::move(*listen_on(url));
    url.port = local_port(listener_);
    address = url.to_string();
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const Fd peer(::accept(listener_.get(), nullptr, nullptr));
        if (!peer) {
          std::this_thread::sleep_for(1ms);
          continue;
        }
        char buffer[4096];
        std::size_t got = 0;
        (void)read_some(peer, buffer, sizeof buffer, got, {Clock::now() + 1s});
        (void)write_all(peer, bytes_, {}, {Clock::now() + 1s});
      }
    });
  }
  std::string address;

 private:
  std::string bytes_;
  Fd listener_;
  std::jthread thread_;
};

TEST(Http, BytesThatAreNoHttpAreCorrupt) {
  for (const std::string bytes :
       {"hello\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -4\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    const RawServer server(bytes);
    const auto reply = client_of(server.address).send(within(2s));
    ASSERT_FALSE(reply) << bytes;
    EXPECT_EQ(reply.error().code, Error::Code::Corrupt) << reply.error().message;
  }
}

TEST(Http, AHeaderWithoutEndIsRefused) {
  const RawServer server("HTTP/1.1 200 OK\r\nX: " + std::string(200'000, 'x'));
  const auto reply = client_of(server.address).send(within(2s));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Error::Code::Corrupt) << reply.error().message;
}

TEST(Http, AnnouncementsBeforeTheReplyAreSkipped) {
  const RawServer server(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  const auto reply = client_of(server.address).send(within(2s));
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body, "ok");
}

TEST(Http, ACompressedReplyIsRefused) {
  const RawServer server(
      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_EQ(client_of(server.address).send(within(2s)).error().code, Error::Code::Corrupt);
}

}  // namespace
}  // namespace deem::net
