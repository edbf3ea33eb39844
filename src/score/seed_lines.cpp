#include "score/seed_lines.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/file.h"
#include "score/line_blocks.h"
#include "score/seed_row.h"
#include "score/seed_scan.h"
#include "score/seed_summary.h"

namespace deem::score {
namespace {

/// A stretch of a file for one thread. Blocks are numbered in file order over
/// all files.
struct Block {
  std::size_t number = 0;
  std::shared_ptr<const LineFile> file;  // none: it could not be opened, as `error` says
  std::uint64_t begin = 0, end = 0;
  bool is_last = false;  // of its file
};

struct BlockRows {
  std::string name;
  std::string path;
  bool is_last = false;
  SeedRows rows;
  std::optional<Error> error;
};

/// Hands out blocks to threads and adds their rows up in order, so that no
/// figure depends on which thread was faster.
class FolderScore {
 public:
  FolderScore(std::string folder, std::vector<std::string> names, std::size_t threads,
              std::size_t block_bytes)
      : folder_(std::move(folder)),
        names_(std::move(names)),
        ahead_(4 * threads),
        block_bytes_(block_bytes) {}

  /// One thread's work, until there are no more blocks.
  void work() {
    LineBlock buffer;
    SeedScanner scanner;
    BlockRows done;
    for (std::optional<Block> block = claim(done); block; block = claim(done)) {
      if (block->file) {
        const Result<std::string_view> text = buffer.read(*block->file, block->begin, block->end);
        if (text) {
          read_seed_rows(*text, scanner, done.rows);
        } else {
          done.error = text.error();
        }
      }
      commit(block->number, done);
    }
  }

  SeedReport take_report() { return std::move(report_); }

 private:
  /// The next block; `done` is made ready for its rows.
  std::optional<Block> claim(BlockRows& done) {
    std::unique_lock lock(mutex_);
    moved_.wait(lock, [this] { return claimed_ < committed_ + ahead_; });
    if (!open_file_) {
      if (next_name_ == names_.size()) return std::nullopt;
      open_next();
    }
    done.rows.clear();
    done.name = names_[next_name_ - 1];
    done.path = join_path(folder_, done.name);
    done.error = open_error_;
    Block block{claimed_++, open_file_, offset_, 0, true};
    if (open_file_) {
      block.end = std::min<std::uint64_t>(open_file_->size, offset_ + block_bytes_);
      block.is_last = block.end == open_file_->size;
      offset_ = block.end;
    }
    done.is_last = block.is_last;
    if (block.is_last) open_file_.reset();
    return block;
  }

  void open_next() {
    Result<LineFile> file = LineFile::open(join_path(folder_, names_[next_name_++]));
    offset_ = 0;
    open_error_.reset();
    if (file) {
      open_file_ = std::make_shared<const LineFile>(std::move(*file));
    } else {
      open_error_ = file.error();
    }
  }

  void commit(std::size_t number, BlockRows& done) {
    const std::scoped_lock lock(mutex_);
    if (number != committed_) {
      waiting_.emplace(number, std::exchange(done, {}));
      return;
    }
    add(done);
    for (++committed_; !waiting_.empty() && waiting_.begin()->first == committed_; ++committed_) {
      add(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
    }
    moved_.notify_all();
  }

  void add(const BlockRows& done) {
    for (const SeedProblem& problem : done.rows.problems) {
      if (problems_++ < SeedRows::kMaxProblems) {
        report_.problems.push_back(done.path + ":" + std::to_string(lines_ + problem.line) + ": " +
                                   problem.message);
      }
    }
    lines_ += done.rows.lines;
    bad_lines_ += done.rows.bad_lines;
    if (done.error && !failed_) {
      failed_ = true;
      report_.problems.push_back(done.error->message);
    }
    if (bad_lines_ == 0 && !failed_) fold_.add(done.rows);
    if (done.is_last) end_file(done);
  }

  void end_file(const BlockRows& done) {
    report_.peak_kept_bytes = std::max(report_.peak_kept_bytes, fold_.kept_bytes());
    report_.rows += lines_;
    const Result<SeedSummary> summary = fold_.finish();
    if (bad_lines_ > 0) {
      report_.problems.push_back(done.path + ": left out: " + std::to_string(bad_lines_) + " of " +
                                 std::to_string(lines_) + " lines can not be scored");
    } else if (!failed_ && !summary) {
      report_.problems.push_back(done.path + ": " + summary.error().message);
    } else if (!failed_) {
      report_.lines.push_back(done.name + " " + format_seed_summary(*summary));
    }
    lines_ = bad_lines_ = problems_ = 0;
    failed_ = false;
  }

  const std::string folder_;
  const std::vector<std::string> names_;
  const std::size_t ahead_;  // how many blocks may be under way before the oldest is added
  const std::size_t block_bytes_;

  std::mutex mutex_;  // guards all below
  std::condition_variable moved_;
  std::size_t next_name_ = 0;
  std::shared_ptr<const LineFile> open_file_;
  std::optional<Error> open_error_;
  std::uint64_t offset_ = 0;
  std::size_t claimed_ = 0, committed_ = 0;
  std::map<std::size_t, BlockRows> waiting_;  // done before their turn

  // Of the file being added up.
  SeedFold fold_;
  std::size_t lines_ = 0, bad_lines_ = 0, problems_ = 0;
  bool failed_ = false;

  SeedReport report_;
};

}  // namespace

Result<SeedReport> score_seed_folder(const std::string& folder, const SeedOptions& options) {
  Result<std::vector<std::string>> names = list_folder(folder);
  if (!names) return fail(names.error());
  std::erase_if(*names, [](const std::string& name) { return !name.ends_with(".jsonl"); });

  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t threads = options.threads > 0 ? options.threads : cores;
  FolderScore score(folder, std::move(*names), threads,
                    std::max<std::size_t>(options.block_bytes, 1));
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < threads; ++i) helpers.emplace_back([&score] { score.work(); });
    score.work();
  }
  return score.take_report();
}

}  // namespace deem::score
