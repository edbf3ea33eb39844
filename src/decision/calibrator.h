#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace deem::decision {

/// How raw scores of one reading become probabilities, with constants fitted on labelled items
/// (score/fitting.h). "Scores" are natural log-likelihoods or differences of such, one an option; a
/// bare score (a yes/no question read by one text) is one number, larger for yes.
struct Calibrator {
  enum class Method {
    None,         // as the reading has it: published constants for letters, T = 1 for texts
    Temperature,  // softmax(z / T)
    LabelPrior,   // softmax((z + bias) / T), the bias undoing what the model says on average
    Platt,    // p(yes) = 1 / (1 + exp(−(slope · x + offset))), x = z[0] − z[1] or the bare score
    Isotonic  // a monotone step function with lines between; see apply_calibrator
  };
  /// T for questions of so many options; 0: any other number.
  struct Temperature {
    std::size_t options = 0;
    double value = 1;
    bool operator==(const Temperature&) const = default;
  };
  struct Knot {
    double x = 0, p = 0;
    bool operator==(const Knot&) const = default;
  };
  Method method = Method::None;
  std::vector<Temperature> temperatures = {};  // Temperature, LabelPrior
  std::vector<double> bias = {};               // LabelPrior: by option
  double slope = 1, offset = 0;                // Platt
  std::vector<Knot> knots = {};                // Isotonic: x ascending, p not descending
  bool by_option = false;  // Isotonic: knots are of each option's softmax(z), not of Platt's x
  bool operator==(const Calibrator&) const = default;
};
std::string_view to_string(Calibrator::Method method);
std::optional<Calibrator::Method> parse_method(std::string_view name);

/// Probabilities by option; two (yes, no) for a bare score. None where the calibrator does not
/// suit: Method::None, a bare score without Platt or isotonic, Platt or isotonic of x on more than
/// two options, isotonic by option on a bare score, a bias of another length, no temperature for so
/// many options.
/// Isotonic maps x of two options or a bare score; by option it maps every option's p = softmax(z)
/// and makes the results sum to 1, equal ones kept in the order of p by a millionth of it.
std::optional<std::vector<double>> apply_calibrator(const Calibrator& calibrator,
                                                    std::span<const double> scores);

/// Linear between knots, constant outside. Requires knots.
double interpolate(std::span<const Calibrator::Knot> knots, double x);

}  // namespace deem::decision
