// What faults do to the numbers of a position.
#include <cmath>
#include <limits>

#include "decision/question.h"
#include "seat/fake/fake_dialect.h"

namespace deem::seat {
namespace {

using codec::Json;

constexpr double kSentinel = -9999.0;

bool is_letter(std::string_view token) {
  return token.size() == 1 && decision::letter_index(token[0], decision::kLetters);
}

template <class F>
void each_letter(FakePosition& position, F&& change) {
  for (FakeEntry& entry : position.entries) {
    if (is_letter(entry.token)) change(entry);
  }
}

/// Every number that is one, the sampled token's too.
template <class F>
void each_number(FakePosition& position, F&& change) {
  const auto apply = [&](FakeEntry& entry) {
    if (entry.logprob.is_number()) entry.logprob = Json(change(entry.logprob.as_double()));
  };
  for (FakeEntry& entry : position.entries) apply(entry);
  apply(position.sampled);
}

void lead_with(FakePosition& position, FakeEntry entry) {
  std::erase_if(position.entries, [&](const FakeEntry& e) { return e.id == entry.id; });
  position.entries.insert(position.entries.begin(), entry);
  position.sampled = std::move(entry);
}

/// The likeliest entry and, where it is the sampled one, that too.
void lower_first(FakePosition& position, double by) {
  FakeEntry& first = position.entries.front();
  if (!first.logprob.is_number()) return;
  first.logprob = Json(first.logprob.as_double() - by);
  if (position.sampled.id == first.id) position.sampled.logprob = first.logprob;
}

/// Each letter's number is another's.
void pass_on_letters(FakePosition& position) {
  std::vector<FakeEntry*> letters;
  each_letter(position, [&](FakeEntry& entry) { letters.push_back(&entry); });
  const bool leads = position.sampled.id == position.entries.front().id;
  for (std::size_t i = 0; i + 1 < letters.size(); ++i) {
    std::swap(letters[i]->token, letters[i + 1]->token);
    std::swap(letters[i]->id, letters[i + 1]->id);
  }
  if (leads) position.sampled = position.entries.front();
}

/// As a sampler's temperature leaves them: divided, and normalised again.
void temper(FakePosition& position, double temperature) {
  double sum = 0;
  for (const FakeEntry& entry : position.entries) {
    if (entry.logprob.is_number()) sum += std::exp(entry.logprob.as_double() / temperature);
  }
  each_number(position, [&](double v) { return v / temperature - std::log(sum); });
}

void make_one_hot(FakePosition& position) {
  for (FakeEntry& entry : position.entries) entry.logprob = Json(kSentinel);
  position.entries.front().logprob = Json(0.0);
  position.sampled = position.entries.front();
}

void look_alike(FakePosition& position, const FakeModel& model) {
  std::erase_if(position.entries,
                [](const FakeEntry& e) { return e.token.size() == 2 && e.token[0] == ' '; });
  each_letter(position, [&](FakeEntry& entry) {
    entry.token.insert(0, " ");
    entry.id = model.encode(entry.token, false)[0];
  });
  position.sampled = position.entries[0];
}

/// Who stands first.
void apply_order(Fault fault, const FakeModel& model, FakePosition& position) {
  const auto entry_of = [&](std::string_view text, double logprob) {
    return FakeEntry{std::string(text), model.encode(text, true)[0], Json(logprob)};
  };
  const auto lead = [&](std::string_view text, double logprob, double by) {
    each_number(position, [by](double v) { return v - by; });
    lead_with(position, entry_of(text, logprob));
  };
  switch (fault) {
    case Fault::ThinkingFirst:
      return lead("<think>", -1e-5, 13);
    case Fault::MultiCharacter:
      return lead("Based", -0.1, 4);
    case Fault::LowMass:
      return lead("The", -1e-5, 13);
    case Fault::LookAlike:
      return look_alike(position, model);
    default:
      return;
  }
}

/// What stands in the numbers' place; whether something does.
bool replace_numbers(Fault fault, FakePosition& position) {
  switch (fault) {
    case Fault::NullEntries:
      for (FakeEntry& entry : position.entries) entry.logprob = Json();
      position.sampled.logprob = Json();
      break;
    case Fault::Sentinel:
      each_letter(position, [](FakeEntry& entry) { entry.logprob = Json(kSentinel); });
      position.sampled.logprob = Json(kSentinel);
      break;
    case Fault::PadSentinel:
      position.entries = {{"<pad>", 0, Json(kSentinel)}};
      position.sampled = position.entries[0];
      break;
    case Fault::AllZero:
      each_number(position, [](double) { return 0.0; });
      break;
    case Fault::NanBody:
      each_letter(position, [](FakeEntry& entry) {
        entry.logprob = Json(std::numeric_limits<double>::quiet_NaN());
      });
      position.sampled.logprob = position.entries[0].logprob;
      break;
    case Fault::MinusInfinity:
      each_letter(position, [](FakeEntry& entry) { entry.logprob = Json("-Infinity"); });
      position.sampled.logprob = position.entries[0].logprob;
      break;
    default:
      return false;
  }
  return true;
}

/// What the numbers are; whether they were changed.
bool scale_numbers(Fault fault, FakePosition& position) {
  switch (fault) {
    case Fault::AboveOne:
      each_number(position, [](double v) { return v + 1; });
      break;
    case Fault::Probabilities:
      each_number(position, [](double v) { return std::exp(v); });
      break;
    case Fault::Logits:
      each_number(position, [](double v) { return v + 12; });
      break;
    case Fault::LogTen:
      each_number(position, [](double v) { return v / std::log(10.0); });
      break;
    case Fault::LogTwo:
      each_number(position, [](double v) { return v / std::log(2.0); });
      break;
    default:
      return false;
  }
  return true;
}

/// What hangs on other requests, or on settings.
void apply_traffic(Fault fault, const FakeRequest& request, double temperature,
                   FakePosition& position) {
  constexpr double kMost = 1.2;
  const FakeTraffic& traffic = request.traffic;
  if (fault == Fault::Processed && temperature > 0) temper(position, temperature);
  if (fault == Fault::FarSampled && temperature > 0) {
    position.sampled = position.entries.back();
    position.sampled.logprob = Json(kSentinel);
  }
  if (fault == Fault::OneHot && temperature == 0) make_one_hot(position);
  if (fault == Fault::Jitter) {
    lower_first(position, kMost * static_cast<double>(traffic.turn % 7) / 6);
  }
  if (fault == Fault::CrowdJitter && traffic.others) lower_first(position, kMost);
  if (fault == Fault::CrossTalk && traffic.unlike) pass_on_letters(position);
  if (fault == Fault::CacheDrift && traffic.seen) lower_first(position, kMost);
  if (fault == Fault::PadInMix && traffic.others_by_ids &&
      request.body.find("logprob_token_ids") == nullptr) {
    replace_numbers(Fault::PadSentinel, position);
  }
}

/// The written token against its list.
void apply_sampled(Fault fault, FakePosition& position) {
  if (position.entries.size() < 3) return;
  if (fault == Fault::SampledNotListed) {
    position.sampled = position.entries.back();
    position.sampled.logprob = Json(-0.01);
    position.entries.pop_back();
  } else if (fault == Fault::SampledDiffers && position.sampled.logprob.is_number()) {
    position.sampled.logprob = Json(position.sampled.logprob.as_double() - 0.7);
  } else if (fault == Fault::SampledUnlikely) {
    position.sampled = position.entries[2];
  }
}

}  // namespace

void distort_position(FakePosition& position, const FakeModel& model, const FakeRequest& request,
                      double temperature, bool begins_reply) {
  if (begins_reply) {
    for (const Fault fault : request.faults.all()) apply_order(fault, model, position);
  }
  for (const Fault fault : request.faults.all()) {
    apply_traffic(fault, request, temperature, position);
  }
  for (const Fault fault : request.faults.all()) {
    if (scale_numbers(fault, position)) break;  // one unit at a time
  }
  for (const Fault fault : request.faults.all()) {
    if (replace_numbers(fault, position)) break;
  }
  for (const Fault fault : request.faults.all()) apply_sampled(fault, position);
}

}  // namespace deem::seat
