#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace deem::fake {

/// A new folder that stands for /sys, /proc or any other, removed with its contents.
class TestFolder {
 public:
  TestFolder() {
    std::string name = testing::TempDir() + "deem-board-XXXXXX";
    path_ = ::mkdtemp(name.data());
    std::filesystem::permissions(path_, std::filesystem::perms(0755));  // for AsNobody
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  std::string at(std::string_view name) const { return path_ + "/" + std::string(name); }

  /// Writes a file, its folders too. Gives its path.
  std::string write(std::string_view name, std::string_view text) const {
    const std::filesystem::path file = at(name);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
    return file;
  }
  void remove(std::string_view name) const { std::filesystem::remove_all(at(name)); }

 private:
  std::string path_;
};

/// While it lives, files are opened without root's rights; nothing when they are not ours.
class AsNobody {
 public:
  AsNobody() {
    if (root_ && ::seteuid(kNobody) != 0) ADD_FAILURE() << "seteuid";
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() {
    if (root_ && ::seteuid(0) != 0) ADD_FAILURE() << "seteuid";
  }

 private:
  static constexpr uid_t kNobody = 65534;
  const bool root_ = ::geteuid() == 0;
};

}  // namespace deem::fake
