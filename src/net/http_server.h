#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/certificate.h"

namespace deem::net {

struct ServerRequest {
  std::string method{};
  std::string target{};  // path with query, as sent
  std::string body{};
  std::string authorization{};  // the header's value, "" when absent
};

struct ServerReply {
  /// Ways to go wrong on purpose, for tests of clients.
  enum class Fault {
    None,
    Close,      // close without a byte
    Reset,      // the same by a TCP reset
    Hang,       // keep the connection and say nothing
    HalfReply,  // the header and half of the body, then close
    Stall,      // the same, then hang
  };
  int status = 200;
  std::string body{};
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers{};
  std::chrono::nanoseconds delay{0};  // before the first byte; other connections go on
  bool chunked = false;
  bool close = false;        // close when sent
  bool omit_length = false;  // no Content-Length: the close ends the body
  Fault fault = Fault::None;
};

struct ServerOptions {
  std::string address = "http://127.0.0.1:0";  // or "unix:/path"; port 0 picks a free one
  bool any_interface = false;                  // allow an address that is not loopback
  int threads = 1;
  std::optional<Certificate> certificate{};           // serve TLS
  std::size_t request_limit = std::size_t{64} << 20;  // bytes of one request's body; over: 413
};

/// Called on a loop's thread, from several at once when there are several threads: must not block.
using Handler = std::function<ServerReply(const ServerRequest&)>;

/// A small HTTP/1.1 server with kept-alive connections, on an event loop per thread. Serves until
/// destroyed; connections are then closed at once.
class HttpServer {
 public:
  /// Errors: BadInput for an address that is not loopback (unless allowed) or not numeric,
  /// Unavailable when it can not be bound.
  static Result<HttpServer> start(ServerOptions options, Handler handler);
  HttpServer(HttpServer&&) noexcept;
  HttpServer& operator=(HttpServer&&) noexcept;
  ~HttpServer();

  /// "http://127.0.0.1:43210", "https://…" or "unix:/path".
  const std::string& address() const;
  std::uint64_t connections() const;  // accepted so far
  std::uint64_t requests() const;     // read in full so far

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace deem::net
