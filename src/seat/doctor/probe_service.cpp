// Whether it answers, how the list of log-probabilities comes, and what it does with too long a
// prompt.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/text.h"
#include "seat/doctor/session.h"
#include "seat/remote.h"

namespace deem::seat {
namespace {

constexpr std::size_t kSentence = 240;  // of a server's words shown

std::string shown(const Error& error) { return printable(error.message, kSentence); }

/// What the server says of its health, for a finding that it does not work.
std::string health_of(Seat& seat) {
  const auto health = seat.health();
  if (!health) return "";
  return (health->ends_with("HTTP 200") ? ", though " : ", and ") + *health;
}

/// Whole numbers in a sentence, "131,072" as one; none that a letter follows ("128k").
std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::string plain;
  const auto is_digit = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool separator = text[i] == ',' && i > 0 && is_digit(i - 1) && is_digit(i + 1) &&
                           is_digit(i + 2) && is_digit(i + 3) && !is_digit(i + 4);
    if (!separator) plain += text[i];
  }
  std::vector<std::int64_t> out;
  const char* const last = plain.data() + plain.size();
  for (const char* at = plain.data(); at < last;) {
    std::int64_t value = 0;
    const auto [end, ec] = std::from_chars(at, last, value);
    if (end == at) {
      ++at;
      continue;
    }
    const bool unit = end < last && ((*end >= 'a' && *end <= 'z') || (*end >= 'A' && *end <= 'Z'));
    if (ec == std::errc() && value > 0 && !unit) out.push_back(value);
    at = end;
  }
  return out;
}

/// The server's words: without the address and the status, which hold numbers of their own.
std::string_view words_of(const Error& error, const std::string& address) {
  std::string_view text = error.message;
  if (const auto at = text.find(address); at != std::string_view::npos)
    text.remove_prefix(at + address.size());
  constexpr std::string_view kStatus = "HTTP 400: ";
  if (const auto at = text.find("HTTP "); at != std::string_view::npos)
    text.remove_prefix(std::min(text.size(), at + kStatus.size()));
  return text;
}

struct Overlong {
  std::string prompt;
  std::int64_t least = 0;  // tokens it has at least
};

/// A question behind so many words that no tokenizer makes fewer than `tokens` of them.
Overlong make_overlong(Session& session, std::int64_t tokens) {
  Overlong out{.prompt = session.question(0), .least = tokens};
  std::string words;
  words.reserve(static_cast<std::size_t>(tokens) * 2);
  for (std::int64_t i = 0; i < tokens; ++i) words += i % 2 == 0 ? " tide" : " rose";
  out.prompt.insert(0, "Notes:" + words + "\n\n");
  return out;
}

/// Asks by the route that decisions take.
Result<Usage> ask_usage(Session& session, const std::string& prompt) {
  ++session.out.requests;
  if (session.first) {
    auto reply = session.seat.first_position(
        {.prompt = prompt, .letters = Session::kLetters, .policy = session.policy},
        session.schedule());
    if (!reply) return fail(reply.error());
    return std::move(reply->usage);
  }
  auto reply = session.seat.write({.prompt = prompt, .max_tokens = 1}, session.schedule());
  if (!reply) return fail(reply.error());
  return std::move(reply->usage);
}

/// A reply where a refusal was due, or might have been.
void judge_reply(const Overlong& overlong, std::optional<std::int64_t> context, const Usage& usage,
                 Probe& probe) {
  const auto spoil = [&](std::string says) {
    probe.find(std::move(says), "false comfort", {"letters", "likelihood", "written"});
  };
  const bool told = usage.prompt_tokens && *usage.prompt_tokens > 0;
  if (told) probe.note("prompt_tokens", *usage.prompt_tokens);
  if (usage.truncated || (told && *usage.prompt_tokens < overlong.least)) {
    return spoil(fmt::format("cuts silently: of {} tokens or more it read {}, and answered",
                             overlong.least, usage.prompt_tokens.value_or(0)));
  }
  if (!context) {
    const std::string read = told ? "reads a prompt of {} tokens whole"
                                  : "answers one of {} or more and does not tell what it read";
    return probe.skip(
        "the context is not told; it " +
        fmt::format(fmt::runtime(read), told ? *usage.prompt_tokens : overlong.least));
  }
  if (!told) {
    return spoil(fmt::format(
        "answers a prompt of {} tokens or more in a context of {} and does not tell what it read",
        overlong.least, *context));
  }
  spoil(fmt::format("answers a prompt of {} tokens, though it says its context holds {}",
                    *usage.prompt_tokens, *context));
}

