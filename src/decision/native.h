#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "decision/letters.h"
#include "decision/question.h"

namespace deem::decision {

/// What an endpoint that answers decisions itself said to one question, as it gave it.
struct NativeAnswer {
  bool present = false;   // an answer of the type asked for stands where the question's should
  bool declined = false;  // it says that it will not answer
  /// By option; of a yes/no question one, of the first option, or both. None: not given. NaN:
  /// something that is no number.
  std::vector<std::optional<double>> probs = {};
  /// What it gives names that were not asked about; NaN as above.
  std::vector<double> strays = {};
  std::optional<std::size_t> choice = {};  // the option it names
  bool names_no_option = false;            // it names one that was not asked about
  std::optional<double> score = {}, confidence = {};
  std::optional<double> label_mass = {};  // probability of all answer labels, before any softmax
};

/// Why a native answer is none; None when it is one. `n` options; labels may hold `min_mass` at
/// least. Of several causes the first holds, in the order Declined, NoAnswer, MissingOption,
/// NotANumber, NotAProbability, SumNotOne, ChoiceDiffers, LowLabelMass. Pure and total.
/// The sum may be off by 0.05 (the tolerance of the public conformance suite for this interface,
/// jevcompat), or by what rounding each probability can add up to.
VoidCause judge_native(const NativeAnswer& answer, QuestionType type, std::size_t n,
                       double min_mass);

/// The step probabilities were rounded to: 0.01, 0.001 … 0.000001, the largest of which all are
/// multiples; 0.000001 when they are of none.
double printed_step(std::span<const double> probs);

/// By option, made to sum to 1; both of a yes/no question where one was given. `choice`, picked
/// before rounding, is put a hair (1e-9) before what rounding made its equal. Requires an answer
/// judged None, so `probs` are one or `n` and sum to more than 0.
std::vector<double> native_probs(std::span<const double> probs, std::optional<std::size_t> choice,
                                 std::size_t n);

/// Natural logs of the same for calibration, where a probability under half the printed step, 0
/// too, counts as that half: it was rounded away.
std::vector<double> native_scores(std::span<const double> probs, std::optional<std::size_t> choice,
                                  std::size_t n);

}  // namespace deem::decision
