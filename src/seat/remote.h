#pragma once

// Private to seat: what the adapters of HTTP servers share.

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json.h"
#include "net/http_client.h"
#include "seat/parse_reply.h"
#include "seat/seat.h"

namespace deem::seat {

inline constexpr std::string_view kChat = "/v1/chat/completions";

/// Bytes of a reply at most: to a GET, of a list or a page; to the rest, which may list the whole
/// vocabulary (5 to 30 MB).
inline constexpr std::size_t kPageLimit = std::size_t{16} << 20;
inline constexpr std::size_t kReplyLimit = std::size_t{64} << 20;

/// A value made once, by whoever needs it first; a failure is not kept. Thread-safe.
template <class T>
class Once {
 public:
  /// The pointer stays good as long as this.
  template <class Make>
  Result<const T*> get(Make&& make) {
    if (const T* value = ready_.load(std::memory_order_acquire)) return value;
    const std::scoped_lock lock(mutex_);
    if (!value_) {
      auto made = make();
      if (!made) return fail(made.error());
      value_ = std::move(*made);
      ready_.store(&*value_, std::memory_order_release);
    }
    return &*value_;
  }

 private:
  std::atomic<const T*> ready_ = nullptr;  // for readers who need no lock
  std::mutex mutex_;
  std::optional<T> value_;
};

/// One server and how to ask it. Any number of threads may use it at once.
class Remote {
 public:
  /// Errors: BadInput for an address or certificate file, NotFound for a key that is not there.
  static Result<Remote> make(const SeatSpec& spec);

  /// One request; a reply of any status. Errors: Timeout, Unavailable, Corrupt, naming the address.
  Result<net::HttpReply> exchange(std::string_view method, std::string_view path,
                                  std::string_view body, TimePoint deadline);
  /// The same, and a status of 400 or more is the Error of `refusal`.
  Result<net::HttpReply> post(std::string_view path, std::string_view body, TimePoint deadline);
  Result<net::HttpReply> get(std::string_view path, TimePoint deadline);

  /// What a status means, with the server's own sentence: 400, 413 and 422 BadInput; all others
  /// Unavailable, 401 and 403 with a word on the key.
  Error refusal(std::string_view path, const net::HttpReply& reply) const;

  /// Adds which server and route an error came from.
  std::unexpected<Error> fail_at(std::string_view path, const Error& cause) const;

  void give_up() { client_.give_up(); }

  const SeatSpec& spec() const { return spec_; }
  std::string address() const { return client_.url().to_string(); }
  /// The earlier of `schedule`'s deadline and the seat's own time per request from now.
  TimePoint deadline(const Schedule& schedule) const;
  TimePoint deadline() const { return deadline(Schedule{}); }
  /// The chat_template_kwargs object, JSON text; enable_thinking is false unless the spec names it.
  const std::string& template_arguments() const { return template_arguments_; }
  bool thinks() const { return thinks_; }

 private:
  Remote(const SeatSpec& spec, net::HttpClient client) : spec_(spec), client_(std::move(client)) {}

