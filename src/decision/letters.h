#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deem::decision {

/// One entry of a first output position as a server returned it. `logprob` is natural log;
/// none when the server sent null, "-Infinity", or left it out.
struct TokenScore {
  std::string token = {};               // decoded text as sent ("" when absent)
  std::optional<std::int64_t> id = {};  // vocabulary id, where the server gives one
  std::optional<double> logprob = {};
};

/// exact: the one id that is the bare letter; where a list without ids holds its spelling twice,
/// the likelier. sum-exact: every token that decodes
/// to exactly the letter. fold: leading- and trailing-space look-alikes too. reference: run.py's
/// rule (NOTES.md 18): exact wins wherever it stands, else the first look-alike after strip().
enum class LetterPolicy { Exact, SumExact, Fold, Reference };

std::string_view to_string(LetterPolicy policy);
std::optional<LetterPolicy> parse_letter_policy(std::string_view name);

/// What a seat read at the first output position, before any judgement. Filled by seats.
struct FirstPosition {
  /// Exact readings per letter under the asked policy, when the seat can give them (local;
  /// by ids); empty otherwise. Natural log of the summed probability.
  std::vector<std::optional<double>> exact = {};
  std::vector<TokenScore> top = {};        // the top list in the order sent, sampled token excluded
                                           // unless it is in the list
  std::optional<TokenScore> sampled = {};  // the token the server says it wrote
  std::optional<double> top_mass = {};     // sum of exp(logprob) over `top` where finite
  int asked_k = 0;                         // how many entries were asked; 0: whole vocabulary
  bool logprobs_present = false;           // false: the list was null, empty or missing
};

/// Why a reading is no answer. The text of each stands in docs/formats/row.md.
enum class VoidCause {
  None,
  NoLogprobs,           // list null, empty or missing
  NoLetterSeen,         // none of the letters among the entries
  ThinkingToken,        // position 0 opens a thinking channel (<think>, <|channel>, <|channel|>…)
  AllZeroLogprobs,      // every logprob exactly 0
  SentinelLogprob,      // −9999.0 or below for the sampled or first token, or an exact letter
  NotANumber,           // NaN where a number should be
  MultiCharacter,       // the likeliest entry begins with a letter but is a longer word fused to it
                        // ("B)" "Based"…) and the letters' mass is small beside it
  LowLabelMass,         // letters hold less than the stated mass
  TruncatedPrompt,      // the server counted fewer prompt tokens than the census
  ProbabilityAboveOne,  // listed masses sum to over 1 (processed logprobs or a broken server)
  NotFinite,            // a likelihood that is not finite
  Undecided,            // a letter without a number may be likelier than all that have one: it is
                        // what the server wrote, or its bound is above them
  // Of endpoints that answer decisions themselves (native.h).
  NoAnswer,         // none of the type asked for under the question's id
  Declined,         // it says that it will not answer
  MissingOption,    // an option has no probability
  NotAProbability,  // a number below 0 or over 1
  SumNotOne,        // they sum to something else than 1, by more than rounding
  ChoiceDiffers,    // the option named is not the likeliest of its own probabilities, or none
};

std::string_view to_string(VoidCause cause);  // "low_label_mass"
std::optional<VoidCause> parse_void_cause(std::string_view name);

/// Letters as read. `logprobs[i]` none: not seen; then `bound` is an upper bound for it when there
/// is one: the log of the mass that what has a number leaves and, for a letter outside the top k,
/// the lowest logprob listed if that is lower.
struct LettersReading {
  std::vector<std::optional<double>> logprobs = {};
  std::optional<double> bound = {};
  double mass_letters = 0;                  // sum of exp(logprobs) seen
  std::optional<double> mass_outside = {};  // 1 − mass_letters when exact, else of other entries
  std::string top_token = {};               // the sampled token, else the likeliest listed
  std::optional<std::int64_t> top_id = {};
  std::optional<double> top_logprob = {};
  VoidCause cause = VoidCause::None;
};

struct LettersRule {
  LetterPolicy policy = LetterPolicy::Exact;
  double min_mass = 0.05;  // below: LowLabelMass. Not applied by the Reference policy
};

/// Judges one first position for `n` letters by design laws 2 and 3. Pure and total: no input is
/// a bug. Of several causes the first holds, in the order NoLogprobs, NotANumber, NotFinite,
/// AllZeroLogprobs, ProbabilityAboveOne, SentinelLogprob, ThinkingToken, MultiCharacter,
/// NoLetterSeen, LowLabelMass, Undecided. A letter at −9999 or below is not seen when read from the
/// top k and voids the reading when asked for by id. The Reference policy knows only NoLogprobs and
/// passes every number on, NaN included, as run.py does.
LettersReading read_letters(const FirstPosition& position, std::size_t n, const LettersRule& rule);

/// Letter logprobs → numbers for softmax where some are missing. A missing letter takes the
/// bound, or what is 1e-9 under the lowest seen if that is lower: it neither beats a letter that
/// was seen nor ties with one. Under the Reference policy it takes −30, as run.py does. Returns
/// indices that were filled.
struct Filled {
  std::vector<double> logprobs = {};
  std::vector<std::size_t> floored = {};
};
Filled fill_missing(const LettersReading& reading, LetterPolicy policy);

}  // namespace deem::decision
