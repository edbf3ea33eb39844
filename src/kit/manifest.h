#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "codec/json.h"
#include "kit/draft.h"
#include "kit/kit.h"

namespace deem::kit {

/// A file as a manifest names it.
struct FileDigest {
  std::string sha256;
  std::optional<std::int64_t> bytes;  // the older form of the reference layout has none
};
using FileDigests = std::map<std::string, FileDigest, std::less<>>;

/// The digest of a kit of several files: sha256 over "path\0sha256\n" lines sorted by path.
std::string kit_digest(const FileDigests& files);

/// Reads `"files": {path: {"sha256", "bytes"}}` or, in the reference layout, `"sha256": {path:
/// hex}`. Wrong shapes and paths that lead out of the folder are refused.
FileDigests read_file_digests(Draft& draft, Origin at, const codec::Json& manifest);

/// The files of a folder as they are read, checked against its manifest.
class KitFolder {
 public:
  KitFolder(Draft& draft, std::string folder) : draft_(draft), folder_(std::move(folder)) {}

  /// Reads one file, which must be there, be plain, and be UTF-8: otherwise refused. Its digest is
  /// kept. Returns the file's index in the draft and its bytes.
  struct Bytes {
    std::size_t file = 0;
    std::string text;
  };
  std::optional<Bytes> read(const std::string& relative);
  bool has(const std::string& relative) const;

  /// Refuses files whose bytes are not the manifest's, files of the manifest that were not read
  /// (missing, or changed when they are read now), and files read but not named.
  void verify(std::size_t manifest_file, const FileDigests& manifest, bool must_name_all);

  /// Digests of everything read so far.
  const FileDigests& read_files() const { return read_; }
  const std::string& path() const { return folder_; }

 private:
  Draft& draft_;
  std::string folder_;
  FileDigests read_;
  std::map<std::string, std::size_t, std::less<>> file_index_;
};

/// manifest.json of a kit in our own format, ending in a newline.
std::string format_manifest(const FileDigests& files, const Kit& kit);

/// Every plain file of a folder, hidden ones and manifest.json left out, at most 4 levels deep,
/// with digest and size; paths relative, sorted. Errors: BadInput for a link or another special
/// file, Unavailable.
Result<FileDigests> digest_folder(const std::string& folder);

}  // namespace deem::kit
