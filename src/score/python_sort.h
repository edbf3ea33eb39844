#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace deem::score {

/// The merge sort of CPython 3.11's list.sort (Objects/listobject.c, described in
/// listsort.txt), comparison by comparison: with a `less` that is no order (NaN among floats)
/// the result depends on which pairs are compared, so any other sort gives another list.
template <class T, class Less>
class ListSort {
 public:
  /// `items` must outlive this.
  ListSort(std::vector<T>& items, Less less) : items_(items), less_(less) {}

  void run() {
    const std::size_t total = items_.size();
    if (total < 2) return;
    const std::size_t shortest = shortest_run(total);
    for (std::size_t at = 0; at < total;) {
      std::size_t length = count_run(at, total);
      if (length < shortest) {
        const std::size_t forced = std::min(shortest, total - at);
        insert_binary(at, at + forced, at + length);
        length = forced;
      }
      merge_before(length);
      runs_.push_back({at, length, 0});
      at += length;
    }
    while (runs_.size() > 1) {
      std::size_t i = runs_.size() - 2;
      if (i > 0 && runs_[i - 1].length < runs_[i + 1].length) --i;
      merge_at(i);
    }
  }

 private:
  struct Run {
    std::size_t first = 0, length = 0;
    int power = 0;
  };
  static constexpr std::size_t kMinGallop = 7;

  static std::size_t shortest_run(std::size_t n) {
    std::size_t odd = 0;
    for (; n >= 64; n >>= 1) odd |= n & 1;
    return n + odd;
  }

  /// Length of the run that begins at `first`; a descending one is turned round.
  std::size_t count_run(std::size_t first, std::size_t end) {
    std::size_t at = first + 1;
    if (at == end) return 1;
    const bool descending = less_(items_[at], items_[at - 1]);
    for (++at; at < end; ++at) {
      if (less_(items_[at], items_[at - 1]) != descending) break;
    }
    if (descending) std::reverse(item(first), item(at));
    return at - first;
  }

  void insert_binary(std::size_t first, std::size_t end, std::size_t start) {
    for (; start < end; ++start) {
      const T pivot = items_[start];
      std::size_t low = first, high = start;
      while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (less_(pivot, items_[middle])) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      std::copy_backward(item(low), item(start), item(start + 1));
      items_[low] = pivot;
    }
  }

  /// Powersort's rule: merges what lies deeper than the boundary to the coming run.
  void merge_before(std::size_t coming) {
    if (runs_.empty()) return;
    const int power = boundary_power(runs_.back().first, runs_.back().length, coming);
    while (runs_.size() > 1 && runs_[runs_.size() - 2].power > power) merge_at(runs_.size() - 2);
    runs_.back().power = power;
  }

  int boundary_power(std::size_t first, std::size_t left, std::size_t right) const {
    const std::size_t n = items_.size();
    std::size_t a = 2 * first + left;
    std::size_t b = a + left + right;
    for (int power = 1;; ++power) {
      if (a >= n) {
        a -= n;
        b -= n;
      } else if (b >= n) {
        return power;
      }
      a <<= 1;
      b <<= 1;
    }
  }

  /// First place for `key` in the sorted a[0..n), before its equals, galloping from `hint`.
  std::size_t gallop_left(const T& key, const T* a, std::size_t n, std::size_t hint) const {
    std::size_t last = 0, offset = 1;
    if (less_(a[hint], key)) {
      const std::size_t limit = n - hint;
      while (offset < limit && less_(a[hint + offset], key)) {
        last = offset;
        offset = 2 * offset + 1;
      }
      offset = std::min(offset, limit);
      last += hint + 1;
      offset += hint;
    } else {
      const std::size_t limit = hint + 1;
      while (offset < limit && !less_(a[hint - offset], key)) {
        last = offset;
        offset = 2 * offset + 1;
      }
      offset = std::min(offset, limit);
      const std::size_t near = last;
      last = hint + 1 - offset;
      offset = hint - near;
    }
    while (last < offset) {
      const std::size_t middle = last + (offset - last) / 2;
      if (less_(a[middle], key)) {
        last = middle + 1;
      } else {
        offset = middle;
      }
    }
    return offset;
  }

  /// The same, after its equals.
  std::size_t gallop_right(const T& key, const T* a, std::size_t n, std::size_t hint) const {
    std::size_t last = 0, offset = 1;
    if (less_(key, a[hint])) {
      const std::size_t limit = hint + 1;
      while (offset < limit && less_(key, a[hint - offset])) {
        last = offset;
        offset = 2 * offset + 1;
      }
      offset = std::min(offset, limit);
      const std::size_t near = last;
      last = hint + 1 - offset;
      offset = hint - near;
    } else {
      const std::size_t limit = n - hint;
      while (offset < limit && !less_(key, a[hint + offset])) {
        last = offset;
        offset = 2 * offset + 1;
      }
      offset = std::min(offset, limit);
      last += hint + 1;
      offset += hint;
    }
    while (last < offset) {
      const std::size_t middle = last + (offset - last) / 2;
      if (less_(key, a[middle])) {
        offset = middle;
      } else {
        last = middle + 1;
      }
    }
    return offset;
  }

