#include "score/seconds_column.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

namespace deem::score {
namespace {

/// int(round(0.95 * (n - 1))), ties to even as round() has them; never past the last.
std::size_t p95_index(std::size_t n) {
  const double position = 0.95 * static_cast<double>(n - 1);
  return std::min(n - 1, static_cast<std::size_t>(std::nearbyint(position)));
}

/// (a + b) / 2 of Python: ints add exactly and divide correctly rounded, else floats.
PythonNumber mean_of(const PythonNumber& a, const PythonNumber& b) {
  if (a.is_float() || b.is_float()) {
    return PythonNumber::of_float((a.as_double() + b.as_double()) / 2);
  }
  return PythonNumber::of_float(static_cast<double>(static_cast<WideInt>(a.whole) + b.whole) / 2);
}

}  // namespace

bool SecondsColumn::is_plain(double seconds) {
  return !std::isnan(seconds) && std::bit_cast<std::uint64_t>(seconds) != std::uint64_t{1} << 63;
}

std::vector<double> SecondsColumn::take_plain() {
  // Chunk by chunk, each freed once copied: at no time are there two copies of all.
  std::vector<double> all;
  all.reserve(size_);
  for (std::unique_ptr<double[]>& chunk : chunks_) {
    const std::size_t n = std::min(kChunk, size_ - all.size());
    all.insert(all.end(), chunk.get(), chunk.get() + n);
    chunk.reset();
  }
  chunks_.clear();
  size_ = 0;
  return all;
}

void SecondsColumn::add_odd(const PythonNumber& seconds) {
  if (plain_) {
    plain_ = false;
    for (double real : take_plain()) odd_.push_back(PythonNumber::of_float(real));
  }
  odd_.push_back(seconds);
}

SecondsColumn::Quantiles SecondsColumn::take_quantiles() {
  const std::size_t n = size();
  Quantiles result;
  if (n == 0) return result;
  if (plain_) {
    std::vector<double> all = take_plain();
    const auto at = [&all](std::size_t i) { return all.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(0), at(n / 2), all.end());
    double middle = all[n / 2];
    if (n % 2 == 0) middle = (*std::max_element(at(0), at(n / 2)) + middle) / 2;
    const std::size_t high = p95_index(n);
    if (high > n / 2) std::nth_element(at(n / 2 + 1), at(high), all.end());
    if (high < n / 2) std::nth_element(at(0), at(high), at(n / 2));
    return {PythonNumber::of_float(middle), PythonNumber::of_float(all[high])};
  }
  std::vector<PythonNumber> all = std::exchange(odd_, {});
  plain_ = true;
  python_sort(all);
  result.p95 = all[p95_index(n)];
  python_sort(all);  // statistics.median sorts again, which with a NaN may change the order
  result.median = n % 2 == 1 ? all[n / 2] : mean_of(all[n / 2 - 1], all[n / 2]);
  return result;
}

}  // namespace deem::score
