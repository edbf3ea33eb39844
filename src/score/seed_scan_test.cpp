#include "score/seed_scan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace deem::score {
namespace {

namespace fs = std::filesystem;
using Instructions = SeedScanner::Instructions;

constexpr std::string_view kReadout =
    R"({"prompt_sha256": "11b2e5a50651e421e5e581bedf684ac5dd1c7d4de21edb62a6841ae59716ce77", )"
    R"("prompt_chars": 622, "mode": "readout", "letter_logprobs": [null, -0.5, -1.1e-10], )"
    R"("floored": [0], "top0_token": "答", "letters_in_topk": 0, "choice": "pell", "probs": )"
    R"({"ines": 0.16666666666666666, "osei": 1.5e-09, "a very long option's key": 0.3, "pell": 0.5}, )"
    R"("confidence": 0.0, "seconds": 0.060112042000127985, "prompt_tokens": 169, "eval_tokens": 1, )"
    R"("id": "c-001", "label": "osei", "arm": "jev-readout", "model": "hf.co/some/model:Q4_K_M", )"
    R"("quant": "Q4_K_M", "num_ctx": 131072, "seed": 20260921, "stamp": "2026-12-01T05:11:49Z"})";
constexpr std::string_view kGenerate =
    R"({"mode": "generate", "generated": "B\n \u00e9 \"x\"", "parsed": false, "choice": "no", )"
    R"("probs": {"yes": 0, "no": 1}, "seconds": 2, "prompt_tokens": 1213, "eval_tokens": 2.5, )"
    R"("label": "no", "error": "", "arm": "jev-generate", "model": "m", "quant": "q", "stamp": "s"})";
constexpr std::string_view kRefused =
    R"({"refused": "overlong", "choice": null, "probs": null, "seconds": null, "prompt_tokens": 9})";

/// `row` scanned as line of a text of its own; none when it needs the exact
/// reader.
std::optional<SeedRow> scan(SeedScanner& scanner, std::string_view row,
                            std::string_view end = "\n") {
  std::string text(kSeedPadding, '#');
  text.append(row).append(end).append(kSeedPadding, '\0');
  const std::string_view lines =
      std::string_view(text).substr(kSeedPadding, row.size() + end.size());
  scanner.begin(lines);
  SeedRow out;
  std::vector<codec::Json> refusals;
  const char* const stop = scanner.scan(lines.data(), out, refusals);
  if (stop == nullptr) return std::nullopt;
  EXPECT_EQ(stop - lines.data(), static_cast<std::ptrdiff_t>(row.size()));
  return out;
}

void expect_same(const SeedRow& a, const SeedRow& b) {
  EXPECT_EQ(a.flags, b.flags);
  EXPECT_EQ(a.bin, b.bin);
  EXPECT_EQ(a.floored, b.floored);
  EXPECT_EQ(a.brier, b.brier);
  EXPECT_EQ(a.top_p, b.top_p);
  for (const auto member : {&SeedRow::seconds, &SeedRow::prompt_tokens, &SeedRow::eval_tokens}) {
    EXPECT_EQ((a.*member).kind, (b.*member).kind);
    EXPECT_EQ((a.*member).whole, (b.*member).whole);
    EXPECT_EQ((a.*member).real, (b.*member).real);
    EXPECT_EQ(std::signbit((a.*member).real), std::signbit((b.*member).real));
  }
}

SeedRow exact(std::string_view row) {
  std::vector<codec::Json> refusals;
  return read_seed_row(row, refusals).value();
}

class SeedScan : public testing::TestWithParam<Instructions> {};

TEST_P(SeedScan, TakesTheRowsThatTheReferenceBenchWrites) {
  SeedScanner scanner(GetParam());
  for (int round = 0; round < 12; ++round) {  // learns keys, then a stretch, then another
    for (const std::string_view row : {kReadout, kReadout, kGenerate, kRefused}) {
      for (const std::string_view end : {"\n", "\r\n", "\r", ""}) {
        const std::optional<SeedRow> scanned = scan(scanner, row, end);
        ASSERT_TRUE(scanned.has_value()) << row;
        expect_same(*scanned, exact(row));
      }
    }
  }
}

