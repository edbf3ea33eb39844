#include "decision/native.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace deem::decision {
namespace {

constexpr double kSumSlack = 0.05;
constexpr double kAboveOne = 1e-3;  // a probability may be over 1 by so much: printed numbers
constexpr double kHair = 1e-9;

std::vector<double> numbers_of(const std::vector<std::optional<double>>& probs) {
  std::vector<double> out;
  for (const auto& p : probs) out.push_back(p.value_or(0));
  return out;
}

/// How far rounding may have moved the sum of `n` probabilities.
double sum_slack(std::span<const double> probs) {
  return std::max(kSumSlack, static_cast<double>(probs.size()) * printed_step(probs) / 2);
}

/// One of a yes/no question becomes both; the choice is put before its equals.
std::vector<double> by_option(std::span<const double> probs, std::optional<std::size_t> choice,
                              std::size_t n) {
  DEEM_CHECK(probs.size() == n || (probs.size() == 1 && n == 2));
  std::vector<double> p(probs.begin(), probs.end());
  if (p.size() < n) p.push_back(1 - p[0]);
  for (double& value : p) value = std::max(0.0, value);
  if (choice && *choice < p.size())
    p[*choice] = std::max(p[*choice], *std::ranges::max_element(p) + kHair);
  return p;
}

}  // namespace

VoidCause judge_native(const NativeAnswer& answer, QuestionType type, std::size_t n,
                       double min_mass) {
  const auto& probs = answer.probs;
  const bool one = probs.size() == 1 && type == QuestionType::Noul && n == 2;
  if (answer.declined) return VoidCause::Declined;
  if (!answer.present) return VoidCause::NoAnswer;
  if (n == 0 || (probs.size() != n && !one)) return VoidCause::MissingOption;
  const auto missing = [](const std::optional<double>& p) { return !p; };
  if (std::ranges::any_of(probs, missing)) return VoidCause::MissingOption;
  const std::vector<double> p = numbers_of(probs);
  std::vector<double> all = p;
  all.insert(all.end(), answer.strays.begin(), answer.strays.end());
  if (!std::ranges::all_of(all, [](double value) { return std::isfinite(value); }))
    return VoidCause::NotANumber;
  if (std::ranges::any_of(all, [](double value) { return value < 0 || value > 1 + kAboveOne; }))
    return VoidCause::NotAProbability;
  const auto is_one = [&](const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum > 0 && std::abs(sum - 1) <= sum_slack(values);
  };
  if (!one && !(is_one(p) && is_one(all))) return VoidCause::SumNotOne;
  const double most = *std::ranges::max_element(p);
  const bool behind = answer.choice && (*answer.choice >= p.size() ||
                                        p[*answer.choice] < most - printed_step(p) - kHair);
  if (answer.names_no_option || (!one && behind)) return VoidCause::ChoiceDiffers;
  if (answer.label_mass && !(*answer.label_mass >= min_mass)) return VoidCause::LowLabelMass;
  return VoidCause::None;
}

double printed_step(std::span<const double> probs) {
  double per_one = 100;
  for (; per_one < 1e6; per_one *= 10) {
    const bool all = std::ranges::all_of(
        probs, [&](double p) { return std::abs(p * per_one - std::round(p * per_one)) < 1e-6; });
    if (all) break;
  }
  return 1 / per_one;
}

std::vector<double> native_probs(std::span<const double> probs, std::optional<std::size_t> choice,
                                 std::size_t n) {
  std::vector<double> p = by_option(probs, choice, n);
  double sum = 0;
  for (const double value : p) sum += value;
  for (double& value : p) value /= sum;
  return p;
}

std::vector<double> native_scores(std::span<const double> probs, std::optional<std::size_t> choice,
                                  std::size_t n) {
  const double least = printed_step(probs) / 2;
  std::vector<double> p = by_option(probs, choice, n);
  for (double& value : p) value = std::log(std::max(value, least));
  return p;
}

}  // namespace deem::decision