  void merge_at(std::size_t i) {
    std::size_t a = runs_[i].first, na = runs_[i].length;
    const std::size_t b = runs_[i + 1].first;
    std::size_t nb = runs_[i + 1].length;
    runs_[i].length = na + nb;
    runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    const std::size_t skip = gallop_right(items_[b], &items_[a], na, 0);
    a += skip;
    na -= skip;
    if (na == 0) return;
    nb = gallop_left(items_[a + na - 1], &items_[b], nb, nb - 1);
    if (nb == 0) return;
    if (na <= nb) {
      merge_low(a, na, b, nb);
    } else {
      merge_high(a, na, b, nb);
    }
  }

  void merge_low(std::size_t first, std::size_t na, std::size_t b, std::size_t nb) {
    const std::vector<T> left(item(first), item(first + na));
    std::size_t to = first, a = 0;
    const auto take_a = [&](std::size_t n) {
      std::copy_n(left.begin() + static_cast<std::ptrdiff_t>(a), n, item(to));
      a += n, to += n, na -= n;
    };
    const auto take_b = [&](std::size_t n) {
      std::copy(item(b), item(b + n), item(to));
      b += n, to += n, nb -= n;
    };
    // The last of the left run is known to be the largest of all.
    const auto finish = [&] {
      if (na == 1) take_b(nb);
      take_a(na);
    };
    take_b(1);
    if (nb == 0 || na == 1) return finish();
    for (std::size_t gallop = gallop_;;) {
      std::size_t from_a = 0, from_b = 0;
      while (from_a < gallop && from_b < gallop) {
        if (less_(items_[b], left[a])) {
          take_b(1);
          ++from_b, from_a = 0;
          if (nb == 0) return finish();
        } else {
          take_a(1);
          ++from_a, from_b = 0;
          if (na == 1) return finish();
        }
      }
      ++gallop;
      do {
        gallop -= gallop > 1 ? 1 : 0;
        gallop_ = gallop;
        from_a = gallop_right(items_[b], &left[a], na, 0);
        take_a(from_a);
        if (from_a > 0 && na <= 1) return finish();
        take_b(1);
        if (nb == 0) return finish();
        from_b = gallop_left(left[a], &items_[b], nb, 0);
        take_b(from_b);
        if (nb == 0) return finish();
        take_a(1);
        if (na == 1) return finish();
      } while (from_a >= kMinGallop || from_b >= kMinGallop);
      gallop_ = ++gallop;
    }
  }

  void merge_high(std::size_t first, std::size_t na, std::size_t second, std::size_t nb) {
    const std::vector<T> right(item(second), item(second + nb));
    std::size_t to = second + nb;  // one past the next place to fill
    const auto take_a = [&](std::size_t n) {
      std::copy_backward(item(first + na - n), item(first + na), item(to));
      to -= n, na -= n;
    };
    const auto take_b = [&](std::size_t n) {
      const auto end = right.begin() + static_cast<std::ptrdiff_t>(nb);
      std::copy_backward(end - static_cast<std::ptrdiff_t>(n), end, item(to));
      to -= n, nb -= n;
    };
    // The first of the right run is known to be the smallest of all.
    const auto finish = [&] {
      if (nb == 1) take_a(na);
      take_b(nb);
    };
    take_a(1);
    if (na == 0 || nb == 1) return finish();
    for (std::size_t gallop = gallop_;;) {
      std::size_t from_a = 0, from_b = 0;
      while (from_a < gallop && from_b < gallop) {
        if (less_(right[nb - 1], items_[first + na - 1])) {
          take_a(1);
          ++from_a, from_b = 0;
          if (na == 0) return finish();
        } else {
          take_b(1);
          ++from_b, from_a = 0;
          if (nb == 1) return finish();
        }
      }
      ++gallop;
      do {
        gallop -= gallop > 1 ? 1 : 0;
        gallop_ = gallop;
        from_a = na - gallop_right(right[nb - 1], &items_[first], na, na - 1);
        take_a(from_a);
        if (na == 0) return finish();
        take_b(1);
        if (nb == 1) return finish();
        from_b = nb - gallop_left(items_[first + na - 1], right.data(), nb, nb - 1);
        take_b(from_b);
        if (from_b > 0 && nb <= 1) return finish();
        take_a(1);
        if (na == 0) return finish();
      } while (from_a >= kMinGallop || from_b >= kMinGallop);
      gallop_ = ++gallop;
    }
  }

  auto item(std::size_t i) { return items_.begin() + static_cast<std::ptrdiff_t>(i); }

  std::vector<T>& items_;
  Less less_;
  std::vector<Run> runs_;
  std::size_t gallop_ = kMinGallop;
};

}  // namespace deem::score
