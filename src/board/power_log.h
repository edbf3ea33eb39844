#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/file.h"
#include "base/result.h"
#include "board/sampler.h"
#include "record/power.h"

namespace deem::board {

struct PowerLogOptions {
  std::uint64_t rotate_bytes = 0;  // a file this long is put aside; 0: never
  double sync_s = 5;               // the disk is told (fdatasync) at most this often, in seconds
};

/// power.jsonl (docs/formats/power.md), open for appending by exactly one process, for days.
/// Each line is one write(2) and so survives kill -9 once the call returns; a power cut can cost
/// what was written since the last fdatasync: `sync_s`, plus how long the disk takes. Rotation
/// renames FILE to FILE.1, FILE.1 to FILE.2 and so on, and begins FILE with a heading of its own.
/// Any thread may call any member; samples and events come from a Sampler, marks from who measures.
class PowerLog : public PowerSink {
 public:
  /// A file that is there keeps its lines: a torn last line is cut off, and the heading begins a
  /// new segment. Errors: Unavailable when another process logs to it or it can not be written;
  /// BadInput when it is another kind of file.
  static Result<std::unique_ptr<PowerLog>> open(const std::string& path,
                                                record::PowerSegment heading,
                                                PowerLogOptions options = {});
  ~PowerLog() override;

  // Errors: Unavailable (disk full…): the file is cut back to its last whole line, and every later
  // call fails the same way.
  Result<void> sample(const record::PowerSample& sample) override;
  Result<void> event(const record::PowerEvent& event) override;
  Result<void> mark(const record::PowerMark& mark);

  /// Tells the disk now. Errors: Unavailable; also where the file was deleted or cut short
  /// meanwhile.
  Result<void> sync();
  std::uint64_t lines() const;  // written by this, headings included

 private:
  PowerLog(std::string path, std::string heading, std::string boot_id, PowerLogOptions options,
           FileLock lock, Fd fd, std::uint64_t size);
  Result<void> append(std::string line);
  Result<void> write_line(std::string_view line);  // with mutex_ held, as those below
  Result<void> rotate();
  Result<void> fail_with(int number);
  std::string what_others_did() const;  // to the file under our hands; with mutex_ held
  void sync_now_and_then(const std::stop_token& stop);

  const std::string path_, heading_, boot_id_;
  const PowerLogOptions options_;
  FileLock lock_;
  mutable std::mutex mutex_;  // guards all below but the thread
  std::condition_variable_any wake_;
  Fd fd_;
  std::uint64_t size_ = 0;  // bytes of whole lines
  std::uint64_t lines_ = 0;
  bool dirty_ = false;  // written since the disk was told
  std::optional<Error> broken_;
  std::jthread thread_;  // tells the disk, so that a slow one delays no sample
};

}  // namespace deem::board
