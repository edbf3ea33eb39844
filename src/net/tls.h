#pragma once

// Private to net: TLS over bytes in memory, so that client and server move the bytes their own
// way (deadlines, no SIGPIPE). Not thread-safe; one session belongs to one connection.

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace deem::net {

struct Certificate;

/// Trust or identity shared by many sessions; safe to use from many threads.
class TlsContext {
 public:
  /// Trusts the system's roots and those in `ca_file` (PEM) if named.
  /// Errors: BadInput when `ca_file` holds no certificate.
  static Result<TlsContext> client(const std::string& ca_file);
  /// Errors: BadInput when the certificate and key do not fit.
  static Result<TlsContext> server(const Certificate& certificate);

 private:
  friend class TlsSession;
  std::shared_ptr<void> context_;  // SSL_CTX
};

class TlsSession {
 public:
  enum class Step { Done, WantRead, Closed, Failed };

  /// `host` is checked against the certificate and sent as SNI when it is a name.
  static TlsSession connect(const TlsContext& context, const std::string& host);
  static TlsSession accept(const TlsContext& context);

  void feed(std::string_view cipher);  // bytes that came from the peer
  std::string take_output();           // bytes to send to the peer
  Step handshake();
  Step write(std::string_view plain);  // after the handshake
  Step read(char* into, std::size_t room, std::size_t& got);
  /// Why the last step failed, in words.
  std::string failure() const;

 private:
  struct Free {
    void operator()(void* ssl) const;
  };
  TlsSession() = default;
  Step after(int result);
  std::unique_ptr<void, Free> ssl_;  // SSL with two memory BIOs
  std::string failure_;
};

}  // namespace deem::net
