#include "score/fitting.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "decision/baseline.h"
#include "decision/readout.h"
#include "score/proper.h"

namespace deem::score {
namespace {

using decision::Calibrator;
using Method = Calibrator::Method;
using Indices = RawSample::Indices;

constexpr double kLeastBeta = 1e-4, kMostBeta = 1e4;  // of 1/T
constexpr double kSteepest = 1e12;                    // of Platt's constants; record/fit.cpp too
constexpr double kLossRounding = 1e-13;
constexpr double kSameX = 1e-12;  // isotonic: values of x nearer than this part of x are one

/// Items with scores and a label among their options.
std::vector<std::size_t> usable(const RawSample& sample, Indices items) {
  std::vector<std::size_t> out;
  for (const std::size_t i : items) {
    const RawSample::Item& item = sample.item(i);
    if (item.scores > 0 && item.label < item.options) out.push_back(i);
  }
  return out;
}

/// Slope and curvature of the mean log loss in beta = 1/T.
struct Derivatives {
  double first = 0, second = 0;
};

Derivatives derivatives(const RawSample& sample, Indices items, std::span<const double> bias,
                        double beta) {
  Derivatives out;
  const double miss = 1 / (static_cast<double>(items.size()) + 2);
  std::vector<double> z;
  for (const std::size_t i : items) {
    const RawSample::Item& item = sample.item(i);
    const auto scores = sample.scores(item);
    z.assign(scores.begin(), scores.end());
    for (std::size_t k = 0; k < bias.size(); ++k) z[k] += bias[k];
    const double top = *std::ranges::max_element(z);
    double sum = 0, sum_z = 0, sum_zz = 0, all = 0;
    for (double& v : z) {
      v -= top;  // differences alone count
      const double weight = std::exp(beta * v);
      sum += weight;
      sum_z += weight * v;
      sum_zz += weight * v * v;
      all += v;
    }
    const double mean = sum_z / sum;
    const double others = (all - z[item.label]) / static_cast<double>(z.size() - 1);
    out.first += mean - ((1 - miss) * z[item.label] + miss * others);
    out.second += sum_zz / sum - mean * mean;
  }
  return out;
}

/// The beta of least loss, which is convex in it: Newton's steps kept inside a bracket.
double fit_beta(const RawSample& sample, Indices items, std::span<const double> bias) {
  double low = kLeastBeta, high = kMostBeta, beta = 1;
  for (int step = 0; step < 200 && high / low > 1 + 1e-14; ++step) {
    const Derivatives d = derivatives(sample, items, bias, beta);
    if (d.first == 0) return beta;
    (d.first > 0 ? high : low) = beta;
    double next = d.second > 0 ? beta - d.first / d.second : 0;
    if (!(next > low && next < high)) next = std::sqrt(low * high);
    if (std::abs(next - beta) <= 1e-15 * beta) return next;
    beta = next;
  }
  return beta;
}

std::optional<Calibrator> fit_temperature(const RawSample& sample, Indices items,
                                          std::vector<double> bias) {
  Calibrator out{.method = bias.empty() ? Method::Temperature : Method::LabelPrior};
  std::map<std::size_t, std::vector<std::size_t>> by_options;
  for (const std::size_t i : items) {
    const RawSample::Item& item = sample.item(i);
    if (item.scores < 2) return std::nullopt;
    by_options[item.options].push_back(i);
  }
  out.temperatures.push_back({0, 1 / fit_beta(sample, items, bias)});
  if (by_options.size() > 1) {
    for (const auto& [options, those] : by_options) {
      if (those.size() < kOwnTemperature) continue;
      out.temperatures.push_back({options, 1 / fit_beta(sample, those, bias)});
    }
  }
  out.bias = std::move(bias);
  return out;
}

std::optional<Calibrator> fit_label_prior(const RawSample& sample, Indices items) {
  const std::size_t options = sample.item(items.front()).scores;
  if (options < 2) return std::nullopt;
  std::vector<double> mean(options);
  for (const std::size_t i : items) {
    const auto scores = sample.scores(sample.item(i));
    if (scores.size() != options) return std::nullopt;
    const std::vector<double> p = decision::softmax(scores);
    for (std::size_t k = 0; k < options; ++k) mean[k] += p[k] / static_cast<double>(items.size());
  }
  for (double& v : mean) v = -std::log(std::max(v, LogLoss::kClip));
  return fit_temperature(sample, items, std::move(mean));
}

/// x and whether the answer is yes, of every item; none when one has over two options.
struct YesNo {
  std::vector<std::pair<double, double>> points = {};  // x, 1 for yes
};
std::optional<YesNo> yes_no(const RawSample& sample, Indices items) {
  YesNo out;
  for (const std::size_t i : items) {
    const RawSample::Item& item = sample.item(i);
    const auto scores = sample.scores(item);
    if (item.options != 2) return std::nullopt;
    const double x = scores.size() == 1 ? scores[0] : scores[0] - scores[1];
    out.points.emplace_back(x, item.label == 0 ? 1 : 0);
  }
  return out;
}

/// Log loss of the points against Platt's targets at (a, b) with x standardised, and its
/// derivatives.
struct Logistic {
  double loss = 0, da = 0, db = 0, aa = 0, ab = 0, bb = 0;
};

Logistic logistic(const std::vector<std::pair<double, double>>& points, double a, double b) {
  Logistic out;
  for (const auto& [x, target] : points) {
    const double z = a * x + b;
    const double p = 1 / (1 + std::exp(-z));
    // ln(1 + e^z) − target·z without overflow
    out.loss += std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z))) - target * z;
    out.da += (p - target) * x;
    out.db += p - target;
    const double w = p * (1 - p);
    out.aa += w * x * x;
    out.ab += w * x;
    out.bb += w;
  }
  return out;
}

