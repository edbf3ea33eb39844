#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json.h"
#include "score/python_number.h"

namespace deem::score {

inline constexpr std::size_t kSeedBins = 10;

/// What one row of the reference bench adds to its summary: all that is kept of
/// a row, and only until it is added up.
struct SeedRow {
  enum : std::uint8_t {
    kRefused = 1,  // `refusal` says where its reason is; nothing else counts
    kLabelled = 2,
    kCorrect = 4,  // choice equals label
    kError = 8,
    kUnparsed = 16,
    kHasProbs = 32,  // and a label: brier, top_p and bin hold
  };
  std::uint8_t flags = 0;
  std::uint8_t bin = 0;
  std::uint32_t floored = 0;  // letters floored in this row
  std::uint32_t refusal = 0;  // index into SeedRows::refusals
  double brier = 0;
  double top_p = 0;
  PythonNumber seconds;        // None where absent or null
  PythonNumber prompt_tokens;  // None where absent or false
  PythonNumber eval_tokens;
};

/// A line that can not be scored; `line` counts from 1.
struct SeedProblem {
  std::size_t line = 0;
  std::string message;
};

/// Rows in file order, as read from a stretch of whole lines.
struct SeedRows {
  std::vector<SeedRow> rows;
  std::vector<codec::Json> refusals;
  std::vector<SeedProblem> problems;  // the first kMaxProblems; lines relative to the stretch
  std::size_t lines = 0;
  std::size_t bad_lines = 0;

  static constexpr std::size_t kMaxProblems = 10;
  void clear();
};

/// Bytes that must be readable before and after the text given to
/// read_seed_rows, whatever they are.
inline constexpr std::size_t kSeedPadding = 64;

class SeedScanner;

/// Appends the rows of whole lines. Lines end as in Python's text files: "\n",
/// "\r\n" or "\r"; the last need not end, but then a zero byte must follow it.
/// Rows laid out as the reference bench writes them are read in one pass
/// (seed_scan.h); any other goes through read_seed_row. The result does not
/// depend on what `scanner` has learned before.
void read_seed_rows(std::string_view padded, SeedScanner& scanner, SeedRows& out);

/// One line, exactly as Python reads and uses it. Errors: Corrupt where the
/// reference bench would end with a traceback (not JSON, a labelled row without
/// choice, probs that are no numbers…), and for integers outside 64 bits or
/// strings where it needs a number.
Result<SeedRow> read_seed_row(std::string_view line, std::vector<codec::Json>& refusals);

/// The bin of a confidence: min(9, int(p·10)), negative ones from the end as
/// Python indexes; none where int() or the index raises. The product is rounded
/// first.
bool find_seed_bin(double tenfold, std::uint8_t& bin);

}  // namespace deem::score
