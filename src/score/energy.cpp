#include "score/energy.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <tuple>

#include "score/energy_windows.h"

namespace deem::score {
namespace {

constexpr double kRounding = 1e-6;  // share by which two durations may differ and be equal

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %%", 100 * share);
  return text;
}

/// a − b; what is left of two equal numbers by rounding is none.
double less(double a, double b) {
  const double difference = a - b;
  return std::abs(difference) <= 1e-12 * std::max(std::abs(a), std::abs(b)) ? 0 : difference;
}

/// A sum that is unknown as soon as one part is.
class KnownSum {
 public:
  void add(std::optional<double> part) {
    known_ = known_ && part.has_value();
    sum_ += part.value_or(0);
  }
  std::optional<double> value() const { return known_ ? std::optional(sum_) : std::nullopt; }

 private:
  bool known_ = true;
  double sum_ = 0;
};

/// Adds blocks up and judges the sum by the time that faults touch. One block is a sum, too.
class EnergyTally {
 public:
  /// `may_differ`: blocks of other boards may be summed, as those of other seats.
  explicit EnergyTally(const EnergyOptions& options, bool may_differ = false)
      : options_(options), may_differ_(may_differ) {}

  void add(const Measured& block) {
    const double seconds = block.window.seconds();
    ++out_.blocks;
    out_.seconds += seconds;
    out_.decisions += block.window.end.rows;
    tokens_known_ = tokens_known_ && block.window.end.has_prompt_tokens;
    tokens_ += block.window.end.prompt_tokens;
    gross_.add(block.gross_j);
    const std::optional<double> idle = idle_of(block);
    const std::optional<double> net =
        block.gross_j && idle ? std::optional(less(*block.gross_j, *idle * seconds)) : std::nullopt;
    net_.add(net);
    add_time(idle_before_, block.idle_before_w, seconds);
    add_time(idle_after_, block.idle_after_w, seconds);
    if (block.peak_w) out_.peak_w = std::max(*block.peak_w, out_.peak_w.value_or(0));
    add_boards(block);
    clusters_.push_back(
        {static_cast<double>(block.window.end.rows), block.gross_j.value_or(0), net.value_or(0)});
    add_stretch(block);
    for (const Remark& remark : block.remarks) add_fault(remark, seconds);
  }

  EnergyFigures finish() {
    if (out_.blocks == 0) return std::move(out_);
    out_.gross_j = gross_.value();
    out_.net_j = net_.value();
    if (tokens_known_) out_.prompt_tokens = tokens_;
    const auto mean = [&](const KnownSum& sum) {
      const auto joules = sum.value();
      return joules ? std::optional(*joules / out_.seconds) : std::nullopt;
    };
    out_.mean_w = mean(gross_);
    out_.idle_before_w = mean(idle_before_);
    out_.idle_after_w = mean(idle_after_);
    finish_boards();
    finish_interval();
    judge_length();
    for (const Fault& fault : faults_) judge(fault);
    if (boards_differ_) {
      (may_differ_ ? out_.notes : out_.reasons)
          .push_back({"boards_differ", "its blocks were read on different boards"});
    }
    if (out_.net_j && *out_.net_j < 0) {
      out_.reasons.push_back({"net_negative",
                              "the boards drew more at rest than in it: net joules are below 0",
                              true});
    }
    return std::move(out_);
  }

 private:
  struct Fault {
    Remark remark = {};  // of the first block that has it
    std::size_t blocks = 0;
    double seconds = 0;
  };
  struct BoardSum {
    KnownSum gross, counter;
    std::size_t samples = 0;
    double compared_joules = 0, compared_counter = 0;
  };

  /// Of both sides, or of the one that was read.
  static std::optional<double> idle_of(const Measured& block) {
    if (block.idle_before_w && block.idle_after_w) {
      return (*block.idle_before_w + *block.idle_after_w) / 2;
    }
    return block.idle_before_w ? block.idle_before_w : block.idle_after_w;
  }

  static void add_time(KnownSum& sum, std::optional<double> watts, double seconds) {
    sum.add(watts ? std::optional(*watts * seconds) : std::nullopt);
  }

  void add_boards(const Measured& block) {
    const auto same = [](const BoardWindow& a, const std::string& b) { return a.board == b; };
    if (ids_.empty()) {
      for (const BoardWindow& board : block.boards) ids_.push_back(board.board);
    } else if (!std::ranges::equal(block.boards, ids_, same)) {
      boards_differ_ = true;
    }
    for (const BoardWindow& board : block.boards) {
      const auto [place, fresh] = board_places_.try_emplace(board.board, boards_.size());
      if (fresh) {
        boards_.emplace_back();
        out_.boards.push_back({.board = board.board});
      }
      BoardSum& sum = boards_[place->second];
      sum.gross.add(board.joules);
      sum.counter.add(board.counter_j);
      sum.samples += board.samples;
      if (board.compared) {
        sum.compared_joules += *board.joules;
        sum.compared_counter += *board.counter_j;
      }
    }
  }

