#include "seat/local/token_tree.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace deem::seat::local {
namespace {

TEST(TokenTree, NeighboursShareTheirPrefix) {
  const std::vector<TokenPath> paths = {{{1, 2, 3, 9}, {3}}, {{1, 2, 4}, {2}}, {{1, 2, 3, 8}, {3}}};
  const TokenTree tree(paths);
  ASSERT_EQ(tree.leaves().size(), 3U);
  EXPECT_EQ(tree.leaves()[0].shared, 0U);  // 1 2 3 8
  EXPECT_EQ(tree.leaves()[1].shared, 3U);  // 1 2 3 9
  EXPECT_EQ(tree.leaves()[2].shared, 2U);  // 1 2 4
  EXPECT_EQ(tree.unique_tokens(), 6U);
}

TEST(TokenTree, APrefixOfAnotherPathIsNoLeafAndKeepsItsWish) {
  const std::vector<TokenPath> paths = {{{5, 6, 7}, {2}}, {{5, 6}, {1}}, {{5, 6, 8}, {0}}};
  const TokenTree tree(paths);
  ASSERT_EQ(tree.leaves().size(), 2U);
  const auto& wishes = tree.leaves()[0].wishes;
  ASSERT_EQ(wishes.size(), 3U);  // all three appear first in 5 6 7
  EXPECT_EQ(wishes[0].path, 2U);
  EXPECT_EQ(wishes[1].path, 1U);
  EXPECT_EQ(wishes[2].path, 0U);
  EXPECT_TRUE(tree.leaves()[1].wishes.empty());
}

TEST(TokenTree, EqualPathsAreEvaluatedOnceAndAnsweredTwice) {
  const std::vector<TokenPath> paths = {{{1, 2}, {1}}, {{1, 2}, {1}}};
  const TokenTree tree(paths);
  ASSERT_EQ(tree.leaves().size(), 1U);
  EXPECT_EQ(tree.leaves()[0].wishes.size(), 2U);
  EXPECT_EQ(tree.unique_tokens(), 2U);
  EXPECT_EQ(tree.shared_by_path(), (std::vector<std::size_t>{0, 2}));
}

TEST(TokenTree, EveryDistinctPrefixIsVisitedOnceAndEveryWishGranted) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<TokenPath> paths(1 + random() % 12);
    std::set<Tokens> prefixes;
    for (TokenPath& path : paths) {
      path.tokens.resize(1 + random() % 7);
      for (Token& token : path.tokens) token = static_cast<Token>(random() % 2);
      for (std::size_t i = 0; i < path.tokens.size(); ++i) {
        if (random() % 3 == 0) path.wanted.push_back(i);
        prefixes.insert(Tokens(path.tokens.begin(), path.tokens.begin() + static_cast<int>(i) + 1));
      }
    }
    const TokenTree tree(paths);
    EXPECT_EQ(tree.unique_tokens(), prefixes.size());

    std::size_t granted = 0;
    std::size_t charged = 0;
    for (std::size_t l = 0; l < tree.leaves().size(); ++l) {
      const TokenTree::Leaf& leaf = tree.leaves()[l];
      for (const TokenTree::Wish& wish : leaf.wishes) {
        EXPECT_GE(wish.index, leaf.shared);
        const Tokens& tokens = paths[wish.path].tokens;
        ASSERT_LT(wish.index, leaf.tokens.size());
        EXPECT_GT(common_prefix(tokens, leaf.tokens), wish.index);
        ++granted;
      }
    }
    std::size_t asked = 0;
    for (std::size_t p = 0; p < paths.size(); ++p) {
      asked += paths[p].wanted.size();
      charged += paths[p].tokens.size() - tree.shared_by_path()[p];
    }
    EXPECT_EQ(granted, asked);
    EXPECT_EQ(charged, prefixes.size());
  }
}

}  // namespace
}  // namespace deem::seat::local
