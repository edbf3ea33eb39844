// The easy questions asked by every reading: letters in every rotation, likelihoods, writing.
#include "seat/doctor/sanity_readings.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/text.h"
#include "decision/layout.h"
#include "decision/likelihood.h"
#include "decision/readout.h"
#include "decision/written.h"

namespace deem::seat {
namespace {

using decision::Question;
using decision::VoidCause;

constexpr std::size_t kItems = std::size(kSanityItems);
constexpr std::string_view kEmpty = "N/A";  // where nothing is asked
constexpr double kAlike = 0.01;             // letters closer than this are alike
constexpr double kEven = 0.9;               // of the prompts, whose letters are alike

std::string prompt_of(std::string_view state, const Question& question) {
  static const decision::Layout layout = decision::reference_layout();
  return decision::render_letters(layout, state, question, question.options);
}

/// A question without content: what it says to its letters is their prior.
Question nothing_asked(std::size_t n) {
  Question out;
  out.instructions = kEmpty;
  out.options.assign(n, {.key = std::string(kEmpty)});
  return out;
}

std::vector<SanityAnswers> named(std::initializer_list<std::string_view> names) {
  std::vector<SanityAnswers> out;
  for (const std::string_view name : names) {
    out.push_back({.name = std::string(name), .said = {}});
    out.back().said.resize(kItems);
  }
  return out;
}

}  // namespace

LetterAnswers::LetterAnswers(Session& session) : session_(session) {
  for (std::size_t n = 2; n <= 4; ++n) prompts_.push_back({.item = kItems, .size = n});
  for (std::size_t i = 0; i < kItems; ++i) {
    for (std::size_t shift = 0; shift < kSanityItems[i].size; ++shift)
      prompts_.push_back({.item = i, .shift = shift, .size = kSanityItems[i].size});
  }
}

void LetterAnswers::ask() {
  std::vector<Session::Group> groups(kItems + 1);
  std::vector<std::vector<Prompt*>> of(kItems + 1);
  for (Prompt& prompt : prompts_) {
    const bool empty = prompt.item == kItems;
    groups[prompt.item].push_back(
        {.prompt = empty ? prompt_of(kEmpty, nothing_asked(prompt.size))
                         : prompt_of(kSanityItems[prompt.item].state,
                                     rotated(kSanityItems[prompt.item], prompt.shift)),
         .letters = prompt.size,
         .policy = session_.policy});
    of[prompt.item].push_back(&prompt);
  }
  const auto replies = session_.ask_groups(groups);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    for (std::size_t k = 0; k < replies[i].size(); ++k) take(replies[i][k], *of[i][k]);
  }
}

std::vector<SanityAnswers> LetterAnswers::answers() const {
  auto out = named({"letters", "letters-orders", "letters-prior"});
  std::map<std::size_t, std::vector<double>> priors;
  for (const Prompt& prompt : prompts_) {
    if (prompt.item == kItems && prompt.scores) priors[prompt.size] = *prompt.scores;
  }
  std::vector<std::vector<double>> sums(kItems);
  std::vector<std::size_t> counts(kItems);
  for (const Prompt& prompt : prompts_) {
    if (prompt.item == kItems || !prompt.scores) continue;
    const std::size_t n = prompt.size, i = prompt.item;
    const auto p = decision::softmax(*prompt.scores);
    sums[i].resize(n);
    for (std::size_t place = 0; place < n; ++place) sums[i][(place + prompt.shift) % n] += p[place];
    if (++counts[i] == n) out[1].said[i] = decision::argmax(sums[i]);
    if (prompt.shift != 0) continue;
    out[0].said[i] = decision::argmax(*prompt.scores);
    const auto prior = priors.find(n);
    if (prior == priors.end()) continue;
    std::vector<double> less = *prompt.scores;
    for (std::size_t place = 0; place < n; ++place) less[place] -= prior->second[place];
    out[2].said[i] = decision::argmax(less);
  }
  return out;
}

void LetterAnswers::tell(Probe& probe) const {
  std::vector<RotatedAnswer> chosen;
  std::size_t alike = 0;
  for (const Prompt& prompt : prompts_) {
    if (prompt.item == kItems || !prompt.scores) continue;
    const std::size_t place = decision::argmax(*prompt.scores);
    chosen.push_back({.item = prompt.item,
                      .shift = prompt.shift,
                      .option = (place + prompt.shift) % prompt.size});
    const auto p = decision::softmax(*prompt.scores);
    alike += std::ranges::max(p) - std::ranges::min(p) < kAlike ? 1U : 0U;
  }
  if (!void_.empty()) {
    std::string causes;
    for (const auto& [cause, times] : void_)
      causes += fmt::format("{}{} {}", causes.empty() ? "" : ", ", times, cause);
    probe.advise("letters without a reading: " + causes);
  }
  if (chosen.empty()) return;
  tell_places(places_of(chosen), probe);
  if (static_cast<double>(alike) >= kEven * static_cast<double>(chosen.size()))
    probe.advise(fmt::format("letters are all alike in {} of {} prompts", alike, chosen.size()));
  probe.note("letters_alike", static_cast<std::int64_t>(alike));
  probe.note("letters_mass", mass_ / static_cast<double>(chosen.size()));
  codec::Json priors = codec::Json::array();
  for (const Prompt& prompt : prompts_) {
    if (prompt.item != kItems || !prompt.scores) continue;
    codec::Json one = codec::Json::array();
    for (const double p : decision::softmax(*prompt.scores)) one.push(p);
    priors.push(std::move(one));
  }
  probe.note("letters_prior", std::move(priors));
}

