#include "bench/census.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/digest.h"
#include "bench/probe.h"
#include "bench/prompts.h"

namespace deem::bench {
namespace {

/// Tokens a chat template may add around a turn; only used to skip counting what surely fits.
constexpr std::size_t kTemplateRoom = 512;

class Counter {
 public:
  Counter(seat::Seat& seat, std::optional<std::int64_t> context, CensusResult& result)
      : seat_(seat), context_(context), result_(result) {}

  /// Tokens of a chat prompt; counted once.
  Result<std::int64_t> chat(const std::string& prompt) {
    const std::string digest = sha256_hex(prompt);
    if (const auto known = result_.counts.find(digest); known != result_.counts.end()) {
      return known->second;
    }
    Result<std::int64_t> n = seat_.count_chat(prompt);
    if (n) {
      result_.counts.emplace(digest, *n);
      result_.total_tokens += *n;
      result_.max_tokens = std::max(result_.max_tokens, *n);
    }
    return n;
  }

  /// The most tokens any of `texts` takes, or 0 when all surely fit.
  Result<std::int64_t> texts(const std::vector<seat::LikelihoodRequest>& texts) {
    std::int64_t most = 0;
    for (const auto& text : texts) {
      if (!context_ || text.given.size() + text.score.size() + kTemplateRoom <
                           static_cast<std::size_t>(*context_)) {
        continue;
      }
      const std::string whole = text.given + text.score;
      Result<std::int64_t> n = text.chat ? seat_.count_chat(whole) : seat_.count_plain(whole);
      if (!n) return n;
      most = std::max(most, *n);
    }
    return most;
  }

 private:
  seat::Seat& seat_;
  const std::optional<std::int64_t> context_;
  CensusResult& result_;
};

/// The most tokens one item needs under one reading, output included.
Result<std::int64_t> needed(const Arm& arm, const kit::Kit& kit, const kit::Task& task,
                            const kit::Item& item, const ReadingChoice& choice, Counter& counter) {
  const auto kind = find_reading(task, choice.name);
  if (!kind) return 0;
  if (*kind == ReadingKind::Written) {
    Result<std::int64_t> n = counter.chat(make_written_prompt(kit, item));
    if (!n) return n;
    return *n + arm.max_tokens;
  }
  if (*kind == ReadingKind::Native) return counter.chat(make_native_text(kit, item));
  if (*kind == ReadingKind::Letters) {
    std::int64_t most = 0;
    for (const std::string& prompt :
         make_letters_prompt(kit, item, kit.states[item.state].text).prompts) {
      Result<std::int64_t> n = counter.chat(prompt);
      if (!n) return n;
      most = std::max(most, *n + 1);
    }
    return most;
  }
  return counter.texts(make_texts_prompt(kit, task, item, choice.name, false).texts);
}

}  // namespace

Result<CensusResult> take_census(const Config& config, const kit::Kit& kit,
                                 const std::vector<Unit>& plan, std::size_t arm_index,
                                 seat::Seat& seat, std::optional<std::int64_t> context,
                                 std::stop_token stop) {
  CensusResult result;
  Counter counter(seat, context, result);
  std::set<std::tuple<std::size_t, std::size_t, std::string>> seen;
  /// Of one item, the `i`-th of `task` there and the `known_as`-th of the kit's.
  const auto count =
      [&](const Arm& arm, const kit::Kit& shown, const kit::Task& task, std::size_t i,
          std::tuple<std::size_t, std::size_t, std::string> known_as) -> Result<void> {
    std::int64_t most = 0;
    for (const ReadingChoice& choice : readings_for(arm, task)) {
      Result<std::int64_t> n = needed(arm, shown, task, task.items[i], choice, counter);
      if (!n) return fail(n.error());
      most = std::max(most, *n);
    }
    if (context && most > *context) result.overlong[std::move(known_as)] = {most, *context};
    return {};
  };
  for (const Unit& unit : plan) {
    if (unit.arm != arm_index) continue;
    if (stop.stop_requested()) break;
    const kit::Task& task = kit.tasks[unit.task];
    const bool other_prompt = changes_prompt(unit.probe);
    if (!unit.probe.empty() && !other_prompt) continue;  // counted with the plain unit
    std::optional<Probed> probed;
    if (other_prompt) probed = make_probed(config, kit, unit);
    for (std::size_t at = 0; at < unit.items.size(); ++at) {
      const std::size_t i = unit.items[at];
      if (!seen.emplace(unit.task, i, unit.probe).second) continue;
      const Result<void> counted =
          probed ? count(probed->arm, probed->kit, probed->kit.tasks[0], at,
                         {unit.task, i, unit.probe})
                 : count(config.arms[arm_index], kit, task, i, {unit.task, i, ""});
      if (!counted && counted.error().code == Error::Code::Unsupported) {
        result.not_measured = counted.error().message;
        return result;
      }
      if (!counted) return fail("census: " + task.name + " " + task.items[i].id, counted.error());
    }
  }
  return result;
}

}  // namespace deem::bench
