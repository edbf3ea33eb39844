#include "board/container.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"

namespace deem::board {
namespace {

const std::string kId(64, 'a');
const std::string kDigest = "1f" + std::string(62, '0');

class Images : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "deem-image-XXXXXX";
    root_ = ::mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    const std::string full = join_path(root_, path);
    std::filesystem::create_directories(std::filesystem::path(full).parent_path());
    ASSERT_TRUE(write_file_atomically(full, text));
  }
  std::string root_;
};

TEST_F(Images, OfDocker) {
  write("var/lib/docker/containers/" + kId + "/config.v2.json",
        R"({"ID":")" + kId + R"(","Image":"sha256:)" + kDigest +
            R"(","Config":{"Image":"vllm/vllm-openai:latest","Env":["HF_TOKEN=secret"]}})");
  const Image image = image_of(kId, root_);
  EXPECT_EQ(image.digest, "sha256:" + kDigest);
  EXPECT_EQ(image.name, "vllm/vllm-openai:latest");
  EXPECT_EQ(image.note, "");
}

TEST_F(Images, OfPodman) {
  write("var/lib/containers/storage/overlay-containers/containers.json",
        R"([{"id":"other","image":"x"},{"id":")" + kId + R"(","image":")" + kDigest +
            R"(","metadata":"{\"image-name\":\"docker.io/ollama/ollama:0.11\"}"}])");
  const Image image = image_of(kId, root_);
  EXPECT_EQ(image.digest, "sha256:" + kDigest);
  EXPECT_EQ(image.name, "docker.io/ollama/ollama:0.11");
}

TEST_F(Images, SaysWhyThereIsNone) {
  EXPECT_EQ(image_of(kId, root_).note, "no record of it by Docker or Podman");
  EXPECT_EQ(image_of("../../etc", root_).note, "its container has no id to look up");
  EXPECT_EQ(image_of("nerdctl-name", root_).digest, "");
  write("var/lib/docker/containers/" + kId + "/config.v2.json", "{\"Image\": \"sha256:");
  EXPECT_NE(image_of(kId, root_).note, "");
  write("var/lib/docker/containers/" + kId + "/config.v2.json", R"({"Image": 7, "Config": []})");
  EXPECT_EQ(image_of(kId, root_).digest, "");
}

}  // namespace
}  // namespace deem::board
