#include "net/url.h"

#include <sys/un.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace deem::net {
namespace {

constexpr std::string_view kForms =
    "use http://host:port, https://host or unix:/path/to.sock (each may end in a base path)";

std::unexpected<Error> refuse(std::string_view text, std::string_view why) {
  return fail(Error::Code::BadInput,
              "address \"" + redact(printable(text, 200)) + "\": " + std::string(why));
}

std::string without_slashes(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::string(path);
}

Result<Url> parse_unix(std::string_view text, std::string_view rest) {
  Url url{.scheme = Url::Scheme::Unix, .host = {}, .port = 0, .base = {}};
  if (const auto colon = rest.rfind(":/"); colon != std::string_view::npos) {
    url.base = without_slashes(rest.substr(colon + 1));
    rest = rest.substr(0, colon);
  }
  if (!rest.starts_with('/')) return refuse(text, "a socket's path starts with /");
  if (rest.size() >= sizeof(sockaddr_un::sun_path)) {
    return refuse(text, "the socket's path is longer than the system allows (107 bytes)");
  }
  url.host = rest;
  return url;
}

/// Splits "host", "host:port", "[v6]" or "[v6]:port".
bool split_authority(std::string_view authority, std::string_view& host, std::string_view& port) {
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == std::string_view::npos) return false;
    host = authority.substr(1, close - 1);
    const std::string_view tail = authority.substr(close + 1);
    if (!tail.empty() && tail.front() != ':') return false;
    port = tail.empty() ? tail : tail.substr(1);
    return !host.empty() && (tail.empty() || !port.empty());
  }
  const auto colon = authority.find(':');
  host = authority.substr(0, colon);
  port = colon == std::string_view::npos ? std::string_view() : authority.substr(colon + 1);
  return !host.empty() && (colon == std::string_view::npos || !port.empty());
}

}  // namespace

std::string Url::authority() const {
  if (scheme == Scheme::Unix) return "localhost";
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  const bool usual = port == (scheme == Scheme::Http ? 80 : 443);
  return usual ? name : name + ":" + std::to_string(port);
}

std::string Url::to_string() const {
  if (scheme == Scheme::Unix) return "unix:" + host + (base.empty() ? "" : ":" + base);
  return (scheme == Scheme::Http ? "http://" : "https://") + authority() + base;
}

Result<Url> parse_url(std::string_view text) {
  if (text.empty()) return refuse(text, kForms);
  if (!std::ranges::all_of(text, [](char c) { return c > 0x20 && c != 0x7f; })) {
    return refuse(text, "white space and control characters are not allowed");
  }
  if (text.starts_with("unix:")) return parse_unix(text, text.substr(5));
  Url url;
  std::string_view rest = text;
  const std::string scheme = to_lower(text.substr(0, text.find("://")));
  if (scheme == "http") {
    url.scheme = Url::Scheme::Http;
  } else if (scheme == "https") {
    url.scheme = Url::Scheme::Https;
  } else {
    return refuse(text, kForms);
  }
  rest.remove_prefix(scheme.size() + 3);
  if (rest.find_first_of("?#") != std::string_view::npos) {
    return refuse(text, "a query or fragment is not allowed");
  }
  const auto slash = rest.find('/');
  const std::string_view authority = rest.substr(0, slash);
  if (authority.find('@') != std::string_view::npos) {
    return refuse(text,
                  "credentials are not taken from an address; name an environment variable "
                  "or a file that holds the key");
  }
  if (slash != std::string_view::npos) url.base = without_slashes(rest.substr(slash));
  std::string_view host, port;
  if (!split_authority(authority, host, port)) return refuse(text, "no host, or a malformed port");
  url.host = host;
  url.port = url.scheme == Url::Scheme::Http ? 80 : 443;
  if (!port.empty()) {
    const auto [end, ec] = std::from_chars(port.data(), port.data() + port.size(), url.port);
    if (ec != std::errc() || end != port.data() + port.size() || url.port == 0) {
      return refuse(text, "the port is a number from 1 to 65535");
    }
  }
  return url;
}

std::string redact(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  constexpr std::string_view kStops = "/ \t\r\n\"'<>";
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with("://")) {
      out += "://";
      at += 3;
      const auto stop = std::min(text.find_first_of(kStops, at), text.size());
      const auto sign = text.substr(at, stop - at).rfind('@');
      if (sign != std::string_view::npos) {
        out += "***";
        at += sign;
      }
      continue;
    }
    if (text[at] == '?' || text[at] == '&') {
      constexpr std::array<std::string_view, 6> kNames = {
          "key=", "api_key=", "api-key=", "token=", "secret=", "access_token="};
      const std::string lower = to_lower(text.substr(at + 1, 16));
      const auto name = std::ranges::find_if(
          kNames, [&](std::string_view n) { return std::string_view(lower).starts_with(n); });
      if (name != kNames.end()) {
        out += text.substr(at, 1 + name->size());
        out += "***";
        at = std::min(text.find_first_of("& \t\r\n\"'<>#", at + 1), text.size());
        continue;
      }
    }
    out += text[at++];
  }
  return out;
}

}  // namespace deem::net
