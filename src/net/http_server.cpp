#include "net/http_server.h"

#include <arpa/inet.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "net/server_loop.h"
#include "net/socket.h"
#include "net/url.h"

namespace deem::net {

struct HttpServer::Impl {
  ServerShared shared;
  std::string address;
  std::vector<ServerLoop> loops;
  std::vector<std::jthread> threads;

  ~Impl() {
    const std::uint64_t one = 1;
    if (::write(shared.wake.get(), &one, sizeof one) != sizeof one) std::abort();
    threads.clear();
    if (address.starts_with("unix:")) ::unlink(address.c_str() + 5);
  }
};

Result<HttpServer> HttpServer::start(ServerOptions options, Handler handler) {
  const bool any_port = options.address.ends_with(":0") && !options.address.starts_with("unix:");
  const std::string_view written = options.address;
  auto url = parse_url(any_port ? written.substr(0, written.size() - 2) : written);
  if (!url) return fail(url.error());
  if (any_port) url->port = 0;
  const bool loopback =
      url->scheme == Url::Scheme::Unix || url->host == "::1" || url->host.starts_with("127.");
  if (!loopback && !options.any_interface) {
    return fail(Error::Code::BadInput, options.address + ": not a loopback address");
  }
  auto impl = std::make_unique<Impl>();
  impl->shared.wake = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  auto listener = listen_on(*url);
  if (!listener) return fail(listener.error());
  if (url->scheme != Url::Scheme::Unix) {
    url->port = local_port(*listener);
    url->scheme = options.certificate ? Url::Scheme::Https : Url::Scheme::Http;
  }
  if (options.certificate) {
    auto tls = TlsContext::server(*options.certificate);
    if (!tls) return fail(tls.error());
    impl->shared.tls = std::move(*tls);
  }
  impl->address = url->to_string();
  impl->shared.listener = std::move(*listener);
  impl->shared.handler = std::move(handler);
  impl->shared.options = std::move(options);
  for (int i = 0; i < std::max(1, impl->shared.options.threads); ++i) {
    auto loop = ServerLoop::make(impl->shared);
    if (!loop) return fail(loop.error());
    impl->loops.push_back(std::move(*loop));
  }
  for (ServerLoop& loop : impl->loops) impl->threads.emplace_back([&loop] { loop.run(); });
  return HttpServer(std::move(impl));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::HttpServer(HttpServer&&) noexcept = default;
HttpServer& HttpServer::operator=(HttpServer&&) noexcept = default;
HttpServer::~HttpServer() = default;

const std::string& HttpServer::address() const { return impl_->address; }
std::uint64_t HttpServer::connections() const { return impl_->shared.connections; }
std::uint64_t HttpServer::requests() const { return impl_->shared.requests; }

}  // namespace deem::net
