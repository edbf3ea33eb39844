// What the model really gets: tokens, template, letters.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "decision/question.h"
#include "decision/spelling.h"
#include "seat/doctor/session.h"

namespace deem::seat {
namespace {

using decision::LetterPolicy;
using decision::VoidCause;

constexpr std::string_view kSample = "Grüße, 你好 — 12.5 % of\n  \"[A] b: c\" 🙂 x_y";

std::string shown(std::string_view text) { return "\"" + printable(text, 60) + "\""; }

std::string shown(const TokenIds& ids, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < std::min(most, ids.size()); ++i)
    out += (i == 0 ? "" : " ") + std::to_string(ids[i]);
  return out;
}

void check_round_trip(Seat& seat, const TokenIds& ids, Probe& probe) {
  const auto back = seat.text_of(ids);
  if (!back) return probe.skip("round trip: " + printable(back.error().message, 120));
  const std::string_view text = *back;
  // Some tokenizers set a space before a text.
  if (text == kSample || (text.starts_with(' ') && text.substr(1) == kSample)) {
    return probe.well(fmt::format("{} tokens come back whole", ids.size()));
  }
  probe.note("came_back", *back);
  probe.find("a text does not come back from its tokens: " + shown(text), "false alarm",
             {"letters", "likelihood", "written"});
}

/// Special tokens that the tokenizer sets before a text.
TokenIds leading(const TokenIds& plain, const TokenIds& special) {
  if (plain.empty() || special.size() <= plain.size()) return {};
  const auto at = std::ranges::search(special, plain);
  return {special.begin(), at.begin()};
}

void check_bos(Seat& seat, const TokenIds& chat, const TokenIds& lead, Probe& probe) {
  const std::string ids = shown(chat, 4);
  probe.note("first_ids", ids);
  if (chat.size() > 1 && chat[0] == chat[1]) {
    probe.find("a chat prompt begins with one token twice (a double BOS): ids " + ids + ", " +
                   shown(seat.text_of({chat[0], chat[1]}).value_or("")),
               "false alarm", {"letters", "written"});
  } else if (!lead.empty() && (chat.empty() || chat[0] != lead[0])) {
    probe.find(fmt::format("the tokenizer sets BOS {} before a text, a chat prompt begins without "
                           "it: ids {}",
                           lead[0], ids),
               "false alarm", {"letters", "written"});
  } else {
    probe.well("a chat prompt begins " + ids);
  }
}

/// The tokens the route shows against those a reply says were run.
void check_count(const char* what, std::size_t tokens, const Usage& usage, Probe& probe) {
  if (!usage.prompt_tokens) return;
  const auto run = *usage.prompt_tokens;
  if (run == static_cast<std::int64_t>(tokens)) return;
  probe.find(
      fmt::format("its tokenizer counts {} tokens of a prompt, {} ran {}", tokens, what, run),
      run < static_cast<std::int64_t>(tokens) ? "false comfort" : "false alarm",
      {"letters", "written"});
}

/// Whether `tail` ends in a thinking channel that it opened.
bool is_open(std::string_view tail) {
  constexpr std::pair<std::string_view, std::string_view> kMarks[] = {
      {"<think>", "</think>"}, {"[THINK]", "[/THINK]"}, {"<seed:think>", "</seed:think>"}};
  return std::ranges::any_of(kMarks, [&](const auto& marks) {
    const auto open = tail.rfind(marks.first), close = tail.rfind(marks.second);
    return open != std::string_view::npos && (close == std::string_view::npos || close < open);
  });
}

void check_tail(Session& session, Probe& probe) {
  constexpr std::size_t kTail = 12;  // tokens
  const auto ids = session.seat.chat_ids(session.question(0));
  if (!ids) return probe.skip("the prompt's end: " + printable(ids.error().message, 120));
  const TokenIds last(ids->end() - static_cast<std::ptrdiff_t>(std::min(kTail, ids->size())),
                      ids->end());
  const auto tail = session.seat.text_of(last);
  if (!tail) return;
  probe.note("tail", *tail);
  std::string end = *tail;
  if (const auto line = end.find('\n'); line != std::string::npos && line + 1 < end.size())
    end.erase(0, line + 1);
  if (is_open(*tail)) {
    probe.find("the prompt ends inside a thinking channel: " + shown(end), "false comfort",
               {"letters"});
  } else {
    probe.well("the prompt ends " + shown(end));
  }
}

void check_thinking(const WriteReply& written, Probe& probe) {
  if (written.thinking.empty()) return probe.well("thinking is closed");
  probe.find(
      fmt::format("thinking is not closed, though asked: it wrote {}", shown(written.thinking)),
      "false comfort", {"letters", "written"});
}

/// The written token or the likeliest entry, whichever is a thinking mark.
std::optional<std::string> thinking_mark(const decision::FirstPosition& position) {
  if (position.sampled && decision::is_thinking_mark(position.sampled->token))
    return position.sampled->token;
  const auto best = std::ranges::max_element(
      position.top, {}, [](const auto& entry) { return entry.logprob.value_or(-1e9); });
  if (best == position.top.end() || !best->logprob || !decision::is_thinking_mark(best->token))
    return std::nullopt;
  return best->token;
}

/// Letters' mass in a list with look-alikes; none where a letter is listed without a number.
std::optional<double> folded_mass(const decision::FirstPosition& position) {
  const bool gap = std::ranges::any_of(position.top, [](const auto& entry) {
    return !entry.logprob && entry.token.size() == 1 &&
           decision::letter_index(entry.token[0], Session::kLetters);
  });
  if (gap || position.top.empty() || !position.exact.empty()) return std::nullopt;
  return decision::read_letters(position, Session::kLetters, {.policy = LetterPolicy::Fold})
      .mass_letters;
}

/// What stands at position 0 in place of a letter.
void check_first(const PositionReply& reply, Probe& probe) {
  const auto reading = read(reply);
  const auto& position = reply.position;
  const std::string top = shown(reading.top_token);
  probe.note("mass_letters", reading.mass_letters);
  const auto find = [&](std::string says) {
    probe.find(std::move(says), "false comfort", {"letters"});
  };
  if (const auto mark = thinking_mark(position)) {
    return find("position 0 holds a thinking token, " + shown(*mark));
  }
  switch (reading.cause) {
    case VoidCause::MultiCharacter:
      return find("position 0 begins a longer word, " + top);
    case VoidCause::LowLabelMass:
      return find(fmt::format("position 0 holds {}, the letters have {:.1e} of it", top,
                              reading.mass_letters));
    case VoidCause::None:
    case VoidCause::Undecided:
      return probe.well(
          fmt::format("position 0 holds {}, letters have {:.2f} of it", top, reading.mass_letters));
    case VoidCause::NoLetterSeen:
      if (const auto mass = folded_mass(position); mass && *mass < decision::LettersRule{}.min_mass)
        return find(fmt::format("position 0 holds {}, the letters have {:.1e} of it", top, *mass));
      break;
    default:
      break;
  }
  probe.skip("position 0: no reading (" + std::string(to_string(reading.cause)) + ")");
}

/// The token of position 0 against what is written.
void check_written(const PositionReply& reply, const WriteReply& written, Probe& probe) {
  const auto& sampled = reply.position.sampled;
  if (!sampled || written.text.empty() || !written.thinking.empty()) return;
  const std::string_view token = decision::strip_look_alike(sampled->token);
  if (token.empty() || !is_utf8(token) || token.find("\xEF\xBF\xBD") != std::string_view::npos)
    return;
  if (decision::is_thinking_mark(token)) return;
  const auto reading = read(reply);
  const std::string_view text = decision::strip_look_alike(written.text);
  if (text.starts_with(token.substr(0, text.size()))) return;
  if (reading.top_logprob && *reading.top_logprob < -0.6) return;  // another may be as likely
  probe.find("position 0 says " + shown(token) + ", the reply begins " + shown(text.substr(0, 20)),
             "false comfort", {"letters"});
}

/// The mass that letters have with look-alikes, beside that of the bare letters.
void compare_spellings(Session& session, Probe& probe) {
  const auto fold = session.ask(session.request(0, LetterPolicy::Fold));
  if (!fold) return probe.skip("look-alikes: " + printable(fold.error().message, 120));
  const auto bare = read(*session.first);
  const auto folded =
      decision::read_letters(fold->position, Session::kLetters, {.policy = LetterPolicy::Fold});
  probe.note("mass_exact", bare.mass_letters);
  probe.note("mass_fold", folded.mass_letters);
  const std::string masses = fmt::format("bare letters have {:.2f}, with look-alikes {:.2f}",
                                         bare.mass_letters, folded.mass_letters);
  const bool fine = folded.mass_letters <= 1.001;
  if (fine && folded.mass_letters > bare.mass_letters + 0.05) {
    probe.find(masses + ": read with --policy fold", "false alarm", {"letters"});
  } else if (fine && bare.mass_letters > 0) {
    probe.well(masses);
  } else {
    probe.skip("spellings: no letter has a number that can be compared");
  }
}

}  // namespace

