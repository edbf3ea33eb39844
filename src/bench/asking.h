#pragma once

#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "bench/run_boards.h"
#include "bench/setup.h"
#include "bench/sitting.h"

namespace deem::bench {

/// What a folder's rows say of the sittings before this one.
struct Before {
  std::set<RowKey> done;
  std::map<std::string, double> asking_s;  // by arm, what its readings took
};

/// Asks everything, seat after seat, and measures what each takes. The references must outlive it.
class Asking {
 public:
  Asking(const Config& config, const RunBoards& boards, const std::vector<Unit>& plan, Setup& setup,
         Sitting& sitting, Observer& observer, const std::stop_token& stop)
      : config_(config),
        boards_(boards),
        plan_(plan),
        setup_(setup),
        sitting_(sitting),
        observer_(observer),
        stop_(stop) {}

  /// `go_on`: the sustained part too. Errors: of the journal.
  Result<void> all(const Before& before, bool go_on);
  /// Seats whose measuring failed, and why.
  const std::vector<std::pair<std::size_t, std::string>>& unmeasured() const { return unmeasured_; }

 private:
  Result<void> one_seat(std::size_t seat, std::size_t first, std::size_t last, const Before& before,
                        bool go_on);
  std::string arms_of(std::size_t seat) const;

  const Config& config_;
  const RunBoards& boards_;
  const std::vector<Unit>& plan_;
  Setup& setup_;
  Sitting& sitting_;
  Observer& observer_;
  const std::stop_token& stop_;
  std::vector<std::pair<std::size_t, std::string>> unmeasured_;
};

}  // namespace deem::bench
