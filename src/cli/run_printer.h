#pragma once

#include <cstdio>
#include <mutex>
#include <string>

#include "bench/run.h"

namespace deem::cli {

/// Says on stderr how a run goes: on a terminal one line that moves, elsewhere a line every half
/// minute. Notes and stages always get a line of their own.
class RunPrinter : public bench::Observer {
 public:
  /// `quiet` keeps notes and drops the rest.
  explicit RunPrinter(bool quiet);
  ~RunPrinter() override;

  void stage(const std::string& what) override;
  void announce(const bench::Announcement& announcement) override;
  void row(const record::Row& row, const bench::Progress& progress) override;
  void note(const std::string& what) override;
  /// Ends the moving line.
  void finish();

 private:
  void clear_line();

  const bool quiet_;
  const bool terminal_;
  std::mutex mutex_;  // guards all below: a signal's note comes from its own thread
  bool line_open_ = false;
  TimePoint last_ = {};
};

/// "1 min 20 s", "45 s", "2 h 5 min".
std::string human_duration(double seconds);

}  // namespace deem::cli
