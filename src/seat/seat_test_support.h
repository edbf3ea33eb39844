#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "decision/letters.h"
#include "seat/fake/fake_server.h"
#include "seat/seat.h"

namespace deem::seat {

/// A user's turn that lists four letters, and the scores the scripted model gives them; every
/// expected reading comes from here.
inline const std::string kFourLetters =
    "State:\nThe cat sat on the mat.\n\nQuestion: Where?\nOptions:\n[A] a: mat\n[B] b: roof\n[C] "
    "c: car\n"
    "[D] d: — nowhere\n\nAnswer with the letter of the best option only.";
inline const std::vector<double> kFourScores = {-0.5, -1.5, -2.5, -4.0};

/// The scripted model with `kFourScores` for the first letters and −9 for further ones.
inline FakeModelOptions four_scores() {
  FakeModelOptions out;
  out.letters = [](std::string_view, std::size_t n) {
    std::vector<double> scores = kFourScores;
    scores.resize(n, -9.0);
    return scores;
  };
  return out;
}

inline FakeServer start_fake(ServerKind kind, FakeOptions options = {}) {
  if (!options.scores.letters) {
    const bool space = options.scores.space_before_reply;
    options.scores = four_scores();
    options.scores.space_before_reply = space;
  }
  auto server = FakeServer::start(kind, std::move(options));
  if (!server) ADD_FAILURE() << server.error().message;
  return std::move(*server);
}

inline std::unique_ptr<Seat> seat_of(const SeatSpec& spec) {
  auto seat = make_seat(spec);
  if (!seat) ADD_FAILURE() << seat.error().message;
  return std::move(*seat);
}

inline PositionRequest four_letters(decision::LetterPolicy policy = decision::LetterPolicy::Exact) {
  return {.prompt = kFourLetters, .letters = 4, .policy = policy};
}

}  // namespace deem::seat
