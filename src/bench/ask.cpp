#include "bench/ask.h"

#include <algorithm>

#include "base/check.h"
#include "base/digest.h"
#include "base/text.h"
#include "bench/ask_record.h"
#include "bench/prompts.h"
#include "decision/likelihood.h"
#include "decision/overlap.h"

namespace deem::bench {

using record::ReadingRecord;

std::optional<decision::TextScore> PriorMemo::find(const seat::LikelihoodRequest& request) const {
  const std::scoped_lock lock(mutex_);
  const auto found = scores_.find({request.given, request.score, request.chat});
  return found == scores_.end() ? std::nullopt : std::optional(found->second);
}

void PriorMemo::keep(const seat::LikelihoodRequest& request, const decision::TextScore& score) {
  const std::scoped_lock lock(mutex_);
  scores_[{request.given, request.score, request.chat}] = score;
}

record::Row make_row(const Arm& arm, const kit::Kit& kit, const kit::Task& task,
                     const kit::Item& item, int repeat) {
  record::Row row;
  row.arm = arm.name;
  row.task = task.name;
  row.id = item.id;
  row.repeat = repeat;
  row.type = item.question.type;
  row.mode = to_string(arm.mode);
  for (const auto& option : item.question.options) row.keys.push_back(option.key);
  row.label = item.label;
  row.kind = item.kind;
  const kit::State& state = kit.states[item.state];
  row.state_id = state.id;
  row.state_sha256 = state.sha256;
  row.state_chars = static_cast<std::int64_t>(count_code_points(state.text));
  if (const auto language = item.meta.find("language"); language != item.meta.end())
    row.language = language->second;
  row.constants = arm.constants;
  if (const auto overlap = decision::overlap_choice(state.text, item.question)) {
    row.overlap_choice = static_cast<int>(overlap->option);
  }
  return row;
}

seat::Schedule Asker::schedule_for(const Arm& arm) const {
  const TimePoint now = Clock::now();
  return {now, now + std::chrono::duration_cast<Clock::duration>(Seconds(arm.seat.timeout_s)),
          cold_};
}

void Asker::check_count(ReadingRecord& record, const seat::Usage& usage,
                        const std::string& prompt) const {
  const std::optional<std::int64_t> counted = usage.prompt_tokens;
  if (usage.truncated) record.cause = decision::VoidCause::TruncatedPrompt;
  const auto census = census_.find(sha256_hex(prompt));
  if (census != census_.end()) {
    record.census_tokens = record.census_tokens.value_or(0) + census->second;
    if (counted && *counted < census->second) record.cause = decision::VoidCause::TruncatedPrompt;
  } else if (counted &&
             ((context_ && *counted >= *context_) || (cut_at_ && *counted >= *cut_at_))) {
    // No census to compare with; a prompt that fills the whole context was cut to fit it.
    record.cause = decision::VoidCause::TruncatedPrompt;
  }
}

void Asker::call_letters(const Arm& arm, const std::vector<LettersCall>& calls,
                         Records& records) const {
  std::vector<seat::PositionRequest> requests;
  requests.reserve(calls.size());
  for (const LettersCall& call : calls) {
    requests.push_back({call.prompt, call.options.size(), arm.policy, arm.top_k});
  }
  std::vector<Result<seat::PositionReply>> replies;
  const seat::Schedule schedule = schedule_for(arm);
  if (requests.size() == 1)
    replies.push_back(seat_.first_position(requests.front(), schedule));
  else
    replies = seat_.first_positions(requests, schedule);
  DEEM_CHECK(replies.size() == calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    ReadingRecord& record = records[calls[i].item];
    if (!replies[i]) {
      set_error(record, replies[i].error());
      continue;
    }
    const auto& reply = *replies[i];
    ReadingRecord::Round round{calls[i].options,
                               decision::read_letters(reply.position, calls[i].options.size(),
                                                      {arm.policy, arm.min_mass})};
    if (calls[i].prior) {
      record.prior_s += reply.timing.done_s;
      if (!record.prior_rounds) record.prior_rounds.emplace();
      record.prior_rounds->push_back(std::move(round));
      continue;
    }
    if (round.letters.cause != decision::VoidCause::None) record.cause = round.letters.cause;
    if (reply.position.exact.empty()) record.asked_k = reply.position.asked_k;
    record.rounds.push_back(std::move(round));
    add_cost(record, model_, reply.usage, reply.timing);
    check_count(record, reply.usage, calls[i].prompt);
  }
}

/// The last round of tournaments: winners of each group meet.
void Asker::finals(const Arm& arm, const kit::Task& task, const std::vector<std::size_t>& items,
                   Records& records) const {
  std::vector<LettersCall> calls;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const kit::Item& item = task.items[items[i]];
    const ReadingRecord& record = records[i];
    if (record.rounds.size() < 2 || record.error || record.cause != decision::VoidCause::None)
      continue;
    std::vector<std::size_t> winners;
    for (const auto& round : record.rounds) {
      const auto filled = decision::fill_missing(round.letters, arm.policy);
      winners.push_back(round.options[decision::argmax(filled.logprobs)]);
    }
    std::string prompt = make_final_prompt(kit_, item, kit_.states[item.state].text, winners);
    calls.push_back({i, std::move(winners), std::move(prompt), false});
  }
  if (!calls.empty()) call_letters(arm, calls, records);
}

