// Runs every tests/cli/*.test:
//
//   $ deem kit check %data/kits/small        the command; words split at spaces, '…' keeps them
//   exit 0
//   --- stdout
//   …
//   --- stderr
//   …
//
// Several commands may stand in one file and share a folder of their own, %tmp. %data is
// tests/data, %kits the project's kits. Where output varies it is replaced before it is compared:
// stamps by %time, the box's name by %host, durations by %dur. DEEM_UPDATE_GOLDEN=1 rewrites the
// files.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>

#include "base/file.h"
#include "base/process.h"

namespace deem {
namespace {

struct Step {
  std::string comments, command;
  int exit = 0;
  std::string out, err;
};

std::vector<Step> parse_steps(const std::string& text) {
  std::vector<Step> steps;
  std::string* target = nullptr;
  std::string comments;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("$ ")) {
      steps.push_back({comments, line.substr(2), 0, {}, {}});
      comments.clear();
      target = nullptr;
    } else if (target == nullptr && (line.starts_with("#") || line.empty())) {
      comments += line + "\n";
    } else if (line.starts_with("exit ") && target == nullptr) {
      steps.back().exit = std::atoi(line.c_str() + 5);
    } else if (line == "--- stdout") {
      target = &steps.back().out;
    } else if (line == "--- stderr") {
      target = &steps.back().err;
    } else if (line == "---") {
      target = nullptr;
    } else if (target != nullptr) {
      *target += line + "\n";
    }
  }
  return steps;
}

std::string print_steps(const std::vector<Step>& steps) {
  std::string text;
  for (const Step& step : steps) {
    text += step.comments + "$ " + step.command + "\nexit " + std::to_string(step.exit) + "\n";
    if (!step.out.empty()) text += "--- stdout\n" + step.out;
    if (!step.err.empty()) text += "--- stderr\n" + step.err;
    text += "---\n";
  }
  return text;
}

std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false, any = false;
  for (const char c : command) {
    if (c == '\'') {
      quoted = !quoted;
      any = true;
    } else if (c == ' ' && !quoted) {
      if (any || !word.empty()) words.push_back(word);
      word.clear();
      any = false;
    } else {
      word += c;
    }
  }
  if (any || !word.empty()) words.push_back(word);
  return words;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; !from.empty() && (at = text.find(from, at)) != std::string::npos;
       at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

class Golden : public testing::TestWithParam<std::string> {
 protected:
  Golden() {
    std::string name = (std::filesystem::temp_directory_path() / "deem-cli-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) == 0) host_ = host.data();
  }
  ~Golden() override { std::filesystem::remove_all(folder_); }

  std::string expanded(std::string text) const {
    replace_all(text, "%data", kData);
    replace_all(text, "%kits", kKits);
    replace_all(text, "%tmp", folder_);
    return text;
  }
  std::string folded(std::string text) const {
    replace_all(text, kData, "%data");
    replace_all(text, kKits, "%kits");
    replace_all(text, folder_, "%tmp");
    replace_all(text, host_, "%host");
    text = std::regex_replace(text, std::regex(R"(\d{4}-\d\d-\d\dT\d\d:?\d\d:?\d\dZ?)"), "%time");
    return std::regex_replace(text, std::regex(R"(\d+(\.\d+)? (µs|ms|s)\b)"), "%dur");
  }

  const std::string kData = DEEM_SOURCE_DIR "/tests/data";
  const std::string kKits = DEEM_SOURCE_DIR "/kits";
  std::string folder_, host_;
};

TEST_P(Golden, HoldsItsOutputAndExitCode) {
  const std::string path = DEEM_SOURCE_DIR "/tests/cli/" + GetParam();
  const Result<std::string> text = read_file(path);
  ASSERT_TRUE(text) << text.error().message;
  std::vector<Step> steps = parse_steps(*text);
  ASSERT_FALSE(steps.empty());
  std::vector<Step> got = steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::vector<std::string> argv = words_of(expanded(steps[i].command));
    ASSERT_EQ(argv.at(0), "deem") << "a command begins with deem";
    argv[0] = DEEM_PROGRAM;
    const Result<Finished> done =
        run_process({.argv = argv,
                     .environment = {"LANG=C.UTF-8", "HOME=" + folder_,
                                     "DEEM_BOARDS=" + kData + "/boards/two.json"},
                     .folder = folder_},
                    Seconds(120));
    ASSERT_TRUE(done) << done.error().message;
    got[i].exit = done->ending.signal != 0 ? 128 + done->ending.signal : done->ending.code;
    got[i].out = folded(done->output);
    got[i].err = folded(done->errors);
    if (std::getenv("DEEM_UPDATE_GOLDEN") != nullptr) continue;
    EXPECT_EQ(got[i].exit, steps[i].exit) << steps[i].command << "\n" << got[i].err;
    EXPECT_EQ(got[i].out, steps[i].out) << steps[i].command;
    EXPECT_EQ(got[i].err, steps[i].err) << steps[i].command;
  }
  if (std::getenv("DEEM_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(write_file_atomically(path, print_steps(got)));
  }
}

std::vector<std::string> test_files() {
  std::vector<std::string> out;
  const Result<std::vector<std::string>> names = list_folder(DEEM_SOURCE_DIR "/tests/cli");
  for (const std::string& name : names.value_or(std::vector<std::string>{})) {
    if (name.ends_with(".test")) out.push_back(name);
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(test_files()), [](const auto& p) {
  std::string name = p.param.substr(0, p.param.size() - 5);
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

}  // namespace
}  // namespace deem
