#include "seat/doctor/session.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <latch>
#include <thread>

#include "base/check.h"
#include "base/text.h"
#include "decision/layout.h"
#include "seat/remote.h"

namespace deem::seat {
namespace {

void append(std::string& list, std::string_view part) {
  if (!list.empty()) list += "; ";
  list += part;
}

std::uint64_t clock_nonce() {
  return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) %
         1'000'000'000;
}

struct Item {
  const char *state, *question;
  const char* options[Session::kLetters];
};
constexpr Item kItems[] = {
    {"The ferry to the island leaves at nine and returns at five. The café on board is closed.",
     "When does the ferry leave?",
     {"eight", "nine", "five", "noon"}},
    {"The bakery sold forty loaves on Monday and gave the last three away.",
     "What did the bakery sell?",
     {"shoes", "books", "loaves", "tickets"}},
    {"The parcel was sent to the old address, so it came back after a week.",
     "Why did the parcel come back?",
     {"it went to the old address", "it was too heavy", "nobody paid", "it was lost"}},
};

double probability(const std::optional<double>& logprob) {
  return logprob && std::isfinite(*logprob) ? std::exp(*logprob) : 0;
}

}  // namespace

void Probe::find(std::string says, std::string_view direction,
                 std::initializer_list<std::string_view> spoils) {
  out_.verdict = ProbeResult::Verdict::Finding;
  append(found_, says);
  comfort_ |= direction == "false comfort";
  alarm_ |= direction == "false alarm";
  for (const std::string_view reading : spoils) spoil(reading);
}

void Probe::spoil(std::string_view reading) {
  if (std::ranges::find(out_.spoils, reading) == out_.spoils.end())
    out_.spoils.emplace_back(reading);
}

void Probe::well(std::string says) {
  if (!found()) out_.verdict = ProbeResult::Verdict::Ok;
  append(well_, says);
}

void Probe::note(std::string_view key, codec::Json value) {
  constexpr std::size_t kMost = 2'000;  // code points of a server's text
  if (value.kind() == codec::Json::Kind::String && value.as_string().size() > kMost)
    value = codec::Json(printable(value.as_string(), kMost));
  const bool number = value.kind() != codec::Json::Kind::Double || std::isfinite(value.as_double());
  out_.evidence.set(key, number ? std::move(value) : codec::Json());
}

void Probe::advise(std::string says) { append(advice_, says); }

void Probe::skip(std::string why) { append(skipped_, why); }

ProbeResult Probe::close() {
  if (found()) {
    out_.says = found_;
  } else if (out_.verdict == ProbeResult::Verdict::Ok) {
    out_.says = well_;
    if (!skipped_.empty()) out_.says += "; not measured: " + skipped_;
  } else {
    out_.says = skipped_;
  }
  if (!advice_.empty()) append(out_.says, advice_);
  out_.direction = comfort_ && alarm_ ? "false comfort and false alarm"
                   : comfort_         ? "false comfort"
                   : alarm_           ? "false alarm"
                                      : "";
  return std::move(out_);
}

void forget_advice(Diagnosis& diagnosis) {
  diagnosis.interrupted = true;
  for (ReadingAdvice& reading : diagnosis.readings) {
    reading.believed = false;
    reading.guesses.reset();
    reading.why = "interrupted";
  }
}

ProbeResult not_measured(std::string_view name, std::string why) {
  ProbeResult out;
  out.name = name;
  out.says = std::move(why);
  return out;
}

Session::Session(Seat& s, const DoctorOptions& o, std::stop_token t)
    : seat(s), options(o), stop(std::move(t)), nonce_(o.nonce != 0 ? o.nonce : clock_nonce()) {}

std::string Session::question(std::size_t i) const {
  static const decision::Layout layout = decision::reference_layout();
  const Item& item = kItems[i % std::size(kItems)];
  decision::Question question;
  question.instructions = item.question;
  for (const char* option : item.options) question.options.push_back({.key = option});
  const std::string state =
      "Case " + std::to_string(nonce_) + "-" + std::to_string(i) + ". " + item.state;
  return decision::render_letters(layout, state, question, question.options);
}

PositionRequest Session::request(std::size_t i, decision::LetterPolicy by) const {
  return {.prompt = question(i), .letters = kLetters, .policy = by};
}

bool Session::wants(std::string_view name) const {
  return options.probes.empty() || name == "identity" || name == "answers" ||
         std::ranges::find(options.probes, name) != options.probes.end();
}

Schedule Session::schedule() const {
  const TimePoint now = Clock::now();
  return {
      .planned = now,
      .deadline = now + std::chrono::duration_cast<Clock::duration>(Seconds(options.patience_s))};
}

Schedule Session::crowd_schedule() const {
  constexpr double kSlower = 2;  // than the first
  const Seconds all(kSlower * static_cast<double>(crowd()) * out.first_answer_s.value_or(0));
  Schedule one = schedule();
  one.deadline =
      std::max(one.deadline, one.planned + std::chrono::duration_cast<Clock::duration>(all));
  return one;
}

void Session::missed(const Error& error) {
  if (error.code == Error::Code::Timeout) ++missed_;
}

void Session::failed(std::string_view reading, const Error& error) {
  if (is_put_off(error)) {
    ++busy;
    return;
  }
  failures.push_back(error.message);
  failing.emplace(reading);
  hung_ = error.code == Error::Code::Timeout ? hung_ + 1 : 0;
}

