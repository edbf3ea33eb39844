// The scripted decision endpoint as a program, for clients that are none of ours: prints its
// address and serves until its standard input ends.
#include <unistd.h>

#include <cstdio>

#include "seat/fake/fake_server.h"

int main() {
  using namespace deem::seat;
  const auto server = FakeServer::start(ServerKind::SystemOne, {.model = "scripted-1"});
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().message.c_str());
    return 4;
  }
  std::printf("%s\n", server->address().c_str());
  std::fflush(stdout);
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) continue;
  return 0;
}
