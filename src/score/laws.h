#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "score/probed.h"

namespace deem::score {

/// How far one column keeps a law that any coherent answerer keeps, on one task ("" : all).
/// Laws: "negation" |p(S) + p(not S) − 1|; "choice" |p as noul − p as a two-way choice|; the others
/// the largest change of one option's probability: "order" (reversed), "rename" (other ids),
/// "whitespace" (around the state), "alone" (against the group it was in), "beside" (against alone,
/// others on its state in one evaluation), "batch" (others of its task).
struct LawFigures {
  std::string arm = {}, reading = {}, variant = {}, law = {}, task = {};
  std::size_t n = 0;           // pairs of answers
  std::size_t unanswered = 0;  // probes asked that gave no answer, or whose plain row gave none
  std::optional<double> mean = {}, max = {};  // of the violation
  Rate changes = {};                          // pairs whose choices can not both be right
  // Uniform answers keep every law; read the violation beside these.
  Rate plain_accuracy = {}, probe_accuracy = {};
  std::optional<double> uniform_accuracy = {};
};

/// Each column and law: its tasks, then all of them where there are several.
std::vector<LawFigures> law_figures(const std::vector<ProbedArm>& arms);

/// A question beside others on its state, in one evaluation, against the same question alone.
struct Interference {
  std::string arm = {}, reading = {}, variant = {};
  std::size_t n = 0;
  Rate changes = {};
  std::optional<double> mean = {}, max = {};  // of the largest change of one option's probability
};
std::vector<Interference> interference_figures(const std::vector<ProbedArm>& arms);

/// What asking the same again changes, of one reading: the noise floor of every comparison.
/// Kinds: "again" (at once), "alone" (out of its group), "crowd" (with others), "cold".
struct NoiseFigures {
  std::string arm = {}, reading = {}, kind = {};
  std::size_t n = 0;                           // pairs of rows
  std::size_t values = 0;                      // log-probabilities compared
  std::optional<double> max_logprob = {};      // largest |Δ|: of a letter, or of a text's sum
  std::optional<double> max_probability = {};  // of an option, in the raw variant
  Rate flips = {};                             // another option chosen, in the raw variant
};
std::vector<NoiseFigures> noise_figures(const std::vector<ProbedArm>& arms);

}  // namespace deem::score
