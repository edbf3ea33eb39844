#include "net/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <future>
#include <memory>
#include <system_error>
#include <thread>

#include "base/text.h"

namespace deem::net {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

/// Waits until `fd` has one of `events`. Timeout and GivenUp when that came first.
Io wait_for(int fd, short events, const Patience& patience) {
  pollfd entry{fd, events, 0};
  for (;;) {
    if (patience.ended()) return Io::GivenUp;
    const auto now = Clock::now();
    const auto slice = std::clamp<Clock::duration>(
        patience.deadline - now, Clock::duration::zero(),
        patience.given_up != nullptr ? Clock::duration(kWaitSlice) : std::chrono::hours(1));
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(slice).count();
    const timespec left{.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
    const int n = ppoll(&entry, 1, &left, nullptr);
    if (n > 0) return Io::Ok;
    if (n < 0 && errno != EINTR) return Io::Ok;  // the next call on fd reports it
    if (n == 0 && now + slice >= patience.deadline) return Io::Timeout;
  }
}

std::unexpected<Error> ended(Io how, std::string_view timeout) {
  if (how == Io::GivenUp) return fail(Error::Code::Unavailable, "given up");
  return fail(Error::Code::Timeout, std::string(timeout));
}

Io classify(int error) {
  return error == EPIPE || error == ECONNRESET || error == ECONNABORTED ? Io::Closed : Io::Failed;
}

struct Lookup {
  int code = 0;
  Addresses list;
};

Lookup look_up(const std::string& host, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int code = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  return {code, Addresses(list)};
}

/// getaddrinfo has no deadline of its own: a slow look-up is left to finish on its thread.
Result<Addresses> resolve(const std::string& host, std::uint16_t port, const Patience& patience) {
  auto numeric = look_up(host, port, AI_NUMERICHOST);
  if (numeric.code == 0) return std::move(numeric.list);
  std::packaged_task<Lookup()> task([host, port] { return look_up(host, port, AI_ADDRCONFIG); });
  auto answer = task.get_future();
  std::thread(std::move(task)).detach();
  while (answer.wait_until(std::min(patience.deadline, Clock::now() + kWaitSlice)) !=
         std::future_status::ready) {
    if (patience.ended()) return fail(Error::Code::Unavailable, "look up " + host + ": given up");
    if (Clock::now() >= patience.deadline) {
      return fail(Error::Code::Timeout, "look up " + host + ": no answer by the deadline");
    }
  }
  auto found = answer.get();
  if (found.code != 0) {
    return fail(Error::Code::Unavailable,
                "look up " + host + ": " + to_lower(gai_strerror(found.code)));
  }
  return std::move(found.list);
}

Result<Fd> connect_one(const sockaddr* address, socklen_t size, int family,
                       const Patience& patience) {
  Fd fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fail(Error::Code::Unavailable, "socket: " + system_words(errno));
  if (family != AF_UNIX) {
    const int on = 1;
    setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  int error = ::connect(fd.get(), address, size) == 0 ? 0 : errno;
  // A unix listener whose queue is full answers EAGAIN at once.
  while (error == EAGAIN && family == AF_UNIX && Clock::now() < patience.deadline &&
         !patience.ended()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    error = ::connect(fd.get(), address, size) == 0 ? 0 : errno;
  }
  if (error == EINPROGRESS) {
    if (const Io io = wait_for(fd.get(), POLLOUT, patience); io != Io::Ok) {
      return ended(io, "no connection by the deadline");
    }
    socklen_t length = sizeof error;
    getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  }
  if (error != 0) return fail(Error::Code::Unavailable, system_words(error));
  const timeval slice{.tv_sec = 0, .tv_usec = std::chrono::microseconds(kWaitSlice).count()};
  if (::fcntl(fd.get(), F_SETFL, 0) != 0 ||
      ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &slice, sizeof slice) != 0) {
    return fail(Error::Code::Unavailable, "socket: " + system_words(errno));
  }
  return fd;
}

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof address.sun_path - 1));
  return address;
}

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

}  // namespace

std::string system_words(int error) {
  return to_lower(std::error_code(error, std::generic_category()).message());
}

