#include "kit/balance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace deem::kit {
namespace {
constexpr std::size_t kFewestLabelled = 20;
constexpr double kMostMoved = 0.1;
constexpr double kThousandth = 3.0902;  // standard normal, upper 0.1 %
}  // namespace

Balance balance_of(const Task& task) {
  Balance balance;
  balance.ordered = task.type == decision::QuestionType::Score;
  for (const Item& item : task.items) {
    const auto& options = item.question.options;
    if (!item.label) continue;
    const auto gold = std::ranges::find(options, *item.label, &decision::Option::key);
    if (gold == options.end()) continue;
    ++balance.labelled;
    if (balance.counts.size() < options.size()) {
      balance.counts.resize(options.size());
      balance.expected.resize(options.size());
    }
    ++balance.counts[static_cast<std::size_t>(gold - options.begin())];
    for (std::size_t i = 0; i < options.size(); ++i) {
      balance.expected[i] += 1.0 / static_cast<double>(options.size());
    }
  }
  for (std::size_t i = 0; i < balance.counts.size(); ++i) {
    const double off = static_cast<double>(balance.counts[i]) - balance.expected[i];
    balance.chi_square += off * off / balance.expected[i];
  }
  return balance;
}

double chi_square_critical(std::size_t degrees) {
  const double k = static_cast<double>(degrees);
  const double spread = 2.0 / (9.0 * k);
  return k * std::pow(1.0 - spread + kThousandth * std::sqrt(spread), 3);
}

bool Balance::badly_unbalanced() const {
  if (ordered || labelled < kFewestLabelled || counts.size() < 2) return false;
  double moved = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    moved += std::max(0.0, static_cast<double>(counts[i]) - expected[i]);
  }
  return chi_square > chi_square_critical(counts.size() - 1) &&
         moved > kMostMoved * static_cast<double>(labelled);
}

std::string Balance::text() const {
  constexpr std::size_t kShown = 8;
  std::string seen, wanted;
  for (std::size_t i = 0; i < std::min(counts.size(), kShown); ++i) {
    const std::string name = i < decision::kLetters ? std::string(1, decision::letter(i)) : "?";
    seen += fmt::format("{}{} {}", i > 0 ? ", " : "", name, counts[i]);
    wanted += fmt::format("{}{:.1f}", i > 0 ? ", " : "", expected[i]);
  }
  const char* more = counts.size() > kShown ? ", …" : "";
  return fmt::format("{}{} ({}{} expected)", seen, more, wanted, more);
}

}  // namespace deem::kit
