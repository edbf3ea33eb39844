#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "decision/letters.h"
#include "decision/native.h"
#include "decision/question.h"
#include "decision/readout.h"

namespace deem::seat {

using TokenIds = std::vector<std::int64_t>;

/// What a seat says of itself; compared by `deem resume`, printed by `run`. Absent: not told.
struct Identity {
  std::string kind{};                     // local, vllm, ollama… (seat_forms)
  std::string address{};                  // URL without credentials, or the model file
  std::string model{};                    // the served name asked for
  std::optional<std::string> root{};      // path or repo behind the name
  std::optional<std::string> digest{};    // of the weights, where known: "sha256:…"
  std::optional<std::string> build{};     // server version or llama.cpp build
  std::optional<std::int64_t> context{};  // tokens one request may hold (per slot)
  std::optional<std::string> template_sha256{};
  std::optional<std::string> detail{};  // quant, size… for people
  bool operator==(const Identity&) const = default;
};

/// What the seat can do, as probed, not as documented.
struct Capabilities {
  enum class Letters { None, TopK, ExactIds, FullVocabulary };
  Letters letters = Letters::None;
  int top_k = 0;               // cap on entries, where Letters is TopK
  int asked_k = 0;             // entries asked when those were counted; 0: none were
  std::string letters_note{};  // where Letters is None: what came instead of a list
  bool likelihood = false;
  std::string likelihood_note{};  // why not, or "slow: one call a token"
  bool census = false;            // exact token counts without asking
  bool written = true;
  bool native = false;  // answers decisions itself (Seat::decide)
};

/// Wall-clock facts of one request, seconds on the steady clock from `planned`.
struct Timing {
  double sent_s = 0;        // when the first byte was written
  double first_byte_s = 0;  // of the reply; equals done_s where unknown
  double done_s = 0;
};

struct Usage {
  std::optional<std::int64_t> prompt_tokens{};  // by the server's count
  std::optional<std::int64_t> cached_tokens{};  // of those, not evaluated again
  std::optional<std::int64_t> output_tokens{};
  std::optional<double> prompt_ms{}, total_ms{};  // the server's own clock
  std::optional<std::string> finish_reason{};
  std::optional<std::string> served_model{};  // the model the reply names
  bool truncated = false;                     // the server says it cut the prompt
};

/// When the request was due and by when it must be done. A call past it is a Timeout error.
struct Schedule {
  TimePoint planned = Clock::now();
  TimePoint deadline = TimePoint::max();
  bool cold = false;  // use nothing evaluated before, where the seat can be told so
};

struct PositionRequest {
  std::string prompt{};     // the user's turn; the chat template is the seat's
  std::size_t letters = 0;  // how many, 1..52
  decision::LetterPolicy policy = decision::LetterPolicy::Exact;
  int top_k = 20;          // where the seat has no exact ids
  double temperature = 0;  // of the sampler; raw log-probabilities do not change with it
};
struct PositionReply {
  decision::FirstPosition position{};
  std::string
      shape{};  // what is odd about the list as it came: "null", an old layout…; "": nothing
  Usage usage{};
  Timing timing{};
};

/// Score `score` after `given`. plain: both are plain text, `given` after BOS when the model
/// has one. chat: `given` is the user's turn, `score` the assistant's whole reply, scored up to
/// and including the end-of-turn token.
struct LikelihoodRequest {
  std::string given{};
  std::string score{};
  bool chat = false;
};
struct LikelihoodReply {
  decision::TextScore text{};
  Usage usage{};
  Timing timing{};
};

struct WriteRequest {
  std::string prompt{};
  int max_tokens = 8;  // temperature 0
};
struct WriteReply {
  std::string text{};      // the answer, thinking apart
  std::string thinking{};  // text of a thinking channel, when there was one
  Usage usage{};
  Timing timing{};
};

/// Questions about one state for an endpoint that answers decisions itself.
struct DecideRequest {
  struct Question {
    std::string id{};  // the answer stands under it; some models are shown it
    decision::Question question{};
  };
  std::string state{};
  std::vector<Question> questions{};
};
struct DecideReply {
  std::vector<decision::NativeAnswer> answers{};  // in the order asked
  Usage usage{};                                  // of all of them
  Timing timing{};
};

/// What a server says of where its model sits: its own word, not evidence. Absent: not told.
struct Claim {
  std::optional<std::int64_t> total_bytes{}, vram_bytes{};  // of the model; of that, on boards
  std::optional<std::int64_t> context{}, slots{};           // tokens a slot holds; slots
  std::string text{};                                       // for people, with the route it is from
};

/// Which weights a served name stands for, as the server tells it.
struct Lineage {
  std::vector<std::string> names{};     // the served name, then what it stands for, down to a file
                                        // or digest
  std::vector<std::string> aliases{};   // other names of the same weights
  std::optional<std::string> digest{};  // of the weights the name means now
  std::optional<std::string> loaded{};  // of the weights in memory now
  std::string looks_like{};             // routes of another kind of seat that this server answers
};

/// Counters since the server began, as it tells them. Absent: not told.
struct Counters {
  std::optional<bool> speculates{};  // whether tokens are drafted
  std::optional<double> drafts{}, draft_tokens{}, accepted_tokens{};
  std::optional<double> cache_queries{}, cache_hits{};  // of the prefix cache, tokens
  std::string text{};                                   // where from
};

/// Ids of the letters after this seat's template; proof that each adds exactly one token and all
/// differ. Where ids are not to be had, `how` says what was checked instead.
struct LetterProof {
  std::vector<std::vector<std::int64_t>> ids{};  // per letter; the exact id first, then others that
                                                 // decode to it
  std::string how{};                             // "tokenizer", "/tokenize", "spelling only"
};

/// One model being served. The bench knows servers only through this. Every call blocks; any
/// number of threads may call at once (a local seat serialises inside). Errors: Unavailable (with
/// the server's own sentence), Timeout, Unsupported ("not supported by this seat"), BadInput for
/// a request the server refuses as malformed; Corrupt for a reply that can not be read.
class Seat {
 public:
  virtual ~Seat() = default;