TEST_P(SeedScan, TakesNoTornRow) {
  SeedScanner scanner(GetParam());
  for (int round = 0; round < 8; ++round) ASSERT_TRUE(scan(scanner, kReadout));
  for (std::size_t n = 0; n < kReadout.size(); ++n) {
    EXPECT_FALSE(scan(scanner, kReadout.substr(0, n), "")) << n;
    EXPECT_FALSE(scan(scanner, kReadout.substr(0, n), "\n{}")) << n;
  }
}

TEST_P(SeedScan, AgreesWithTheExactReaderOnEveryChangedByte) {
  SeedScanner scanner(GetParam());
  for (int round = 0; round < 8; ++round) ASSERT_TRUE(scan(scanner, kReadout));
  std::size_t taken = 0;
  for (const std::string_view row : {kReadout, kGenerate, kRefused}) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      for (const char c : std::string_view("\"\\{}[]:,. -+0e9ntx\t\x01\x7f\x80")) {
        std::string changed(row);
        changed[i] = c;
        const std::optional<SeedRow> scanned = scan(scanner, changed);
        if (!scanned) continue;
        ++taken;
        std::vector<codec::Json> refusals;
        const Result<SeedRow> read = read_seed_row(changed, refusals);
        ASSERT_TRUE(read.has_value()) << changed;
        expect_same(*scanned, *read);
      }
    }
  }
  EXPECT_GT(taken, 5000U);
}

struct Oddity {
  const char* name;
  const char* row;
};

TEST_P(SeedScan, LeavesWhatIsUnusualToTheExactReader) {
  SeedScanner scanner(GetParam());
  for (const auto& [name, row] : {
           Oddity{"labels that are no text", R"({"label": 1, "choice": 1.0})"},
           Oddity{"an escape in a key that may count", R"({"\u006cabel": "a"})"},
           Oddity{"an escape in a label", R"({"label": "\u0061", "choice": "a"})"},
           Oddity{"NaN", R"({"seconds": NaN})"},
           Oddity{"long integers", R"({"id": 1234567890123456789})"},
           Oddity{"one option twice",
                  R"({"label": "a", "choice": "a", "probs": {"a": 0.5, "b": 0.1, "a": 0.25}})"},
           Oddity{"no choice", R"({"label": "a"})"},
           Oddity{"blanks before", R"( {"label": "a", "choice": "a"})"},
           Oddity{"no members", "{}"},
           Oddity{"bytes that are no UTF-8", "{\"id\": \"\xc3\x28\"}"},
           Oddity{"a bad escape", R"({"id": "\x"})"},
           Oddity{"a value out of range", R"({"seconds": 1e400})"},
       }) {
    EXPECT_FALSE(scan(scanner, row)) << name;
  }
}

TEST_P(SeedScan, TakesAllReferenceRows) {
  const fs::path rows = fs::path(DEEM_SOURCE_DIR) / "../shared/reference/rows";
  if (!fs::exists(rows)) GTEST_SKIP() << "no reference rows beside the source";
  SeedScanner scanner(GetParam());
  for (const fs::directory_entry& entry : fs::directory_iterator(rows)) {
    if (entry.path().extension() != ".jsonl") continue;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      const std::optional<SeedRow> scanned = scan(scanner, line);
      ASSERT_TRUE(scanned.has_value()) << line;  // or scoring is slow
      expect_same(*scanned, exact(line));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Instructions, SeedScan,
                         testing::Values(Instructions::Best, Instructions::Plain),
                         [](const auto& p) {
                           return p.param == Instructions::Best ? "Best" : "Plain";
                         });

}  // namespace
}  // namespace deem::score