Result<Fd> connect_to(const Url& url, const Patience& patience) {
  const std::string where =
      "connect to " + (url.scheme == Url::Scheme::Unix ? url.host : url.authority());
  if (url.scheme == Url::Scheme::Unix) {
    const auto address = unix_address(url.host);
    auto fd = connect_one(generic(address), sizeof address, AF_UNIX, patience);
    if (!fd) return fail(where, fd.error());
    return fd;
  }
  auto addresses = resolve(url.host, url.port, patience);
  if (!addresses) return fail(addresses.error());
  std::size_t left = 0;
  for (const addrinfo* a = addresses->get(); a != nullptr; a = a->ai_next) ++left;
  Error last{Error::Code::Unavailable, "no address"};
  for (const addrinfo* a = addresses->get(); a != nullptr; a = a->ai_next, --left) {
    // A dead first address must not eat the whole time of the next one.
    const auto now = Clock::now();
    Patience part = patience;
    if (patience.deadline != TimePoint::max()) {
      part.deadline = now + (patience.deadline - now) / static_cast<std::int64_t>(left);
    }
    auto fd = connect_one(a->ai_addr, a->ai_addrlen, a->ai_family, part);
    if (fd) return fd;
    last = fd.error();
    if (patience.ended()) break;
  }
  return fail(where, last);
}

Result<Fd> listen_on(const Url& url) {
  const std::string where = "listen on " + url.to_string();
  Fd fd;
  int bound = -1;
  if (url.scheme == Url::Scheme::Unix) {
    fd = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    struct stat status{};
    if (::stat(url.host.c_str(), &status) == 0 && S_ISSOCK(status.st_mode))
      ::unlink(url.host.c_str());
    const auto address = unix_address(url.host);
    bound = ::bind(fd.get(), generic(address), sizeof address);
  } else {
    auto found = look_up(url.host, url.port, AI_NUMERICHOST | AI_PASSIVE);
    if (found.code != 0) return fail(Error::Code::BadInput, where + ": not a numeric address");
    const addrinfo* a = found.list.get();
    fd = Fd(::socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int on = 1;
    setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bound = ::bind(fd.get(), a->ai_addr, a->ai_addrlen);
  }
  if (bound != 0 || ::listen(fd.get(), SOMAXCONN) != 0) {
    return fail(Error::Code::Unavailable, where + ": " + system_words(errno));
  }
  return fd;
}

std::uint16_t local_port(const Fd& fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  const std::uint16_t raw = address.ss_family == AF_INET6
                                ? reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port
                                : reinterpret_cast<const sockaddr_in*>(&address)->sin_port;
  return ntohs(raw);
}

Io write_all(const Fd& fd, std::string_view head, std::string_view body, const Patience& patience) {
  while (!head.empty() || !body.empty()) {
    std::array<iovec, 2> parts{{{const_cast<char*>(head.data()), head.size()},
                                {const_cast<char*>(body.data()), body.size()}}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t n = ::sendmsg(fd.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return classify(errno);
      if (const Io io = wait_for(fd.get(), POLLOUT, patience); io != Io::Ok) return io;
      continue;
    }
    const auto sent = static_cast<std::size_t>(n);
    const std::size_t of_head = std::min(sent, head.size());
    head.remove_prefix(of_head);
    body.remove_prefix(sent - of_head);
  }
  return Io::Ok;
}

Io read_some(const Fd& fd, char* into, std::size_t room, std::size_t& got,
             const Patience& patience) {
  for (;;) {
    // One call where the deadline is far: a poll before each read costs a tenth of a decision.
    const bool near = patience.deadline - Clock::now() < 2 * kWaitSlice;
    if (near) {
      if (const Io io = wait_for(fd.get(), POLLIN, patience); io != Io::Ok) return io;
    } else if (patience.ended()) {
      return Io::GivenUp;
    }
    const ssize_t n = ::recv(fd.get(), into, room, near ? MSG_DONTWAIT : 0);
    if (n > 0) {
      got = static_cast<std::size_t>(n);
      return Io::Ok;
    }
    if (n == 0) return Io::Closed;
    if (errno != EAGAIN && errno != EINTR) return classify(errno);
  }
}

bool is_quiet(const Fd& fd) {
  char byte = 0;
  return ::recv(fd.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

}  // namespace deem::net
