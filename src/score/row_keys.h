#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "score/seed_fields.h"

namespace deem::score {

/// What earlier rows had for keys, in which order, and which stretch of members
/// they had byte for byte in common: the rows of a file are alike, so a key is
/// usually recognised by one comparison with the one that followed last time,
/// and the arm's own members by one for all of them.
class RowKeys {
 public:
  struct Key {
    alignas(32) std::array<char, 32> text{};  // `"key": ` with the blank
    std::uint32_t need = 0;                   // one bit per byte of the text; 0: stands for no key
    std::uint8_t length = 0;
    SeedField field = SeedField::Other;
    std::uint8_t next = 0,
                 other_next = 0;  // which keys followed, the latest first
  };
  /// Consecutive members that do not count, each with its ", ".
  struct Stretch {
    static constexpr std::size_t kMaxBytes = 1024;
    alignas(32) std::array<char, kMaxBytes + 32> text{};
    std::size_t length = 0;           // 0: none known
    std::size_t first = 0, last = 0;  // its first and last key
  };
  struct Member {
    const char* at = nullptr;
    std::size_t key = 0;
  };

  const Key& key(std::size_t i) const { return keys_[i]; }
  const Stretch& stretch() const { return stretch_; }

  /// Makes `text`, `"key": ` with its `name` inside, the key expected after key
  /// `before` next time. Returns it, or 0, which stands for no key, when there
  /// is no room for it.
  std::size_t learn(std::string_view text, std::string_view name, std::size_t before);

  /// Makes the longest stretch that two rows have in common the one expected.
  /// Their last members are left out: no ", " follows them.
  void learn_stretch(const std::vector<Member>& a, const std::vector<Member>& b);

 private:
  static constexpr std::size_t kMaxKeys = 128;

  std::array<Key, kMaxKeys> keys_{};  // 0 stands before the first key and for keys not kept
  std::size_t count_ = 1;
  Stretch stretch_;
};

}  // namespace deem::score
