#include "seat/fake/fake_server.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "net/http_server.h"
#include "seat/fake/fake_dialect.h"

namespace deem::seat {
namespace {

std::unique_ptr<FakeDialect> make_dialect(ServerKind kind, const FakeOptions& options,
                                          const FakeModel& model) {
  switch (kind) {
    case ServerKind::Vllm:
      return make_fake_vllm(options, model);
    case ServerKind::Ollama:
      return make_fake_ollama(options, model);
    case ServerKind::LlamaServer:
      return make_fake_llama_server(options, model);
    case ServerKind::Sglang:
      return make_fake_sglang(options, model);
    case ServerKind::LmStudio:
      return make_fake_lmstudio(options, model);
    case ServerKind::SystemOne:
    case ServerKind::Decisions:
      return make_fake_native(kind, options, model);
    case ServerKind::OpenAi:
      break;
  }
  return make_fake_openai(options, model);
}

const char* kind_name(ServerKind kind) {
  switch (kind) {
    case ServerKind::Vllm:
      return "vllm";
    case ServerKind::Ollama:
      return "ollama";
    case ServerKind::LlamaServer:
      return "llama-server";
    case ServerKind::Sglang:
      return "sglang";
    case ServerKind::LmStudio:
      return "lmstudio";
    case ServerKind::SystemOne:
      return "systemone";
    case ServerKind::Decisions:
      return "decisions";
    case ServerKind::OpenAi:
      break;
  }
  return "openai";
}

/// The faults that replace the answer or the way it is sent.
net::ServerReply distort(Fault fault, const FakeDialect& dialect, net::ServerReply reply) {
  using Way = net::ServerReply::Fault;
  const auto refuse = [&](int status, std::string_view type, const std::string& words) {
    net::ServerReply out;
    out.status = status;
    out.body = codec::dump_json(dialect.error_body(status, type, words));
    return out;
  };
  switch (fault) {
    case Fault::BadRequest:
      return refuse(400, "invalid_request_error", "the request is not to this server's liking");
    case Fault::TooManyRequests: {
      auto out = refuse(429, "rate_limit_error", "too many requests at once");
      out.headers.emplace_back("Retry-After", "2");
      return out;
    }
    case Fault::ServerError:
      return refuse(500, "internal_error", "EngineCore encountered an issue");
    case Fault::Loading:
      return refuse(503, "unavailable_error", "Loading model");
    case Fault::PlainTextError:
      reply.status = 502;
      reply.body = "upstream connect error at http://user:hunter2@backend/";
      reply.content_type = "text/plain";
      break;
    case Fault::NotJson:
      reply.body = "<html><body>It works!</body></html>";
      reply.content_type = "text/html";
      break;
    case Fault::InvalidJson:
      reply.body.resize(reply.body.size() / 2);
      break;
    case Fault::Chunked:
      reply.chunked = true;
      break;
    case Fault::Hang:
      reply.fault = Way::Hang;
      break;
    case Fault::Close:
      reply.fault = Way::Close;
      break;
    case Fault::CloseMidReply:
      reply.fault = Way::HalfReply;
      break;
    case Fault::Stall:
      reply.fault = Way::Stall;
      break;
    default:
      break;
  }
  return reply;
}

}  // namespace

struct FakeServer::Impl {
  ServerKind kind = ServerKind::Vllm;
  FakeOptions options;
  FakeModel model;
  std::unique_ptr<FakeDialect> dialect;
  mutable std::mutex mutex;  // guards what follows
  std::vector<FaultRule> faults;
  std::uint64_t decisions = 0, turns = 0, asked = 0;
  struct Flight {
    TimePoint until;
    bool by_ids = false;
    std::size_t body = 0;  // its hash
  };
  std::vector<Flight> in_flight;
  std::set<std::string> seen;
  std::map<std::string, std::string> last_bodies;
  std::map<std::string, std::uint64_t> counts;
  std::optional<net::HttpServer> server;  // last, so that it stops first

  explicit Impl(FakeOptions o)
      : options(std::move(o)), model(options.scores), faults(options.faults) {}

  /// Under the mutex.
  FaultSet strike(const std::string& body, bool decision) {
    FaultSet out;
    for (const FaultRule& rule : faults) {
      const bool due = decision && decisions >= rule.first && decisions - rule.first < rule.count;
      if ((due || rule.everywhere) && body.find(rule.contains) != std::string::npos) {
        out.add(rule.fault);
      }
    }
    if (decision) ++decisions;
    return out;
  }

