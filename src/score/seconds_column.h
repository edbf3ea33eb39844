#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "score/python_number.h"

namespace deem::score {

/// The `seconds` of a file in order: eight bytes each while all are plain floats; ints, bools, NaN
/// and -0.0, whose place in a stable sort or type shows in the output, turn it into full numbers.
class SecondsColumn {
 public:
  void add(const PythonNumber& seconds) {
    if (plain_ && seconds.is_float() && is_plain(seconds.real)) {
      if (size_ % kChunk == 0) chunks_.push_back(std::make_unique_for_overwrite<double[]>(kChunk));
      chunks_.back()[size_++ % kChunk] = seconds.real;
    } else {
      add_odd(seconds);
    }
  }
  std::size_t size() const { return size_ + odd_.size(); }
  std::size_t kept_bytes() const {
    return chunks_.size() * kChunk * sizeof(double) + odd_.capacity() * sizeof(PythonNumber);
  }

  struct Quantiles {
    PythonNumber median, p95;  // statistics.median; secs[min(n−1, round(0.95·(n−1)))]
  };
  /// Both None when there are none. Empties the column.
  Quantiles take_quantiles();

 private:
  static constexpr std::size_t kChunk = 16384;  // 128 KiB a piece: what is added never moves

  static bool is_plain(double seconds);
  void add_odd(const PythonNumber& seconds);
  std::vector<double> take_plain();

  bool plain_ = true;
  std::size_t size_ = 0;  // in the chunks
  std::vector<std::unique_ptr<double[]>> chunks_;
  std::vector<PythonNumber> odd_;
};

}  // namespace deem::score
