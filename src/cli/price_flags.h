#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "report/energy.h"

namespace CLI {
class App;
}

namespace deem::cli {

/// What was typed for --price and --co2; "" for neither.
struct PriceFlags {
  std::string price = {}, co2 = {};
};
void add_price_flags(CLI::App& app, PriceFlags& flags);

/// "0.30/kWh" and "400g/kWh". Errors: BadInput naming the flag and what it wants.
Result<report::EnergyPrice> parse_prices(const PriceFlags& flags);

}  // namespace deem::cli