  /// Under the mutex. What is in flight is what was asked less than a delay ago.
  FakeTraffic note(const std::string& path, const std::string& body) {
    const TimePoint now = Clock::now();
    std::erase_if(in_flight, [&](const Flight& flight) { return flight.until <= now; });
    FakeTraffic out{.turn = turns++, .asked = asked};
    if (!dialect->generates(path)) return out;
    ++asked;
    out.seen = !seen.insert(body).second;
    const bool by_ids = body.find("logprob_token_ids") != std::string::npos;
    out.others = !in_flight.empty();
    const std::size_t hash = std::hash<std::string>()(body);
    out.unlike = std::ranges::any_of(in_flight, [&](const Flight& f) { return f.body != hash; });
    out.others_by_ids = std::ranges::any_of(in_flight, &Flight::by_ids);
    in_flight.push_back(
        {now + std::chrono::duration_cast<Clock::duration>(options.delay), by_ids, hash});
    return out;
  }

  net::ServerReply handle(const net::ServerRequest& sent) {
    if (!options.key.empty() && sent.authorization != "Bearer " + options.key) {
      net::ServerReply out;
      out.status = 401;
      out.body = codec::dump_json(dialect->error_body(401, "authentication_error", "Unauthorized"));
      return out;
    }
    FakeRequest request{
        .path = sent.target, .body = codec::Json::object(), .faults = {}, .traffic = {}};
    if (!sent.body.empty()) {
      auto body = codec::parse_json(sent.body, codec::JsonMode::Python);
      if (!body) {
        net::ServerReply out;
        out.status = 400;
        out.body = codec::dump_json(
            dialect->error_body(400, "invalid_request_error", body.error().message));
        return out;
      }
      request.body = std::move(*body);
    }
    const bool decision = dialect->is_decision(request.path, request.body);
    {
      const std::scoped_lock lock(mutex);
      last_bodies[request.path] = sent.body;
      ++counts[request.path];
      request.traffic = note(request.path, sent.body);
      request.faults = strike(sent.body, decision);
    }
    net::ServerReply reply = dialect->answer(request);
    if (dialect->generates(request.path)) {
      for (const Fault fault : request.faults.all()) {
        reply = distort(fault, *dialect, std::move(reply));
      }
      reply.delay = options.delay;
    }
    return reply;
  }
};

Result<FakeServer> FakeServer::start(ServerKind kind, FakeOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  impl->kind = kind;
  impl->dialect = make_dialect(kind, impl->options, impl->model);
  net::ServerOptions server;
  server.address = impl->options.address;
  server.threads = impl->options.threads;
  server.certificate = impl->options.certificate;
  auto started = net::HttpServer::start(
      std::move(server),
      [raw = impl.get()](const net::ServerRequest& request) { return raw->handle(request); });
  if (!started) return fail(started.error());
  impl->server = std::move(*started);
  return FakeServer(std::move(impl));
}

FakeServer::FakeServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FakeServer::FakeServer(FakeServer&&) noexcept = default;
FakeServer& FakeServer::operator=(FakeServer&&) noexcept = default;
FakeServer::~FakeServer() = default;

const std::string& FakeServer::address() const { return impl_->server->address(); }

SeatSpec FakeServer::seat() const {
  SeatSpec spec;
  spec.kind = kind_name(impl_->kind);
  spec.address = address();
  return spec;
}

void FakeServer::set_faults(std::vector<FaultRule> faults) {
  const std::scoped_lock lock(impl_->mutex);
  impl_->faults = std::move(faults);
  impl_->decisions = 0;
}

std::uint64_t FakeServer::decisions() const {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->decisions;
}

std::string FakeServer::last_body(const std::string& path) const {
  const std::scoped_lock lock(impl_->mutex);
  const auto found = impl_->last_bodies.find(path);
  return found == impl_->last_bodies.end() ? std::string() : found->second;
}

std::uint64_t FakeServer::count(const std::string& path) const {
  const std::scoped_lock lock(impl_->mutex);
  const auto found = impl_->counts.find(path);
  return found == impl_->counts.end() ? 0 : found->second;
}

}  // namespace deem::seat
