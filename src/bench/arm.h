#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json.h"
#include "decision/letters.h"
#include "decision/readout.h"
#include "record/fit.h"
#include "seat/seat.h"

namespace deem::bench {

/// One reading an arm takes: its name ("letters", "words", "words-unlisted", "written", "native",
/// or a reading the kit defines), and whether its prior is taken too ("cloze+prior").
struct ReadingChoice {
  std::string name;
  bool prior = false;
  bool operator==(const ReadingChoice&) const = default;
};

/// Errors: BadInput for an empty name or an unknown suffix.
Result<ReadingChoice> parse_reading_choice(std::string_view text);

/// A reading's name that stands for what the arm's fit chose for the task; letters where it chose
/// nothing.
inline constexpr std::string_view kChosenReading = "chosen";

/// The reading of seats that answer decisions themselves.
inline constexpr std::string_view kNativeReading = "native";

enum class Mode { Readout, Generate };
std::string_view to_string(Mode mode);

/// One column of a comparison: a seat, a mode and its settings.
struct Arm {
  std::string name;
  seat::SeatSpec seat;
  Mode mode = Mode::Readout;
  std::vector<ReadingChoice> readings = {{"letters", false}};  // {"written"} for Generate,
                                                               // {"native"} for a decision endpoint
  decision::LetterPolicy policy = decision::LetterPolicy::Exact;
  decision::Constants constants;
  double min_mass = 0.05;                 // letters holding less are void
  int top_k = 20;                         // where the seat has no exact ids
  int group = 1;                          // items evaluated together; 1: latency is honest
  int max_tokens = 8;                     // of a written answer
  std::string calibration = {};           // path of a fit file; "" for the constants above alone
  record::Fit fit = {};                   // what it holds (bench/calibration.h loads it)
  std::int64_t limit = 0;                 // only the first items of each task; 0: all
  std::vector<std::string> boards = {};   // that its model must be on: UUIDs or PCI addresses
  std::vector<std::string> require = {};  // probes of its seat that must be ok before it is asked
  bool operator==(const Arm&) const = default;
};

/// Whether the arm's seat answers decisions itself: by the reading native and no other.
bool is_native(const Arm& arm);

/// "all": letters, words, words-unlisted and every reading of the kit, each with its prior.
bool is_all(const Arm& arm);

/// Settings as they are stored and compared by resume; no secret is in them.
codec::Json to_json(const Arm& arm);
codec::Json to_json(const seat::Identity& identity);
codec::Json to_json(const seat::Capabilities& capabilities);
codec::Json to_json(const seat::LetterProof& proof);

/// Reads what to_json(Arm) wrote. Errors: Corrupt.
Result<Arm> parse_arm(const codec::Json& json);

/// The members a user may set on an arm, from a flag ("name=a,seat=local:m.gguf,readings=letters+
/// cloze") or a deem.toml table; unknown names are BadInput with "did you mean".
Result<void> set_arm_member(Arm& arm, std::string_view key, const codec::Json& value);
Result<Arm> parse_arm_flag(std::string_view text);

/// Whether a seat of this kind and address has a use for the setting; and for "beside" (evaluates
/// several items together), "beside-state" (those on one state) and "cold" (can be told to use
/// nothing evaluated before).
bool suits(const seat::SeatSpec& seat, std::string_view key);

/// Checks what members mean together (a name, a seat, a mode with its readings). Errors: BadInput.
Result<void> check_arm(const Arm& arm);

}  // namespace deem::bench
