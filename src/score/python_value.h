#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "codec/json.h"
#include "score/python_number.h"

namespace deem::score {

/// bool(value): "", 0, 0.0, false, [], {} and null are false.
bool is_true(const codec::Json& value);

/// a == b: 1 == 1.0 == true, "1" is not 1, containers by value. A bare NaN equals nothing; inside
/// containers it equals itself, as json.loads hands out one NaN object and lists compare that
/// first.
bool equal(const codec::Json& a, const codec::Json& b);

/// Whether a and b are one key of a dict: as equal(), and NaN is NaN. Requires scalars.
bool same_key(const codec::Json& a, const codec::Json& b);

/// The number in `value`; none when it is no number or an integer outside 64 bits.
std::optional<PythonNumber> to_number(const codec::Json& value);

/// collections.Counter over scalar values: first seen order, the first spelling kept.
class PythonCounter {
 public:
  struct Entry {
    codec::Json key;
    std::int64_t count = 0;
  };
  void add(const codec::Json& key);
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> strings_;  // where string keys stand
};

/// The text json.dumps makes of a dict key ("true", "2.5", the string itself), as a JSON literal.
void append_key(std::string& out, const codec::Json& key);

}  // namespace deem::score
