#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace deem::net {

/// Where a server listens. Written "http://host[:port][/base]", "https://…" or
/// "unix:/path/to.sock[:/base]".
struct Url {
  enum class Scheme { Http, Https, Unix };
  Scheme scheme = Scheme::Http;
  std::string host{};      // name or literal without brackets; for Unix the socket's path
  std::uint16_t port = 0;  // 0 for Unix
  std::string base{};      // "" or "/…" without a slash at the end

  std::string to_string() const;
  /// The value of the Host header.
  std::string authority() const;
  bool operator==(const Url&) const = default;
};

/// Errors: BadInput, saying what is wrong. An address with credentials, a query or a fragment is
/// refused: keys come from the environment or a file.
Result<Url> parse_url(std::string_view text);

/// `text` with "://user:password@" and the values of query fields such as key= and token= shown
/// as "***". For addresses and for foreign messages that may quote one.
std::string redact(std::string_view text);

}  // namespace deem::net