  SeatSpec spec_;
  net::HttpClient client_;
  std::string template_arguments_;
  bool thinks_ = false;
};

/// Two clocks of a request that began with `first` and ended with `last`, from the planned send.
Timing timing_of(const Schedule& schedule, const net::HttpReply& first, const net::HttpReply& last);

/// The status of a reply that was a refusal (Remote::refusal), 0 for any other error. Read before
/// the server's own words begin.
int http_status(const Error& error);

/// A size that a server tells; none below 1 or over kMostTokens.
std::optional<std::int64_t> size_in(const codec::Json& object, std::string_view key);

/// Sends a chat request of the OpenAI form and reads the reply's first position, or its text.
/// `k` is what was asked.
Result<PositionReply> ask_position(Remote& remote, std::string_view body, int k,
                                   const Schedule& schedule);
Result<WriteReply> ask_text(Remote& remote, std::string_view body, const Schedule& schedule);
/// The same request with several tokens: every position of the reply.
Result<std::vector<decision::FirstPosition>> ask_positions(Remote& remote, std::string_view body,
                                                           const Schedule& schedule);
/// Whether a chat request is answered; a status of 400 to 499 is a no. Errors: as Remote's.
Result<bool> is_answered(Remote& remote, std::string_view path, std::string_view body);
/// The positions of a reply in order; none where it lists none.
std::vector<decision::FirstPosition> all_positions(Reply reply);
/// GET of a health route: its status, and its words if any.
Result<std::string> ask_health(Remote& remote, std::string_view path);

/// A request body under construction: {"a":1,"b":"x"}. Values are JSON texts, or strings to escape.
class Body {
 public:
  Body& field(std::string_view key, std::string_view json);
  Body& text(std::string_view key, std::string_view value);
  Body& number(std::string_view key, std::int64_t value);
  Body& real(std::string_view key, double value);  // whole numbers without a point
  Body& ids(std::string_view key, const std::vector<std::int64_t>& values);
  /// "messages": one user's turn, and the assistant's when given.
  Body& messages(std::string_view user, const std::string* assistant = nullptr);
  /// The whole body; nothing may be added afterwards.
  std::string_view close();
  std::string take();

 private:
  void begin(std::string_view key);
  std::string out_ = "{";
};

/// The model ids of a /v1/models reply, and the entry of the one asked for.
struct ModelEntry {
  std::string id;
  std::optional<std::string> root, parent;
  std::optional<std::int64_t> max_model_len, n_vocab, n_params;
  std::vector<std::string> aliases;  // other names of it: listed by the server, or of the same root
};
/// The entry named `wanted`, or the only one when `wanted` is "". Errors: Unavailable naming what
/// the server does serve; Corrupt.
Result<ModelEntry> parse_model_entry(std::string_view bytes, const std::string& wanted);

/// A short user's turn for probes.
inline constexpr std::string_view kProbeTurn =
    "Question: Which letter comes first?\nOptions:\n[A] a: \n[B] b: \n\nAnswer with the letter of "
    "the "
    "best option only.";

/// Ids of the letters by policy, found before any asking.
struct LetterIds {
  std::vector<std::optional<std::int64_t>> exact;     // per letter; none: not one token
  std::vector<std::vector<std::int64_t>> same;        // others that decode to exactly the letter
  std::vector<std::vector<std::int64_t>> look_alike;  // with white space around it
  std::vector<std::size_t> added;                     // tokens each letter adds after the template

  /// All ids that count for letter `i`.
  std::vector<std::int64_t> of(std::size_t i, decision::LetterPolicy policy) const;
  /// Whether the first `n` letters are one distinct token each. Errors: Unsupported naming the
  /// letter that is not one token, or the two that share one.
  Result<void> check(std::size_t n) const;
  /// Errors: as check; BadInput unless 1..52 letters are asked.
  Result<LetterProof> prove(std::size_t n, std::string how) const;
};

/// Errors: BadInput unless 1..52 letters are asked.
Result<void> check_letters(std::size_t n);

/// Natural log of the summed probability of the entries whose id is in `ids`; the first id's own
/// value when it is no reading (a sentinel, NaN); none when none of them was sent.
std::optional<double> sum_of_ids(const std::vector<decision::TokenScore>& entries,
                                 const std::vector<std::int64_t>& ids);

std::unexpected<Error> unsupported(std::string_view what);

Result<std::unique_ptr<Seat>> make_vllm_seat(const SeatSpec& spec);
Result<std::unique_ptr<Seat>> make_ollama_seat(const SeatSpec& spec);
Result<std::unique_ptr<Seat>> make_llama_server_seat(const SeatSpec& spec);
Result<std::unique_ptr<Seat>> make_openai_seat(const SeatSpec& spec);
Result<std::unique_ptr<Seat>> make_sglang_seat(const SeatSpec& spec);
Result<std::unique_ptr<Seat>> make_lmstudio_seat(const SeatSpec& spec);
/// systemone and decisions.
Result<std::unique_ptr<Seat>> make_native_seat(const SeatSpec& spec);

}  // namespace deem::seat
