#pragma once

#include <string>

namespace deem::board {

/// The image a container was made of, as far as its runtime's files can be read.
struct Image {
  std::string digest = {};  // "sha256:…" of the image's configuration; "" where it is not known
  std::string name = {};    // as it was asked for: "vllm/vllm-openai:v0.10.2"; "" where not known
  std::string note = {};    // why neither is known; "" when one is
};

/// By the container's id (64 hex digits): Docker's and Podman's own records. `root`: a folder that
/// stands for /, for tests.
Image image_of(const std::string& container, const std::string& root = "/");

}  // namespace deem::board
