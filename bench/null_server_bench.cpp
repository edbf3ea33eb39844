// Our own cost of a decision, against a server that does nothing but answer.
//
// The null server is a child process of the same process group. Three figures, each beside its
// rival on the same server, the same prompt and the same reply, in alternating rounds:
//   own cost    a decision (lay out the prompt, build the request, send, receive, read the reply,
//               judge it, softmax) minus a bare exchange of the same bytes by a minimal client
//   run.py      the same of the reference bench's own loop, when it is there
//   rate at 64  decisions a second on 64 threads ÷ what wrk does with the same bodies
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/process.h"
#include "base/thread.h"
#include "decision/layout.h"
#include "decision/letters.h"
#include "decision/readout.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/socket.h"
#include "seat/seat.h"

namespace deem {
namespace {

constexpr int kRounds = 5;
constexpr int kDecisions = 2000;  // a round
constexpr int kThreads = 64;
constexpr double kSeconds = 2;  // of each round at 64

/// A state of about 1,400 characters and four options.
std::string state_text() {
  std::string out;
  for (int i = 0; i < 20; ++i) {
    out += "Section " + std::to_string(i) +
           ": the ferry to the island leaves at nine and returns at five. ";
  }
  return out;
}

decision::Question question() {
  decision::Question out;
  out.instructions = "When does the ferry leave?";
  for (const char* key : {"eight", "nine", "ten", "never"}) {
    out.options.push_back({.key = key, .description = "at that hour", .text = ""});
  }
  return out;
}

/// A chat reply with 20 entries as vLLM prints them, 1.6 kB.
std::string reply_body() {
  std::string top;
  for (int i = 0; i < 20; ++i) {
    const char letter = static_cast<char>('A' + i);
    top += fmt::format(R"({}{{"token":"{}","logprob":{:.15f},"bytes":[{}]}})", i == 0 ? "" : ",",
                       letter, -0.8 - 0.6 * i, static_cast<int>(letter));
  }
  return fmt::format(
      R"({{"id":"chatcmpl-0","object":"chat.completion","created":1796169517,"model":"null","choices":[{{"index":0,)"
      R"("message":{{"role":"assistant","content":"A"}},"logprobs":{{"content":[{{"token":"A","logprob":-0.8,)"
      R"("bytes":[65],"top_logprobs":[{}]}}]}},"finish_reason":"length"}}],"usage":{{"prompt_tokens":400,)"
      R"("completion_tokens":1,"total_tokens":401}}}})",
      top);
}

/// The null server in a child; killed when this goes.
class NullServer {
 public:
  NullServer() {
    int ends[2];
    DEEM_CHECK(::pipe(ends) == 0);
    pid_ = ::fork();
    DEEM_CHECK(pid_ >= 0);
    if (pid_ == 0) {
      const std::string body = reply_body();
      const auto server = net::HttpServer::start({}, [&](const net::ServerRequest& request) {
        net::ServerReply reply;
        reply.body = request.target == "/v1/models" ? R"({"data":[{"id":"null"}]})" : body;
        return reply;
      });
      DEEM_CHECK(server);
      const std::string& own = server->address();
      DEEM_CHECK(::write(ends[1], own.data(), own.size()) > 0);
      ::close(ends[1]);
      for (;;) ::pause();
    }
    ::close(ends[1]);
    char buffer[256];
    const ssize_t n = ::read(ends[0], buffer, sizeof buffer);
    DEEM_CHECK(n > 0);
    address.assign(buffer, static_cast<std::size_t>(n));
    ::close(ends[0]);
  }
  ~NullServer() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  NullServer(const NullServer&) = delete;
  NullServer& operator=(const NullServer&) = delete;

  std::string address;