std::optional<Calibrator> fit_platt(const RawSample& sample, Indices items) {
  auto data = yes_no(sample, items);
  if (!data) return std::nullopt;
  auto& points = data->points;
  const auto n = static_cast<double>(points.size());
  double yes = 0, mean = 0, spread = 0;
  for (const auto& [x, is_yes] : points) {
    yes += is_yes;
    mean += x / n;
  }
  for (const auto& [x, is_yes] : points) spread += (x - mean) * (x - mean) / n;
  // A spread within the rounding of the mean is none: a slope through it would be noise.
  const bool flat = !(std::sqrt(spread) > kSameX * std::abs(mean));
  const double sd = flat ? 1 : std::sqrt(spread);
  const double target_yes = (yes + 1) / (yes + 2), target_no = 1 / (n - yes + 2);
  for (auto& [x, is_yes] : points) {
    x = flat ? 0 : (x - mean) / sd;
    is_yes = is_yes > 0 ? target_yes : target_no;
  }
  double a = 0, b = std::log((yes + 1) / (n - yes + 1));
  Logistic now = logistic(points, a, b);
  // Near the least the loss moves less than its own rounding: such a step is one down, too.
  const auto lower = [&](const Logistic& next) {
    return next.loss <= now.loss + kLossRounding * std::abs(now.loss);
  };
  for (int step = 0; step < 100; ++step) {
    const double ridge = 1e-12 * (now.aa + now.bb);
    const double det = (now.aa + ridge) * (now.bb + ridge) - now.ab * now.ab;
    if (!(det > 0)) break;
    const double step_a = ((now.bb + ridge) * now.da - now.ab * now.db) / det;
    const double step_b = ((now.aa + ridge) * now.db - now.ab * now.da) / det;
    double length = 1;
    Logistic next = logistic(points, a - step_a, b - step_b);
    while (!lower(next) && length > 1e-9) {
      length /= 2;
      next = logistic(points, a - length * step_a, b - length * step_b);
    }
    if (!lower(next)) break;
    a -= length * step_a;
    b -= length * step_b;
    const bool still = std::abs(length * step_a) < 1e-13 && std::abs(length * step_b) < 1e-13;
    now = next;
    if (still) break;
  }
  if (a < 0) {  // scores that point the wrong way say nothing; the share of yes remains
    a = 0;
    const double p = (yes * target_yes + (n - yes) * target_no) / n;
    b = std::log(p / (1 - p));
  }
  const double slope = a / sd, offset = b - a * mean / sd;
  if (!(slope <= kSteepest && std::abs(offset) <= kSteepest)) return std::nullopt;
  return Calibrator{.method = Method::Platt, .slope = slope, .offset = offset};
}

/// Pool adjacent violators: the least-squares monotone function through the points. Values of x
/// that differ only by rounding, as softmax of the same scores in another order, are one.
std::vector<Calibrator::Knot> pool(std::vector<std::pair<double, double>> points) {
  std::ranges::sort(points);
  struct Block {
    double first = 0, last = 0, sum = 0, n = 0;
    double mean() const { return sum / n; }
  };
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < points.size();) {
    Block block{points[i].first, points[i].first, 0, 0};
    for (; i < points.size(); ++i) {
      const double x = points[i].first;
      if (x - block.last > kSameX * std::abs(x)) break;
      block.last = x;
      block.sum += points[i].second;
      ++block.n;
    }
    while (!blocks.empty() && blocks.back().mean() >= block.mean()) {
      block = {blocks.back().first, block.last, blocks.back().sum + block.sum,
               blocks.back().n + block.n};
      blocks.pop_back();
    }
    blocks.push_back(block);
  }
  const double least = 0.5 / static_cast<double>(points.size());
  std::vector<Calibrator::Knot> out;
  for (const Block& block : blocks) {
    const double p = std::clamp(block.mean(), least, 1 - least);
    out.push_back({block.first, p});
    if (block.last > block.first) out.push_back({block.last, p});
  }
  return out;
}

