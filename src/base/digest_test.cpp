#include "base/digest.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/file.h"

namespace deem {
namespace {

// FIPS 180-2, appendix B.
TEST(Sha256, MatchesThePublishedVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, OfAFileIsThatOfItsBytes) {
  const std::string path = testing::TempDir() + "digest." + std::to_string(getpid());
  const std::string bytes(3'000'001, 'x');  // more than two pieces
  ASSERT_TRUE(write_file_atomically(path, bytes));
  EXPECT_EQ(sha256_file(path).value(), sha256_hex(bytes));
  unlink(path.c_str());
  EXPECT_EQ(sha256_file(path).error().code, Error::Code::NotFound);
  EXPECT_EQ(sha256_file(testing::TempDir()).error().code, Error::Code::Unavailable);
}

TEST(Sha256, APipeWithANameIsNotOpened) {
  const std::string path = testing::TempDir() + "digest_pipe." + std::to_string(getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  alarm(10);  // opened, it would wait for a writer
  const auto digest = sha256_file(path);
  alarm(0);
  unlink(path.c_str());
  EXPECT_EQ(digest.error().code, Error::Code::BadInput);
  EXPECT_EQ(digest.error().message, path + ": is a pipe, not a file");
}

struct CrcCase {
  const char* name;
  std::string bytes;
  std::uint32_t want;
};
class Crc32c : public testing::TestWithParam<CrcCase> {};

TEST_P(Crc32c, MatchesRfc3720) {
  EXPECT_EQ(crc32c(GetParam().bytes), GetParam().want);
  EXPECT_EQ(detail::crc32c_by_table(GetParam().bytes), GetParam().want);
}

std::string counting(int from, int step) {
  std::string bytes;
  for (int i = 0; i < 32; ++i) bytes += static_cast<char>(from + i * step);
  return bytes;
}

INSTANTIATE_TEST_SUITE_P(Table, Crc32c,
                         testing::Values(CrcCase{"Empty", "", 0},
                                         CrcCase{"Digits", "123456789", 0xe3069283},
                                         CrcCase{"Zeros", std::string(32, '\0'), 0x8a9136aa},
                                         CrcCase{"Ones", std::string(32, '\xff'), 0x62a8ab43},
                                         CrcCase{"Incrementing", counting(0, 1), 0x46dd794e},
                                         CrcCase{"Decrementing", counting(31, -1), 0x113fdb5c}),
                         [](const auto& p) { return p.param.name; });

TEST(Crc32cByTable, AgreesWithTheInstructionAtEveryLengthAndAlignment) {
  std::string bytes;
  for (unsigned i = 0; i < 100; ++i) bytes += static_cast<char>(i * 151 + 7);
  for (std::size_t from = 0; from < 9; ++from) {
    for (std::size_t size = 0; from + size <= bytes.size(); ++size) {
      const auto part = std::string_view(bytes).substr(from, size);
      ASSERT_EQ(crc32c(part), detail::crc32c_by_table(part)) << from << " " << size;
    }
  }
}

}  // namespace
}  // namespace deem
