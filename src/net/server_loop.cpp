#include "net/server_loop.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "net/http_parse.h"
#include "net/socket.h"

namespace deem::net {
namespace {

using Fault = ServerReply::Fault;
constexpr std::uint64_t kListener = 0;
constexpr std::uint64_t kWake = 1;

std::string_view reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 413:
      return "Payload Too Large";
    case 429:
      return "Too Many Requests";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    default:
      return "Status";
  }
}

void append_chunked(std::string& out, std::string_view body, bool ended) {
  constexpr std::size_t kChunk = 61;  // small and odd, to split tokens and UTF-8 alike
  for (std::size_t at = 0; at < body.size(); at += kChunk) {
    const std::string_view piece = body.substr(at, kChunk);
    std::array<char, 24> size{};
    std::snprintf(size.data(), size.size(), "%zx\r\n", piece.size());
    out.append(size.data()).append(piece).append("\r\n");
  }
  if (ended) out += "0\r\n\r\n";
}

/// The bytes of a reply; of a faulty one, those sent before the fault.
std::string serialise(const ServerReply& reply, bool keep_alive) {
  std::string out;
  out.reserve(reply.body.size() + 256);
  out.append("HTTP/1.1 ").append(std::to_string(reply.status)).append(" ");
  out.append(reason(reply.status)).append("\r\nContent-Type: ").append(reply.content_type);
  for (const auto& [name, value] : reply.headers) {
    out.append("\r\n").append(name).append(": ").append(value);
  }
  if (reply.chunked) {
    out += "\r\nTransfer-Encoding: chunked";
  } else if (!reply.omit_length) {
    out.append("\r\nContent-Length: ").append(std::to_string(reply.body.size()));
  }
  out += keep_alive ? "\r\n\r\n" : "\r\nConnection: close\r\n\r\n";
  const bool half = reply.fault == Fault::HalfReply || reply.fault == Fault::Stall;
  const auto body = std::string_view(reply.body).substr(0, reply.body.size() / (half ? 2 : 1));
  if (reply.chunked) {
    append_chunked(out, body, !half);
  } else {
    out += body;
  }
  return out;
}

}  // namespace

struct ServerLoop::Peer {
  explicit Peer(Fd socket) : fd(std::move(socket)) {}

  void new_parser(std::size_t limit) {
    parser.emplace();
    parser->eager(true);
    parser->body_limit(limit);
  }

  Fd fd;
  std::uint64_t id = 0;
  std::optional<TlsSession> tls;
  bool shaken = false;
  std::optional<RequestParser> parser;
  std::string in;            // plain bytes the parser has not taken
  std::string out;           // bytes the socket has not taken
  bool waiting = false;      // a reply is delayed, or never comes
  bool close_after = false;  // close once `out` is empty
  bool refused = false;      // the request was not read to its end: what still comes is dropped
  std::size_t dropped = 0;   // bytes dropped so
  bool want_write = false;   // registered for EPOLLOUT
};

Result<ServerLoop> ServerLoop::make(ServerShared& shared) {
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event listener{.events = EPOLLIN | EPOLLEXCLUSIVE, .data = {.u64 = kListener}};
  epoll_event wake{.events = EPOLLIN, .data = {.u64 = kWake}};
  if (!epoll || ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, shared.listener.get(), &listener) != 0 ||
      ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, shared.wake.get(), &wake) != 0) {
    return fail(Error::Code::Unavailable, "epoll: " + system_words(errno));
  }
  return ServerLoop(shared, std::move(epoll));
}

ServerLoop::ServerLoop(ServerShared& shared, Fd epoll)
    : shared_(&shared), epoll_(std::move(epoll)), buffer_(64 * 1024) {}
ServerLoop::ServerLoop(ServerLoop&&) noexcept = default;
ServerLoop::~ServerLoop() = default;

void ServerLoop::run() {
  std::array<epoll_event, 64> events{};
  for (;;) {
    const int n =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait_ms());
    for (int i = 0; i < n; ++i) {
      const auto& event = events[static_cast<std::size_t>(i)];
      if (event.data.u64 == kWake) return;
      if (event.data.u64 == kListener) {
        accept_all();
      } else if (const auto found = peers_.find(event.data.u64); found != peers_.end()) {
        if (!on_event(*found->second, event.events)) drop(event.data.u64);
      }
    }
    send_due();
  }
}

void ServerLoop::accept_all() {
  for (;;) {
    Fd fd(::accept4(shared_->listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) return;
    const int on = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    auto peer = std::make_unique<Peer>(std::move(fd));
    peer->id = next_id_++;
    peer->new_parser(shared_->options.request_limit);
    if (shared_->tls) peer->tls = TlsSession::accept(*shared_->tls);
    epoll_event event{.events = EPOLLIN, .data = {.u64 = peer->id}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, peer->fd.get(), &event) != 0) continue;
    ++shared_->connections;
    peers_.emplace(peer->id, std::move(peer));
  }
}

void ServerLoop::drop(std::uint64_t id) { peers_.erase(id); }

bool ServerLoop::on_event(Peer& peer, std::uint32_t events) {
  if ((events & EPOLLOUT) != 0 && !flush(peer)) return false;
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) return true;
  for (;;) {
    const ssize_t n = ::recv(peer.fd.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (n == 0) return false;
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    const auto got = static_cast<std::size_t>(n);
    if (!take(peer, {buffer_.data(), got})) return false;
    if (got < buffer_.size()) return true;
  }
}

