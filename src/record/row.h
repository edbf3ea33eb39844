#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json.h"
#include "decision/letters.h"
#include "decision/native.h"
#include "decision/question.h"
#include "decision/readout.h"
#include "decision/written.h"

namespace deem::record {

/// What one reading gave for one item: raw numbers only; every variant is computed from them.
struct ReadingRecord {
  enum class Kind { Letters, Texts, Written, Native };
  Kind kind = Kind::Letters;
  decision::VoidCause cause = decision::VoidCause::None;  // not None: void, never scored
  std::optional<std::string> error;          // the seat's sentence, when this reading failed
  bool unsupported = false;                  // error is "not supported by this seat"
  std::string prompt_sha256;                 // letters, words, written: of the user's turn;
                                             // native: of state and question; else of the
                                             // templates (their digest)
  std::optional<std::int64_t> prompt_chars;  // code points

  // Letters. For a tournament `rounds` holds each group, then the final; else one round.
  struct Round {
    std::vector<std::size_t> options;  // option indices in letter order
    decision::LettersReading letters;
  };
  std::vector<Round> rounds;
  std::optional<std::vector<Round>> prior_rounds;  // the same on the empty state
  decision::LetterPolicy policy = decision::LetterPolicy::Exact;
  std::optional<int> asked_k;  // none: exact

  // Texts (words, cloze, channel…), one per option; a reading without option fields has one.
  std::vector<decision::TextScore> texts;
  std::vector<std::optional<decision::TextScore>> priors;

  // Written.
  std::string reply;
  decision::WrittenAnswer answer;

  // Native: what an endpoint that answers decisions itself gave; NaN and null are one in a file.
  decision::NativeAnswer native = {};

  // Cost of this reading.
  std::optional<std::int64_t> prompt_tokens, cached_tokens, output_tokens;
  std::optional<std::int64_t> census_tokens;
  std::optional<double> prompt_ms, total_ms;  // the server's clock
  double planned_to_done_s = 0;               // from the planned send
  double sent_to_done_s = 0;                  // from the real send
  double prior_s = 0;                         // spent on priors computed for this row, apart
  int calls = 1;
  int group = 1;  // how many were evaluated together
  std::optional<std::string> finish_reason;
  std::optional<std::string> served_model;  // what the reply names, where it is not what was asked
};

/// What one arm gave for one item. Names in the file: docs/formats/row.md.
struct Row {
  enum class Status { Asked, Refused, Error };
  std::string arm, task, id;
  int repeat = 0;
  std::string probe;  // "" for a plain row, else how it was asked otherwise: "order:reverse",
                      // "law:negation", "noise:cold", "sustained" (docs/formats/row.md)
  Status status = Status::Asked;
  std::string reason;                   // of a refusal ("overlong"), or the error's text
  std::optional<double> reason_number;  // e.g. the prompt's tokens
  decision::QuestionType type = decision::QuestionType::Choice;
  std::string mode;               // readout, generate
  std::vector<std::string> keys;  // options in the order asked
  std::optional<std::string> label;
  std::string kind;
  std::string state_id, state_sha256;
  std::optional<std::int64_t> state_chars;  // code points of the state; none in rows of older runs
  std::string language;                     // the item's meta.language; "" when it has none
  std::string stamp;                        // UTC when done
  std::map<std::string, ReadingRecord> readings;
  // The primary reading's answer under the arm's constants, for people; recomputable.
  std::string primary;  // "cloze:prior-sum", "letters:raw", "written"
  std::optional<std::string> choice;
  std::vector<double> probs;  // in the order of keys; empty when none
  decision::Constants constants;
  int overlap_choice = -1;  // option index that shares most words with state or
                            // question (a program without a model);
                            // −1: none
};

/// One line of rows.jsonl without its newline, checksum included ("crc": 8 hex digits of CRC-32C
/// over the line up to `,"crc"`).
std::string format_row(const Row& row);

/// Whether a line's checksum is compared. Ignore is for fuzzing what lies behind it.
enum class Checksum { Verify, Ignore };

/// Errors: Corrupt when it is no row, is torn, or the checksum differs.
Result<Row> parse_row(std::string_view line, Checksum checksum = Checksum::Verify);

}  // namespace deem::record
