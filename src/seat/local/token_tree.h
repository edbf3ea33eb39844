#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "seat/local/token.h"

namespace deem::seat::local {

/// Tokens to run through the model, and after which of them the next token's scores are wanted.
struct TokenPath {
  Tokens tokens;
  std::vector<std::size_t> wanted;  // indices into `tokens`, ascending
};

/// How many leading tokens `a` and `b` have in common.
std::size_t common_prefix(std::span<const Token> a, std::span<const Token> b);

/// Many paths with every shared prefix held once. Leaves are the paths that are no prefix of
/// another, depth first, so that neighbours share the most: walking them in order and taking from
/// each only what follows `shared` visits every distinct prefix exactly once.
class TokenTree {
 public:
  /// A caller's wish: scores after token `index` of path `path`.
  struct Wish {
    std::size_t path = 0;
    std::size_t index = 0;
  };
  struct Leaf {
    std::span<const Token> tokens;  // borrowed from the paths, which must outlive the tree
    std::size_t shared = 0;         // leading tokens that the leaf before has too; 0 for the first
    std::vector<Wish> wishes = {};  // at tokens that appear first in this leaf, by ascending index
    std::vector<std::size_t> paths = {};  // paths whose last token appears first in this leaf
  };

  /// Leaves that have most in common with `held` come first. Requires non-empty paths with indices
  /// inside them.
  explicit TokenTree(std::span<const TokenPath> paths, std::span<const Token> held = {});

  const std::vector<Leaf>& leaves() const { return leaves_; }
  std::size_t unique_tokens() const;

  /// Tokens of each path that an earlier path (in the tree's order) brought along: charged there.
  const std::vector<std::size_t>& shared_by_path() const { return shared_by_path_; }

 private:
  std::vector<Leaf> leaves_;
  std::vector<std::size_t> shared_by_path_;
};

}  // namespace deem::seat::local
