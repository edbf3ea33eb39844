#include "bench/journal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "bench/test_folder.h"

namespace deem::bench {
namespace {

record::Row row_of(std::string id) {
  record::Row row;
  row.arm = "a";
  row.task = "t";
  row.id = std::move(id);
  row.mode = "readout";
  row.state_id = "s";
  row.state_sha256 = "x";
  row.keys = {"a", "b"};
  return row;
}

TEST(Journal, KeepsRowsAcrossOpenings) {
  const TestFolder folder;
  for (const char* id : {"1", "2"}) {
    auto journal = Journal::open(folder.path());
    ASSERT_TRUE(journal) << journal.error().message;
    ASSERT_TRUE((*journal)->append(row_of(id)));
  }
  auto journal = Journal::open(folder.path());
  ASSERT_TRUE(journal);
  EXPECT_EQ((*journal)->found().rows.size(), 2U);
}

TEST(Journal, CutsATornLastLineBeforeItGoesOn) {
  const TestFolder folder;
  {
    ASSERT_TRUE((*Journal::open(folder.path()))->append(row_of("1")));
  }
  const std::string path = join_path(folder.path(), "rows.jsonl");
  const std::string whole = *read_file(path);
  ASSERT_TRUE(write_file_atomically(path, whole + whole.substr(0, 50)));
  {
    auto journal = Journal::open(folder.path());
    ASSERT_TRUE(journal);
    EXPECT_TRUE((*journal)->found().torn_tail);
    ASSERT_TRUE((*journal)->append(row_of("2")));
  }
  const auto rows = record::load_rows(path);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->rows.size(), 2U);
  EXPECT_TRUE(rows->problems.empty());
}

TEST(Journal, RefusesASecondWriterAndNamesTheFirst) {
  const TestFolder folder;
  const auto first = Journal::open(folder.path());
  ASSERT_TRUE(first);
  const auto second = Journal::open(folder.path());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Error::Code::Unavailable);
  EXPECT_NE(second.error().message.find(std::to_string(::getpid())), std::string::npos)
      << second.error().message;
}

// A file size limit stands in for a full disk: the same short write, the same errno path.
TEST(Journal, StopsAtAFullDiskWithWholeRowsOnly) {
  const TestFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    auto journal = Journal::open(folder.path());
    const rlimit limit{1500, 1500};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    int kept = 0;
    while (kept < 100 && (*journal)->append(row_of(std::to_string(kept)))) ++kept;
    const bool stays_broken = !(*journal)->append(row_of("again"));
    ::_exit(stays_broken && kept < 100 ? kept : 99);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  const int kept = WEXITSTATUS(status);
  ASSERT_GT(kept, 0);
  ASSERT_LT(kept, 99);
  const auto rows = record::load_rows(join_path(folder.path(), "rows.jsonl"));
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->rows.size(), static_cast<std::size_t>(kept));
  EXPECT_FALSE(rows->torn_tail);
}

}  // namespace
}  // namespace deem::bench