void LetterAnswers::take(const Result<PositionReply>& reply, Prompt& prompt) {
  if (!reply) {
    ++void_["not answered"];
    return;
  }
  const auto reading = decision::read_letters(reply->position, prompt.size, {});
  // What has no content may leave the letters next to nothing; their order is their prior still.
  const bool usable = reading.cause == VoidCause::None ||
                      (prompt.item == kItems && reading.cause == VoidCause::LowLabelMass);
  if (!usable) {
    ++void_[std::string(to_string(reading.cause))];
    return;
  }
  prompt.scores = decision::fill_missing(reading, session_.policy).logprobs;
  if (prompt.item != kItems) mass_ += reading.mass_letters;
}

std::vector<SanityAnswers> sanity_by_likelihood(Session& session, Probe& probe) {
  auto out = named({"cloze", "cloze-prior"});
  constexpr std::string_view kPremise = "Answer:";
  std::vector<std::string> words;  // of every option once
  for (const SanityItem& item : kSanityItems) {
    for (const auto& option : std::span(item.options).first(item.size)) {
      if (std::ranges::find(words, option) == words.end()) words.emplace_back(option);
    }
  }
  std::vector<std::optional<decision::TextScore>> priors(words.size());
  std::vector<std::vector<decision::TextScore>> texts(kItems);
  std::string failed;
  const auto ask = [&](const std::vector<LikelihoodRequest>& requests) {
    std::vector<decision::TextScore> scores;
    std::vector<Result<LikelihoodReply>> replies;
    if (session.out.identity.kind == "local") {
      replies = session.seat.likelihoods(requests, session.schedule());
    } else {
      for (const LikelihoodRequest& request : requests) {
        replies.push_back(session.seat.likelihood(request, session.crowd_schedule()));
        if (!replies.back()) break;
      }
    }
    for (const auto& reply : replies) {
      if (!reply) {
        session.missed(reply.error());
        return std::pair{scores, reply.error().message};
      }
      scores.push_back(reply->text);
    }
    return std::pair{scores, std::string()};
  };
  std::mutex mutex;  // guards failed and the count of requests
  session.each_of(kItems + 1, [&](std::size_t i) {
    std::vector<LikelihoodRequest> requests;
    if (i == kItems) {
      for (const std::string& word : words)
        requests.push_back({.given = std::string(kPremise), .score = " " + word});
    } else {
      const SanityItem& item = kSanityItems[i];
      const std::string given = std::string(item.state) +
                                "\n\nQuestion: " + std::string(item.question) + "\n" +
                                std::string(kPremise);
      for (const auto& option : std::span(item.options).first(item.size))
        requests.push_back({.given = given, .score = " " + std::string(option)});
    }
    auto [scores, why] = ask(requests);
    const std::scoped_lock lock(mutex);
    session.out.requests += static_cast<int>(requests.size());
    if (!why.empty()) {
      failed = why;
      session.failed("likelihood", {Error::Code::Unavailable, why});
    } else if (i == kItems) {
      std::ranges::copy(scores, priors.begin());
    } else {
      texts[i] = std::move(scores);
    }
  });
  if (!failed.empty()) probe.advise("a likelihood is not answered: " + printable(failed, 120));
  for (std::size_t i = 0; i < kItems; ++i) {
    if (texts[i].empty()) continue;
    std::vector<std::optional<decision::TextScore>> own;
    for (const auto& option : std::span(kSanityItems[i].options).first(kSanityItems[i].size)) {
      own.push_back(
          priors[static_cast<std::size_t>(std::ranges::find(words, option) - words.begin())]);
    }
    if (decision::judge_texts(texts[i], own) != VoidCause::None) continue;
    for (const bool prior : {false, true}) {
      const auto scores = decision::option_scores(texts[i], own, {.prior = prior});
      if (scores) out[prior ? 1 : 0].said[i] = decision::argmax(*scores);
    }
  }
  return out;
}

std::vector<SanityAnswers> sanity_by_writing(Session& session) {
  auto out = named({"written"});
  std::mutex mutex;  // guards the session's failures
  session.each_of(kItems, [&](std::size_t i) {
    const Question question = kSanityItems[i].asked();
    const auto reply = session.seat.write({.prompt = prompt_of(kSanityItems[i].state, question)},
                                          session.crowd_schedule());
    {
      const std::scoped_lock lock(mutex);
      if (reply) session.saw(reply->usage);
      if (!reply) session.missed(reply.error());
      if (!reply) session.failed("written", reply.error());
    }
    if (reply) out[0].said[i] = decision::parse_written(reply->text, question.options).option;
  });
  session.out.requests += static_cast<int>(kItems);
  return out;
}

}  // namespace deem::seat
