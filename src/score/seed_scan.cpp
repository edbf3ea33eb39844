#include "score/seed_scan.h"

#include <bit>
#include <cstring>
#include <utility>

#include "score/decimal.h"
#include "score/json_text.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define DEEM_SCAN_AVX2 1
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace deem::score {

// The walk over a row is compiled twice from one text, for any machine and for
// those with AVX2, as a function can not be a template over the instructions it
// may use.
namespace {
namespace plain {
#define DEEM_TARGET
#ifdef __SSE2__
/// Thirty-two bytes and questions about each, answered one bit per byte.
struct Bytes {
  __m128i low, high;
  explicit Bytes(const char* at)
      : low(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))),
        high(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16))) {}
  static std::uint32_t bits(__m128i low, __m128i high) {
    return static_cast<std::uint32_t>(_mm_movemask_epi8(low)) |
           static_cast<std::uint32_t>(_mm_movemask_epi8(high)) << 16;
  }
  std::uint32_t equal(const Bytes& other) const {
    return bits(_mm_cmpeq_epi8(low, other.low), _mm_cmpeq_epi8(high, other.high));
  }
  std::uint32_t string_stops() const {
    const auto stops = [](__m128i bytes) {
      return _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                       _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))),
                          _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)));
    };
    return bits(stops(low), stops(high));
  }
  std::uint32_t digits() const {
    const auto digits = [](__m128i bytes) {
      const __m128i offsets = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
      return _mm_cmpeq_epi8(_mm_min_epu8(offsets, _mm_set1_epi8(9)), offsets);
    };
    return bits(digits(low), digits(high));
  }
  std::uint32_t value_ends() const {
    const auto ends = [](__m128i bytes) {
      const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
      return _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(',')),
                          _mm_cmpeq_epi8(folded, _mm_set1_epi8('}')));
    };
    return bits(ends(low), ends(high));
  }
};
#else
struct Bytes {
  const char* at;
  explicit Bytes(const char* bytes) : at(bytes) {}
  template <class Question>
  static std::uint32_t bits(Question question) {
    std::uint32_t mask = 0;
    for (std::uint32_t i = 0; i < 32; ++i) mask |= question(i) ? 1U << i : 0;
    return mask;
  }
  std::uint32_t equal(const Bytes& other) const {
    return bits([&](std::uint32_t i) { return at[i] == other.at[i]; });
  }
  std::uint32_t string_stops() const {
    return bits([&](std::uint32_t i) {
      const auto byte = static_cast<unsigned char>(at[i]);
      return byte == '"' || byte == '\\' || byte < 0x20 || byte >= 0x80;
    });
  }
  std::uint32_t digits() const {
    return bits([&](std::uint32_t i) { return at[i] >= '0' && at[i] <= '9'; });
  }
  std::uint32_t value_ends() const {
    return bits([&](std::uint32_t i) { return at[i] == ',' || at[i] == ']' || at[i] == '}'; });
  }
};
#endif
#include "score/seed_walk.inc"
#undef DEEM_TARGET
}  // namespace plain

#ifdef DEEM_SCAN_AVX2
namespace avx2 {
#define DEEM_TARGET [[gnu::target("avx2,bmi,bmi2,lzcnt,popcnt")]]
struct Bytes {
  __m256i all;
  DEEM_TARGET [[gnu::always_inline]] explicit Bytes(const char* at)
      : all(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at))) {}
  DEEM_TARGET [[gnu::always_inline]] static std::uint32_t bits(__m256i mask) {
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(mask));
  }
  DEEM_TARGET [[gnu::always_inline]] std::uint32_t equal(const Bytes& other) const {
    return bits(_mm256_cmpeq_epi8(all, other.all));
  }
  DEEM_TARGET [[gnu::always_inline]] std::uint32_t string_stops() const {
    return bits(_mm256_or_si256(_mm256_or_si256(_mm256_cmpeq_epi8(all, _mm256_set1_epi8('"')),
                                                _mm256_cmpeq_epi8(all, _mm256_set1_epi8('\\'))),
                                _mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), all)));
  }
  DEEM_TARGET [[gnu::always_inline]] std::uint32_t digits() const {
    const __m256i offsets = _mm256_sub_epi8(all, _mm256_set1_epi8('0'));
    return bits(_mm256_cmpeq_epi8(_mm256_min_epu8(offsets, _mm256_set1_epi8(9)), offsets));
  }
  DEEM_TARGET [[gnu::always_inline]] std::uint32_t value_ends() const {
    const __m256i folded = _mm256_or_si256(all, _mm256_set1_epi8(0x20));
    return bits(_mm256_or_si256(_mm256_cmpeq_epi8(all, _mm256_set1_epi8(',')),
                                _mm256_cmpeq_epi8(folded, _mm256_set1_epi8('}'))));
  }
};
#include "score/seed_walk.inc"
#undef DEEM_TARGET
}  // namespace avx2
#endif
}  // namespace

SeedScanner::SeedScanner(Instructions instructions) : walk_(plain::walk_row) {
  if (instructions == Instructions::Plain) return;
#ifdef DEEM_SCAN_AVX2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) walk_ = avx2::walk_row;
#endif
}

void SeedScanner::begin(std::string_view text) {
  end_ = text.data() + text.size();
  members_before_.clear();  // they point into the text before
}

void SeedScanner::learn(const char* at) {
  // Some rows of another kind in between are no reason to look for another
  // stretch.
  constexpr int kPatience = 3;
  if (++plain_rows_ < kPatience) return;
  fields_.clear();
  bool stretched = false;
  members_.clear();
  if (walk_(at, end_, keys_, fields_, &members_, stretched) == nullptr) return;
  if (!members_before_.empty()) {
    keys_.learn_stretch(members_before_, members_);
    plain_rows_ = 0;
  }
  std::swap(members_, members_before_);
}

const char* SeedScanner::scan(const char* at, SeedRow& row, std::vector<codec::Json>& refusals) {
  fields_.clear();
  bool stretched = false;
  const char* const stop = walk_(at, end_, keys_, fields_, nullptr, stretched);
  if (stop == nullptr || !fields_.finish(row, refusals)) return nullptr;
  if (stretched) {
    plain_rows_ = 0;
  } else {
    learn(at);
  }
  return stop;
}

}  // namespace deem::score
