// Asking endpoints that answer decisions themselves.
#include "base/check.h"
#include "bench/ask.h"
#include "bench/ask_record.h"
#include "bench/prompts.h"
#include "decision/native.h"

namespace deem::bench {
namespace {

using record::ReadingRecord;

/// The `k`-th of `n` shares of a count; they add up to it.
std::optional<std::int64_t> share_of(const std::optional<std::int64_t>& count, std::size_t k,
                                     std::size_t n) {
  if (!count) return std::nullopt;
  const auto of = static_cast<std::int64_t>(n);
  return *count / of + (static_cast<std::int64_t>(k) < *count % of ? 1 : 0);
}

seat::Usage share_of(seat::Usage usage, std::size_t k, std::size_t n) {
  usage.prompt_tokens = share_of(usage.prompt_tokens, k, n);
  usage.cached_tokens = share_of(usage.cached_tokens, k, n);
  usage.output_tokens = share_of(usage.output_tokens, k, n);
  return usage;
}

seat::Timing share_of(const seat::Timing& timing, std::size_t n) {
  const auto of = static_cast<double>(n);
  return {timing.sent_s / of, timing.first_byte_s / of, timing.done_s / of};
}

}  // namespace

/// Items on one state share a request.
Asker::Records Asker::ask_native(const Arm& arm, const kit::Task& task,
                                 const std::vector<std::size_t>& items) const {
  Records records(items.size());
  std::map<std::string_view, std::vector<std::size_t>> by_state;  // places in the unit
  for (std::size_t i = 0; i < items.size(); ++i) {
    const kit::Item& item = task.items[items[i]];
    records[i].kind = ReadingRecord::Kind::Native;
    records[i].calls = 0;
    set_prompt(records[i], make_native_text(kit_, item));
    by_state[kit_.states[item.state].text].push_back(i);
  }
  for (const auto& [state, places] : by_state) {
    if (decide(arm, task, items, places, records)) continue;
    for (const std::size_t place : places) decide(arm, task, items, {place}, records);
  }
  return records;
}

/// Asks for the items at `places`, all on one state. False: a request of several was refused, which
/// one of them alone may have earned, so each is to be asked alone.
bool Asker::decide(const Arm& arm, const kit::Task& task, const std::vector<std::size_t>& items,
                   const std::vector<std::size_t>& places, Records& records) const {
  const std::size_t n = places.size();
  const kit::Item& first = task.items[items[places.front()]];
  seat::DecideRequest request{.state = kit_.states[first.state].text, .questions = {}};
  for (const std::size_t place : places) {
    request.questions.push_back({.id = "q" + std::to_string(request.questions.size() + 1),
                                 .question = task.items[items[place]].question});
  }
  const Result<seat::DecideReply> reply = seat_.decide(request, schedule_for(arm));
  if (!reply && n > 1 && reply.error().code == Error::Code::BadInput) return false;
  DEEM_CHECK(!reply || reply->answers.size() == n);
  for (std::size_t k = 0; k < n; ++k) {
    ReadingRecord& record = records[places[k]];
    record.group = static_cast<int>(n);
    if (!reply) {
      set_error(record, reply.error());
      continue;
    }
    const auto& question = request.questions[k].question;
    record.native = reply->answers[k];
    record.cause =
        decision::judge_native(record.native, question.type, question.options.size(), arm.min_mass);
    add_cost(record, model_, share_of(reply->usage, k, n), share_of(reply->timing, n));
    check_count(record, reply->usage, make_native_text(kit_, task.items[items[places[k]]]));
  }
  return true;
}

}  // namespace deem::bench
