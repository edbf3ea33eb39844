#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bench/arm.h"
#include "bench/plan.h"
#include "kit/kit.h"
#include "record/row.h"
#include "seat/seat.h"

namespace deem::bench {

/// Likelihoods on an empty state, kept by their two texts: what does not depend on the item is
/// computed once. One per seat; any thread.
class PriorMemo {
 public:
  std::optional<decision::TextScore> find(const seat::LikelihoodRequest& request) const;
  void keep(const seat::LikelihoodRequest& request, const decision::TextScore& score);

 private:
  mutable std::mutex mutex_;
  std::map<std::tuple<std::string, std::string, bool>, decision::TextScore> scores_;
};

/// Token counts by prompt digest, from the census.
using Census = std::map<std::string, std::int64_t>;

/// Asks seats; holds what one run shares. `cold`: the seat uses nothing it evaluated before.
/// `cut_at`: tokens that it cuts prompts to, where that was found out. The referenced values must
/// outlive it. Any thread.
class Asker {
 public:
  Asker(const kit::Kit& kit, const Census& census, const seat::Identity& identity, seat::Seat& seat,
        PriorMemo& memo, bool cold = false, std::optional<std::int64_t> cut_at = std::nullopt)
      : cold_(cold),
        cut_at_(cut_at),
        kit_(kit),
        census_(census),
        context_(identity.context),
        model_(identity.model),
        seat_(seat),
        memo_(memo) {}

  /// One row per item of `unit`, all readings of `arm` that the task defines. Never fails: what a
  /// seat could not do is in the row.
  std::vector<record::Row> ask(const Arm& arm, const Unit& unit) const;

 private:
  using Records = std::vector<record::ReadingRecord>;
  Records ask_letters(const Arm& arm, const kit::Task& task, const std::vector<std::size_t>& items,
                      bool prior) const;
  Records ask_texts(const Arm& arm, const kit::Task& task, const std::vector<std::size_t>& items,
                    const ReadingChoice& choice) const;
  Records ask_native(const Arm& arm, const kit::Task& task,
                     const std::vector<std::size_t>& items) const;
  bool decide(const Arm& arm, const kit::Task& task, const std::vector<std::size_t>& items,
              const std::vector<std::size_t>& places, Records& records) const;
  record::ReadingRecord ask_written(const Arm& arm, const kit::Item& item) const;

  struct LettersCall {
    std::size_t item = 0;  // place in the unit
    std::vector<std::size_t> options;
    std::string prompt;
    bool prior = false;
  };
  void call_letters(const Arm& arm, const std::vector<LettersCall>& calls, Records& records) const;
  void finals(const Arm& arm, const kit::Task& task, const std::vector<std::size_t>& items,
              Records& records) const;
  void check_count(record::ReadingRecord& record, const seat::Usage& usage,
                   const std::string& prompt) const;

  seat::Schedule schedule_for(const Arm& arm) const;

  const bool cold_;
  const std::optional<std::int64_t> cut_at_;
  const kit::Kit& kit_;
  const Census& census_;
  const std::optional<std::int64_t> context_;
  const std::string model_;
  seat::Seat& seat_;
  PriorMemo& memo_;
};

/// A row with everything about the item and nothing about an answer.
record::Row make_row(const Arm& arm, const kit::Kit& kit, const kit::Task& task,
                     const kit::Item& item, int repeat);

}  // namespace deem::bench
