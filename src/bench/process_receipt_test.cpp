#include "bench/process_receipt.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "bench/test_folder.h"

namespace deem::bench {
namespace {

void put(const std::string& path, const std::string& bytes) {
  ASSERT_TRUE(make_folders(path.substr(0, path.rfind('/'))));
  ASSERT_TRUE(write_file_atomically(path, bytes));
}

/// The runtimes of this process stand for a seat's: a local one's.
TEST(ProcessReceipt, TellsRuntimesTheirFitAndTheImage) {
  const TestFolder folder;
  const std::string root = folder.path();
  const std::string self = root + "/proc/" + std::to_string(::getpid());
  const std::string container(64, 'b');
  put(self + "/maps",
      "7f00-7f10 r-xp 00000000 08:01 11 /usr/lib/libcudart.so.12.8.90\n"
      "7f20-7f30 r-xp 00000000 08:01 12 /usr/lib/libcuda.so.550.54.14\n");
  put(self + "/cgroup", "0::/system.slice/docker-" + container + ".scope\n");
  put(root + "/var/lib/docker/containers/" + container + "/config.v2.json",
      R"({"Image":"sha256:)" + std::string(64, '1') + R"(","Config":{"Image":"deem/seat:1"}})");
  board::BoardInfo driver;
  driver.id = "GPU-a";
  driver.driver = "550.54.14";
  driver.cuda = "12.4";
  const std::vector<board::BoardInfo> boards = {driver};
  const seat::SeatSpec seat = {.kind = "local", .address = "m.gguf"};
  const codec::Json receipt = process_receipt(boards, seat, {}, root);
  ASSERT_TRUE(receipt.is_object());
  EXPECT_EQ(receipt.find("runtimes")->items().size(), 2U);
  EXPECT_EQ(receipt.find("runtimes")->items()[1].as_string(), "libcudart 12.8.90");
  ASSERT_NE(receipt.find("findings"), nullptr);
  EXPECT_NE(receipt.find("findings")->items()[0].as_string().find("12.4"), std::string::npos);
  EXPECT_EQ(receipt.find("image")->get_string("digest"), "sha256:" + std::string(64, '1'));
  EXPECT_EQ(receipt.find("image")->get_string("name"), "deem/seat:1");
}

TEST(ProcessReceipt, NothingSeenIsNull) {
  const TestFolder folder;
  board::BoardInfo driver;
  driver.id = "GPU-a";
  driver.driver = "550.54.14";
  driver.cuda = "12.4";
  const std::vector<board::BoardInfo> boards = {driver};
  const seat::SeatSpec seat = {.kind = "local", .address = "m.gguf"};
  EXPECT_TRUE(process_receipt(boards, seat, {}, folder.path()).is_null());
}

/// This process listens and so stands for a server; it sees its own files.
class NamedWeights : public testing::Test {
 protected:
  void SetUp() override {
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    ASSERT_EQ(::bind(socket_, generic, size), 0);
    ASSERT_EQ(::listen(socket_, 1), 0);
    ASSERT_EQ(::getsockname(socket_, generic, &size), 0);
    spec_ = {.kind = "llama-server",
             .address = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port))};
    identity_.root = folder_.path() + "/m.gguf";
  }
  void TearDown() override { ::close(socket_); }
  codec::Json weights() const {
    const codec::Json receipt = process_receipt({}, spec_, identity_);
    const codec::Json* found = receipt.is_object() ? receipt.find("weights") : nullptr;
    return found != nullptr ? *found : codec::Json();
  }

  TestFolder folder_;
  int socket_ = -1;
  seat::SeatSpec spec_;
  seat::Identity identity_;
};

TEST_F(NamedWeights, AreDigestedOrTakenFromAReceipt) {
  put(*identity_.root, "GGUF and the rest");
  EXPECT_EQ(weights().get_string("sha256"), sha256_hex("GGUF and the rest"));
  EXPECT_EQ(weights().get_string("from"), "its bytes");
  const std::string told(64, 'c');
  put(folder_.path() + "/SHA256SUMS",
      std::string(64, 'd') + "  other.gguf\n" + told + " *m.gguf\n");
  EXPECT_EQ(weights().get_string("sha256"), told);
  EXPECT_EQ(weights().get_string("from"), "a receipt beside it");
}

TEST_F(NamedWeights, AServersWordReadsNoOtherFile) {
  EXPECT_TRUE(weights().is_null()) << "it is not there";
  put(*identity_.root, "root:x:0:0");
  EXPECT_TRUE(weights().is_null());
  identity_.root = "m.gguf";
  EXPECT_TRUE(weights().is_null());
  spec_.address = "http://192.0.2.7:8000";
  EXPECT_TRUE(process_receipt({}, spec_, identity_).is_null());
}

}  // namespace
}  // namespace deem::bench