  /// Asks the server who it is. Cheap; called before a run and after.
  virtual Result<Identity> identify() = 0;
  /// Probed once, then cached.
  virtual Result<Capabilities> capabilities() = 0;
  virtual Result<LetterProof> prove_letters(std::size_t n) = 0;

  /// Tokens of the whole prompt, template and generation prompt included.
  /// Errors: Unsupported where the server has no tokenizer route.
  virtual Result<std::int64_t> count_chat(const std::string& user_turn) = 0;
  virtual Result<std::int64_t> count_plain(const std::string& text) = 0;

  virtual Result<PositionReply> first_position(const PositionRequest& request,
                                               const Schedule& schedule) = 0;
  virtual Result<LikelihoodReply> likelihood(const LikelihoodRequest& request,
                                             const Schedule& schedule) = 0;
  virtual Result<WriteReply> write(const WriteRequest& request, const Schedule& schedule) = 0;

  /// Asks an endpoint that answers decisions itself. An answer that is not there, or not of the
  /// type asked for, is in the reply as such.
  virtual Result<DecideReply> decide(const DecideRequest&, const Schedule&) {
    return fail(Error::Code::Unsupported,
                "not supported by this seat: it answers no decisions of its own");
  }

  /// The same for many that may share prefixes; results in the order asked. A seat that gains
  /// nothing calls the single form one by one (the default). Timing of each reply of a shared
  /// evaluation is the group's time divided by its size; `group` in the row says how many.
  virtual std::vector<Result<PositionReply>> first_positions(
      std::span<const PositionRequest> requests, const Schedule& schedule);
  virtual std::vector<Result<LikelihoodReply>> likelihoods(
      std::span<const LikelihoodRequest> requests, const Schedule& schedule);

  /// Bytes of memory the server says it holds now. Errors: Unsupported where it says nothing.
  virtual Result<std::int64_t> resident_bytes() {
    return fail(Error::Code::Unsupported, "the server does not say");
  }

  /// What the server says of where its model sits. Errors: Unsupported where it says nothing.
  virtual Result<Claim> claim() {
    return fail(Error::Code::Unsupported, "the server does not say");
  }

  // What only a diagnosis asks (doctor/doctor.h); Unsupported, with why, where the seat has no way.

  virtual Result<Lineage> lineage() { return unsupported("it tells no names"); }
  /// Whether a request under `name` gets an answer.
  virtual Result<bool> answers_to(const std::string&) { return unsupported("it has no names"); }
  /// What the server says when asked whether it is well.
  virtual Result<std::string> health() { return unsupported("it has no health route"); }
  virtual Result<Counters> counters() { return unsupported("it tells no counters"); }

  /// Ids of a chat prompt as the server runs it; of a text, `special`: with the tokens that the
  /// tokenizer sets around it; and the text of ids.
  virtual Result<TokenIds> chat_ids(const std::string&) {
    return unsupported("no tokenizer route");
  }
  virtual Result<TokenIds> text_ids(const std::string&, bool) {
    return unsupported("no tokenizer route");
  }
  virtual Result<std::string> text_of(const TokenIds&) { return unsupported("no tokenizer route"); }

  /// The output positions of one written reply, `top_k` entries each.
  virtual Result<std::vector<decision::FirstPosition>> positions(const WriteRequest&, int,
                                                                 const Schedule&) {
    return unsupported("it lists the first position alone");
  }

  /// Ends the calls in flight and every later one, where the seat can, with an Unavailable. From
  /// any thread; the seat is of no more use.
  virtual void give_up() {}

 protected:
  /// "not supported by this seat: " and `why`.
  static std::unexpected<Error> unsupported(std::string_view why) {
    return fail(Error::Code::Unsupported, "not supported by this seat: " + std::string(why));
  }
};

/// How to reach a seat, from flags or deem.toml. Secrets are named, never held.
struct SeatSpec {
  std::string kind{};        // local, vllm, ollama… (seat_forms)
  std::string address{};     // model file; http(s)://host:port[/base];
                             // unix:/path/to.sock[:/base]
  std::string model{};       // served name; "" : the server's only one
  std::string key_env{};     // environment variable that holds the bearer key
  std::string key_file{};    // or a file that holds it
  std::string ca_file{};     // extra trust roots (PEM)
  std::int64_t context = 0;  // local, ollama: context to ask for; 0: the model's,
                             // held to memory (local) / read from the server
  int threads = 0;           // local; 0: the machine's cores
  int gpu_layers = 0;        // local builds with a GPU backend
  double timeout_s = 120;
  std::map<std::string, std::string> chat_template_kwargs{};  // JSON texts; enable_thinking=false
                                                              // is sent unless named here
  bool operator==(const SeatSpec&) const = default;
};

/// Every kind with what stands after its colon: "local:FILE.gguf, vllm:URL, …".
std::string seat_forms();

/// Whether seats of this kind answer decisions themselves, by Seat::decide and in no other way.
bool is_native_kind(std::string_view kind);

/// "local:model.gguf", "vllm:http://127.0.0.1:8000", … as seat_forms says.
/// Errors: BadInput with the kinds there are, and "did you mean".
Result<SeatSpec> parse_seat(std::string_view text);

/// Makes the adapter (loads the model for `local`). Errors: as the adapter's.
Result<std::unique_ptr<Seat>> make_seat(const SeatSpec& spec);

}  // namespace deem::seat
