#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace deem::net {

/// A bearer key. It has no printing, comparing or formatting operator, and its bytes are wiped
/// when it dies; `reveal` is for the one place that writes the request's header.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}
  Secret(const Secret&) = default;
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret other) noexcept;
  ~Secret();

  bool empty() const { return value_.empty(); }
  std::string_view reveal() const { return value_; }

  /// Replaces the key by "***" wherever `text` holds it, plainly or with characters as JSON may
  /// escape them, and its beginning where at least half of it and 8 characters stand there: what a
  /// server sends back may be printed and stored. Keys under 8 bytes ("EMPTY") are no secrets worth
  /// garbling text for.
  void scrub(std::string& text) const;

 private:
  std::string value_;
};

/// The key in environment variable `env`, else the first line of `file`; empty when both names
/// are empty. Errors: NotFound when the named variable is unset or empty, or the file can not be
/// read; BadInput for bytes that can not stand in a header. Messages never hold the key.
Result<Secret> load_secret(const std::string& env, const std::string& file);

}  // namespace deem::net
