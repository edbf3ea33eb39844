#include "board/container.h"

#include <algorithm>

#include "base/file.h"
#include "codec/json.h"

namespace deem::board {
namespace {

using codec::Json;

constexpr std::size_t kMostBytes = 16 << 20;

/// What a digest looks like in either runtime's files: with its algorithm or without.
std::string digest_of(const std::string& text) {
  const bool hex = text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
  return hex ? "sha256:" + text : text.starts_with("sha256:") ? text : "";
}

Image docker_image(const Json& config) {
  Image out;
  out.digest = digest_of(config.get_string("Image").value_or(""));
  if (const Json* inner = config.find("Config"); inner != nullptr && inner->is_object()) {
    out.name = inner->get_string("Image").value_or("");
  }
  return out;
}

Image podman_image(const Json& containers, const std::string& id) {
  Image out;
  if (!containers.is_array()) return out;
  for (const Json& one : containers.items()) {
    if (!one.is_object() || one.get_string("id") != id) continue;
    out.digest = digest_of(one.get_string("image").value_or(""));
    // "metadata" is a text that holds an object.
    const auto inner = codec::parse_json(one.get_string("metadata").value_or(""));
    if (inner && inner->is_object()) out.name = inner->get_string("image-name").value_or("");
  }
  return out;
}

/// A file's object or list, or why there is none.
Result<Json> read_json(const std::string& path) {
  Result<std::string> text = read_file(path, kMostBytes);
  if (!text) return fail(text.error());
  return codec::parse_json(*text);
}

}  // namespace

Image image_of(const std::string& container, const std::string& root) {
  const bool is_id = container.size() == 64 &&
                     container.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_id) return {.note = "its container has no id to look up"};
  const std::string docker =
      join_path(root, "var/lib/docker/containers/" + container + "/config.v2.json");
  const std::string podman =
      join_path(root, "var/lib/containers/storage/overlay-containers/containers.json");
  std::string why = "no record of it by Docker or Podman";
  if (const Result<Json> config = read_json(docker); config && config->is_object()) {
    if (Image image = docker_image(*config); !image.digest.empty()) return image;
  } else if (!config && config.error().code != Error::Code::NotFound) {
    why = config.error().message;
  }
  if (const Result<Json> list = read_json(podman)) {
    if (Image image = podman_image(*list, container); !image.digest.empty()) return image;
  }
  return {.note = why};
}

}  // namespace deem::board