Asker::Records Asker::ask_letters(const Arm& arm, const kit::Task& task,
                                  const std::vector<std::size_t>& items, bool prior) const {
  Records records(items.size());
  std::vector<LettersCall> calls, prior_calls;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const kit::Item& item = task.items[items[i]];
    ReadingRecord& record = records[i];
    record.kind = ReadingRecord::Kind::Letters;
    record.policy = arm.policy;
    record.calls = 0;
    record.group = static_cast<int>(items.size());
    const auto add_calls = [&](std::string_view state, bool is_prior,
                               std::vector<LettersCall>& out) {
      const LettersPrompt prompt = make_letters_prompt(kit_, item, state);
      for (std::size_t g = 0; g < prompt.groups.size(); ++g) {
        std::vector<std::size_t> options;
        for (std::size_t o = prompt.groups[g].first; o < prompt.groups[g].last; ++o)
          options.push_back(o);
        out.push_back({i, std::move(options), prompt.prompts[g], is_prior});
      }
      if (!is_prior) set_prompt(record, prompt.prompts.front());
    };
    add_calls(kit_.states[item.state].text, false, calls);
    // A tournament has no prior: which options meet in the final depends on the state.
    const bool one_round = item.question.options.size() <= decision::kLetters;
    if (prior && one_round) add_calls(task.empty, true, prior_calls);
  }
  call_letters(arm, calls, records);
  finals(arm, task, items, records);
  std::erase_if(prior_calls,
                [&](const LettersCall& call) { return records[call.item].error.has_value(); });
  if (!prior_calls.empty()) call_letters(arm, prior_calls, records);
  return records;
}

