// Runs a fuzz target without libFuzzer: over its seeds, then over mutations of them made from fixed
// random numbers, so that every run is the same. Built with the sanitizers this is the short check
// that the tests do; `make fuzz` searches for longer, led by coverage.
//
//   TARGET SEED_FOLDER [MUTATIONS]     mutations in all, 4000 unless given
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <system_error>
#include <vector>

// What a fuzz target defines; libFuzzer's own interface.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;
using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) { return random() % limit; }

Bytes load(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

// Values that parsers treat specially.
std::uint8_t special_byte(Random& random) {
  static constexpr std::uint8_t kSpecial[] = {0,    '\n', '\r', ' ', '"', '\\', '{',  '}',  '[',
                                              ']',  ':',  ',',  '-', '0', '9',  0x7f, 0x80, 0xc0,
                                              0xed, 0xf4, 0xff, '#', '=', '\'', '<',  '>'};
  return kSpecial[below(random, std::size(kSpecial))];
}

void mutate(Bytes& bytes, const Bytes& other, Random& random) {
  const auto at = [&](std::size_t i) { return bytes.begin() + static_cast<std::ptrdiff_t>(i); };
  const std::size_t place = below(random, bytes.size() + 1);
  switch (below(random, 7)) {
    case 0:  // one bit
      if (place < bytes.size()) bytes[place] ^= static_cast<std::uint8_t>(1U << below(random, 8));
      break;
    case 1:  // one byte
      if (place < bytes.size()) bytes[place] = special_byte(random);
      break;
    case 2:  // an inserted byte
      bytes.insert(at(place), special_byte(random));
      break;
    case 3:  // a torn end
      bytes.resize(place);
      break;
    case 4: {  // a piece left out
      const std::size_t count = std::min(bytes.size() - place, 1 + below(random, 16));
      bytes.erase(at(place), at(place + count));
      break;
    }
    case 5: {  // a piece said many times over, as in deep nesting
      const std::size_t count = std::min(bytes.size() - place, 1 + below(random, 8));
      const Bytes piece(at(place), at(place + count));
      const std::size_t times = 1 + below(random, 64);
      for (std::size_t i = 0; i < times; ++i) bytes.insert(at(place), piece.begin(), piece.end());
      break;
    }
    default: {  // the start of one input and the end of another
      const std::size_t from = below(random, other.size() + 1);
      bytes.resize(place);
      bytes.insert(bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(from), other.end());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s SEED_FOLDER [MUTATIONS]\n", argv[0]);
    return 2;
  }
  const std::size_t mutations = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 4000;
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1], error)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  if (error || paths.empty()) {
    std::fprintf(stderr, "%s: no seeds there\n", argv[1]);
    return 2;
  }
  std::ranges::sort(paths);  // folders list in any order; the run must not depend on it
  std::vector<Bytes> seeds;
  for (const auto& path : paths) seeds.push_back(load(path));

  for (const Bytes& seed : seeds) LLVMFuzzerTestOneInput(seed.data(), seed.size());
  LLVMFuzzerTestOneInput(nullptr, 0);
  Random random(20240229);
  for (std::size_t i = 0; i < mutations; ++i) {
    Bytes bytes = seeds[i % seeds.size()];
    const std::size_t steps = 1 + below(random, 4);
    for (std::size_t step = 0; step < steps; ++step) {
      mutate(bytes, seeds[below(random, seeds.size())], random);
    }
    // A copy of exactly this size lets the sanitizer see a read past the end.
    const Bytes exact(bytes.begin(), bytes.end());
    LLVMFuzzerTestOneInput(exact.data(), exact.size());
  }
  std::printf("%zu seeds and %zu mutations, none failed\n", seeds.size(), mutations);
}
