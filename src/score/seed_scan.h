#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "codec/json.h"
#include "score/seed_row.h"

namespace deem::score {

/// The first "\n" or "\r" in [at, end), or `end`.
const char* find_line_end(const char* at, const char* end);

/// Reads rows as json.dumps writes them in one pass, without building a value: keys are guessed
/// from the row before, values that do not count are only checked. It accepts a line only when
/// all of it is JSON and every field that counts has its usual shape; on anything else it says so
/// and read_seed_row decides, so being wrong here costs time and never an answer.
class SeedScanner {
 public:
  /// Text before `end` must end with a line end, or `end` must hold a zero byte; kSeedPadding
  /// bytes after it must be readable.
  explicit SeedScanner(const char* end);

  /// Scans the line that begins at `at`. Returns where it ends ("\n", "\r" or `end`); nullptr when
  /// the line needs the exact reader, and then nothing was appended.
  const char* scan(const char* at, SeedRow& row, std::vector<codec::Json>& refusals);

 private:
  enum class Field : std::uint8_t {
    Other,
    Refused,
    Label,
    Choice,
    Seconds,
    Probs,
    Mode,
    Parsed,
    Floored,
    Error,
    PromptTokens,
    EvalTokens,
  };
  struct Text {
    enum class State : std::uint8_t { Absent, Null, Given } state = State::Absent;
    std::string_view bytes;
    bool is_true() const { return !bytes.empty(); }
  };
  struct Prob {
    std::string_view key;
    double p = 0;
  };
  /// A key as it stood in an earlier row, `"key": ` with the blank, and what followed it.
  struct Known {
    alignas(16) std::array<char, 32> text{};
    std::uint32_t need = 0;  // one bit per byte of the text
    std::uint8_t length = 0;
    Field field = Field::Other;
    std::uint8_t next = 0, other_next = 0;
  };
  static constexpr std::size_t kMaxKnown = 64;
  static constexpr std::size_t kMaxProbs = 128;

  static Field find_field(std::string_view key);
  static bool matches(const Known& known, const char* at);
  /// Reads `"key": ` at `at` without a guess, and remembers it as what follows `previous`.
  const char* read_key(const char* at, std::size_t& previous, Field& field);
  const char* read_field(const char* at, Field field);
  static const char* read_text(const char* at, Text& text);
  static const char* read_number(const char* at, PythonNumber& number);
  const char* read_floored(const char* at);
  const char* read_probs(const char* at);
  bool has_key(std::size_t n, std::string_view key) const;
  bool finish(SeedRow& row, std::vector<codec::Json>& refusals) const;
  bool finish_probs(SeedRow& row) const;

  const char* end_;
  std::array<Known, kMaxKnown> known_;  // 0 stands before the first key
  std::size_t known_count_ = 1;

  // The fields of the line being scanned.
  Text refused_, label_, choice_, mode_, error_;
  bool parsed_is_false_ = false;
  std::uint32_t floored_ = 0;
  PythonNumber seconds_, prompt_tokens_, eval_tokens_;
  std::size_t prob_count_ = 0;
  std::array<Prob, kMaxProbs> probs_;
};

}  // namespace deem::score
