// Checks every #include under src/ against src/layers.txt: arrows between modules point down only,
// and each library is used by the modules that docs/dependencies.md names for it and by no other.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

// What layers.txt allows. A module maps to the modules it may include. A library is named by what
// its headers' names start with, and maps to the modules that may include it.
struct Layers {
  std::map<std::string, std::set<std::string>> modules;
  std::map<std::string, std::set<std::string>> libraries;
  std::vector<std::string> order;  // of modules, lowest first
};

// "name: word word", or for a library "<prefix: word word".
Layers parse_layers(std::istream& text) {
  Layers layers;
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) {
      ADD_FAILURE() << "layers.txt: no colon in '" << line << "'";
      continue;
    }
    std::istringstream words(line.substr(colon + 1));
    std::set<std::string> allowed;
    for (std::string word; words >> word;) allowed.insert(word);
    const std::string name = line.substr(0, colon);
    if (name.starts_with('<')) {
      layers.libraries[name.substr(1)] = allowed;
    } else {
      layers.modules[name] = allowed;
      layers.order.push_back(name);
    }
  }
  return layers;
}

// The header an #include line names, and whether it does so in quotes.
struct Include {
  std::string header;
  bool quoted = false;
};

std::optional<Include> parse_include(std::string_view line) {
  const auto skip_blanks = [&line] {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  };
  skip_blanks();
  if (!line.starts_with('#')) return std::nullopt;
  line.remove_prefix(1);
  skip_blanks();
  constexpr std::string_view kWord = "include";
  if (!line.starts_with(kWord)) return std::nullopt;
  line.remove_prefix(kWord.size());
  skip_blanks();
  if (line.empty() || (line.front() != '"' && line.front() != '<')) return std::nullopt;
  const bool quoted = line.front() == '"';
  const std::size_t end = line.find(quoted ? '"' : '>', 1);
  if (end == std::string_view::npos) return std::nullopt;
  return Include{.header = std::string(line.substr(1, end - 1)), .quoted = quoted};
}

// Headers of the C++ library and of the system, which every module may use: <vector>, <unistd.h>,
// <sys/mman.h>. Any other header belongs to a library and has to be listed.
bool is_system_header(const std::string& header) {
  static const std::set<std::string> kFolders = {"sys", "netinet", "arpa", "net", "linux"};
  const std::size_t slash = header.find('/');
  if (slash != std::string::npos) return kFolders.contains(header.substr(0, slash));
  if (!header.ends_with(".h")) return header.find('.') == std::string::npos;
  return fs::exists(fs::path("/usr/include") / header) ||
         fs::exists(fs::path("/usr/include/x86_64-linux-gnu") / header) ||
         header.ends_with("intrin.h");
}

// Whether `allowed` names `folder` or one around it: "seat" allows "seat/local", not the reverse.
bool allows(const std::set<std::string>& allowed, std::string folder) {
  if (allowed.contains("*")) return true;
  for (;;) {
    if (allowed.contains(folder)) return true;
    const std::size_t slash = folder.rfind('/');
    if (slash == std::string::npos) return false;
    folder.resize(slash);
  }
}

// What is wrong with including `include` from a file in `folder` (below src/), if anything.
std::optional<std::string> refusal(const Layers& layers, const std::string& folder, bool is_test,
                                   const Include& include) {
  const std::string module = folder.substr(0, folder.find('/'));
  if (is_test && include.header.starts_with("gtest/")) return std::nullopt;
  for (const auto& [prefix, modules] : layers.libraries) {
    if (!include.header.starts_with(prefix)) continue;
    if (allows(modules, folder)) return std::nullopt;
    return "only for other modules by its line in src/layers.txt";
  }
  if (!include.quoted) {
    if (is_system_header(include.header)) return std::nullopt;
    return "a library's header without a line in src/layers.txt and docs/dependencies.md";
  }
  const std::size_t slash = include.header.find('/');
  if (slash == std::string::npos) return "has no module: write \"module/header.h\"";
  const std::string target = include.header.substr(0, slash);
  if (target == module || layers.modules.at(module).contains(target)) return std::nullopt;
  if (!layers.modules.contains(target)) return "names no module of src/layers.txt";
  return "an arrow up or across: src/layers.txt does not let " + module + " include " + target;
}

Layers load_layers() {
  std::ifstream file(DEEM_SOURCE_DIR "/src/layers.txt");
  EXPECT_TRUE(file) << "no src/layers.txt";
  return parse_layers(file);
}

bool is_source(const fs::path& path) {
  return path.extension() == ".h" || path.extension() == ".cpp";
}

