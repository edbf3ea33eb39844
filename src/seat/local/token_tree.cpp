#include "seat/local/token_tree.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace deem::seat::local {

std::size_t common_prefix(std::span<const Token> a, std::span<const Token> b) {
  const std::size_t limit = std::min(a.size(), b.size());
  std::size_t n = 0;
  while (n < limit && a[n] == b[n]) ++n;
  return n;
}

TokenTree::TokenTree(std::span<const TokenPath> paths, std::span<const Token> held)
    : shared_by_path_(paths.size()) {
  std::vector<std::size_t> with_held(paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i)
    with_held[i] = common_prefix(paths[i].tokens, held);

  std::vector<std::size_t> order(paths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Lexicographic, but where two paths part, the one that goes on along `held` is the lesser.
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const Tokens& left = paths[a].tokens;
    const Tokens& right = paths[b].tokens;
    const std::size_t parting = common_prefix(left, right);
    if (parting == left.size() || parting == right.size()) return left.size() < right.size();
    if (with_held[a] > parting || with_held[b] > parting) return with_held[a] > parting;
    return left[parting] < right[parting];
  });

  // A path that is a prefix of the next in order is inside that one's leaf, or a later one's.
  std::vector<std::size_t> leaf_of(paths.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Tokens& tokens = paths[order[i]].tokens;
    DEEM_CHECK(!tokens.empty());
    leaf_of[order[i]] = leaves_.size();
    if (i + 1 < order.size()) {
      const Tokens& next = paths[order[i + 1]].tokens;
      if (common_prefix(tokens, next) == tokens.size()) continue;
    }
    Leaf leaf{.tokens = tokens};
    if (!leaves_.empty()) leaf.shared = common_prefix(leaves_.back().tokens, tokens);
    leaves_.push_back(std::move(leaf));
  }

  // The leaf in which the token at `index` of leaf `at` appears first.
  const auto first_leaf = [&](std::size_t at, std::size_t index) {
    while (leaves_[at].shared > index) --at;
    return at;
  };
  for (const std::size_t path : order) {
    for (const std::size_t index : paths[path].wanted) {
      DEEM_CHECK(index < paths[path].tokens.size());
      leaves_[first_leaf(leaf_of[path], index)].wishes.push_back({path, index});
    }
    leaves_[first_leaf(leaf_of[path], paths[path].tokens.size() - 1)].paths.push_back(path);
  }
  for (Leaf& leaf : leaves_) {
    std::ranges::stable_sort(leaf.wishes, {}, &Wish::index);
    std::size_t seen = leaf.shared;  // the first of a leaf's paths brings what is new so far
    for (const std::size_t path : leaf.paths) {
      shared_by_path_[path] = seen;
      seen = std::max(seen, paths[path].tokens.size());
    }
  }
}

std::size_t TokenTree::unique_tokens() const {
  std::size_t total = 0;
  for (const Leaf& leaf : leaves_) total += leaf.tokens.size() - leaf.shared;
  return total;
}

}  // namespace deem::seat::local