  /// Blocks that follow each other within a period are one stretch for its readings.
  void add_stretch(const Measured& block) {
    const double begin = block.window.begin.mono_s, end = block.window.end.mono_s;
    if (!stretches_.empty()) {
      Stretch& last = stretches_.back();
      if (last.segment == block.segment && begin <= last.end + block.period_s &&
          begin >= last.end) {
        last.end = end;
        last.seconds += end - begin;
        ++last.blocks;
        return;
      }
    }
    stretches_.push_back({block.segment, end, end - begin, block.period_s, 1});
  }

  void add_fault(const Remark& remark, double seconds) {
    auto found = std::ranges::find_if(
        faults_, [&](const Fault& fault) { return fault.remark.code == remark.code; });
    if (found == faults_.end()) found = faults_.insert(faults_.end(), {.remark = remark});
    ++found->blocks;
    found->seconds += seconds;
  }

  void finish_boards() {
    KnownSum counters;
    double joules = 0, counted = 0;
    for (std::size_t i = 0; i < boards_.size(); ++i) {
      const BoardSum& sum = boards_[i];
      BoardEnergy& board = out_.boards[i];
      board.gross_j = sum.gross.value();
      board.counter_j = sum.counter.value();
      board.samples = sum.samples;
      counters.add(board.counter_j);
      joules += sum.compared_joules;
      counted += sum.compared_counter;
      const double difference = std::abs(sum.compared_counter - sum.compared_joules);
      if (difference > options_.max_disagreement * sum.compared_joules && difference > 0) {
        char text[96];
        std::snprintf(text, sizeof text, " counted %.4g J where its readings give %.4g J",
                      sum.compared_counter, sum.compared_joules);
        out_.reasons.push_back({"counter_disagrees", board.board + text});
      }
    }
    if (!boards_.empty()) out_.counter_j = counters.value();
    if (joules > 0) out_.counter_ratio = counted / joules;
  }

  void finish_interval() {
    if (clusters_.size() < options_.least_blocks || out_.decisions == 0 || !out_.gross_j) return;
    const auto means = bootstrap_means(clusters_, options_.seed);
    if (!means) return;
    out_.gross_per_decision_95 = means->a;
    if (out_.net_j) out_.net_per_decision_95 = means->b;
  }

  void judge_length() {
    Fault fault;
    fault.remark.code = "window_short";
    for (const Stretch& stretch : stretches_) {
      if (stretch.seconds >= options_.min_periods * stretch.period_s * (1 - kRounding)) continue;
      if (fault.blocks == 0) {
        char text[128];
        std::snprintf(text, sizeof text, "it lasts %.3g s, under %.3g periods of %.3g s",
                      stretch.seconds, options_.min_periods, stretch.period_s);
        fault.remark.text = text;
      }
      fault.blocks += stretch.blocks;
      fault.seconds += stretch.seconds;
    }
    if (fault.blocks > 0) judge(fault);
  }

  /// What is unknown makes a sum invalid whatever its share.
  void judge(const Fault& fault) {
    EnergyReason reason{fault.remark.code, fault.remark.text, fault.remark.net_only};
    const double share = fault.seconds / out_.seconds;
    if (out_.blocks > 1) {
      reason.text += " (" + std::to_string(fault.blocks) + " of " + std::to_string(out_.blocks) +
                     " blocks, " + percent(share) + " of the time)";
    }
    const bool unknown = reason.code == "no_readings" || reason.code == "driver_reload";
    const bool counts = !fault.remark.note && (unknown || share > options_.tolerated_share);
    (counts ? out_.reasons : out_.notes).push_back(std::move(reason));
  }

  struct Stretch {
    std::size_t segment = 0;
    double end = 0, seconds = 0, period_s = 0;
    std::size_t blocks = 0;
  };

  const EnergyOptions& options_;
  const bool may_differ_;
  std::vector<std::string> ids_;  // of the first block's boards
  bool boards_differ_ = false;
  EnergyFigures out_;
  KnownSum gross_, net_, idle_before_, idle_after_;  // joules
  bool tokens_known_ = true;
  std::int64_t tokens_ = 0;
  std::map<std::string, std::size_t> board_places_;
  std::vector<BoardSum> boards_;
  std::vector<ClusterSums> clusters_;
  std::vector<Stretch> stretches_;
  std::vector<Fault> faults_;
};

/// Figures of one block or load.
EnergyFigures figures_of(const Measured& one, const EnergyOptions& options) {
  EnergyTally tally(options);
  tally.add(one);
  EnergyFigures out = tally.finish();
  const record::PowerMark& begin = one.window.begin;
  out.arm = begin.arm;
  out.task = begin.task;
  out.probe = begin.probe;
  out.segment = one.segment;
  out.begin_s = begin.mono_s;
  out.end_s = one.window.end.mono_s;
  return out;
}

/// Sums by a key, in the order the keys come.
template <class Key>
class TallyMap {
 public:
  explicit TallyMap(const EnergyOptions& options) : options_(options) {}
  void add(const Key& key, const Measured& block) {
    const auto [place, fresh] = places_.try_emplace(key, tallies_.size());
    if (fresh) {
      keys_.push_back(key);
      tallies_.emplace_back(options_);
    }
    tallies_[place->second].add(block);
  }
  template <class Name>
  std::vector<EnergyFigures> finish(Name name) {
    std::vector<EnergyFigures> out;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      out.push_back(tallies_[i].finish());
      name(out.back(), keys_[i]);
    }
    return out;
  }

