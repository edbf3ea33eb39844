#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace deem::bench {

/// A new folder that is removed with its contents at the end of a test.
class TestFolder {
 public:
  TestFolder() {
    std::string name = testing::TempDir() + "deem-bench-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace deem::bench
