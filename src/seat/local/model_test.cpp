#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "seat/local_seat.h"

namespace deem::seat {
namespace {

class ModelFile : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "deem_model_" +
            testing::UnitTest::GetInstance()->current_test_info()->name() + ".gguf";
  }
  void TearDown() override { std::filesystem::remove_all(path_); }
  Error load() {
    SeatSpec spec;
    spec.kind = "local";
    spec.address = path_;
    const auto seat = make_local_seat(spec);
    return seat ? Error{Error::Code::BadInput, "loaded"} : seat.error();
  }
  void write(std::string_view bytes) {
    std::ofstream(path_, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::string path_;
};

TEST_F(ModelFile, ThatIsNotThereIsNamed) {
  const Error error = load();
  EXPECT_EQ(error.code, Error::Code::NotFound);
  EXPECT_EQ(error.message, path_ + ": no such file");
}

TEST_F(ModelFile, AFolderIsRefused) {
  std::filesystem::create_directory(path_);
  EXPECT_EQ(load().message, path_ + ": is a folder, not a model file");
}

TEST_F(ModelFile, APipeIsNotOpened) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  alarm(30);  // opened, it would wait for a writer
  const Error error = load();
  alarm(0);
  EXPECT_EQ(error.code, Error::Code::BadInput);
  EXPECT_EQ(error.message, path_ + ": not a regular file");
}

TEST_F(ModelFile, IsNotOpenedForMoreThreadsThanThereCanBe) {
  for (const int threads : {-1, 1025, 1'000'000}) {
    const auto seat = make_local_seat({.kind = "local", .address = path_, .threads = threads});
    ASSERT_FALSE(seat);
    EXPECT_EQ(seat.error().code, Error::Code::BadInput);
    EXPECT_TRUE(seat.error().message.starts_with("threads: 1 to 1024")) << seat.error().message;
  }
}

TEST_F(ModelFile, OfAnotherFormatIsRefused) {
  for (const char* bytes : {"", "GG", "PK\x03\x04 a zip archive"}) {
    write(bytes);
    const Error error = load();
    EXPECT_EQ(error.code, Error::Code::Corrupt);
    EXPECT_EQ(error.message, path_ + ": not a GGUF file");
  }
}

TEST_F(ModelFile, WithARuinedHeaderIsRefused) {
  write(std::string("GGUF") + std::string(60, '\xff'));
  const Error error = load();
  EXPECT_EQ(error.code, Error::Code::Corrupt);
  EXPECT_TRUE(error.message.starts_with(path_ + ": ")) << error.message;
  EXPECT_EQ(error.message.find('\n'), std::string::npos);
}

TEST_F(ModelFile, CutShortIsRefused) {
  const char* model = std::getenv("DEEM_MODEL");
  if (model == nullptr) GTEST_SKIP() << "DEEM_MODEL names no model";
  std::string head(4 << 20, '\0');
  std::ifstream(model, std::ios::binary)
      .read(head.data(), static_cast<std::streamsize>(head.size()));
  write(head);
  const Error error = load();
  EXPECT_EQ(error.code, Error::Code::Corrupt);
  EXPECT_TRUE(error.message.starts_with(path_ + ": ")) << error.message;
  EXPECT_EQ(error.message.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace deem::seat
