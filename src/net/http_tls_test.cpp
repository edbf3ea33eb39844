#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "base/file.h"
#include "net/certificate.h"
#include "net/http_pair.h"

namespace deem::net {
namespace {

using namespace std::chrono_literals;

class Tls : public testing::Test {
 protected:
  void start(const std::string& host) {
    certificate_ = *make_self_signed(host);
    server_.emplace(serve(echo, {.certificate = certificate_}));
    ca_file_ = testing::TempDir() + "deem_ca.pem";
    ASSERT_TRUE(write_file_atomically(ca_file_, certificate_.certificate));
  }
  Certificate certificate_;
  std::optional<HttpServer> server_;
  std::string ca_file_;
};

TEST_F(Tls, ServesThoseWhoTrustItsRoot) {
  start("127.0.0.1");
  auto client = client_of(server_->address(), {.url = {}, .ca_file = ca_file_});
  const std::string body(200'000, 'z');
  for (int i = 0; i < 3; ++i) {
    const auto reply = client.send(within(5s, "/p", body));
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->body, "POST /p " + body);
  }
  EXPECT_EQ(server_->connections(), 1u);
}

TEST_F(Tls, AnUnknownRootIsRefused) {
  start("127.0.0.1");
  const auto reply = client_of(server_->address()).send(within(5s));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Error::Code::Unavailable);
  EXPECT_NE(reply.error().message.find("certificate not trusted"), std::string::npos)
      << reply.error().message;
}

TEST_F(Tls, ACertificateForAnotherHostIsRefused) {
  start("elsewhere.example");
  const auto reply =
      client_of(server_->address(), {.url = {}, .ca_file = ca_file_}).send(within(5s));
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().message.find("mismatch"), std::string::npos) << reply.error().message;
}

TEST_F(Tls, APlainServerOnAnHttpsAddressIsNamed) {
  const auto server = serve(echo);
  std::string address = server.address();
  address.replace(0, 4, "https");
  const auto reply = client_of(address).send(within(5s));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Error::Code::Unavailable);
}

TEST_F(Tls, AFileWithoutRootsIsBadInput) {
  const std::string path = testing::TempDir() + "deem_no_ca.pem";
  ASSERT_TRUE(write_file_atomically(path, "nothing"));
  EXPECT_EQ(
      HttpClient::make({.url = *parse_url("https://127.0.0.1:1"), .ca_file = path}).error().code,
      Error::Code::BadInput);
}

TEST(TrustRoots, AreNotReadFromAPipeWithAName) {
  const std::string path = testing::TempDir() + "deem_ca_pipe." + std::to_string(getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  alarm(10);  // opened, it would wait for a writer
  const auto client = HttpClient::make({.url = parse_url("https://h").value(), .ca_file = path});
  alarm(0);
  unlink(path.c_str());
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().message, path + ": is a pipe, not a file");
}

}  // namespace
}  // namespace deem::net
