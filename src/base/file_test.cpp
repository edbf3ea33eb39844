#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

namespace deem {
namespace {

class Files : public testing::Test {
 protected:
  Files() { EXPECT_TRUE(make_folders(folder_)); }
  ~Files() override { std::filesystem::remove_all(folder_); }
  std::string path(std::string_view name) const { return join_path(folder_, name); }

  std::string folder_ = testing::TempDir() + "files." + std::to_string(getpid()) + "/a/b";
};

TEST_F(Files, WhatIsWrittenReadsBack) {
  for (const std::string& bytes :
       {std::string(), std::string("a\0b\n", 4), std::string(300'000, 'x')}) {
    ASSERT_TRUE(write_file_atomically(path("f"), bytes));
    EXPECT_EQ(read_file(path("f")).value(), bytes);
    EXPECT_EQ(MappedFile::open(path("f")).value().bytes(), bytes);
    EXPECT_EQ(list_folder(folder_).value(),
              std::vector<std::string>{"f"});  // no part left beside it
  }
}

TEST_F(Files, AFailedWriteKeepsTheOldFileAndLeavesNothing) {
  ASSERT_TRUE(make_folders(path("target")));  // a folder can not be renamed over
  const auto written = write_file_atomically(path("target"), "new");
  EXPECT_EQ(written.error().code, Error::Code::Unavailable);
  EXPECT_EQ(written.error().message, path("target") + ": is a directory");
  EXPECT_EQ(list_folder(folder_).value(), std::vector<std::string>{"target"});
}

TEST_F(Files, AFullDiskIsNamed) {
  if (!file_exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  // The next part file's name can be foretold, and made to lead to /dev/full.
  const std::string prefix = path("f") + "." + std::to_string(getpid()) + ".";
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(symlink("/dev/full", (prefix + std::to_string(i) + ".part").c_str()), 0);
  }
  const auto written = write_file_atomically(path("f"), "new");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, path("f") + ": no space left on device");
  EXPECT_FALSE(file_exists(path("f")));
}

TEST_F(Files, ErrorsNameThePathAndTheSystemsWords) {
  const auto missing = read_file(path("none"));
  EXPECT_EQ(missing.error().code, Error::Code::NotFound);
  EXPECT_EQ(missing.error().message, path("none") + ": no such file or directory");
  EXPECT_EQ(read_file(folder_).error().code, Error::Code::Unavailable);
  EXPECT_EQ(read_file(folder_).error().message, folder_ + ": is a directory");
  EXPECT_EQ(MappedFile::open(path("none")).error().code, Error::Code::NotFound);
  EXPECT_EQ(MappedFile::open(folder_).error().message, folder_ + ": is a directory");
  EXPECT_EQ(list_folder(path("none")).error().code, Error::Code::NotFound);
  EXPECT_EQ(write_file_atomically(path("no/f"), "").error().code, Error::Code::Unavailable);
  ASSERT_TRUE(write_file_atomically(path("f"), ""));
  EXPECT_EQ(make_folders(path("f/g")).error().message, path("f/g") + ": not a directory");
}

TEST_F(Files, AFileWithoutASizeReadsWhole) {
  EXPECT_NE(read_file("/proc/self/status").value().find("Name:"), std::string::npos);
}

TEST_F(Files, APipeWithANameIsNotOpened) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  ASSERT_EQ(symlink(path("pipe").c_str(), path("link").c_str()), 0);
  alarm(10);  // opened, it would wait for a writer
  for (const char* name : {"pipe", "link"}) {
    EXPECT_EQ(read_file(path(name)).error().code, Error::Code::BadInput);
    EXPECT_EQ(read_file(path(name)).error().message, path(name) + ": is a pipe, not a file");
    EXPECT_EQ(MappedFile::open(path(name)).error().message, path(name) + ": is a pipe, not a file");
  }
  alarm(0);
}

TEST_F(Files, AnOpenPipeReadsToItsEnd) {
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  const Fd reader(ends[0]);
  {
    const Fd writer(ends[1]);
    ASSERT_EQ(write(writer.get(), "abc", 3), 3);
  }
  EXPECT_EQ(read_file("/dev/fd/" + std::to_string(reader.get())).value(), "abc");
}

TEST_F(Files, NamesAreSortedByByteAndHiddenOnesKept) {
  for (const char* name : {"a0", "Z", ".hidden", "a_1", "00_", "a-1", "a.b", "é", "a"}) {
    ASSERT_TRUE(write_file_atomically(path(name), ""));
  }
  EXPECT_EQ(list_folder(folder_).value(),
            (std::vector<std::string>{".hidden", "00_", "Z", "a", "a-1", "a.b", "a0", "a_1", "é"}));
}

TEST_F(Files, AMapMovesAndIsReleasedOnce) {
  ASSERT_TRUE(write_file_atomically(path("f"), "first"));
  ASSERT_TRUE(write_file_atomically(path("g"), "second"));
  MappedFile one = MappedFile::open(path("f")).value();
  MappedFile two = MappedFile::open(path("g")).value();
  one = std::move(two);
  EXPECT_EQ(one.bytes(), "second");
}

TEST_F(Files, FoldersAndFilesAreToldApart) {
  ASSERT_TRUE(write_file_atomically(path("f"), ""));
  EXPECT_TRUE(is_folder(folder_));
  EXPECT_FALSE(is_folder(path("f")));
  EXPECT_TRUE(file_exists(path("f")));
  EXPECT_FALSE(file_exists(path("none")));
}

TEST(JoinPath, PutsOneSlashAndLetsAnAbsolutePartWin) {
  EXPECT_EQ(join_path("a", "b"), "a/b");
  EXPECT_EQ(join_path("a/", "b"), "a/b");
  EXPECT_EQ(join_path("", "b"), "b");
  EXPECT_EQ(join_path("a", "/b"), "/b");
}

TEST_F(Files, ALockIsHeldUntilItsOwnerGoes) {
  {
    auto first = FileLock::acquire(path("lock"));
    ASSERT_TRUE(first);
    const auto second = FileLock::acquire(path("lock"));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Error::Code::Unavailable);
    EXPECT_EQ(second.error().message,
              path("lock") + ": held by process " + std::to_string(getpid()));
    const FileLock moved = std::move(*first);
    EXPECT_FALSE(FileLock::acquire(path("lock")));
  }
  EXPECT_TRUE(FileLock::acquire(path("lock")));
}

TEST_F(Files, ALockDiesWithAKilledOwner) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = FileLock::acquire(path("lock"));
    if (write(ends[1], lock ? "y" : "n", 1) != 1) _exit(1);
    pause();
  }
  char held = 0;
  ASSERT_EQ(read(ends[0], &held, 1), 1);
  EXPECT_EQ(held, 'y');
  EXPECT_EQ(FileLock::acquire(path("lock")).error().message,
            path("lock") + ": held by process " + std::to_string(child));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(FileLock::acquire(path("lock")));
  close(ends[0]);
  close(ends[1]);
}

TEST(FdOwner, ClosesOnceAndMoves) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  {
    Fd first(ends[0]);
    Fd second(std::move(first));
    EXPECT_EQ(second.get(), ends[0]);
    Fd third(ends[1]);
    third = std::move(second);
    EXPECT_EQ(fcntl(ends[1], F_GETFD), -1);
    EXPECT_NE(fcntl(ends[0], F_GETFD), -1);
  }
  EXPECT_EQ(fcntl(ends[0], F_GETFD), -1);
}

TEST(ReadFile, AnEndlessDeviceAndALongFileAreRefused) {
  const auto endless = read_file("/dev/zero", 1 << 20);
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().code, Error::Code::BadInput);
  EXPECT_EQ(endless.error().message, "/dev/zero: over the limit of 1048576 bytes");
  const std::string path = testing::TempDir() + "deem_ten_bytes";
  ASSERT_TRUE(write_file_atomically(path, "0123456789"));
  EXPECT_FALSE(read_file(path, 9));
  EXPECT_EQ(read_file(path, 10).value_or(""), "0123456789");
}

}  // namespace
}  // namespace deem
