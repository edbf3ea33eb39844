#include "seat/doctor/against.h"

#include <algorithm>
#include <cmath>

#include "base/chance.h"
#include "decision/readout.h"

namespace deem::seat {
namespace {

using Numbers = std::vector<double>;

double largest_change(const Numbers& a, const Numbers& b) {
  double most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

double mean_change(std::span<const AgainstItem* const> items, double temperature) {
  double sum = 0;
  for (const AgainstItem* item : items)
    sum += largest_change(*item->native, decision::softmax(*item->letters, temperature));
  return sum / static_cast<double>(items.size());
}

}  // namespace

AgainstFigures hold_against(std::span<const AgainstItem> items) {
  AgainstFigures out;
  std::vector<const AgainstItem*> paired;
  std::size_t both = 0, clear = 0, noisy = 0;
  for (const AgainstItem& item : items) {
    if (!item.native || !item.native_again || !item.letters || !item.letters_again) continue;
    paired.push_back(&item);
    const std::size_t native = decision::argmax(*item.native);
    const std::size_t letters = decision::argmax(*item.letters);
    const bool wavers = native != decision::argmax(*item.native_again) ||
                        letters != decision::argmax(*item.letters_again);
    const bool native_right = native == item.label, letters_right = letters == item.label;
    const bool differ = native != letters;
    out.native_right += native_right ? 1U : 0U;
    out.letters_right += letters_right ? 1U : 0U;
    out.native_alone += native_right && !letters_right ? 1U : 0U;
    out.letters_alone += letters_right && !native_right ? 1U : 0U;
    both += native_right && letters_right ? 1U : 0U;
    out.differ += differ ? 1U : 0U;
    out.wavers += wavers ? 1U : 0U;
    clear += differ && !wavers ? 1U : 0U;
    noisy += wavers && !differ ? 1U : 0U;
    const Numbers p = decision::softmax(*item.letters);
    const double moved = largest_change(*item.native, p);
    out.max = std::max(out.max, moved);
    out.apart += moved > kTolerance ? 1U : 0U;
    out.noise = std::max({out.noise, largest_change(*item.native, *item.native_again),
                          largest_change(p, decision::softmax(*item.letters_again))});
  }
  out.n = paired.size();
  if (out.n == 0) return out;
  out.mean = out.mean_at_temperature = mean_change(paired, 1);
  constexpr double kFinest = 1.02;
  for (double t = 0.2; t <= 8; t *= kFinest) {
    const double mean = mean_change(paired, t);
    if (mean >= out.mean_at_temperature) continue;
    out.mean_at_temperature = mean;
    out.temperature = t;
  }
  out.difference =
      (static_cast<double>(out.native_alone) - static_cast<double>(out.letters_alone)) /
      static_cast<double>(out.n);
  out.interval = paired_difference_95(both, out.native_alone, out.letters_alone,
                                      out.n - both - out.native_alone - out.letters_alone);
  out.p_right = mcnemar_exact(out.native_alone, out.letters_alone);
  out.p_differ = clear > noisy ? mcnemar_exact(clear, noisy) : 1;
  return out;
}

}  // namespace deem::seat
