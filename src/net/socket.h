#pragma once

// Private to net: sockets that never block past a deadline.

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "net/url.h"

namespace deem::net {

/// How a read or write ended. Closed: the peer has gone (end of file, reset, broken pipe).
enum class Io { Ok, Closed, Timeout, Failed };

/// How long one blocking read may last before the deadline is looked at again.
inline constexpr std::chrono::milliseconds kReadSlice{250};

/// A connected stream socket, TCP (no delay) or unix, whose blocking reads end after `kReadSlice`.
/// Name look-up counts towards the deadline.
/// Errors: Timeout; Unavailable "connect to HOST:PORT: connection refused".
Result<Fd> connect_to(const Url& url, TimePoint deadline);

/// Listens on `address`: "IP:PORT" (port 0 picks one) or "unix:/path" (a stale socket there is
/// replaced). Non-blocking. Errors: Unavailable, BadInput.
Result<Fd> listen_on(const Url& url);

/// The port a listening TCP socket got.
std::uint16_t local_port(const Fd& fd);

/// Writes all of `head` then `body` in as few calls as the socket takes.
Io write_all(const Fd& fd, std::string_view head, std::string_view body, TimePoint deadline);

/// Waits for bytes and reads what is there, at most `room`. `got` > 0 when Ok. For sockets of
/// connect_to.
Io read_some(const Fd& fd, char* into, std::size_t room, std::size_t& got, TimePoint deadline);

/// Whether an idle connection is still open with nothing waiting to be read.
bool is_quiet(const Fd& fd);

/// errno in words, lower case: "connection refused".
std::string system_words(int error);

}  // namespace deem::net
