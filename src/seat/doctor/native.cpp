// The questions to a decision endpoint, and how its answers are read and compared.
#include "seat/doctor/native.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "base/text.h"
#include "decision/native.h"
#include "decision/readout.h"

namespace deem::seat {

using decision::QuestionType;
using decision::VoidCause;
using Probs = Native::Probs;

Native::Question Native::choice(std::string id) {
  return {.id = std::move(id),
          .question = {.type = QuestionType::Choice,
                       .instructions = "When does the ferry leave?",
                       .question = {},
                       .options = {{.key = "eight", .description = "at eight"},
                                   {.key = "nine", .description = "at nine"},
                                   {.key = "noon", .description = "at noon"}}}};
}

Native::Question Native::noul(std::string id) {
  return {.id = std::move(id),
          .question = {.type = QuestionType::Noul,
                       .instructions = "The café on board is open.",
                       .question = {},
                       .options = {{.key = "yes"}, {.key = "no"}}}};
}

Native::Question Native::score(std::string id) {
  return {.id = std::move(id),
          .question = {.type = QuestionType::Score,
                       .instructions = "How early does the ferry leave?",
                       .question = {},
                       .options = {{.key = "0", .description = "before seven"},
                                   {.key = "1", .description = "between seven and ten"},
                                   {.key = "2", .description = "after ten"}}}};
}

DecideRequest Native::request(std::vector<Question> questions) const {
  return {.state = session.question(0).substr(0, session.question(0).find("\n\nQuestion:")),
          .questions = std::move(questions)};
}

Result<DecideReply> Native::ask(std::vector<Question> questions) const {
  if (session.is_hung()) return fail(Session::hung_error());
  ++session.out.requests;
  const TimePoint sent = Clock::now();
  auto reply = session.seat.decide(request(std::move(questions)), session.schedule());
  if (!reply && reply.error().code != Error::Code::BadInput) {
    session.failed(kReading, reply.error());
  } else {
    session.answered();
  }
  if (reply) session.saw(reply->usage);
  if (reply && !session.out.first_answer_s)
    session.out.first_answer_s = Seconds(Clock::now() - sent).count();
  return reply;
}

double apart(const Probs& a, const Probs& b) {
  double most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

double largest_move(const std::vector<Probs>& told) {
  double most = 0;
  for (const Probs& a : told) {
    for (const Probs& b : told) most = std::max(most, apart(a, b));
  }
  return most;
}

std::string shown(const Error& error) { return printable(error.message, 200); }

Result<Probs> native_probs_of(const Result<DecideReply>& reply, const Native::Question& asked,
                              std::size_t i) {
  if (!reply) return fail(reply.error());
  const auto& answer = reply->answers.at(i);
  const auto& question = asked.question;
  const VoidCause cause = decision::judge_native(answer, question.type, question.options.size(),
                                                 decision::LettersRule{}.min_mass);
  if (cause != VoidCause::None) {
    return fail(Error::Code::Corrupt, std::string(to_string(cause)));
  }
  Probs given;
  for (const auto& p : answer.probs) given.push_back(*p);
  return decision::native_probs(given, answer.choice, question.options.size());
}

NativeAgain ask_native_again(Session& session, const Probs& first, std::size_t times) {
  NativeAgain out;
  if (session.is_hung()) {
    out.failed = Session::hung_error().message;
    return out;
  }
  const Native native{.session = session};
  std::vector<std::optional<Result<DecideReply>>> replies(times);
  session.out.requests += static_cast<int>(times);
  {
    std::vector<std::jthread> threads;
    for (auto& reply : replies) {
      threads.emplace_back([&] {
        reply =
            session.seat.decide(native.request({Native::choice("q1")}), session.crowd_schedule());
      });
    }
  }
  for (const auto& reply : replies) {
    if (*reply) session.saw((*reply)->usage);
    if (!*reply && (*reply).error().code == Error::Code::Timeout)
      session.failed(Native::kReading, (*reply).error());
    const auto probs = native_probs_of(*reply, Native::choice("q1"));
    if (!probs && is_put_off(probs.error())) {
      ++session.busy;
    } else if (!probs) {
      out.failed = shown(probs.error());
      out.no_answer |= probs.error().code == Error::Code::Corrupt;
    } else {
      out.apart = std::max(out.apart, apart(*probs, first));
    }
  }
  return out;
}

}  // namespace deem::seat
