#pragma once

// Private to net: the event loop behind HttpServer.

#include <atomic>
#include <memory>
#include <queue>
#include <unordered_map>

#include "base/clock.h"
#include "base/file.h"
#include "net/http_server.h"
#include "net/tls.h"

namespace deem::net {

/// What the loops of one server share. Read-only while they run, but for the atomics.
struct ServerShared {
  ServerOptions options;
  Handler handler;
  std::optional<TlsContext> tls;
  Fd listener;
  Fd wake;  // readable once the server stops
  std::atomic<std::uint64_t> connections = 0;
  std::atomic<std::uint64_t> requests = 0;
};

/// One thread's event loop. A peer belongs to the loop that accepted it.
class ServerLoop {
 public:
  /// `shared` must outlive this. Errors: Unavailable.
  static Result<ServerLoop> make(ServerShared& shared);
  ServerLoop(ServerLoop&&) noexcept;
  ~ServerLoop();

  /// Serves until `wake` is readable.
  void run();

 private:
  struct Peer;
  struct Due {
    TimePoint at;
    std::uint64_t peer = 0;
    ServerReply reply;
    bool keep_alive = true;
    bool operator<(const Due& other) const { return at > other.at; }  // earliest on top
  };

  ServerLoop(ServerShared& shared, Fd epoll);
  void accept_all();
  // Each returns false when the peer is to be dropped.
  bool on_event(Peer& peer, std::uint32_t events);
  bool take(Peer& peer, std::string_view bytes);
  bool advance(Peer& peer);
  bool answer(Peer& peer);
  bool put(Peer& peer, const ServerReply& reply, bool keep_alive);
  bool flush(Peer& peer);
  void drop(std::uint64_t id);
  void send_due();
  int wait_ms() const;

  ServerShared* shared_;
  Fd epoll_;
  std::uint64_t next_id_ = 2;  // 0 is the listener, 1 the wake-up
  std::unordered_map<std::uint64_t, std::unique_ptr<Peer>> peers_;
  std::priority_queue<Due> due_;
  std::vector<char> buffer_;
};

}  // namespace deem::net