ProbeResult probe_tokenizer(Session& session) {
  Seat& seat = session.seat;
  const auto plain = seat.text_ids(std::string(kSample), false);
  if (!plain) return not_measured("tokenizer", printable(plain.error().message, 200));
  Probe probe("tokenizer");
  check_round_trip(seat, *plain, probe);
  const auto special = seat.text_ids(std::string(kSample), true);
  const auto chat = seat.chat_ids(session.question(0));
  if (special && chat) check_bos(seat, *chat, leading(*plain, *special), probe);
  if (!chat) probe.skip("chat prompts: " + printable(chat.error().message, 120));
  if (chat && session.first) check_count("a decision", chat->size(), session.first->usage, probe);
  if (chat && session.written) check_count("a reply", chat->size(), session.written->usage, probe);
  return probe.close();
}

ProbeResult probe_template(Session& session) {
  Probe probe("template");
  check_tail(session, probe);
  if (session.written) check_thinking(*session.written, probe);
  if (session.first) check_first(*session.first, probe);
  if (session.first && session.written) check_written(*session.first, *session.written, probe);
  if (!session.first) probe.skip("position 0: " + session.no_reading());
  return probe.close();
}

ProbeResult probe_letters(Session& session) {
  if (!session.no_answers.empty()) return not_measured("letters", session.no_answers);
  Probe probe("letters");
  const auto proof = session.seat.prove_letters(decision::kLetters);
  if (!proof && proof.error().code == Error::Code::Unsupported) {
    probe.find(printable(proof.error().message, 200), "false comfort", {"letters"});
  } else if (!proof) {
    probe.skip(printable(proof.error().message, 200));
  } else if (proof->how == "spelling only") {
    probe.skip("that they are one token each: no ids, told apart by spelling only");
  } else {
    probe.well(fmt::format("{} letters are one distinct token each (by {})", decision::kLetters,
                           proof->how));
  }
  if (session.first) {
    compare_spellings(session, probe);
  } else {
    probe.skip("spellings: " + session.no_reading());
  }
  return probe.close();
}

}  // namespace deem::seat
