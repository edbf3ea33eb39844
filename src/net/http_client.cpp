#include "net/http_client.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include "base/text.h"
#include "net/http_parse.h"
#include "net/socket.h"
#include "net/tls.h"

namespace deem::net {
namespace {

constexpr std::size_t kReadSize = 64 * 1024;
constexpr std::chrono::seconds kTrustIdle{1};
constexpr std::uint32_t kHeaderLimit = 64 * 1024;

/// One connection with its unread bytes.
class Connection {
 public:
  Connection(Fd fd, std::optional<TlsSession> tls) : fd_(std::move(fd)), tls_(std::move(tls)) {}

  Result<void> handshake(const Patience& patience);
  Io write(std::string_view head, std::string_view body, const Patience& patience);
  Io read(char* into, std::size_t room, std::size_t& got, const Patience& patience);
  /// Whether it is still good, looked at when it has been idle for a while; a server's closing
  /// in between shows as a reply without a byte.
  bool reusable() const { return Clock::now() - idle_since < kTrustIdle || is_quiet(fd_); }
  std::string failure() const { return tls_ ? tls_->failure() : std::string(); }

  TimePoint idle_since{};
  std::vector<char> buffer = std::vector<char>(kReadSize);  // grows to hold a long header

 private:
  Io flush(const Patience& patience) { return write_all(fd_, tls_->take_output(), {}, patience); }