 private:
  const EnergyOptions& options_;
  std::map<Key, std::size_t> places_;
  std::vector<Key> keys_;
  std::vector<EnergyTally> tallies_;
};

std::string status_of(const record::PowerFile& power, const EnergyFigures& all) {
  const auto not_measured = [](const std::string& why) { return "not measured (" + why + ")"; };
  const bool boards = std::ranges::any_of(
      power.segments, [](const record::PowerSegment& s) { return !s.boards.empty(); });
  if (power.segments.empty()) return not_measured("the power file has no readable heading");
  if (!boards) return not_measured("no board");
  if (all.blocks == 0) return not_measured("no block of decisions was marked in the power file");
  if (all.gross_j) return "ok";
  for (const EnergyReason& reason : all.reasons) {
    if (reason.code == "no_readings" || reason.code == "driver_reload") {
      return not_measured(reason.text);
    }
  }
  return not_measured("a board has no readings");
}

std::string count(std::size_t n, std::string_view one, std::string_view many) {
  return std::to_string(n) + " " + std::string(n == 1 ? one : many);
}

bool any_scripted(const record::PowerFile& power) {
  return std::ranges::any_of(power.segments, [](const record::PowerSegment& segment) {
    return std::ranges::any_of(segment.boards,
                               [](const auto& board) { return board.source == "scripted"; });
  });
}

}  // namespace

bool EnergyFigures::gross_valid() const {
  return gross_j.has_value() &&
         std::ranges::all_of(reasons, [](const EnergyReason& reason) { return reason.net_only; });
}

const EnergyFigures* RunEnergy::arm(std::string_view name) const {
  const auto found = std::ranges::find(arms, name, &EnergyFigures::arm);
  return found == arms.end() ? nullptr : &*found;
}

const EnergyFigures* RunEnergy::task(std::string_view arm, std::string_view task) const {
  const auto found = std::ranges::find_if(tasks, [&](const EnergyFigures& one) {
    return one.arm == arm && one.task == task && one.probe.empty();
  });
  return found == tasks.end() ? nullptr : &*found;
}

RunEnergy energy_of(const record::PowerFile& power, const EnergyOptions& options) {
  using TaskKey = std::tuple<std::string, std::string, std::string>;  // arm, task, probe
  RunEnergy out;
  out.seed = options.seed;
  TallyMap<TaskKey> tasks(options);
  TallyMap<std::string> arms(options);
  EnergyTally all(options, /*may_differ=*/true);
  std::size_t cut = 0;
  for (std::size_t i = 0; i < power.segments.size(); ++i) {
    const MeasuredSegment segment = measure_segment(power.segments[i], i, options);
    cut += segment.cut;
    for (const Measured& load : segment.loads) out.loads.push_back(figures_of(load, options));
    for (const Measured& block : segment.blocks) {
      const record::PowerMark& mark = block.window.begin;
      out.blocks.push_back(figures_of(block, options));
      tasks.add({mark.arm, mark.task, mark.probe}, block);
      if (mark.probe.empty()) arms.add(mark.arm, block);
      all.add(block);
    }
  }
  out.tasks = tasks.finish([](EnergyFigures& figures, const TaskKey& key) {
    std::tie(figures.arm, figures.task, figures.probe) = key;
  });
  out.arms = arms.finish([](EnergyFigures& figures, const std::string& arm) { figures.arm = arm; });
  out.all = all.finish();
  out.status = status_of(power, out.all);
  if (any_scripted(power)) {
    out.notes.emplace_back("watts are of a boards script (DEEM_BOARDS), not of a board");
  }
  if (cut > 0) {
    out.notes.push_back(count(cut, "window was", "windows were") +
                        " cut off and left out: begin or end is missing");
  }
  if (!power.problems.empty()) {
    out.notes.push_back(count(power.problems.size(), "line", "lines") +
                        " of the power file can not be read, the first is line " +
                        std::to_string(power.problems[0].line) + ": " + power.problems[0].message);
  }
  if (power.torn_tail) out.notes.push_back("the power file's last line was cut off and left out");
  return out;
}

RunEnergy energy_not_measured(std::string_view why) {
  RunEnergy out;
  out.status = "not measured (" + std::string(why) + ")";
  return out;
}

}  // namespace deem::score
