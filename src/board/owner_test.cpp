#include "board/owner.h"

#include <gtest/gtest.h>

#include "board/fake/test_folder.h"

namespace deem::board {
namespace {

const std::string kA = std::string(60, 'a') + "0123", kB = std::string(60, 'b') + "4567";

struct OwnerCase {
  const char* name;
  std::string text;  // of /proc/PID/cgroup
  std::string container, unit;
  const char* note = "";  // a part of it
};
class CgroupOwner : public testing::TestWithParam<OwnerCase> {};

TEST_P(CgroupOwner, IsTheInnermostContainerAndService) {
  const OwnerCase& c = GetParam();
  const Owner owner = parse_cgroup(c.text);
  EXPECT_EQ(owner.container, c.container);
  EXPECT_EQ(owner.unit, c.unit);
  if (*c.note == '\0') {
    EXPECT_EQ(owner.note, "");
  } else {
    EXPECT_NE(owner.note.find(c.note), std::string::npos) << owner.note;
  }
}

const std::string kUser = "0::/user.slice/user-1000.slice/user@1000.service/";

INSTANTIATE_TEST_SUITE_P(
    Runtimes, CgroupOwner,
    testing::Values(
        OwnerCase{"DockerSystemd", "0::/system.slice/docker-" + kA + ".scope\n", kA, ""},
        OwnerCase{"DockerCgroupfs", "0::/docker/" + kA + "\n", kA, ""},
        OwnerCase{"DockerV1", "4:memory:/docker/" + kA + "\n1:name=systemd:/\n", kA, ""},
        OwnerCase{"DockerRootless", kUser + "user.slice/docker-" + kA + ".scope\n", kA, ""},
        OwnerCase{"DockerInDocker", "0::/docker/" + kA + "/docker/" + kB + "\n", kB, ""},
        OwnerCase{"Podman", "0::/machine.slice/libpod-" + kA + ".scope/container\n", kA, ""},
        OwnerCase{"PodmanRootless", kUser + "user.slice/libpod-" + kA + ".scope/container\n", kA,
                  ""},
        OwnerCase{"PodmanWatcher", "0::/machine.slice/libpod-conmon-" + kA + ".scope\n", "", "",
                  "in no container and no service"},
        OwnerCase{"Quadlet", "0::/system.slice/llama.service/libpod-payload-" + kA + "\n", kA,
                  "llama.service"},
        OwnerCase{"QuadletWatcher", "0::/system.slice/llama.service/runtime\n", "",
                  "llama.service"},
        OwnerCase{"Kubernetes",
                  "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice/"
                  "cri-containerd-" +
                      kA + ".scope\n",
                  kA, ""},
        OwnerCase{"KubernetesCrio", "0::/kubepods.slice/crio-" + kA + ".scope\n", kA, ""},
        OwnerCase{"KubernetesCgroupfs", "11:cpu:/kubepods/burstable/pod1-2/" + kA + "\n", kA, ""},
        OwnerCase{"Nerdctl", "0::/system.slice/nerdctl-" + kA + ".scope\n", kA, ""},
        OwnerCase{"Containerd", "0::/default/" + kA + "\n", kA, ""},
        OwnerCase{"Lxc", "12:devices:/lxc/web/system.slice/llama.service\n", "web",
                  "llama.service"},
        OwnerCase{"LxcPayload", "0::/lxc.payload.web/system.slice/llama.service\n", "web",
                  "llama.service"},
        OwnerCase{"DockerInLxc", "0::/lxc.payload.web/docker/" + kA + "\n", kA, ""}),
    [](const auto& p) { return p.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Units, CgroupOwner,
    testing::Values(
        OwnerCase{"Service", "0::/system.slice/llama.service\n", "", "llama.service"},
        OwnerCase{"Template", "0::/system.slice/app-vllm.slice/vllm@8000.service\n", "",
                  "vllm@8000.service"},
        OwnerCase{"Escaped", "0::/system.slice/llama\\x2dserver.service\n", "",
                  "llama-server.service"},
        OwnerCase{"Delegated", "0::/system.slice/ollama.service/runner\n", "", "ollama.service"},
        OwnerCase{"UserService", kUser + "app.slice/ollama.service\n", "", "ollama.service"},
        OwnerCase{"UserManager", kUser + "init.scope\n", "", "user@1000.service"},
        OwnerCase{"Session", "0::/user.slice/user-1000.slice/session-3.scope\n", "",
                  "session-3.scope"}),
    [](const auto& p) { return p.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Lines, CgroupOwner,
    testing::Values(
        OwnerCase{"PathWithColons", "0::/system.slice/a:b.service\n", "", "a:b.service"},
        OwnerCase{"UnifiedBeforeV1", "4:memory:/docker/" + kA + "\n0::/system.slice/x.service\n",
                  "", "x.service"},
        OwnerCase{"HybridWithoutUnified",
                  "12:pids:/a/very/long/path/that/says/nothing/at/all\n"
                  "1:name=systemd:/system.slice/x.service\n0::/\n",
                  "", "x.service"},
        OwnerCase{"LongestElse", "3:cpu:/\n4:memory:/docker/" + kA + "\n0::/\n", kA, ""},
        OwnerCase{"AnotherNamespace", "0::/../../docker-x.scope\n", "", "", "not visible"},
        OwnerCase{"RootOfOurs", "0::/\n", "", "", "not visible"},
        OwnerCase{"Empty", "", "", "", "no control group"},
        OwnerCase{"Garbage", "\n:\nnothing\n", "", "", "no control group"},
        OwnerCase{"UpperCaseIsNoId", "0::/docker/" + std::string(64, 'A') + "\n", "", "",
                  "in no container"},
        OwnerCase{"ShortIsNoId", "0::/docker/abc123\n", "", "", "in no container"},
        OwnerCase{"HostileName", "0::/system.slice/\x1b[31m\\xff\\x0ax.service\n", "",
                  "\\x1b[31m\\xff\\nx.service"},
        OwnerCase{"TornEscape", "0::/system.slice/a\\x2.service\n", "", "a\\x2.service"}),
    [](const auto& p) { return p.param.name; });

class ProcessOwner : public testing::Test {
 protected:
  BoardProcess find(BoardProcess process = {}) {
    process.pid = 77;
    find_owner(folder.path(), process);
    return process;
  }
  fake::TestFolder folder;
};

TEST_F(ProcessOwner, IsReadFromItsFiles) {
  folder.write("77/comm", "llama-server\n");
  folder.write("77/cgroup", "0::/system.slice/llama.service\n");
  const BoardProcess process = find();
  EXPECT_EQ(process.command, "llama-server");
  EXPECT_EQ(process.unit, "llama.service");
  EXPECT_EQ(process.owner_note, "");
}

TEST_F(ProcessOwner, LeavesWhatIsThere) {
  folder.write("77/comm", "python3\n");
  folder.write("77/cgroup", "0::/system.slice/llama.service\n");
  BoardProcess known;
  known.command = "/usr/bin/server";
  known.container = "web";
  const BoardProcess process = find(known);
  EXPECT_EQ(process.command, "/usr/bin/server");
  EXPECT_EQ(process.container, "web");
  EXPECT_EQ(process.unit, "");
}

TEST_F(ProcessOwner, OfAProcessThatIsNotHereIsSaid) {
  const BoardProcess process = find();
  EXPECT_EQ(process.command, "");
  EXPECT_NE(process.owner_note.find("no such process here"), std::string::npos);
}

TEST_F(ProcessOwner, ThatMayNotBeReadIsSaid) {
  folder.write("77/cgroup", "0::/system.slice/llama.service\n");
  std::filesystem::permissions(folder.at("77/cgroup"), std::filesystem::perms::none);
  const fake::AsNobody nobody;
  EXPECT_EQ(find().owner_note, "its control group can not be read");
}

TEST_F(ProcessOwner, OfThisTestIsNotAnError) {
  BoardProcess process;
  process.pid = ::getpid();
  find_owner("/proc", process);
  EXPECT_EQ(process.command.substr(0, 10), "board_test");
}

}  // namespace
}  // namespace deem::board