  Fd fd_;
  std::optional<TlsSession> tls_;
  std::vector<char> cipher_;
};

Result<void> Connection::handshake(const Patience& patience) {
  char cipher[16 * 1024];
  for (;;) {
    const auto step = tls_->handshake();
    const Io out = flush(patience);
    if (step == TlsSession::Step::Failed) return fail(Error::Code::Unavailable, tls_->failure());
    if (step == TlsSession::Step::Done) return {};
    std::size_t got = 0;
    const Io in = out == Io::Ok ? read_some(fd_, cipher, sizeof cipher, got, patience) : out;
    if (in == Io::Timeout) return fail(Error::Code::Timeout, "no TLS handshake by the deadline");
    if (in == Io::GivenUp) return fail(Error::Code::Unavailable, "given up");
    if (in != Io::Ok) {
      return fail(Error::Code::Unavailable,
                  "closed during the TLS handshake (is it an https port?)");
    }
    tls_->feed({cipher, got});
  }
}

Io Connection::write(std::string_view head, std::string_view body, const Patience& patience) {
  if (!tls_) return write_all(fd_, head, body, patience);
  if (tls_->write(head) != TlsSession::Step::Done || tls_->write(body) != TlsSession::Step::Done) {
    return Io::Failed;
  }
  return flush(patience);
}

Io Connection::read(char* into, std::size_t room, std::size_t& got, const Patience& patience) {
  if (!tls_) return read_some(fd_, into, room, got, patience);
  cipher_.resize(16 * 1024);
  for (;;) {
    switch (tls_->read(into, room, got)) {
      case TlsSession::Step::Done:
        return Io::Ok;
      case TlsSession::Step::Closed:
        return Io::Closed;
      case TlsSession::Step::Failed:
        return Io::Failed;
      case TlsSession::Step::WantRead:
        break;
    }
    std::size_t n = 0;
    const Io in = read_some(fd_, cipher_.data(), cipher_.size(), n, patience);
    if (in != Io::Ok) return in;
    tls_->feed({cipher_.data(), n});
  }
}

/// What one attempt on one connection came to.
struct Attempt {
  Io io = Io::Ok;         // not Ok: no whole reply
  bool any_byte = false;  // of the reply
  bool keep = false;      // the connection may serve again
  std::string broken;     // not empty: the bytes are no HTTP reply we take
  std::string encoding;   // of the body; empty: none that has to be undone
  HttpReply reply;
};

std::string in_words(std::size_t bytes) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  return bytes % kMiB == 0 ? std::to_string(bytes / kMiB) + " MiB"
                           : std::to_string(bytes) + " bytes";
}

/// Reads one reply through Beast's parser.
void receive(Connection& connection, const HttpRequest& request, const Patience& patience,
             Attempt& attempt) {
  namespace http = boost::beast::http;
  std::vector<char>& buffer = connection.buffer;
  std::size_t used = 0;  // bytes in the buffer the parser has not taken
  std::optional<ReplyParser> parser;
  const auto restart = [&] {
    parser.emplace();
    parser->eager(true);
    parser->skip(request.method == "HEAD");
    parser->header_limit(kHeaderLimit);
    parser->body_limit(request.reply_limit);
  };
  restart();
  boost::beast::error_code ec;
  while (!parser->is_done()) {
    std::size_t got = 0;
    if (used == buffer.size()) buffer.resize(buffer.size() * 2);  // bounded by the header limit
    attempt.io = connection.read(buffer.data() + used, buffer.size() - used, got, patience);
    if (attempt.io == Io::Ok && !attempt.any_byte) {
      attempt.any_byte = true;
      attempt.reply.first_byte = Clock::now();
    }
    if (attempt.io == Io::Closed && attempt.any_byte) {
      parser->put_eof(ec);  // ends a reply without a length
      if (!ec && parser->is_done()) {
        attempt.io = Io::Ok;
        break;
      }
    }
    if (attempt.io != Io::Ok) return;
    used += got;
    std::size_t taken = 0;
    while (taken < used && !parser->is_done()) {
      const std::size_t n =
          parser->put(boost::asio::const_buffer(buffer.data() + taken, used - taken), ec);
      taken += n;
      if (ec == http::error::need_more) break;
      if (ec == http::error::body_limit) {
        attempt.broken = "a reply to " + std::string(request.method) + " " +
                         std::string(request.path) + " over the limit of " +
                         in_words(request.reply_limit);
        return;
      }
      if (ec) {
        attempt.broken = "not an HTTP reply (" + ec.message() + ")";
        return;
      }
      // 1xx only announces the real reply.
      if (parser->is_done() && parser->status >= 100 && parser->status < 200) restart();
      if (n == 0) break;
    }
    std::copy(buffer.begin() + static_cast<std::ptrdiff_t>(taken),
              buffer.begin() + static_cast<std::ptrdiff_t>(used), buffer.begin());
    used -= taken;
  }
  attempt.reply.done = Clock::now();
  attempt.reply.status = parser->status;
  attempt.reply.body = std::move(parser->body);
  attempt.reply.content_type = std::move(parser->content_type);
  attempt.reply.retry_after = std::move(parser->retry_after);
  attempt.keep = parser->keep_alive() && used == 0;
  if (!parser->content_encoding.empty() && to_lower(parser->content_encoding) != "identity") {
    attempt.encoding = std::move(parser->content_encoding);
  }
}

}  // namespace

struct HttpClient::Impl {
  HttpOptions options;
  std::optional<TlsContext> tls;
  std::string common;  // the header lines that never change
  std::atomic<bool> given_up = false;
  std::mutex mutex;  // guards idle
  std::vector<std::unique_ptr<Connection>> idle;

  std::string where() const { return options.url.to_string(); }
  Patience patience_of(const HttpRequest& request) const { return {request.deadline, &given_up}; }

  std::unique_ptr<Connection> take_idle() {
    for (;;) {
      std::unique_ptr<Connection> connection;
      {
        const std::scoped_lock lock(mutex);
        if (idle.empty()) return nullptr;
        connection = std::move(idle.back());
        idle.pop_back();
      }
      if (connection->reusable()) return connection;
    }
  }

  void give_back(std::unique_ptr<Connection> connection) {
    connection->idle_since = Clock::now();
    const std::scoped_lock lock(mutex);
    if (idle.size() < options.idle_connections) idle.push_back(std::move(connection));
  }

  Result<std::unique_ptr<Connection>> open(const Patience& patience) const {
    auto fd = connect_to(options.url, patience);
    if (!fd) return fail(fd.error());
    if (!tls) return std::make_unique<Connection>(std::move(*fd), std::nullopt);
    auto connection =
        std::make_unique<Connection>(std::move(*fd), TlsSession::connect(*tls, options.url.host));
    auto shaken = connection->handshake(patience);
    if (!shaken) return fail(where(), shaken.error());
    return connection;
  }