 private:
  pid_t pid_ = -1;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <class F>
double median_us(int n, F&& once) {
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    const auto start = Clock::now();
    once();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  return median(std::move(times));
}

/// One decision by the whole path; aborts when it is not read.
void decide(seat::Seat& seat, const decision::Layout& layout, const std::string& state,
            const decision::Question& question) {
  const std::string prompt = decision::render_letters(layout, state, question, question.options);
  const auto reply =
      seat.first_position({.prompt = prompt, .letters = question.options.size()}, {});
  DEEM_CHECK(reply);
  const auto reading = decision::read_letters(reply->position, question.options.size(), {});
  DEEM_CHECK(reading.cause == decision::VoidCause::None);
  const auto p = decision::softmax(
      decision::fill_missing(reading, decision::LetterPolicy::Exact).logprobs, 0.85);
  DEEM_CHECK(decision::argmax(p) == 0);
}

/// The bytes of one request as the seat sends it, taken from the wire.
std::string captured_request(const decision::Layout& layout, const std::string& state,
                             const decision::Question& question, std::string& body) {
  const auto server = net::HttpServer::start({}, [&](const net::ServerRequest& request) {
    if (request.target != "/v1/models") body = request.body;
    net::ServerReply reply;
    reply.body = request.target == "/v1/models" ? R"({"data":[{"id":"null"}]})" : reply_body();
    return reply;
  });
  DEEM_CHECK(server);
  const auto seat = seat::make_seat({.kind = "openai", .address = server->address()});
  DEEM_CHECK(seat);
  decide(**seat, layout, state, question);
  return fmt::format(
      "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:12345\r\nUser-Agent: deemster\r\n"
      "Accept: application/json\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
      body.size(), body);
}

/// Sends the same bytes and reads until as many have come back as the first reply had.
class BareClient {
 public:
  BareClient(const std::string& address, std::string request) : request_(std::move(request)) {
    fd_ = std::move(*net::connect_to(*net::parse_url(address), {}));
    DEEM_CHECK(::fcntl(fd_.get(), F_SETFL, 0) == 0);  // plain blocking calls
    send();
    char buffer[65536];
    ssize_t n = 0;
    std::string reply;
    do {
      n = ::recv(fd_.get(), buffer, sizeof buffer, 0);
      DEEM_CHECK(n > 0);
      reply.append(buffer, static_cast<std::size_t>(n));
    } while (!reply.ends_with("}}"));
    reply_size_ = reply.size();
  }
  void exchange() {
    send();
    char buffer[65536];
    for (std::size_t got = 0; got < reply_size_;) {
      const ssize_t n = ::recv(fd_.get(), buffer, sizeof buffer, 0);
      DEEM_CHECK(n > 0);
      got += static_cast<std::size_t>(n);
    }
  }

 private:
  void send() {
    DEEM_CHECK(::send(fd_.get(), request_.data(), request_.size(), MSG_NOSIGNAL) ==
               static_cast<ssize_t>(request_.size()));
  }
  Fd fd_;
  std::string request_;
  std::size_t reply_size_ = 0;
};

/// Decisions a second on `kThreads` threads.
double decision_rate(seat::Seat& seat, const decision::Layout& layout, const std::string& state,
                     const decision::Question& question) {
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> done = 0;
  const auto start = Clock::now();
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      prefer_throughput();  // as the workers of a run do
      std::uint64_t mine = 0;
      while (!stop) {
        decide(seat, layout, state, question);
        ++mine;
      }
      done += mine;
    });
  }
  std::this_thread::sleep_for(Seconds(kSeconds));
  stop = true;
  threads.clear();
  return static_cast<double>(done) / Seconds(Clock::now() - start).count();
}

std::string lua_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text)
    out += fmt::format("\\{:03d}", static_cast<int>(static_cast<unsigned char>(c)));
  return out + "\"";
}

std::optional<double> wrk_rate(const std::string& program, const std::string& address,
                               const std::string& script) {
  const auto run = run_process({.argv = {program, "-t1", "-c" + std::to_string(kThreads),
                                         fmt::format("-d{}s", static_cast<int>(kSeconds)), "-s",
                                         script, address + "/v1/chat/completions"},
                                .environment = own_environment()},
                               Seconds(60));
  if (!run || !run->ending.succeeded()) return std::nullopt;
  const auto at = run->output.find("Requests/sec:");
  if (at == std::string::npos) return std::nullopt;
  return std::strtod(run->output.c_str() + at + 13, nullptr);
}