bool ServerLoop::take(Peer& peer, std::string_view bytes) {
  if (peer.refused) {
    peer.dropped += bytes.size();
    return peer.dropped <= shared_->options.request_limit + (std::size_t{1} << 20);
  }
  if (!peer.tls) {
    peer.in += bytes;
    return advance(peer);
  }
  peer.tls->feed(bytes);
  if (!peer.shaken) {
    const auto step = peer.tls->handshake();
    peer.out += peer.tls->take_output();
    if (!flush(peer) || step == TlsSession::Step::Failed) return false;
    if (step != TlsSession::Step::Done) return true;
    peer.shaken = true;
  }
  std::array<char, 16 * 1024> plain{};
  for (std::size_t got = 0;;) {
    const auto step = peer.tls->read(plain.data(), plain.size(), got);
    if (step == TlsSession::Step::WantRead) break;
    if (step != TlsSession::Step::Done) return false;
    peer.in.append(plain.data(), got);
  }
  return advance(peer);
}

bool ServerLoop::advance(Peer& peer) {
  namespace http = boost::beast::http;
  while (!peer.waiting && !peer.close_after && !peer.in.empty()) {
    boost::beast::error_code ec;
    const std::size_t n =
        peer.parser->put(boost::asio::const_buffer(peer.in.data(), peer.in.size()), ec);
    peer.in.erase(0, n);
    if (ec == http::error::need_more) return true;
    if (ec) {
      const bool large = ec == http::error::body_limit;
      const std::string what = large ? "request too large" : "malformed request";
      peer.refused = true;
      return put(peer, {.status = large ? 413 : 400, .body = "{\"error\":\"" + what + "\"}"},
                 false);
    }
    if (peer.parser->is_done()) {
      if (!answer(peer)) return false;
    } else if (n == 0) {
      return true;
    }
  }
  return true;
}

bool ServerLoop::answer(Peer& peer) {
  ++shared_->requests;
  RequestParser& parser = *peer.parser;
  const bool keep_alive = parser.keep_alive();
  const ServerRequest request{.method = std::move(parser.method),
                              .target = std::move(parser.target),
                              .body = std::move(parser.body),
                              .authorization = std::move(parser.authorization)};
  peer.new_parser(shared_->options.request_limit);
  ServerReply reply = shared_->handler(request);
  const bool keep = keep_alive && !reply.close && !reply.omit_length;
  if (reply.delay.count() > 0) {
    peer.waiting = true;
    due_.push({.at = Clock::now() + reply.delay,
               .peer = peer.id,
               .reply = std::move(reply),
               .keep_alive = keep});
    return true;
  }
  return put(peer, reply, keep);
}

bool ServerLoop::put(Peer& peer, const ServerReply& reply, bool keep_alive) {
  switch (reply.fault) {
    case Fault::Close:
      return false;
    case Fault::Reset: {
      const linger now{.l_onoff = 1, .l_linger = 0};
      ::setsockopt(peer.fd.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
      return false;
    }
    case Fault::Hang:
      peer.waiting = true;
      return true;
    case Fault::Stall:
      peer.waiting = true;
      break;
    case Fault::HalfReply:
      peer.close_after = true;
      break;
    case Fault::None:
      peer.close_after = !keep_alive;
      break;
  }
  const std::string bytes = serialise(reply, keep_alive);
  if (peer.tls) {
    if (peer.tls->write(bytes) != TlsSession::Step::Done) return false;
    peer.out += peer.tls->take_output();
  } else {
    peer.out += bytes;
  }
  return flush(peer);
}

bool ServerLoop::flush(Peer& peer) {
  std::size_t sent = 0;
  while (sent < peer.out.size()) {
    const ssize_t n = ::send(peer.fd.get(), peer.out.data() + sent, peer.out.size() - sent,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN) return false;
    if (n < 0) break;
    sent += static_cast<std::size_t>(n);
  }
  peer.out.erase(0, sent);
  if (peer.out.empty() && peer.close_after) {
    if (!peer.refused) return false;
    // Closing with bytes unread would reset the connection and take our words with it.
    ::shutdown(peer.fd.get(), SHUT_WR);
  }
  if (const bool want = !peer.out.empty(); want != peer.want_write) {
    peer.want_write = want;
    const std::uint32_t mask = want ? std::uint32_t{EPOLLIN} | EPOLLOUT : std::uint32_t{EPOLLIN};
    epoll_event event{.events = mask, .data = {.u64 = peer.id}};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, peer.fd.get(), &event);
  }
  return true;
}

void ServerLoop::send_due() {
  while (!due_.empty() && due_.top().at <= Clock::now()) {
    const Due due = due_.top();
    due_.pop();
    const auto found = peers_.find(due.peer);
    if (found == peers_.end()) continue;
    Peer& peer = *found->second;
    peer.waiting = false;
    if (!put(peer, due.reply, due.keep_alive) || !advance(peer)) drop(due.peer);
  }
}

int ServerLoop::wait_ms() const {
  if (due_.empty()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(due_.top().at - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

}  // namespace deem::net