void Session::saw(const Usage& usage) {
  if (!usage.served_model) return;
  if (!first_served) first_served = usage.served_model;
  ++served[*usage.served_model];
}

void Session::count(const PositionRequest& request, const Result<PositionReply>& reply) {
  ++asked;
  ++out.requests;
  if (reply) saw(reply->usage);
  if (!reply) {
    if (reply.error().code != Error::Code::Unsupported) failed("letters", reply.error());
    return;
  }
  hung_ = 0;
  // A token that is written at a temperature may have a sentinel, being none of the listed.
  if (request.temperature != 0) return;
  const decision::VoidCause cause = read(*reply).cause;
  if (!first || !is_numberless(cause) || is_numberless(read(*first).cause)) return;
  ++odd;
  odd_cause = to_string(cause);
}

Error Session::hung_error() { return {Error::Code::Unavailable, "it answers nothing any more"}; }

bool Session::is_back() {
  hung_ = 0;
  const bool back = ask(request(0)).has_value();
  if (!back) hung_ = kHung;
  return back;
}

Result<PositionReply> Session::ask(const PositionRequest& request) {
  if (is_hung()) return fail(hung_error());
  auto reply = seat.first_position(request, schedule());
  count(request, reply);
  return reply;
}

Result<PositionReply> Session::try_ask(const PositionRequest& request) {
  if (is_hung()) return fail(hung_error());
  auto reply = seat.first_position(request, schedule());
  if (reply || reply.error().code != Error::Code::BadInput) count(request, reply);
  return reply;
}

std::vector<Result<PositionReply>> Session::ask_together(
    std::span<const PositionRequest> requests) {
  std::vector<Result<PositionReply>> replies(requests.size(), fail(hung_error()));
  if (is_hung()) return replies;
  {
    std::latch ready(static_cast<std::ptrdiff_t>(requests.size()));
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      threads.emplace_back([&, i] {
        ready.arrive_and_wait();
        replies[i] = seat.first_position(requests[i], crowd_schedule());
      });
    }
  }
  for (std::size_t i = 0; i < replies.size(); ++i) count(requests[i], replies[i]);
  return replies;
}

std::vector<Session::Unlike> Session::ask_unlike(std::size_t n) {
  constexpr std::size_t kFrom = 3;
  std::vector<Unlike> asked_twice;
  std::vector<PositionRequest> requests;
  for (std::size_t i = 0; i < n; ++i) {
    requests.push_back(request(kFrom + i));
    asked_twice.push_back({.alone = ask(requests.back())});
    if (is_hung()) return asked_twice;
  }
  auto together = ask_together(requests);
  for (std::size_t i = 0; i < n; ++i) asked_twice[i].beside = std::move(together[i]);
  return asked_twice;
}

void Session::each_of(std::size_t n, const std::function<void(std::size_t)>& run) {
  const std::size_t most = is_local() ? 1 : crowd();
  missed_ = 0;
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < std::min(n, most); ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = next++;
           i < n && missed_ < crowd() && !is_hung() && !stop.stop_requested(); i = next++)
        run(i);
    });
  }
}

std::vector<std::vector<Result<PositionReply>>> Session::ask_groups(std::span<const Group> groups) {
  std::vector<std::vector<Result<PositionReply>>> replies(groups.size());
  each_of(groups.size(), [&](std::size_t i) {
    if (is_local()) {
      replies[i] = seat.first_positions(groups[i], schedule());
      return;
    }
    for (const PositionRequest& request : groups[i]) {
      replies[i].push_back(seat.first_position(request, crowd_schedule()));
      if (!replies[i].back()) missed(replies[i].back().error());
    }
  });
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::size_t k = 0; k < replies[i].size(); ++k) count(groups[i][k], replies[i][k]);
    replies[i].resize(groups[i].size(), fail(Error::Code::Unavailable, "not asked"));
  }
  return replies;
}

bool is_put_off(const Error& error) {
  constexpr int kTooMany = 429;
  return http_status(error) == kTooMany;
}

bool is_numberless(decision::VoidCause cause) {
  using enum decision::VoidCause;
  constexpr decision::VoidCause kCauses[] = {NoLogprobs, AllZeroLogprobs,     SentinelLogprob,
                                             NotANumber, ProbabilityAboveOne, NotFinite};
  return std::ranges::find(kCauses, cause) != std::end(kCauses);
}

decision::LettersReading read(const PositionReply& reply) {
  return decision::read_letters(reply.position, Session::kLetters, {});
}

std::vector<double> differences(const decision::LettersReading& a,
                                const decision::LettersReading& b) {
  DEEM_CHECK(a.logprobs.size() == b.logprobs.size());
  constexpr double kDeep = -12;  // below, a logprob says little
  std::vector<double> out(a.logprobs.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto &x = a.logprobs[i], &y = b.logprobs[i];
    if (x && y && std::isfinite(*x) && std::isfinite(*y) && std::max(*x, *y) > kDeep)
      out[i] = std::abs(*x - *y);
  }
  return out;
}

Difference difference(const decision::LettersReading& a, const decision::LettersReading& b) {
  Difference out;
  for (std::size_t i = 0; i < a.logprobs.size(); ++i) {
    out.probability = std::max(out.probability,
                               std::abs(probability(a.logprobs[i]) - probability(b.logprobs[i])));
  }
  for (const double nats : differences(a, b)) out.nats = std::max(out.nats, nats);
  return out;
}

}  // namespace deem::seat
