#include "score/resample.h"

#include <bit>

#include "score/statistics.h"

namespace deem::score {

Random::Random(std::uint64_t seed) {
  for (std::uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    word = z ^ (z >> 31);
  }
}

std::uint64_t Random::next() {
  const std::uint64_t out = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return out;
}

std::optional<BootstrapMeans> bootstrap_means(std::span<const ClusterSums> clusters,
                                              std::uint64_t seed, std::size_t draws) {
  if (clusters.size() < 2 || draws == 0) return std::nullopt;
  Random random(seed);
  std::vector<double> a, b;
  a.reserve(draws);
  b.reserve(draws);
  for (std::size_t draw = 0; draw < draws; ++draw) {
    ClusterSums sum;
    for (std::size_t i = 0; i < clusters.size(); ++i) {
      const ClusterSums& one = clusters[random.below(clusters.size())];
      sum.n += one.n;
      sum.a += one.a;
      sum.b += one.b;
    }
    if (sum.n <= 0) continue;  // clusters without items alone have no mean
    a.push_back(sum.a / sum.n);
    b.push_back(sum.b / sum.n);
  }
  if (a.empty()) return std::nullopt;
  const auto interval = [](std::vector<double>& values) {
    return Interval{*percentile(values, 250), *percentile(values, 9'750)};
  };
  return BootstrapMeans{interval(a), interval(b)};
}

}  // namespace deem::score
