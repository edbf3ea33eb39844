#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "base/check.h"
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

/// The first `wanted_size` of the `count` orders, or all where all there are were asked for.
std::vector<Sequence> first_orders(std::size_t n, std::size_t count, std::uint64_t seed,
                                   std::size_t wanted_size) {
  Sequence kits(n);
  std::iota(kits.begin(), kits.end(), std::size_t{0});
  const Sequence reverse(kits.rbegin(), kits.rend());
  std::vector<Sequence> out = {reverse};
  if (other_orders(n, 1'000'000) == count) {
    Sequence order = kits;
    while (out.size() < wanted_size && std::ranges::next_permutation(order).found) {
      if (order != reverse) out.push_back(order);
    }
    return out;
  }
  std::mt19937_64 random(seed);
  std::set<Sequence> taken = {kits, reverse};
  while (out.size() < wanted_size) {
    Sequence order = kits;
    for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    if (taken.insert(order).second) out.push_back(std::move(order));
  }
  return out;
}

}  // namespace

std::size_t count_orders(std::size_t n, int wanted) {
  if (n < 2 || wanted == 0) return 0;
  constexpr std::size_t kFew = 5;
  const bool all = wanted == kAllOrders;
  const auto most = static_cast<std::size_t>(all ? kManyOrders : wanted);
  return all && n <= kFew ? other_orders(n, 1'000) : other_orders(n, most);
}

std::vector<Sequence> option_orders(std::size_t n, int wanted, std::uint64_t seed) {
  const std::size_t count = count_orders(n, wanted);
  return count == 0 ? std::vector<Sequence>() : first_orders(n, count, seed, count);
}

Sequence option_order(std::size_t n, int wanted, std::uint64_t seed, std::size_t at) {
  const std::size_t count = count_orders(n, wanted);
  DEEM_CHECK(at < count);
  return first_orders(n, count, seed, at + 1).at(at);
}

}  // namespace deem::bench
