#include "bench/longest.h"

#include <fmt/format.h>

#include "base/text.h"
#include "bench/probe.h"
#include "bench/prompts.h"
#include "seat/doctor/doctor.h"

namespace deem::bench {
namespace {

using Verdict = seat::ProbeResult::Verdict;

constexpr std::string_view kName = "longest";
constexpr std::int64_t kWords = 16;  // set before the prompt; each is a token or more
/// As in the census: tokens that a template may add; only to skip what surely fits.
constexpr std::size_t kTemplateRoom = 512;

/// What is asked with: a prompt, or what a decision endpoint gets in its place.
struct Question {
  ReadingKind kind = ReadingKind::Letters;
  std::string prompt = {};
  std::size_t letters = 0;
  seat::DecideRequest decide = {};
};

std::size_t size_of(const Question& question) {
  return question.prompt.size() + question.decide.state.size();
}

std::optional<Question> question_of(const kit::Kit& kit, const kit::Task& task,
                                    const kit::Item& item, const ReadingChoice& choice) {
  const auto kind = find_reading(task, choice.name);
  if (!kind) return std::nullopt;
  Question out{.kind = *kind};
  const std::string& state = kit.states[item.state].text;
  if (*kind == ReadingKind::Letters) {
    const LettersPrompt prompt = make_letters_prompt(kit, item, state);
    out.prompt = prompt.prompts.front();
    out.letters = prompt.groups.front().last - prompt.groups.front().first;
  } else if (*kind == ReadingKind::Written) {
    out.prompt = make_written_prompt(kit, item);
  } else if (*kind == ReadingKind::Native) {
    out.decide = {.state = state, .questions = {{.id = "q1", .question = item.question}}};
  } else {
    return std::nullopt;
  }
  return out;
}

std::optional<Question> find_longest(const Config& config, const kit::Kit& kit,
                                     const std::vector<Unit>& plan, std::size_t arm_index) {
  std::optional<Question> longest;
  for (const Unit& unit : plan) {
    if (unit.arm != arm_index || !unit.probe.empty()) continue;
    const kit::Task& task = kit.tasks[unit.task];
    for (const ReadingChoice& choice : readings_for(config.arms[arm_index], task)) {
      for (const std::size_t i : unit.items) {
        auto question = question_of(kit, task, task.items[i], choice);
        if (question && (!longest || size_of(*question) > size_of(*longest)))
          longest = std::move(question);
      }
    }
  }
  return longest;
}

Question lengthened(Question question) {
  std::string words;
  for (std::int64_t i = 0; i < kWords; ++i) words += i % 2 == 0 ? "tide " : "rose ";
  std::string& text =
      question.kind == ReadingKind::Native ? question.decide.state : question.prompt;
  text.insert(0, words + "\n");
  return question;
}

Result<seat::Usage> ask(const Question& question, const Arm& arm, seat::Seat& seat) {
  const TimePoint now = Clock::now();
  const seat::Schedule schedule{
      now, now + std::chrono::duration_cast<Clock::duration>(Seconds(arm.seat.timeout_s))};
  const auto usage = [](auto&& reply) -> Result<seat::Usage> {
    if (!reply) return fail(reply.error());
    return std::move(reply->usage);
  };
  if (question.kind == ReadingKind::Native) return usage(seat.decide(question.decide, schedule));
  if (question.kind == ReadingKind::Written)
    return usage(seat.write({question.prompt, arm.max_tokens}, schedule));
  return usage(
      seat.first_position({question.prompt, question.letters, arm.policy, arm.top_k}, schedule));
}

/// What a short prompt of the diagnosis was counted as.
std::optional<std::int64_t> short_count(const seat::Diagnosis& diagnosis) {
  const seat::Baseline& known = diagnosis.baseline;
  if (known.decided) return known.decided->prompt_tokens;
  if (known.first) return known.first->usage.prompt_tokens;
  return known.written ? known.written->prompt_tokens : std::nullopt;
}

void find(Longest& out, std::string says) {
  out.probe.verdict = Verdict::Finding;
  out.probe.says = std::move(says);
  out.probe.direction = "false comfort";
}

void judge(const Result<seat::Usage>& whole, const Result<seat::Usage>& more,
           std::optional<std::int64_t> usual, const std::vector<std::string>& readings,
           Longest& out) {
  const auto well = [&](std::string says) {
    out.probe.verdict = Verdict::Ok;
    out.probe.says = std::move(says);
  };
  if (!whole || !more) {
    const Error& error = whole ? more.error() : whole.error();
    const std::string words = printable(error.message, 200);
    if (error.code == Error::Code::BadInput) return well("refuses what is too long: " + words);
    out.probe.says = words;
    return;
  }
  if (whole->truncated || more->truncated) {
    return find(out,
                "the server says that it cuts the longest prompt of this arm, or one "
                "little longer");
  }
  const auto a = whole->prompt_tokens, b = more->prompt_tokens;
  if (!usual) {
    out.probe.says = "it tells no counts of tokens";
    return;
  }
  if (!a || !b) {
    out.probe.spoils = readings;
    return find(out,
                "answers the longest prompt of this arm without a count of its tokens, and "
                "short ones with one: it may have read a part of it");
  }
  if (*b <= *usual) {
    out.probe.says = fmt::format(
        "its counts do not follow the prompt: {} of a short one, {} of "
        "the longest",
        *usual, *b);
    return;
  }
  if (*b >= *a + kWords) return well(fmt::format("reads {} tokens whole", *a));
  out.cut_at = *b;
  find(out, fmt::format("cuts prompts to {} tokens: {} words more than the longest of this arm ({} "
                        "tokens) count as {} more",
                        *b, kWords, *a, *b - *a));
}

}  // namespace

std::optional<Longest> check_longest(const Config& config, const kit::Kit& kit,
                                     const std::vector<Unit>& plan, std::size_t arm_index,
                                     const OpenSeat& open, const std::stop_token& stop) {
  const auto longest = find_longest(config, kit, plan, arm_index);
  if (!longest) return std::nullopt;
  const auto& context = open.identity.context;
  if (context && *context > 0 &&
      size_of(*longest) + kTemplateRoom < static_cast<std::size_t>(*context))
    return std::nullopt;
  const Arm& arm = config.arms[arm_index];
  Longest out;
  out.probe.name = kName;
  const auto whole = ask(*longest, arm, *open.seat);
  ++out.requests;
  Result<seat::Usage> more = fail(Error::Code::Unavailable, "not asked");
  if (whole) {
    more = ask(lengthened(*longest), arm, *open.seat);
    ++out.requests;
  }
  if (stop.stop_requested()) return std::nullopt;
  judge(whole, more, short_count(*open.diagnosis), diagnosed_readings(arm), out);
  return out;
}

std::optional<Longest> check_longest_again(const Config& config, const kit::Kit& kit,
                                           const std::vector<Unit>& plan, std::size_t arm_index,
                                           const OpenSeat& open,
                                           const std::optional<Longest>& before,
                                           const std::stop_token& stop) {
  if (!before || before->probe.verdict != Verdict::Ok) return std::nullopt;
  auto out = check_longest(config, kit, plan, arm_index, open, stop);
  if (out && out->probe.verdict == Verdict::Finding)
    out->probe.spoils = diagnosed_readings(config.arms[arm_index]);
  return out;
}

}  // namespace deem::bench
