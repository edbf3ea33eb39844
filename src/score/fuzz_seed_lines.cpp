#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "score/lines.h"
#include "score/seed_row.h"
#include "score/seed_scan.h"

// The one-pass scanner must agree with the exact reader on every line it
// accepts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using deem::score::SeedRow;
  std::string padded(deem::score::kSeedPadding, '\0');
  padded.append(reinterpret_cast<const char*>(data), size).append(deem::score::kSeedPadding, '\0');
  const std::string_view text = std::string_view(padded).substr(deem::score::kSeedPadding, size);
  deem::score::SeedScanner scanner;
  scanner.begin(text);
  for (std::size_t at = 0; at < size;) {
    const std::size_t stop = deem::score::find_line_end(text, at);
    const std::string_view line = text.substr(at, stop - at);
    std::vector<deem::codec::Json> fast_refusals, refusals;
    SeedRow fast;
    const char* const scanned = scanner.scan(text.data() + at, fast, fast_refusals);
    const deem::Result<SeedRow> exact = deem::score::read_seed_row(line, refusals);
    if (scanned != nullptr) {
      DEEM_CHECK(scanned == text.data() + stop && exact.has_value());
      DEEM_CHECK(fast.flags == exact->flags && fast.bin == exact->bin);
      DEEM_CHECK(fast.floored == exact->floored && fast_refusals == refusals);
      DEEM_CHECK(fast.brier == exact->brier && fast.top_p == exact->top_p);
      for (const auto member :
           {&SeedRow::seconds, &SeedRow::prompt_tokens, &SeedRow::eval_tokens}) {
        DEEM_CHECK((fast.*member).kind == ((*exact).*member).kind);
        DEEM_CHECK(compare(fast.*member, (*exact).*member) == 0);
      }
    }
    at = deem::score::next_line(text, stop);
  }
  return 0;
}
