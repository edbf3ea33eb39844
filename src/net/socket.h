#pragma once

// Private to net: sockets that never block past a deadline.

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "net/url.h"

namespace deem::net {

/// How a read or write ended. Closed: the peer has gone (end of file, reset, broken pipe).
/// GivenUp: ended from outside.
enum class Io { Ok, Closed, Timeout, GivenUp, Failed };

/// How long one wait may last before the deadline and `given_up` are looked at again.
inline constexpr std::chrono::milliseconds kWaitSlice{250};

/// How long a call waits: to the deadline, or until `*given_up` turns true (seen within
/// `kWaitSlice`).
struct Patience {
  TimePoint deadline = TimePoint::max();
  const std::atomic<bool>* given_up = nullptr;

  bool ended() const { return given_up != nullptr && given_up->load(std::memory_order_relaxed); }
};

/// A connected stream socket, TCP (no delay) or unix, whose blocking reads end after `kWaitSlice`.
/// Name look-up counts towards the deadline.
/// Errors: Timeout; Unavailable "connect to HOST:PORT: connection refused", or "given up".
Result<Fd> connect_to(const Url& url, const Patience& patience);

/// Listens on `address`: "IP:PORT" (port 0 picks one) or "unix:/path" (a stale socket there is
/// replaced). Non-blocking. Errors: Unavailable, BadInput.
Result<Fd> listen_on(const Url& url);

/// The port a listening TCP socket got.
std::uint16_t local_port(const Fd& fd);

/// Writes all of `head` then `body` in as few calls as the socket takes.
Io write_all(const Fd& fd, std::string_view head, std::string_view body, const Patience& patience);

/// Waits for bytes and reads what is there, at most `room`. `got` > 0 when Ok. For sockets of
/// connect_to.
Io read_some(const Fd& fd, char* into, std::size_t room, std::size_t& got,
             const Patience& patience);

/// Whether an idle connection is still open with nothing waiting to be read.
bool is_quiet(const Fd& fd);

/// errno in words, lower case: "connection refused".
std::string system_words(int error);

}  // namespace deem::net
