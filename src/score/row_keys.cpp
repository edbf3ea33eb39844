#include "score/row_keys.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace deem::score {

std::size_t RowKeys::learn(std::string_view text, std::string_view name, std::size_t before) {
  std::size_t i = 1;
  while (i < count_ && std::string_view(keys_[i].text.data(), keys_[i].length) != text) ++i;
  if (text.size() > sizeof(Key::text) || i == kMaxKeys) return 0;
  if (i == count_) {
    Key& added = keys_[count_++];
    std::memcpy(added.text.data(), text.data(), text.size());
    added.length = static_cast<std::uint8_t>(text.size());
    added.need = text.size() == 32 ? ~0U : (1U << text.size()) - 1;
    added.field = find_seed_field(name);
  }
  keys_[before].other_next = std::exchange(keys_[before].next, static_cast<std::uint8_t>(i));
  return i;
}

void RowKeys::learn_stretch(const std::vector<Member>& a, const std::vector<Member>& b) {
  const auto bytes_of = [](const std::vector<Member>& row, std::size_t i) {
    return std::string_view(row[i].at, static_cast<std::size_t>(row[i + 1].at - row[i].at));
  };
  const auto counts = [this](const Member& member) {
    return member.key == 0 || keys_[member.key].field != SeedField::Other;
  };
  stretch_.length = 0;
  for (std::size_t first = 0; first + 1 < a.size(); ++first) {
    const auto other = std::ranges::find(b, a[first].key, &Member::key);
    auto j = static_cast<std::size_t>(other - b.begin());
    std::size_t i = first, length = 0;
    while (i + 1 < a.size() && j + 1 < b.size() && !counts(a[i]) && a[i].key == b[j].key &&
           bytes_of(a, i) == bytes_of(b, j) &&
           length + bytes_of(a, i).size() <= Stretch::kMaxBytes) {
      length += bytes_of(a, i).size();
      ++i, ++j;
    }
    if (i - first < 2 || length <= stretch_.length) continue;
    stretch_.length = length;
    stretch_.first = a[first].key;
    stretch_.last = a[i - 1].key;
    std::memcpy(stretch_.text.data(), a[first].at, length);
  }
}

}  // namespace deem::score
