#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "codec/json.h"
#include "score/python_number.h"
#include "score/seed_row.h"

namespace deem::score {

/// Which members of a row count.
enum class SeedField : std::uint8_t {
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
SeedField find_seed_field(std::string_view key);

/// The members that count, of a row laid out as the reference bench writes it.
struct SeedFields {
  struct Text {
    bool is_given = false;  // also null
    std::string_view bytes = {};
    bool is_true() const { return !bytes.empty(); }
  };
  /// An option: its key, the key's last 8 bytes as a number, and its
  /// probability.
  struct Prob {
    std::string_view key;
    std::uint64_t tail = 0;
    double p = 0;
  };
  static constexpr std::size_t kMaxProbs = 128;

  Text refused, label, choice, mode, error;
  bool parsed_is_false = false;
  std::uint32_t floored = 0;
  PythonNumber seconds, prompt_tokens, eval_tokens;
  std::size_t prob_count = 0;
  std::array<Prob, kMaxProbs> probs;

  void clear();
  void clear_probs() {
    prob_count = 0;
    filter_ = {};
  }
  /// Room for one more option; nullptr when there is none or its key was there
  /// before. `key` must have 8 readable bytes before its end, as every key
  /// after a row's first has.
  Prob* add_prob(std::string_view key);

  /// What the row adds to the summary; false when only the exact reader can
  /// tell, and then nothing was appended.
  bool finish(SeedRow& row, std::vector<codec::Json>& refusals) const;

 private:
  bool finish_probs(SeedRow& row) const;

  std::array<std::uint64_t, 8> filter_{};  // hashes of the keys so far
};

}  // namespace deem::score
