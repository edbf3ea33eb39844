// What the answers of a decision endpoint can be trusted for: it makes its own prompts, so only
// what it says can be held against itself.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "decision/native.h"
#include "decision/readout.h"
#include "seat/doctor/native.h"
#include "seat/remote.h"

namespace deem::seat {
namespace {

using decision::QuestionType;
using Question = Native::Question;
using Probs = Native::Probs;

constexpr std::string_view kReading = Native::kReading;

/// Sample standard deviation of the option where it is largest.
double spread_of(const std::vector<Probs>& told) {
  double most = 0;
  const double n = static_cast<double>(told.size());
  for (std::size_t i = 0; i < told.front().size(); ++i) {
    double mean = 0, squares = 0;
    for (const Probs& one : told) mean += one[i] / n;
    for (const Probs& one : told) squares += (one[i] - mean) * (one[i] - mean);
    most = std::max(most, std::sqrt(squares / (n - 1)));
  }
  return most;
}

/// The choice once more.
void tell_again(Native& native, Probe& probe) {
  if (!native.broken.empty()) return;
  const Question asked = Native::choice("q1");
  const auto probs = native_probs_of(native.ask({asked}), asked);
  if (!probs)
    return probe.find("choice, again: " + shown(probs.error()), "false alarm", {kReading});
  native.told.push_back(*probs);
}

/// How far the answers told are from one another.
void tell_spread(Native& native, Probe& probe) {
  if (native.told.size() < 2) return;
  native.spread = spread_of(native.told);
  probe.note("spread", native.spread);
  const double moved = largest_move(native.told);
  if (moved > kDrift)
    probe.find(fmt::format("choice, again: a probability moves by {:.2f}", moved), "false comfort",
               {kReading});
}

/// The most that a probability is off the nearest of the answers told before.
double off(const Native& native, const Probs& probs) {
  double least = 1;
  for (const Probs& one : native.told) least = std::min(least, apart(probs, one));
  return least;
}

/// score against Σ i·p, as far as rounding lets them part (jevcompat's tolerance).
void check_score(const DecideReply& reply, const Question& asked, Probe& probe) {
  const auto& answer = reply.answers[0];
  if (!answer.score) return;
  Probs given;
  for (const auto& p : answer.probs) given.push_back(*p);
  const double n = static_cast<double>(given.size());
  const double slack = 0.02 + decision::printed_step(given) * (1 + n * (n - 1) / 2);
  const double expected = decision::expectation(given);
  if (std::abs(*answer.score - expected) <= slack) return;
  probe.find(fmt::format("score {:.3f} where its own probabilities of {} levels say {:.3f}",
                         *answer.score, asked.question.options.size(), expected),
             "", {});
}

}  // namespace

ProbeResult probe_native_answers(Native& native) {
  Probe probe("answers");
  double step = 1;
  for (const auto& [name, asked] :
       {std::pair{"choice", Native::choice("q1")}, std::pair{"noul", Native::noul("q1")},
        std::pair{"score", Native::score("q1")}}) {
    const auto reply = native.ask({asked});
    const auto probs = native_probs_of(reply, asked);
    if (!probs) {
      const std::string why = std::string(name) + ": " + shown(probs.error());
      if (asked.question.type == QuestionType::Choice) native.broken = why;
      probe.find(why, "false alarm", {kReading});
      continue;
    }
    Probs given;
    for (const auto& p : reply->answers[0].probs) given.push_back(*p);
    step = std::min(step, decision::printed_step(given));
    if (asked.question.type == QuestionType::Choice) {
      native.told = {*probs};
      native.step = decision::printed_step(given);
      native.usage = reply->usage;
      tell_again(native, probe);
      tell_again(native, probe);
    }
    if (asked.question.type == QuestionType::Score) check_score(*reply, asked, probe);
    if (reply->usage.served_model) probe.note("served_model", *reply->usage.served_model);
    if (reply->answers[0].label_mass) probe.note("label_mass", *reply->answers[0].label_mass);
  }
  tell_again(native, probe);
  tell_spread(native, probe);
  if (!probe.found()) probe.well("choice, noul and score: options, sums and choices hold");
  if (step < 1) probe.note("step", step);
  if (step >= 0.01 && step < 1) {
    probe.advise("printed in steps of 0.01, so 0 and 1 occur and log loss hangs on its clip");
  }
  return probe.close();
}

namespace {

/// One question again, otherwise: its probabilities must not move.
struct Again {
  const char* how;
  std::vector<Question> questions;
  std::size_t at = 0;  // of the choice among them
};

ProbeResult compare(Native& native, std::string_view name, const std::vector<Again>& ways,
                    std::string_view spoils) {
  Probe probe(name);
  double most = 0;
  for (const Again& way : ways) {
    const auto probs = native_probs_of(native.ask(way.questions), way.questions[way.at], way.at);
    if (!probs) {
      probe.find(std::string(way.how) + ": " + shown(probs.error()), "false alarm", {kReading});
      continue;
    }
    const double moved = off(native, *probs);
    most = std::max(most, moved);
    if (moved > std::max(kNativeDrift, 3 * native.spread) + native.step) {
      probe.find(fmt::format("{}: a probability moves by {:.2f}", way.how, moved), "false comfort",
                 {spoils});
    }
  }
  if (!probe.found()) probe.well(fmt::format("within {:.4f}", most));
  probe.note("apart", most);
  return probe.close();
}

}  // namespace

ProbeResult probe_ids(Native& native) {
  return compare(native, "ids",
                 {{"under the id of the right answer", {Native::choice("nine")}},
                  {"under a long id", {Native::choice("Zq_7f3.question-about-departure")}}},
                 kReading);
}

ProbeResult probe_company(Native& native) {
  return compare(native, "company",
                 {{"with two others behind it",
                   {Native::choice("q1"), Native::noul("q2"), Native::score("q3")}},
                  {"with two others before it",
                   {Native::score("q2"), Native::noul("q3"), Native::choice("q1")},
                   2}},
                 kReading);
}

ProbeResult probe_native_repeat(Native& native) {
  Probe probe("repeat");
  constexpr int kTimes = 4;
  double again = largest_move(native.told);
  std::string failed;
  for (int i = 0; i < kTimes; ++i) {
    const NativeAgain one = ask_native_again(native.session, native.told.back(), 1);
    again = std::max(again, one.apart);
    if (!one.failed.empty()) failed = one.failed;
  }
  const auto times = static_cast<std::size_t>(std::max(1, native.session.options.crowd));
  const NativeAgain together = ask_native_again(native.session, native.told.back(), times);
  const double crowd = together.apart;
  if (!together.failed.empty()) failed = together.failed;
  if (!failed.empty()) probe.find("not always answered: " + failed, "false alarm", {kReading});
  if (again > kDrift) {
    probe.find(fmt::format("asked again: a probability moves by {:.2f}", again), "false comfort",
               {kReading});
  }
  if (crowd > kDrift) {
    probe.find(fmt::format("{} in flight: a probability moves by {:.2f}", times, crowd),
               "false comfort", {kReading});
  }
  if (!probe.found()) {
    probe.well(fmt::format("{} times: within {:.4f}; {} in flight: within {:.4f}",
                           native.told.size() + kTimes, again, times, crowd));
  }
  probe.note("again", again);
  probe.note("crowd", crowd);
  return probe.close();
}

ProbeResult probe_native_overlong(Native& native) {
  Probe probe("overlong");
  const std::int64_t tokens = native.session.options.blind_tokens;
  DecideRequest request = native.request({Native::choice("q1")});
  for (std::int64_t i = 0; i < tokens; ++i) request.state += i % 2 == 0 ? " tide" : " rose";
  ++native.session.out.requests;
  const auto reply = native.session.seat.decide(request, native.session.schedule());
  const auto probs = native_probs_of(reply, request.questions[0]);
  if (!reply && reply.error().code == Error::Code::BadInput) {
    probe.well("refuses: " + printable(reply.error().message, 100));
  } else if (!reply) {
    probe.skip(shown(reply.error()));
  } else if (!probs) {
    probe.well("gives no answer: " + shown(probs.error()));
  } else if (const auto& count = reply->usage.prompt_tokens; !count || *count <= 0) {
    probe.skip(fmt::format("answers {} tokens or more and does not tell what it read", tokens));
  } else if (*count < tokens) {
    probe.find(
        fmt::format("cuts silently: of {} tokens or more it read {}, and answered", tokens, *count),
        "false comfort", {kReading});
  } else {
    probe.well(fmt::format("reads a state of {} tokens whole", *count));
  }
  return probe.close();
}

/// A question that can not be answered must be refused, not answered.
ProbeResult probe_errors(Native& native) {
  Probe probe("errors");
  Question empty = Native::choice("q1");
  empty.question.options.clear();
  ++native.session.out.requests;
  const auto reply = native.session.seat.decide(native.request({empty}), native.session.schedule());
  if (reply && (!reply->answers[0].present || reply->answers[0].declined)) {
    probe.well("gives a choice without options no answer");
  } else if (reply) {
    probe.find("answers a choice without options", "false comfort", {});
  } else if (reply.error().code == Error::Code::BadInput) {
    probe.well("refuses a choice without options: " + printable(reply.error().message, 120));
  } else if (http_status(reply.error()) == 0) {
    probe.skip(shown(reply.error()));
  } else {
    probe.find("a choice without options is no bad request there: " + shown(reply.error()), "", {});
  }
  return probe.close();
}

}  // namespace deem::seat
