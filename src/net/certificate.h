#pragma once

#include <string>

#include "base/result.h"

namespace deem::net {

/// A certificate and its key, PEM.
struct Certificate {
  std::string certificate{};
  std::string key{};
};

/// A fresh self-signed certificate (P-256, valid from yesterday for 30 days) for `host`, a DNS
/// name or an IP address: for servers in tests. Nothing is written to disk.
Result<Certificate> make_self_signed(const std::string& host);

}  // namespace deem::net
