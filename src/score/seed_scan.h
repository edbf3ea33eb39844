#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "codec/json.h"
#include "score/row_keys.h"
#include "score/seed_fields.h"
#include "score/seed_row.h"

namespace deem::score {

/// Reads rows as json.dumps writes them in one pass, without building a value:
/// keys are guessed from the rows before, values that do not count are only
/// checked. It accepts a line only when all of it is JSON and every field that
/// counts has its usual shape; on anything else it says so and read_seed_row
/// decides, so being wrong here costs time and never an answer.
class SeedScanner {
 public:
  enum class Instructions { Best, Plain };  // what the machine has, or what any has
  explicit SeedScanner(Instructions instructions = Instructions::Best);

  /// Rows are now scanned from `text`, which needs kSeedPadding readable bytes
  /// on both sides and must end with a line end or be followed by a zero byte.
  /// What was learned of keys stays.
  void begin(std::string_view text);

  /// Scans the line that begins at `at`. Returns where it ends ("\n", "\r" or
  /// the text's end); nullptr when the line needs the exact reader, and then
  /// nothing was appended.
  const char* scan(const char* at, SeedRow& row, std::vector<codec::Json>& refusals);

 private:
  using Walk = const char* (*)(const char* at, const char* end, RowKeys& keys, SeedFields& fields,
                               std::vector<RowKeys::Member>* members, bool& stretched);

  void learn(const char* at);

  Walk walk_;  // for this machine
  const char* end_ = nullptr;
  RowKeys keys_;
  SeedFields fields_;

  // Two rows in sequence are noted member by member when the known stretch does
  // not hold.
  std::vector<RowKeys::Member> members_, members_before_;
  int plain_rows_ = 0;  // rows in sequence without the stretch
};

}  // namespace deem::score