std::optional<Calibrator> fit_isotonic(const RawSample& sample, Indices items) {
  std::vector<std::pair<double, double>> points;
  auto data = yes_no(sample, items);
  if (data) {
    points = std::move(data->points);
  } else {
    for (const std::size_t i : items) {
      const RawSample::Item& item = sample.item(i);
      if (item.scores < 2) return std::nullopt;
      const std::vector<double> p = decision::softmax(sample.scores(item));
      for (std::size_t k = 0; k < p.size(); ++k) points.emplace_back(p[k], k == item.label ? 1 : 0);
    }
  }
  return Calibrator{
      .method = Method::Isotonic, .knots = pool(std::move(points)), .by_option = !data};
}

}  // namespace

std::optional<Calibrator> fit(const RawSample& sample, Indices items, Method method) {
  if (method == Method::None) return Calibrator{};
  const std::vector<std::size_t> those = usable(sample, items);
  if (those.empty()) return std::nullopt;
  switch (method) {
    case Method::None:
      break;
    case Method::Temperature:
      return fit_temperature(sample, those, {});
    case Method::LabelPrior:
      return fit_label_prior(sample, those);
    case Method::Platt:
      return fit_platt(sample, those);
    case Method::Isotonic:
      return fit_isotonic(sample, those);
  }
  return std::nullopt;
}

std::vector<Method> methods_for(const RawSample& sample) {
  std::set<std::size_t> options;
  std::size_t answered = 0;
  bool own = true;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const RawSample::Item& item = sample.item(i);
    if (item.scores == 0) continue;
    ++answered;
    options.insert(item.options);
    own = own && item.defaults > 0;
  }
  if (answered == 0) return {};
  const bool two = options == std::set<std::size_t>{2};
  std::vector<Method> out;
  if (own) out.push_back(Method::None);
  if (!sample.is_bare()) out.push_back(Method::Temperature);
  if (!sample.is_bare() && !two && options.size() == 1) out.push_back(Method::LabelPrior);
  if (two) out.push_back(Method::Platt);
  if (answered >= kIsotonic) out.push_back(Method::Isotonic);
  return out;
}

void Losses::add(std::span<const double> probs, const RawSample::Item& item) {
  ++n;
  const bool answered = item.scores > 0;
  right += answered && decision::argmax(probs) == item.label ? 1 : 0;
  brier += decision::brier(probs, item.label);
  const double p = item.label < probs.size() ? probs[item.label] : 0;
  log_loss -= std::log(std::max(p, LogLoss::kClip));
}

void Losses::add(const Losses& other) {
  n += other.n;
  right += other.right;
  brier += other.brier;
  log_loss += other.log_loss;
}

std::optional<Losses> losses(const RawSample& sample, Indices items, const Calibrator& calibrator) {
  Losses out;
  for (const std::size_t i : items) {
    const auto probs = sample.probs(i, calibrator);
    if (!probs) return std::nullopt;
    out.add(*probs, sample.item(i));
  }
  return out;
}

std::optional<BestFit> fit_best(const RawSample& sample, Indices items,
                                const std::vector<Method>& methods, std::uint64_t seed) {
  const std::vector<std::size_t> fold_of = assign_folds(sample, items, kFolds, seed);
  std::vector<Split> splits;
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    Split one = split(sample, items, fold_of, fold);
    if (!one.held_out.empty() && !one.train.empty()) splits.push_back(std::move(one));
  }
  const std::optional<Losses> own = losses(sample, items, Calibrator{});
  std::optional<BestFit> best;
  for (const Method method : methods) {
    const auto whole = fit(sample, items, method);
    const auto on_own = whole ? losses(sample, items, *whole) : std::nullopt;
    if (!on_own || (own && on_own->log_loss > own->log_loss)) continue;
    Losses held_out;
    bool suits = true;
    for (const Split& one : splits) {
      const auto fitted = fit(sample, one.train, method);
      const auto part = fitted ? losses(sample, one.held_out, *fitted) : std::nullopt;
      suits = suits && part;
      if (part) held_out.add(*part);
    }
    if (!suits || held_out.n == 0) continue;
    if (!best || held_out.log_loss < best->held_out.log_loss)
      best = BestFit{.calibrator = *whole, .held_out = held_out};
  }
  return best;
}

}  // namespace deem::score
