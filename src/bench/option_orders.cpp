#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "bench/probe.h"

namespace deem::bench {
namespace {

using Sequence = std::vector<std::size_t>;

/// n! − 1, or `limit` when it is more.
std::size_t other_orders(std::size_t n, std::size_t limit) {
  std::size_t product = 1;
  for (std::size_t i = 2; i <= n; ++i) {
    product *= i;
    if (product > limit) return limit;
  }
  return product - 1;
}

}  // namespace

std::vector<Sequence> option_orders(std::size_t n, int wanted, std::uint64_t seed) {
  if (n < 2 || wanted == 0) return {};
  constexpr std::size_t kFew = 5;
  const bool all = wanted == kAllOrders;
  const auto most = static_cast<std::size_t>(all ? kManyOrders : wanted);
  const std::size_t count = all && n <= kFew ? other_orders(n, 1'000) : other_orders(n, most);

  Sequence kits(n);
  std::iota(kits.begin(), kits.end(), std::size_t{0});
  const Sequence reverse(kits.rbegin(), kits.rend());
  std::vector<Sequence> out = {reverse};
  if (other_orders(n, 1'000'000) == count) {
    Sequence order = kits;
    while (std::ranges::next_permutation(order).found) {
      if (order != reverse) out.push_back(order);
    }
    return out;
  }
  std::mt19937_64 random(seed);
  std::set<Sequence> taken = {kits, reverse};
  while (out.size() < count) {
    Sequence order = kits;
    for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    if (taken.insert(order).second) out.push_back(std::move(order));
  }
  return out;
}

}  // namespace deem::bench
