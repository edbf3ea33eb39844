#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "kit/kit.h"

namespace deem::kit {

/// A folder of its own for one test, removed with it.
class TestFolder {
 public:
  TestFolder() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string("deem_kit_") + test->test_suite_name() + "_" + test->name();
    for (char& c : name) {
      if (c == '/') c = '_';
    }
    path_ = (std::filesystem::path(testing::TempDir()) / name).string();
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

  std::string write(std::string_view name, std::string_view bytes) const {
    const std::filesystem::path file = *this / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file.string();
  }
  std::string read(std::string_view name) const {
    std::ifstream in(*this / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string path_;
};

/// The first finding of `level` whose message contains `part`, or nullptr.
inline const Finding* find_finding(const Loaded& loaded, Finding::Level level,
                                   std::string_view part) {
  for (const Finding& finding : loaded.findings) {
    if (finding.level == level && finding.message.find(part) != std::string::npos) return &finding;
  }
  return nullptr;
}

/// All findings, one a line, for a failure's message.
inline std::string all_findings(const Loaded& loaded) {
  std::string text;
  for (const Finding& f : loaded.findings) {
    text += (f.level == Finding::Level::Refusal ? "refused " : "warning ") + f.file + ":" +
            std::to_string(f.line) + " " + f.message + "\n";
  }
  return text;
}

inline Loaded must_load(const std::string& path, const LoadOptions& options = {}) {
  auto loaded = load_kit(path, options);
  EXPECT_TRUE(loaded.has_value()) << loaded.error().message;
  return loaded ? std::move(*loaded) : Loaded{};
}

}  // namespace deem::kit