Asker::Records Asker::ask_texts(const Arm& arm, const kit::Task& task,
                                const std::vector<std::size_t>& items,
                                const ReadingChoice& choice) const {
  Records records(items.size());
  std::vector<seat::LikelihoodRequest> requests;
  struct Target {
    std::size_t item = 0, text = 0;
    bool prior = false;
  };
  std::vector<Target> targets;
  std::map<std::tuple<std::string, std::string, bool>, std::size_t> asked_priors;
  std::vector<TextsPrompt> prompts;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const kit::Item& item = task.items[items[i]];
    ReadingRecord& record = records[i];
    record.kind = ReadingRecord::Kind::Texts;
    record.calls = 0;
    record.group = static_cast<int>(items.size());
    TextsPrompt prompt = make_texts_prompt(kit_, task, item, choice.name, choice.prior);
    record.texts.resize(prompt.texts.size());
    record.priors.resize(prompt.texts.size());
    if (prompt.digest.empty())
      set_prompt(record, prompt.texts.front().given);
    else
      record.prompt_sha256 = prompt.digest;
    for (std::size_t t = 0; t < prompt.texts.size(); ++t) {
      requests.push_back(prompt.texts[t]);
      targets.push_back({i, t, false});
    }
    for (std::size_t t = 0; t < prompt.priors.size(); ++t) {
      const auto& request = prompt.priors[t];
      if (!request || memo_.find(*request)) continue;
      const auto [_, fresh] = asked_priors.try_emplace(
          {request->given, request->score, request->chat}, requests.size());
      if (!fresh) continue;
      requests.push_back(*request);
      targets.push_back({i, t, true});
    }
    prompts.push_back(std::move(prompt));
  }
  const auto replies = seat_.likelihoods(requests, schedule_for(arm));
  DEEM_CHECK(replies.size() == requests.size());
  for (std::size_t k = 0; k < replies.size(); ++k) {
    ReadingRecord& record = records[targets[k].item];
    if (!replies[k]) {
      set_error(record, replies[k].error());
      continue;
    }
    if (targets[k].prior) {
      memo_.keep(requests[k], replies[k]->text);
      record.prior_s += replies[k]->timing.done_s;
      continue;
    }
    record.texts[targets[k].text] = replies[k]->text;
    add_cost(record, model_, replies[k]->usage, replies[k]->timing);
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (std::size_t t = 0; t < prompts[i].priors.size(); ++t) {
      if (prompts[i].priors[t]) records[i].priors[t] = memo_.find(*prompts[i].priors[t]);
    }
    if (!records[i].error)
      records[i].cause = decision::judge_texts(records[i].texts, records[i].priors);
  }
  return records;
}

ReadingRecord Asker::ask_written(const Arm& arm, const kit::Item& item) const {
  ReadingRecord record;
  record.kind = ReadingRecord::Kind::Written;
  record.calls = 0;
  const std::string prompt = make_written_prompt(kit_, item);
  set_prompt(record, prompt);
  Result<seat::WriteReply> reply = seat_.write({prompt, arm.max_tokens}, schedule_for(arm));
  if (!reply) {
    set_error(record, reply.error());
    return record;
  }
  record.reply = reply->text;
  const auto& options = item.question.options;
  record.answer =
      arm.policy == decision::LetterPolicy::Reference && options.size() <= decision::kLetters
          ? decision::parse_written_reference(reply->text, options.size())
          : decision::parse_written(reply->text, options);
  add_cost(record, model_, reply->usage, reply->timing);
  check_count(record, reply->usage, prompt);
  return record;
}

std::vector<record::Row> Asker::ask(const Arm& arm, const Unit& unit) const {
  const kit::Task& task = kit_.tasks[unit.task];
  std::vector<record::Row> rows;
  for (const std::size_t i : unit.items) {
    rows.push_back(make_row(arm, kit_, task, task.items[i], unit.repeat));
  }
  for (const ReadingChoice& choice : readings_for(arm, task)) {
    const auto kind = find_reading(task, choice.name);
    if (!kind) continue;
    if (*kind == ReadingKind::Written) {
      for (record::Row& row : rows) row.mode = to_string(Mode::Generate);
    }
    Records records;
    if (*kind == ReadingKind::Letters) {
      records = ask_letters(arm, task, unit.items, choice.prior);
    } else if (*kind == ReadingKind::Written) {
      for (const std::size_t i : unit.items) records.push_back(ask_written(arm, task.items[i]));
    } else if (*kind == ReadingKind::Native) {
      records = ask_native(arm, task, unit.items);
    } else {
      records = ask_texts(arm, task, unit.items, choice);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].readings.emplace(choice.name, std::move(records[i]));
    }
  }
  for (record::Row& row : rows) {
    row.stamp = utc_stamp();
    const bool all_failed = std::ranges::all_of(
        row.readings, [](const auto& r) { return r.second.error && !r.second.unsupported; });
    if (all_failed && !row.readings.empty()) {
      row.status = record::Row::Status::Error;
      row.reason = *row.readings.begin()->second.error;
    }
  }
  return rows;
}

}  // namespace deem::bench
