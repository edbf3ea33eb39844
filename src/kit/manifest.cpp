#include "kit/manifest.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/digest.h"
#include "base/file.h"
#include "kit/fields.h"
#include "kit/source.h"

namespace deem::kit {
namespace fs = std::filesystem;

std::string kit_digest(const FileDigests& files) {
  std::string lines;
  for (const auto& [path, digest] : files) {
    lines += path;
    lines += '\0';
    lines += digest.sha256;
    lines += '\n';
  }
  return sha256_hex(lines);
}

FileDigests read_file_digests(Draft& draft, Origin at, const codec::Json& manifest) {
  FileDigests digests;
  const codec::Json* files = manifest.find("files");
  if (files == nullptr) files = manifest.find("sha256");
  if (files == nullptr) return digests;
  if (!files->is_object()) {
    draft.refuse(at, "manifest: files must be an object of path: digest");
    return digests;
  }
  for (const auto& [path, entry] : files->members()) {
    if (!is_inside_path(path)) {
      draft.refuse(at, "manifest: path " + in_quotes(path) + " leads out of the kit's folder");
      continue;
    }
    FileDigest digest;
    if (entry.is_string()) {
      digest.sha256 = entry.as_string();
    } else {
      digest.sha256 = entry.get_string("sha256").value_or("");
      digest.bytes = entry.get_int("bytes");
    }
    const bool hex = digest.sha256.size() == 64 &&
                     digest.sha256.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!hex) {
      draft.refuse(at,
                   "manifest: " + in_quotes(path) + " has no sha256 of 64 lower-case hex digits");
      continue;
    }
    digests.emplace(path, std::move(digest));
  }
  return digests;
}

bool KitFolder::has(const std::string& relative) const {
  std::error_code error;
  return fs::symlink_status(join_path(folder_, relative), error).type() != fs::file_type::not_found;
}

std::optional<KitFolder::Bytes> KitFolder::read(const std::string& relative) {
  const std::size_t file = draft_.add_file(join_path(folder_, relative));
  file_index_.insert_or_assign(relative, file);
  auto bytes = read_inside(folder_, relative);
  if (!bytes) {
    draft_.refuse({file, 0}, bytes.error().message);
    return std::nullopt;
  }
  read_.insert_or_assign(relative, FileDigest{.sha256 = sha256_hex(*bytes),
                                              .bytes = static_cast<std::int64_t>(bytes->size())});
  if (const auto line = bad_utf8_line(*bytes)) {
    draft_.refuse({file, *line}, "not UTF-8");
    return std::nullopt;
  }
  return Bytes{file, std::move(*bytes)};
}

void KitFolder::verify(std::size_t manifest_file, const FileDigests& manifest, bool must_name_all) {
  for (const auto& [path, want] : manifest) {
    auto found = read_.find(path);
    if (found == read_.end()) {
      if (file_index_.contains(path)) continue;  // already refused when it was read
      auto bytes = read_inside(folder_, path);
      if (!bytes) {
        draft_.refuse({manifest_file, 0},
                      "names " + in_quotes(path) + ": " + bytes.error().message);
        continue;
      }
      found = read_
                  .emplace(path, FileDigest{.sha256 = sha256_hex(*bytes),
                                            .bytes = static_cast<std::int64_t>(bytes->size())})
                  .first;
    }
    const auto index = file_index_.find(path);
    const std::size_t file =
        index != file_index_.end() ? index->second : draft_.add_file(join_path(folder_, path));
    if (found->second.sha256 != want.sha256) {
      draft_.refuse({file, 0}, "its sha256 is " + found->second.sha256.substr(0, 12) +
                                   "…, the manifest says " + want.sha256.substr(0, 12) +
                                   "…: the file was changed after the kit was frozen");
    } else if (want.bytes && want.bytes != found->second.bytes) {
      draft_.refuse({file, 0}, "has " + std::to_string(found->second.bytes.value_or(0)) +
                                   " bytes, the manifest says " + std::to_string(*want.bytes));
    }
  }
  if (!must_name_all) return;
  for (const auto& [path, digest] : read_) {
    if (path == "manifest.json" || manifest.contains(path)) continue;
    draft_.refuse({manifest_file, 0}, "does not name " + in_quotes(path) +
                                          ", which the kit reads; freeze the kit again");
  }
}

std::string format_manifest(const FileDigests& files, const Kit& kit) {
  codec::Json listed = codec::Json::object();
  for (const auto& [path, digest] : files) {
    codec::Json entry = codec::Json::object();
    entry.set("sha256", digest.sha256);
    entry.set("bytes", codec::Json::from(digest.bytes));
    listed.set(path, std::move(entry));
  }
  codec::Json items = codec::Json::object();
  for (const Task& task : kit.tasks) {
    items.set(task.name, static_cast<std::uint64_t>(task.items.size()));
  }
  codec::Json counts = codec::Json::object();
  counts.set("states", static_cast<std::uint64_t>(kit.states.size()));
  counts.set("items", std::move(items));
  codec::Json manifest = codec::Json::object();
  manifest.set("schema", "deem.manifest/1");
  manifest.set("files", std::move(listed));
  manifest.set("counts", std::move(counts));
  return codec::dump_json(manifest, {.ascii = false, .indent = 2}) + "\n";
}

Result<FileDigests> digest_folder(const std::string& folder) {
  constexpr int kMostLevels = 4;
  FileDigests digests;
  std::error_code error;
  fs::recursive_directory_iterator walk(folder, error);
  for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
    const std::string relative = fs::path(walk->path()).lexically_relative(folder).generic_string();
    const bool hidden = walk->path().filename().string().starts_with('.');
    const fs::file_type type = walk->symlink_status(error).type();
    if (type == fs::file_type::directory) {
      if (hidden || walk.depth() + 1 >= kMostLevels) walk.disable_recursion_pending();
      continue;
    }
    if (hidden || relative == "manifest.json") continue;
    auto bytes = read_inside(folder, relative);
    if (!bytes) return fail(join_path(folder, relative), bytes.error());
    digests.emplace(relative, FileDigest{.sha256 = sha256_hex(*bytes),
                                         .bytes = static_cast<std::int64_t>(bytes->size())});
  }
  if (error) return fail(Error::Code::Unavailable, folder + ": " + error.message());
  return digests;
}

}  // namespace deem::kit
