#include "bench/memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"
#include "bench/scripted_seat.h"
#include "bench/test_folder.h"

namespace deem::bench {
namespace {

/// A folder that stands for /proc: a server of two processes on port 8000 and a socket, another
/// on 8001.
class Memory : public testing::Test {
 protected:
  void SetUp() override {
    put("self/status", "Name:\tdeem\nVmPeak:\t   99 kB\nVmHWM:\t   10 kB\n");
    put("net/tcp",
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "
        "timeout "
        "inode\n"
        "   0: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 0 501 "
        "1\n"
        "   1: 0100007F:1F40 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000 0 777 "
        "1\n");
    put("net/tcp6",
        "  sl  local_address …\n"
        "   0: 00000000000000000000000000000000:1F41 00000000000000000000000000000000:0000 0A "
        "00000000:00000000 00:00000000 00000000  1000 0 502 1\n");
    put("net/unix",
        "Num RefCount Protocol Flags Type St Inode Path\n"
        "0: 00000002 00000000 00010000 0001 01 503 /run/llm.sock\n");
    process(20, 1, "server (main)", 100, {501, 503});
    process(21, 20, "runner", 200, {});
    process(30, 1, "client", 5'000, {777});
    process(31, 1, "other", 400, {502});
  }

  void put(const std::string& path, const std::string& bytes) {
    const std::string whole = join_path(folder.path(), path);
    ASSERT_TRUE(make_folders(whole.substr(0, whole.rfind('/'))));
    ASSERT_TRUE(write_file_atomically(whole, bytes));
  }

  void process(int pid, int parent, const std::string& name, int kilobytes,
               const std::vector<int>& sockets) {
    const std::string of = std::to_string(pid);
    put(of + "/status", "Name:\t" + name + "\nVmHWM:\t " + std::to_string(kilobytes) + " kB\n");
    put(of + "/stat", of + " (" + name + ") S " + std::to_string(parent) + " 1 1\n");
    const std::string fds = join_path(folder.path(), of + "/fd");
    ASSERT_TRUE(make_folders(fds));
    for (const int inode : sockets) {
      ASSERT_EQ(::symlink(("socket:[" + std::to_string(inode) + "]").c_str(),
                          join_path(fds, std::to_string(inode)).c_str()),
                0);
    }
  }

  codec::Json measure(const std::string& kind, const std::string& address) {
    seat::Identity identity;
    identity.kind = kind;
    identity.address = address;
    return peak_memory(seat, identity, folder.path());
  }

  TestFolder folder;
  ScriptedSeat::Script script;
  ScriptedSeat::Calls calls;
  ScriptedSeat seat{script, calls};
};

TEST_F(Memory, OfALocalSeatIsThisProcesss) {
  EXPECT_EQ(measure("local", "m.gguf").get_int("peak_bytes"), 10 * 1024);
}

TEST_F(Memory, OfAServerIsThatOfWhoListensAndWhatDescendsFromIt) {
  EXPECT_EQ(measure("vllm", "http://127.0.0.1:8000").get_int("peak_bytes"), 300 * 1024);
  EXPECT_EQ(measure("vllm", "http://localhost:8000/base").get_int("peak_bytes"), 300 * 1024);
  EXPECT_EQ(measure("vllm", "unix:/run/llm.sock:/v1").get_int("peak_bytes"), 300 * 1024);
  EXPECT_EQ(measure("vllm", "http://[::1]:8001").get_int("peak_bytes"), 400 * 1024);
}

/// Port 8002 is published by Docker's proxy; the server listens on 8000 in a network of its own, as
/// does another container's with another address.
TEST_F(Memory, OfAServerBehindDockersProxyIsThatInTheContainer) {
  const std::string table =
      "header\n   0: 00000000:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 ";
  put("net/tcp", "header\n   0: 0100007F:1F42 00000000:0000 0A 0:0 0:0 0 0 0 601 1\n");
  process(50, 1, "docker-proxy", 8, {601});
  const std::string argv[] = {"/usr/bin/docker-proxy", "-container-ip", "172.17.0.2",
                              "-container-port", "8000"};
  std::string cmdline;
  for (const std::string& word : argv) cmdline += word + std::string(1, 0);
  put("50/cmdline", cmdline);
  const auto container = [&](int pid, const char* network, const char* inode,
                             const std::string& address) {
    process(pid, 1, "vllm", 1'000 * pid, {std::atoi(inode)});
    put(std::to_string(pid) + "/net/tcp", table + inode + " 1\n");
    put(std::to_string(pid) + "/net/fib_trie",
        "Local:\n  |-- 172.17.0.0\n     /16 link UNICAST\n  |-- " + address +
            "\n     /32 host LOCAL\n");
    const std::string link = join_path(folder.path(), std::to_string(pid) + "/ns/net");
    ASSERT_TRUE(make_folders(link.substr(0, link.rfind('/'))));
    ASSERT_EQ(::symlink(network, link.c_str()), 0);
  };
  container(60, "net:[1]", "701", "172.17.0.3");
  container(61, "net:[2]", "702", "172.17.0.2");
  EXPECT_EQ(measure("vllm", "http://127.0.0.1:8002").get_int("peak_bytes"), (8 + 61'000) * 1024);
}

TEST_F(Memory, SaysWhyItIsNotMeasured) {
  EXPECT_EQ(measure("vllm", "http://box.example:8000").get_string("status"),
            "not measured (the server is on another machine)");
  EXPECT_EQ(measure("vllm", "http://127.0.0.1:9").get_string("status"),
            "not measured (nothing seen listening on port 9)");
  put("net/tcp", "header\n   0: 0100007F:0009 0:0 0A 0 0 0 0 0 999 1\n");
  EXPECT_EQ(measure("vllm", "http://127.0.0.1:9").get_string("status"),
            "not measured (who listens on port 9 can not be read)");
  EXPECT_FALSE(measure("vllm", "http://127.0.0.1:9").get_int("peak_bytes"));
}

TEST_F(Memory, KeepsTheLargerOfTwoSittings) {
  const codec::Json small = measure("local", ""), large = measure("vllm", "http://127.0.0.1:8000");
  const codec::Json none = measure("vllm", "http://127.0.0.1:9");
  EXPECT_EQ(larger_peak(large, small), large);
  EXPECT_EQ(larger_peak(small, large), large);
  EXPECT_EQ(larger_peak(small, none), small);
  EXPECT_EQ(larger_peak(codec::Json(), none), none);
}

}  // namespace
}  // namespace deem::bench
