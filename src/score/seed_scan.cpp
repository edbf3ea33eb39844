#include "score/seed_scan.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "score/decimal.h"
#include "score/json_skip.h"

namespace deem::score {

const char* find_line_end(const char* at, const char* end) {
  const auto size = static_cast<std::size_t>(end - at);
  const void* feed = std::memchr(at, '\n', size);
  const char* stop = feed != nullptr ? static_cast<const char*>(feed) : end;
  const void* carriage = std::memchr(at, '\r', static_cast<std::size_t>(stop - at));
  return carriage != nullptr ? static_cast<const char*>(carriage) : stop;
}

namespace {

/// The float at `digits`, after its sign; false when it has more than 19 digits or an exponent that
/// round_decimal does not take.
bool read_float(const char* digits, const json::NumberSpan& span, bool negative, double& value) {
  constexpr std::size_t kMaxDigits = 19;
  constexpr auto kTens = [] {
    std::array<std::uint64_t, kMaxDigits + 1> tens{1};
    for (std::size_t i = 1; i < tens.size(); ++i) tens[i] = tens[i - 1] * 10;
    return tens;
  }();
  if (span.whole_digits + span.fraction_digits > kMaxDigits) return false;
  const char* const fraction = digits + span.whole_digits + 1;
  Decimal decimal{read_digits(digits, span.whole_digits) * kTens[span.fraction_digits] +
                      read_digits(fraction, span.fraction_digits),
                  -static_cast<std::int32_t>(span.fraction_digits), negative};
  if (span.has_exponent) {
    const char* at = span.fraction_digits > 0 ? fraction + span.fraction_digits : fraction - 1;
    if (*++at == '+') ++at;  // std::from_chars takes only '-'
    int exponent = 0;
    if (std::from_chars(at, span.end, exponent).ec != std::errc()) return false;
    if (exponent < -100 || exponent > 100) return false;
    decimal.exponent += exponent;
  }
  return round_decimal(decimal, value);
}

/// One bit of 64 for a key's length and last 8 bytes. The 8 bytes before its end are in the row.
std::uint64_t filter_bit(std::string_view key) {
  std::uint64_t tail = 0;
  if (key.size() >= sizeof tail || std::endian::native != std::endian::little) {
    const std::size_t n = std::min(key.size(), sizeof tail);
    std::memcpy(&tail, key.data() + key.size() - n, n);
  } else if (!key.empty()) {
    std::memcpy(&tail, key.data() + key.size() - sizeof tail, sizeof tail);
    tail >>= 8 * (sizeof tail - key.size());
  }
  return std::uint64_t{1} << (((tail ^ key.size()) * 0x9e3779b97f4a7c15U) >> 58);
}

}  // namespace

SeedScanner::SeedScanner(const char* end) : end_(end) {}

SeedScanner::Field SeedScanner::find_field(std::string_view key) {
  struct Name {
    std::string_view key;
    Field field;
  };
  static constexpr std::array<Name, 11> kNames{{{"refused", Field::Refused},
                                                {"label", Field::Label},
                                                {"choice", Field::Choice},
                                                {"seconds", Field::Seconds},
                                                {"probs", Field::Probs},
                                                {"mode", Field::Mode},
                                                {"parsed", Field::Parsed},
                                                {"floored", Field::Floored},
                                                {"error", Field::Error},
                                                {"prompt_tokens", Field::PromptTokens},
                                                {"eval_tokens", Field::EvalTokens}}};
  const auto* found = std::ranges::find(kNames, key, &Name::key);
  return found != kNames.end() ? found->field : Field::Other;
}

bool SeedScanner::matches(const Known& known, const char* at) {
#ifdef __SSE2__
  const char* text = known.text.data();
  const std::uint32_t same =
      json::mask_of(_mm_cmpeq_epi8(json::load(at), json::load(text))) |
      json::mask_of(_mm_cmpeq_epi8(json::load(at + 16), json::load(text + 16))) << 16;
  return (same & known.need) == known.need && known.need != 0;
#else
  return known.length != 0 && std::memcmp(at, known.text.data(), known.length) == 0;
#endif
}

const char* SeedScanner::read_key(const char* at, std::size_t& previous, Field& field) {
  if (*at != '"') return nullptr;
  bool escaped = false;
  const char* const close = json::skip_string(at + 1, escaped);
  if (close == nullptr || escaped) return nullptr;
  const char* stop = json::skip_blanks(close + 1);
  if (*stop != ':') return nullptr;
  stop = json::skip_blanks(stop + 1);
  field = find_field({at + 1, static_cast<std::size_t>(close - at - 1)});

  const auto length = static_cast<std::size_t>(stop - at);
  if (length > sizeof(Known::text)) {
    previous = 0;
    return stop;
  }
  std::size_t i = 1;
  while (i < known_count_ &&
         (known_[i].length != length || std::memcmp(known_[i].text.data(), at, length) != 0)) {
    ++i;
  }
  if (i == kMaxKnown) {
    previous = 0;
    return stop;
  }
  if (i == known_count_) {
    Known& known = known_[known_count_++];
    std::memcpy(known.text.data(), at, length);
    known.length = static_cast<std::uint8_t>(length);
    known.need = length == 32 ? ~0U : (1U << length) - 1;
    known.field = field;
  }
  Known& before = known_[previous];
  before.other_next = before.next;
  before.next = static_cast<std::uint8_t>(i);
  previous = i;
  return stop;
}

const char* SeedScanner::read_text(const char* at, Text& text) {
  if (*at == '"') {
    bool escaped = false;
    const char* close = json::skip_string(at + 1, escaped);
    if (close == nullptr || escaped) return nullptr;
    text.state = Text::State::Given;
    text.bytes = {at + 1, static_cast<std::size_t>(close - at - 1)};
    return close + 1;
  }
  text.state = Text::State::Null;
  text.bytes = {};
  return json::skip_word(at, "null");
}

const char* SeedScanner::read_number(const char* at, PythonNumber& number) {
  if (*at == 'n') {
    number = {};
    return json::skip_word(at, "null");
  }
  const json::NumberSpan span = json::skip_number(at);
  if (span.end == nullptr) return nullptr;
  const bool negative = *at == '-';
  const char* const digits = at + (negative ? 1 : 0);
  if (span.is_int) {
    const auto whole = static_cast<std::int64_t>(read_digits(digits, span.whole_digits));
    number = PythonNumber::of_int(negative ? -whole : whole);
    return span.end;
  }
  number = PythonNumber::of_float(0);
  if (read_float(digits, span, negative, number.real)) return span.end;
  if (std::from_chars(at, span.end, number.real).ec != std::errc()) return nullptr;
  return span.end;
}

const char* SeedScanner::read_floored(const char* at) {
  floored_ = 0;
  if (*at == 'n') return json::skip_word(at, "null");
  if (*at != '[') return nullptr;
  std::size_t count = 0;
  const char* stop = json::skip_container(at, 32, count);
  if (count > std::numeric_limits<std::uint32_t>::max()) return nullptr;
  floored_ = static_cast<std::uint32_t>(count);
  return stop;
}

bool SeedScanner::has_key(std::size_t n, std::string_view key) const {
  return std::any_of(probs_.begin(), probs_.begin() + static_cast<std::ptrdiff_t>(n),
                     [key](const Prob& prob) { return prob.key == key; });
}

const char* SeedScanner::read_probs(const char* at) {
  prob_count_ = 0;
  if (*at == 'n') return json::skip_word(at, "null");
  if (*at != '{') return nullptr;
  at = json::skip_blanks(at + 1);
  if (*at == '}') return at + 1;
  std::uint64_t seen = 0;  // bits of the keys so far, to look for equal ones only when one may be
  for (;;) {
    if (*at != '"' || prob_count_ == kMaxProbs) return nullptr;
    bool escaped = false;
    const char* const close = json::skip_string(at + 1, escaped);
    if (close == nullptr || escaped) return nullptr;
    const std::string_view key(at + 1, static_cast<std::size_t>(close - at - 1));
    const std::uint64_t bit = filter_bit(key);
    if ((seen & bit) != 0 && has_key(prob_count_, key)) return nullptr;
    seen |= bit;
    at = json::skip_blanks(close + 1);
    if (*at != ':') return nullptr;
    PythonNumber number;
    at = read_number(json::skip_blanks(at + 1), number);
    if (at == nullptr || number.kind == PythonNumber::Kind::None) return nullptr;
    probs_[prob_count_++] = {key, number.as_double()};
    at = json::skip_blanks(at);
    if (*at == '}') return at + 1;
    if (*at != ',') return nullptr;
    at = json::skip_blanks(at + 1);
  }
}

const char* SeedScanner::read_field(const char* at, Field field) {
  switch (field) {
    case Field::Other:
      return json::skip_value(at);
    case Field::Refused:
      return read_text(at, refused_);
    case Field::Label:
      return read_text(at, label_);
    case Field::Choice:
      return read_text(at, choice_);
    case Field::Mode:
      return read_text(at, mode_);
    case Field::Error:
      return read_text(at, error_);
    case Field::Seconds:
      return read_number(at, seconds_);
    case Field::PromptTokens:
      return read_number(at, prompt_tokens_);
    case Field::EvalTokens:
      return read_number(at, eval_tokens_);
    case Field::Parsed:
      parsed_is_false_ = *at == 'f';
      return json::skip_value(at);
    case Field::Floored:
      return read_floored(at);
    case Field::Probs:
      return read_probs(at);
  }
  return nullptr;
}

bool SeedScanner::finish_probs(SeedRow& row) const {
  double top = -std::numeric_limits<double>::infinity();
  double brier = 0;
  for (std::size_t i = 0; i < prob_count_; ++i) {
    const auto& [key, p] = probs_[i];
    top = std::max(top, p);
    brier += python_square(p - (key == label_.bytes ? 1.0 : 0.0));
  }
  row.brier = brier;
  row.top_p = top;
  row.flags |= SeedRow::kHasProbs;
  // Squares that leave the range of a double are an error in Python; so is no bin.
  return std::isfinite(brier) && find_seed_bin(top * static_cast<double>(kSeedBins), row.bin);
}

bool SeedScanner::finish(SeedRow& row, std::vector<codec::Json>& refusals) const {
  if (refused_.is_true()) {
    row.flags = SeedRow::kRefused;
    row.refusal = static_cast<std::uint32_t>(refusals.size());
    refusals.emplace_back(std::string(refused_.bytes));
    return true;
  }
  row.seconds = seconds_;
  row.prompt_tokens = prompt_tokens_;
  row.eval_tokens = eval_tokens_;
  // `x or 0`: a zero of any type adds the integer 0, so it does not turn a sum into a float.
  if (prompt_tokens_.is_float() && prompt_tokens_.real == 0) row.prompt_tokens = {};
  if (eval_tokens_.is_float() && eval_tokens_.real == 0) row.eval_tokens = {};
  row.floored = floored_;
  if (error_.is_true()) row.flags |= SeedRow::kError;
  if (parsed_is_false_ && mode_.bytes == "generate") row.flags |= SeedRow::kUnparsed;
  if (!label_.is_true()) return true;
  row.flags |= SeedRow::kLabelled;
  if (choice_.state == Text::State::Absent) return false;
  if (choice_.bytes == label_.bytes) row.flags |= SeedRow::kCorrect;
  return prob_count_ == 0 || finish_probs(row);
}

const char* SeedScanner::scan(const char* at, SeedRow& row, std::vector<codec::Json>& refusals) {
  if (*at != '{') return nullptr;
  refused_ = label_ = choice_ = mode_ = error_ = {};
  parsed_is_false_ = false;
  floored_ = 0;
  seconds_ = prompt_tokens_ = eval_tokens_ = {};
  prob_count_ = 0;

  std::size_t previous = 0;
  for (++at;;) {
    const Known& before = known_[previous];
    Field field = Field::Other;
    if (const Known& next = known_[before.next]; matches(next, at)) {
      previous = before.next;
      field = next.field;
      at += next.length;
    } else if (const Known& other = known_[before.other_next]; matches(other, at)) {
      previous = before.other_next;
      field = other.field;
      at += other.length;
    } else {
      at = read_key(json::skip_blanks(at), previous, field);
      if (at == nullptr) return nullptr;
    }
    at = read_field(at, field);
    if (at == nullptr) return nullptr;
    if (at[0] == ',' && at[1] == ' ') {
      at += 2;
      continue;
    }
    at = json::skip_blanks(at);
    if (*at == '}') break;
    if (*at != ',') return nullptr;
    at = json::skip_blanks(at + 1);
  }
  at = json::skip_blanks(at + 1);
  if (at != end_ && *at != '\n' && *at != '\r') return nullptr;
  return finish(row, refusals) ? at : nullptr;
}

}  // namespace deem::score
