#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/check.h"
#include "decision/letters.h"
#include "decision/readout.h"

namespace {

using namespace deem::decision;

/// Reads a first position out of bytes: flags, the number of letters, then entries of one kind
/// byte, a logprob (8 raw bytes, or one of a few special values), an id and a token of up to 7
/// bytes.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool done() const { return bytes_.empty(); }
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const auto b = static_cast<std::uint8_t>(bytes_[0]);
    bytes_.remove_prefix(1);
    return b;
  }
  std::optional<double> logprob(std::uint8_t kind) {
    switch (kind % 8) {
      case 0:
        return std::nullopt;
      case 1:
        return 0.0;
      case 2:
        return -9999.0;
      case 3:
        return -byte() / 16.0;
      case 4:
        return std::bit_cast<double>(eight());
      default:
        return -byte() / 8.0 - 1;
    }
  }
  TokenScore entry() {
    TokenScore out;
    const std::uint8_t kind = byte();
    out.logprob = logprob(kind);
    if (kind & 0x40) out.id = byte();
    const std::size_t wanted = byte() % 8;  // read before the size is asked: it shortens bytes_
    const std::size_t length = std::min(wanted, bytes_.size());
    out.token = bytes_.substr(0, length);
    bytes_.remove_prefix(length);
    return out;
  }

 private:
  std::uint64_t eight() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return value;
  }
  std::string_view bytes_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Reader reader(std::string_view(reinterpret_cast<const char*>(data), size));
  const std::uint8_t flags = reader.byte();
  const std::size_t n = reader.byte() % 56;
  FirstPosition position;
  position.logprobs_present = (flags & 1) != 0;
  if (flags & 2) position.sampled = reader.entry();
  if (flags & 4) position.top_mass = reader.logprob(reader.byte());
  if (flags & 8) {
    for (std::size_t i = reader.byte() % 56; i > 0; --i) {
      position.exact.push_back(reader.logprob(reader.byte()));
    }
  }
  while (!reader.done()) position.top.push_back(reader.entry());

  for (const auto policy :
       {LetterPolicy::Exact, LetterPolicy::SumExact, LetterPolicy::Fold, LetterPolicy::Reference}) {
    const LettersReading reading = read_letters(position, n, {.policy = policy});
    DEEM_CHECK(reading.logprobs.size() == n);
    const Filled filled = fill_missing(reading, policy);
    DEEM_CHECK(filled.logprobs.size() == n);
    if (reading.cause != VoidCause::None || policy == LetterPolicy::Reference) continue;
    // A reading that is not void gives probabilities, and no missing letter beats a seen one.
    const auto p = softmax(filled.logprobs, 0.85);
    double sum = 0;
    for (const double v : p) sum += v;
    DEEM_CHECK(std::abs(sum - 1) < 1e-9);
    for (const std::size_t i : filled.floored) {
      for (const auto& seen : reading.logprobs) DEEM_CHECK(!seen || filled.logprobs[i] <= *seen);
    }
  }
  return 0;
}
