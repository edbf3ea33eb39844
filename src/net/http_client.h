#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "net/secret.h"
#include "net/url.h"

namespace deem::net {

struct HttpOptions {
  Url url{};
  Secret bearer{};                     // empty: no Authorization header
  std::string ca_file{};               // extra trust roots, PEM
  std::size_t idle_connections = 256;  // kept open at most
};

struct HttpRequest {
  std::string_view method = "POST";
  std::string_view path{};                // below the URL's base: "/v1/models"
  std::string_view body{};                // JSON
  TimePoint deadline = TimePoint::max();  // look-up, connect, TLS, write and read together
  std::size_t reply_limit = std::size_t{64} << 20;  // bytes of the reply's body
};

/// A whole reply, of any status. Two clocks: `sent` and what follows; the caller knows when it
/// meant to send.
struct HttpReply {
  int status = 0;
  std::string body{};
  std::string content_type{};
  std::string retry_after{};
  TimePoint sent{};        // just before the first byte was written
  TimePoint first_byte{};  // of the reply
  TimePoint done{};
};

/// HTTP/1.1 with kept-alive connections to one server. Any number of threads may call `send` at
/// once; each call has a connection to itself. A request is sent again only when it went out on
/// a kept connection which the server closed without a single byte of reply, and then once, on a
/// fresh connection. Redirects are not followed, compression is not asked.
class HttpClient {
 public:
  /// Errors: BadInput for a ca_file without certificates.
  static Result<HttpClient> make(HttpOptions options);
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

  /// Errors: Timeout at the deadline; Unavailable when there is no connection or it breaks;
  /// Corrupt when the reply is no HTTP, too large or compressed. A status of 400 or more is a
  /// reply.
  Result<HttpReply> send(const HttpRequest& request);

  /// Ends the calls in flight (within `kWaitSlice`) and every later one with Unavailable "given
  /// up". From any thread.
  void give_up();

  const Url& url() const;

 private:
  struct Impl;
  explicit HttpClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace deem::net
