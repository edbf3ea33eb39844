#pragma once

// For tests of net: a server and a client of it, in this process.

#include <string>

#include "base/check.h"
#include "net/http_client.h"
#include "net/http_server.h"

namespace deem::net {

inline HttpServer serve(Handler handler, ServerOptions options = {}) {
  auto server = HttpServer::start(std::move(options), std::move(handler));
  DEEM_CHECK(server);
  return std::move(*server);
}

inline HttpClient client_of(const std::string& address, HttpOptions options = {}) {
  options.url = *parse_url(address);
  auto client = HttpClient::make(std::move(options));
  DEEM_CHECK(client);
  return std::move(*client);
}

inline ServerReply echo(const ServerRequest& request) {
  return {.body = request.method + " " + request.target + " " + request.body};
}

inline HttpRequest within(std::chrono::milliseconds time, std::string_view path = "/x",
                          std::string_view body = "b") {
  return {.path = path, .body = body, .deadline = Clock::now() + time};
}

}  // namespace deem::net