TEST(Layers, NoModuleMayIncludeOneBelowItInTheList) {
  const Layers layers = load_layers();
  std::set<std::string> above;
  for (const std::string& module : layers.order) {
    for (const std::string& target : layers.modules.at(module)) {
      EXPECT_TRUE(above.contains(target)) << module << " may include " << target;
    }
    above.insert(module);
  }
}

TEST(Layers, EveryIncludeIsAllowed) {
  const Layers layers = load_layers();
  int includes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(DEEM_SOURCE_DIR "/src")) {
    if (!entry.is_regular_file() || !is_source(entry.path())) continue;
    const fs::path inside = fs::relative(entry.path(), DEEM_SOURCE_DIR "/src");
    const std::string module = inside.begin()->string();
    ASSERT_TRUE(layers.modules.contains(module)) << module << " has no line in src/layers.txt";
    const std::string stem = entry.path().stem().string();
    const bool is_test = stem.ends_with("_test") || stem.ends_with("_test_support") ||
                         stem.starts_with("fake_") || stem.starts_with("test_");
    std::ifstream file(entry.path());
    int number = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      const std::optional<Include> include = parse_include(line);
      if (!include) continue;
      ++includes;
      const auto reason = refusal(layers, inside.parent_path().string(), is_test, *include);
      EXPECT_FALSE(reason) << "src/" << inside.string() << ":" << number << ": " << include->header
                           << ": " << *reason;
    }
  }
  EXPECT_GT(includes, 100);  // the walk saw the tree
}

TEST(Layers, EveryLibraryIsExplainedInTheDocs) {
  std::ifstream file(DEEM_SOURCE_DIR "/docs/dependencies.md");
  std::ostringstream text;
  text << file.rdbuf();
  for (const auto& [prefix, modules] : load_layers().libraries) {
    EXPECT_NE(text.str().find("`" + prefix), std::string::npos)
        << "docs/dependencies.md does not name `" << prefix << "`";
  }
}

TEST(Layers, ArrowsUpAndStrayLibrariesAreRefused) {
  std::istringstream text(
      "base:\nnet: base\nseat: base net\n<boost/: net\n<fmt/: *\n<llama: seat/local\n");
  const Layers layers = parse_layers(text);
  const auto quoted = [](const char* header) { return Include{.header = header, .quoted = true}; };
  const auto angled = [](const char* header) { return Include{.header = header, .quoted = false}; };
  EXPECT_FALSE(refusal(layers, "seat", false, quoted("net/http.h")));
  EXPECT_FALSE(refusal(layers, "net", false, quoted("net/http.h")));
  EXPECT_FALSE(refusal(layers, "net", false, angled("boost/asio.hpp")));
  EXPECT_FALSE(refusal(layers, "seat", false, angled("fmt/core.h")));
  EXPECT_FALSE(refusal(layers, "seat/local", false, angled("llama.h")));
  EXPECT_FALSE(refusal(layers, "seat/local/deeper", false, angled("llama.h")));
  EXPECT_FALSE(refusal(layers, "seat/local", false, quoted("net/http.h")));
  EXPECT_FALSE(refusal(layers, "base", false, angled("sys/mman.h")));
  EXPECT_FALSE(refusal(layers, "base", true, angled("gtest/gtest.h")));
  EXPECT_TRUE(refusal(layers, "base", false, angled("gtest/gtest.h")));
  EXPECT_TRUE(refusal(layers, "seat", false, angled("llama.h")));
  EXPECT_TRUE(refusal(layers, "net", false, quoted("seat/seat.h")));
  EXPECT_TRUE(refusal(layers, "net", true, quoted("seat/seat.h")));
  EXPECT_TRUE(refusal(layers, "seat", false, angled("boost/asio.hpp")));
  EXPECT_TRUE(refusal(layers, "seat", false, quoted("boost/asio.hpp")));
  EXPECT_TRUE(refusal(layers, "seat", false, angled("absl/strings/str_cat.h")));
  EXPECT_TRUE(refusal(layers, "seat", false, angled("unknown_library.h")));
  EXPECT_TRUE(refusal(layers, "seat", false, quoted("http.h")));
  EXPECT_TRUE(refusal(layers, "seat", false, quoted("nowhere/http.h")));
}

TEST(Layers, IncludeLinesAreFoundWithBlanks) {
  EXPECT_EQ(parse_include("#include <vector>")->header, "vector");
  EXPECT_EQ(parse_include(" #  include \"net/http.h\"  // why")->header, "net/http.h");
  EXPECT_FALSE(parse_include("// #include <vector>"));
  EXPECT_FALSE(parse_include("#include MACRO"));
  EXPECT_FALSE(parse_include("#includes <vector>"));
  EXPECT_FALSE(parse_include(""));
}

}  // namespace
