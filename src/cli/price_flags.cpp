#include "cli/price_flags.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/text.h"

namespace deem::cli {
namespace {

constexpr double kMost = 1e9;  // for a kilowatt hour, in whatever money

/// The number before `unit`, if that is all there is and it is no nonsense.
std::optional<double> number_before(std::string_view text, std::string_view unit) {
  text = trim(text);
  if (!text.ends_with(unit)) return std::nullopt;
  text = trim(text.substr(0, text.size() - unit.size()));
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(value) && value >= 0 && value <= kMost ? std::optional(value)
                                                                       : std::nullopt;
}

}  // namespace

void add_price_flags(CLI::App& app, PriceFlags& flags) {
  app.add_option("--price", flags.price,
                 "of a kilowatt hour, as in 0.30/kWh: what 1,000 decisions cost");
  app.add_option("--co2", flags.co2,
                 "of a kilowatt hour, as in 400g/kWh: the grams of 1,000 decisions");
}

Result<report::EnergyPrice> parse_prices(const PriceFlags& flags) {
  report::EnergyPrice out;
  if (!flags.price.empty()) {
    out.per_kwh = number_before(flags.price, "/kWh");
    if (!out.per_kwh) {
      return fail(Error::Code::BadInput, "--price " + printable(flags.price, 40) +
                                             ": wants the price of a kilowatt hour, 0 to 1e9, as "
                                             "in 0.30/kWh");
    }
  }
  if (!flags.co2.empty()) {
    out.grams_per_kwh = number_before(flags.co2, "g/kWh");
    if (!out.grams_per_kwh) {
      return fail(Error::Code::BadInput, "--co2 " + printable(flags.co2, 40) +
                                             ": wants the grams of a kilowatt hour, 0 to 1e9, as "
                                             "in 400g/kWh");
    }
  }
  return out;
}

}  // namespace deem::cli