/// Whether an error that is no bad request is a refusal of a long prompt all the same.
bool speaks_of_length(std::string_view said) {
  const std::string words = to_lower(said);
  constexpr std::string_view kWords[] = {"context", "too long", "too large", "length", "tokens"};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return words.find(word) != std::string::npos; });
}

/// A refusal: whose numbers it names. One that counts the prompt and names a limit below the
/// context that the server tells contradicts it.
void judge_refusal(const Session& session, const Overlong& overlong,
                   std::optional<std::int64_t> context, const Error& error, Probe& probe) {
  constexpr std::size_t kEnough = 100;
  constexpr std::int64_t kLimit = 256;  // fewer is no context, but tokens of a reply
  const std::string_view said = words_of(error, session.out.identity.address);
  const std::string words = printable(said, kEnough);
  if (error.code != Error::Code::BadInput && !speaks_of_length(said)) {
    return probe.skip("neither answered nor refused: " + shown(error));
  }
  const auto numbers = numbers_in(said);
  const bool named = context && std::ranges::find(numbers, *context) != numbers.end();
  const bool counted = std::ranges::any_of(
      numbers, [&](std::int64_t n) { return n >= overlong.least && n < 100 * overlong.least; });
  const auto limit = std::ranges::find_if(
      numbers, [&](std::int64_t n) { return n >= kLimit && n < context.value_or(0); });
  if (!named && counted && limit != numbers.end()) {
    probe.find(
        fmt::format("it says its context holds {}, and refuses by {}: {}", *context, *limit, words),
        "false alarm", {});
    return;
  }
  probe.well(fmt::format("refuses{}: {}", named ? ", naming its context" : "", words));
}

/// How many tokens to send; none: overrunning takes too long.
std::optional<std::int64_t> tokens_over(std::optional<std::int64_t> context,
                                        const DoctorOptions& options) {
  if (context && *context > options.most_tokens) return std::nullopt;
  const std::int64_t tokens = context ? *context + *context / 20 + 16 : options.blind_tokens;
  return tokens <= options.most_tokens ? std::optional(tokens) : std::nullopt;
}

/// A key that is refused, or a model or a route that is not there.
bool is_refusal_of_all(const Error& error) {
  constexpr int kStatus[] = {401, 403, 404};
  return std::ranges::find(kStatus, http_status(error)) != std::end(kStatus);
}

}  // namespace

ProbeResult probe_answers(Session& session) {
  Probe probe("answers");
  const TimePoint began = Clock::now();
  ++session.out.requests;
  auto written =
      session.seat.write({.prompt = session.question(0), .max_tokens = 16}, session.schedule());
  const double ms = Seconds(Clock::now() - began).count() * 1e3;
  if (!written) {
    if (is_refusal_of_all(written.error())) session.refused = written.error();
    session.no_answers = "it does not answer";
    probe.find(
        written.error().code == Error::Code::Timeout
            ? fmt::format("nothing is written within {:g} s{}", session.options.patience_s,
                          health_of(session.seat))
            : "a request is not answered" + health_of(session.seat) + ": " + shown(written.error()),
        "false comfort", {"letters", "likelihood", "written"});
    return probe.close();
  }
  session.written = std::move(*written);
  session.saw(session.written->usage);
  if (session.written->text.empty() && session.written->thinking.empty())
    probe.find("a reply of 16 tokens holds no text", "false alarm", {"written"});
  session.out.first_answer_s = ms / 1e3;
  auto first = session.ask(session.request(0));
  if (!first && first.error().code == Error::Code::Unsupported) {
    // The letters may have no ids of their own and still be spelled in a list.
    session.policy = decision::LetterPolicy::Reference;
    if (auto listed = session.ask(session.request(0))) first = std::move(listed);
  }
  if (first) {
    session.first = std::move(*first);
  } else if (first.error().code == Error::Code::Unsupported) {
    session.no_letters = shown(first.error());
  } else {
    session.no_letters = "a decision is not answered";
    probe.find("writes, but does not answer a request with logprobs: " + shown(first.error()),
               "false alarm", {"letters"});
  }
  const auto health = session.seat.health();
  probe.well(fmt::format("{} tokens written in {:.0f} ms{}",
                         session.written->usage.output_tokens.value_or(0), ms,
                         health ? ", " + *health : ""));
  return probe.close();
}