  Attempt attempt(Connection& connection, const HttpRequest& request, std::string_view head) const {
    Attempt out;
    out.reply.sent = Clock::now();
    const Patience patience = patience_of(request);
    out.io = connection.write(head, request.body, patience);
    // A server may refuse a long body and close before it has read it all: its reply counts.
    if (out.io == Io::Ok || out.io == Io::Closed) {
      receive(connection, request, patience, out);
    }
    return out;
  }
};

Result<HttpClient> HttpClient::make(HttpOptions options) {
  auto impl = std::make_unique<Impl>();
  if (options.url.scheme == Url::Scheme::Https) {
    auto tls = TlsContext::client(options.ca_file);
    if (!tls) return fail(tls.error());
    impl->tls = std::move(*tls);
  }
  impl->common = " HTTP/1.1\r\nHost: " + options.url.authority() +
                 "\r\nUser-Agent: deemster\r\nAccept: application/json\r\n";
  if (!options.bearer.empty()) {
    impl->common += "Authorization: Bearer " + std::string(options.bearer.reveal()) + "\r\n";
  }
  impl->options = std::move(options);
  return HttpClient(std::move(impl));
}

HttpClient::HttpClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

const Url& HttpClient::url() const { return impl_->options.url; }
void HttpClient::give_up() { impl_->given_up = true; }

Result<HttpReply> HttpClient::send(const HttpRequest& request) {
  std::string head;
  head.reserve(impl_->common.size() + request.path.size() + 160);
  head.append(request.method).append(" ").append(impl_->options.url.base).append(request.path);
  head += impl_->common;
  if (!request.body.empty() || request.method == "POST") {
    head += "Content-Type: application/json\r\nContent-Length: ";
    head += std::to_string(request.body.size());
    head += "\r\n";
  }
  head += "\r\n";

  if (request.deadline <= Clock::now()) {
    return fail(Error::Code::Timeout, impl_->where() + ": no reply by the deadline");
  }
  auto connection = impl_->take_idle();
  for (bool fresh = connection == nullptr;; fresh = true) {
    if (fresh) {
      auto opened = impl_->open(impl_->patience_of(request));
      if (!opened) return fail(opened.error());
      connection = std::move(*opened);
    }
    Attempt attempt = impl_->attempt(*connection, request, head);
    if (!attempt.encoding.empty()) {
      impl_->options.bearer.scrub(attempt.encoding);  // before it is cut
      attempt.broken = "a reply compressed with " + printable(attempt.encoding, 20) +
                       ", which was not asked for";
    }
    if (attempt.io == Io::Ok && attempt.broken.empty()) {
      if (attempt.keep) impl_->give_back(std::move(connection));
      for (std::string* text :
           {&attempt.reply.body, &attempt.reply.content_type, &attempt.reply.retry_after}) {
        impl_->options.bearer.scrub(*text);
      }
      return std::move(attempt.reply);
    }
    if (attempt.io == Io::Closed && !fresh && !attempt.any_byte) continue;
    const std::string where = impl_->where();
    if (!attempt.broken.empty()) return fail(Error::Code::Corrupt, where + ": " + attempt.broken);
    switch (attempt.io) {
      case Io::Timeout:
        return fail(Error::Code::Timeout, where + ": no reply by the deadline");
      case Io::GivenUp:
        return fail(Error::Code::Unavailable, where + ": given up");
      case Io::Closed:
        return fail(
            Error::Code::Unavailable,
            where + (attempt.any_byte ? ": the server closed the connection inside its reply"
                                      : ": the server closed the connection without a reply"));
      case Io::Ok:
      case Io::Failed: {
        const std::string why = connection->failure();
        return fail(Error::Code::Unavailable,
                    where + ": connection failed" + (why.empty() ? "" : ": " + why));
      }
    }
  }
}

}  // namespace deem::net
