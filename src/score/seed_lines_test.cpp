#include "score/seed_lines.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "score/seed_summary.h"

namespace deem::score {
namespace {

namespace fs = std::filesystem;

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

constexpr std::string_view kRow =
    R"({"label": "yes", "choice": "yes", "probs": {"yes": 0.75, "no": 0.25}, "seconds": 0.5})";

/// A folder of files that goes away with the test.
class SeedLines : public testing::Test {
 protected:
  SeedLines() { fs::create_directories(folder_); }
  ~SeedLines() override { fs::remove_all(folder_); }
  void put(const std::string& name, std::string_view bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  SeedReport score(SeedOptions options = {}) {
    return score_seed_folder(folder_.string(), options).value();
  }
  std::string path(const std::string& name) { return (folder_ / name).string(); }

  const fs::path folder_ =
      fs::temp_directory_path() / ("deem-seed-lines-" + std::to_string(getpid()));
};

struct Reference {
  const char* rows;
  const char* expected;
};
class SeedReference : public testing::TestWithParam<Reference> {};

TEST_P(SeedReference, PrintsWhatRunPyPrints) {
  const fs::path reference = fs::path(DEEM_SOURCE_DIR) / "../shared/reference";
  if (!fs::exists(reference)) GTEST_SKIP() << "no reference bench beside the source";
  const std::string want = slurp(reference / GetParam().expected);
  for (const std::size_t threads : {1U, 2U, 5U}) {
    for (const std::size_t block : {std::size_t{61}, std::size_t{997}, std::size_t{1} << 19}) {
      if (block == 61 && threads > 1) continue;
      const Result<SeedReport> report = score_seed_folder(
          (reference / GetParam().rows).string(), {.threads = threads, .block_bytes = block});
      ASSERT_TRUE(report.has_value());
      EXPECT_EQ(joined(report->lines), want) << threads << " threads, blocks of " << block;
      EXPECT_TRUE(report->problems.empty());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Folders, SeedReference,
                         testing::Values(Reference{"rows", "score.expected.txt"},
                                         Reference{"edge_rows", "edge_score.expected.txt"}));

TEST_F(SeedLines, ABadLineIsNamedAndTakesNoOtherFileDown) {
  put("a.jsonl", std::string(kRow) + "\n\n" + std::string(kRow).substr(0, 40));
  put("b.jsonl", kRow);
  const SeedReport report = score();
  ASSERT_EQ(report.lines.size(), 1U);
  EXPECT_TRUE(report.lines[0].starts_with("b.jsonl {\"n\": 1, \"n_reached\": 1,"));
  ASSERT_EQ(report.problems.size(), 3U);
  EXPECT_EQ(report.problems[0], path("a.jsonl") + ":2: blank line");
  EXPECT_TRUE(report.problems[1].starts_with(path("a.jsonl") + ":3: not JSON: "));
  EXPECT_EQ(report.problems[2], path("a.jsonl") + ": left out: 2 of 3 lines can not be scored");
}

TEST_F(SeedLines, LinesAreCountedAcrossBlocks) {
  std::string bytes;
  for (int i = 0; i < 500; ++i)
    bytes += std::string(kRow) + (i % 3 == 0 ? "\r\n" : i % 3 == 1 ? "\r" : "\n");
  put("a.jsonl", bytes + "{}x\n" + bytes);
  for (const std::size_t block : {7U, 50U, 86U, 1000U}) {
    const SeedReport report = score({.threads = 3, .block_bytes = block});
    ASSERT_EQ(report.problems.size(), 2U);
    EXPECT_TRUE(report.problems[0].starts_with(path("a.jsonl") + ":501: not JSON"))
        << report.problems[0];
    EXPECT_EQ(report.rows, 1001U);
  }
}

TEST_F(SeedLines, ManyBadLinesAreCountedNotListed) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += "x\n";
  put("a.jsonl", bytes);
  EXPECT_EQ(score({.threads = 2, .block_bytes = 64}).problems.size(), 11U);
}

TEST_F(SeedLines, AFolderNamedLikeRowsIsAProblemOfItsOwn) {
  fs::create_directories(folder_ / "dir.jsonl");
  fs::create_symlink("nowhere", folder_ / "gone.jsonl");
  put("z.jsonl", kRow);
  put("z.JSONL", "not read");
  const SeedReport report = score();
  EXPECT_EQ(report.lines.size(), 1U);
  ASSERT_EQ(report.problems.size(), 2U);
  EXPECT_EQ(report.problems[0], path("dir.jsonl") + ": not a regular file");
  EXPECT_TRUE(report.problems[1].starts_with(path("gone.jsonl") + ": "));
}

TEST_F(SeedLines, AMissingFolderIsAnError) {
  EXPECT_EQ(score_seed_folder(path("none")).error().code, Error::Code::NotFound);
}

struct Refusal {
  const char* name;
  const char* row;
  const char* message;
};
class SeedRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(SeedRefusal, NamesLineAndCause) {
  const Result<SeedSummary> summary =
      summarise_seed_rows(std::string(kRow) + "\n" + GetParam().row + "\n");
  ASSERT_FALSE(summary.has_value());
  EXPECT_EQ(summary.error().message, std::string("2: ") + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Table, SeedRefusal,
    testing::Values(
        Refusal{"NoObject", "[1]", "not a JSON object"},
        Refusal{"NoChoice", R"({"label": "yes"})", "labelled, but has no choice"},
        Refusal{"TextSeconds", R"({"seconds": "fast"})", "seconds is not a number"},
        Refusal{"HugeSeconds", R"({"seconds": 9223372036854775808})",
                "seconds is an integer outside 64 bits"},
        Refusal{"TextTokens", R"({"prompt_tokens": "5"})", "prompt_tokens is not a number"},
        Refusal{"RefusedList", R"({"refused": ["a"]})", "refused is a list or an object"},
        Refusal{"FlooredNumber", R"({"floored": 3})", "floored is not a list"},
        Refusal{"NanFirst", R"({"label": "a", "choice": "a", "probs": {"a": NaN, "b": 0.5}})",
                "the largest of probs is not a probability"},
        Refusal{"BelowMinusOne", R"({"label": "a", "choice": "a", "probs": {"a": -1.1}})",
                "the largest of probs is not a probability"},
        Refusal{"NullProb", R"({"label": "a", "choice": "a", "probs": {"a": null}})",
                "a value of probs is not a number"},
        Refusal{"SquareOverflows", R"({"label": "a", "choice": "a", "probs": {"a": 1e200}})",
                "a value of probs is too large"},
        Refusal{"Mark", "\xef\xbb\xbf{}", "begins with a byte order mark"},
        Refusal{"NotUtf8", "{\"id\": \"\xff\"}", "not UTF-8"}),
    [](const auto& p) { return p.param.name; });

TEST(SeedSummary, TheLastOfTwoEqualKeysCounts) {
  const std::string row =
      R"({"label": "no", "choice": "yes", "probs": {"a": 0.5, "a": 0.25, "yes": 0.125}, "seconds": 9, )"
      R"("label": "yes", "seconds": 1.0})";
  const Result<SeedSummary> summary = summarise_seed_rows(row);
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary->correct, 1);
  EXPECT_EQ(summary->brier, 0.0625 + 0.765625);
  EXPECT_EQ(summary->reliability[2].n, 1);
  EXPECT_EQ(summary->median_seconds.real, 1.0);
}

}  // namespace
}  // namespace deem::score
