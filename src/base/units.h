#pragma once

#include <compare>
#include <cstdint>

namespace deem {

/// One number, one unit. No implicit way in or out. Tag is an empty type that only names the unit.
template <class Tag, class Rep = double>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep value) : value_(value) {}
  constexpr Rep value() const { return value_; }
  constexpr auto operator<=>(const Quantity&) const = default;

 private:
  Rep value_{};
};
using Tokens = Quantity<struct TokensTag, std::int64_t>;

constexpr Tokens operator+(Tokens a, Tokens b) { return Tokens(a.value() + b.value()); }

}  // namespace deem