/// run.py's decide() against the server: its median in µs.
std::optional<double> reference_us(const std::string& address,
                                   const std::filesystem::path& folder) {
  const std::string python = find_program("python3");
  const std::string file = DEEM_SOURCE_DIR "/../shared/reference/run.py";
  if (python.empty() || !std::filesystem::exists(file)) return std::nullopt;
  const auto script = folder / "reference_loop.py";
  std::ofstream(script)
      << "import dataclasses, importlib.util, statistics, sys, time\n"
         "spec = importlib.util.spec_from_file_location('run', sys.argv[1])\n"
         "run = importlib.util.module_from_spec(spec); sys.modules['run'] = run\n"
         "spec.loader.exec_module(run)\n"
         "arm = dataclasses.replace(next(a for a in run.ARMS.values() if a.runtime == 'vllm'"
         " and a.mode == 'readout'), host=sys.argv[2], model='null')\n"
         "options = [(k, 'at that hour') for k in ('eight', 'nine', 'ten', 'never')]\n"
         "times = []\n"
         "for _ in range(600):\n"
         "    start = time.perf_counter()\n"
         "    run.decide(arm, sys.argv[3], 'When does the ferry leave?', options)\n"
         "    times.append((time.perf_counter() - start) * 1e6)\n"
         "print(statistics.median(times))\n";
  const auto run = run_process(
      {.argv = {python, script, file, address, state_text()}, .environment = own_environment()},
      Seconds(120));
  if (!run || !run->ending.succeeded()) {
    if (run) fmt::print(stderr, "{}\n", run->errors);
    return std::nullopt;
  }
  return std::strtod(run->output.c_str(), nullptr);
}

int bench() {
  const NullServer server;  // before any thread is started
  const auto layout = decision::reference_layout();
  const std::string state = state_text();
  const auto question = deem::question();
  std::string body;
  const std::string request = captured_request(layout, state, question, body);
  const auto seat = seat::make_seat({.kind = "openai", .address = server.address});
  DEEM_CHECK(seat);

  BareClient bare(server.address, request);
  std::vector<double> own, bare_us;
  for (int round = 0; round < kRounds; ++round) {
    const double exchange = median_us(kDecisions, [&] { bare.exchange(); });
    const double whole = median_us(kDecisions, [&] { decide(**seat, layout, state, question); });
    bare_us.push_back(exchange);
    own.push_back(whole - exchange);
  }
  const double ours = median(own);
  fmt::print("request {} bytes, reply {} bytes, bare exchange {:.1f} us\n", request.size(),
             reply_body().size(), median(bare_us));
  fmt::print("one at a time: own cost of a decision {:.1f} us at the median (limit 60, {})\n", ours,
             ours <= 60 ? "held" : "MISSED");

  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("deem_null_bench.{}", ::getpid());
  std::filesystem::create_directories(folder);
  if (const auto python = reference_us(server.address, folder)) {
    const double theirs = *python - median(bare_us);
    fmt::print("               run.py's own loop {:.1f} us: {:.1f}x ours\n", theirs, theirs / ours);
  } else {
    fmt::print("               run.py or python3 is not here: not compared\n");
  }

  int status = ours <= 60 ? 0 : 1;
  const std::string wrk = find_program("wrk");
  if (wrk.empty()) {
    fmt::print("{} at once: {:.0f} decisions/s; wrk is not installed: not compared\n", kThreads,
               decision_rate(**seat, layout, state, question));
  } else {
    const auto script = folder / "post.lua";
    std::ofstream(script) << "wrk.method = \"POST\"\nwrk.headers[\"Content-Type\"] = "
                             "\"application/json\"\nwrk.body = "
                          << lua_quoted(body) << "\n";
    std::vector<double> ratios, rates, rivals;
    for (int round = 0; round < kRounds; ++round) {
      const auto rival = wrk_rate(wrk, server.address, script);
      DEEM_CHECK(rival && *rival > 0);
      rivals.push_back(*rival);
      rates.push_back(decision_rate(**seat, layout, state, question));
      ratios.push_back(rates.back() / rivals.back());
    }
    const double ratio = median(ratios);
    fmt::print(
        "{} at once: {:.0f} decisions/s, wrk {:.0f} requests/s: ratio {:.2f} (limit 0.5, {})\n",
        kThreads, median(rates), median(rivals), ratio, ratio >= 0.5 ? "held" : "MISSED");
    if (ratio < 0.5) status = 1;
  }
  std::filesystem::remove_all(folder);
  return status;
}

}  // namespace
}  // namespace deem

int main() { return deem::bench(); }