ProbeResult probe_shape(Session& session) {
  if (!session.no_answers.empty()) return not_measured("shape", session.no_answers);
  Probe probe("shape");
  const std::string note = session.out.capabilities ? session.out.capabilities->letters_note : "";
  const bool asked = session.out.capabilities && session.out.capabilities->asked_k > 0;
  const std::string shape = session.first ? session.first->shape : asked ? note : "";
  if (!shape.empty()) {
    probe.find("logprobs were asked, and in the reply " + shape, "false alarm", {"letters"});
  } else if (session.first) {
    probe.well(fmt::format("a list of {} entries for the first position",
                           session.first->position.top.size()));
  } else {
    probe.skip(note.empty() ? session.no_letters : printable(note, kSentence));
  }
  return probe.close();
}

ProbeResult probe_overlong(Session& session) {
  if (!session.no_answers.empty()) return not_measured("overlong", session.no_answers);
  auto context = session.out.identity.context;
  if (context && *context <= 0) context.reset();
  const auto tokens = tokens_over(context, session.options);
  if (!tokens) {
    return not_measured(
        "overlong", fmt::format("a context of {} takes too long to overrun", context.value_or(0)));
  }
  Probe probe("overlong");
  const Overlong overlong = make_overlong(session, *tokens);
  const auto reply = ask_usage(session, overlong.prompt);
  if (reply) {
    judge_reply(overlong, context, *reply, probe);
  } else if (reply.error().code == Error::Code::Timeout) {
    probe.skip("no reply: " + shown(reply.error()));
    return probe.close();  // it may be at it still
  } else {
    judge_refusal(session, overlong, context, reply.error(), probe);
  }
  const auto after = ask_usage(session, session.question(1));
  if (!after && is_put_off(after.error())) {
    ++session.busy;
    probe.skip("whether it answers afterwards: " + shown(after.error()));
  } else if (!after && session.failures.empty()) {
    probe.find("after it nothing is answered: " + shown(after.error()), "false alarm", {});
  }
  return probe.close();
}

ProbeResult probe_residency(Session& session) {
  const auto claim = session.seat.claim();
  if (!claim) return not_measured("residency", printable(claim.error().message, kSentence));
  Probe probe("residency");
  probe.note("claim", claim->text);
  if (!claim->vram_bytes) {
    probe.skip("it claims no place: " + printable(claim->text, kSentence));
    return probe.close();
  }
  constexpr double kMib = 1024.0 * 1024.0;
  const double claimed = static_cast<double>(*claim->vram_bytes) / kMib;
  const auto held = session.options.held_mib
                        ? session.options.held_mib()
                        : Result<double>(fail(Error::Code::Unsupported, "no boards are read"));
  if (!held) {
    probe.skip(fmt::format("it claims {:.0f} MiB on boards; {}", claimed,
                           printable(held.error().message, kSentence)));
    return probe.close();
  }
  probe.note("held_mib", *held);
  // As board pin: contexts and buffers are not in a server's count.
  const double off = std::abs(claimed - *held);
  const std::string both =
      fmt::format("it claims {:.0f} MiB on boards, its processes hold {:.0f}", claimed, *held);
  const bool nowhere = claimed >= 64 && *held < claimed / 4;
  if (nowhere || (off > 512 && off > std::max(claimed, *held) / 5)) {
    probe.find(both, claimed > *held ? "false comfort" : "", {});
  } else {
    probe.well(both);
  }
  return probe.close();
}

}  // namespace deem::seat
