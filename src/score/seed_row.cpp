#include "score/seed_row.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/text.h"
#include "score/lines.h"
#include "score/python_value.h"
#include "score/seed_scan.h"

namespace deem::score {
namespace {

using codec::Json;

std::unexpected<Error> refuse(std::string message) {
  return fail(Error::Code::Corrupt, std::move(message));
}

const Json& get(const Json& row, std::string_view key) {
  static const Json none;
  const Json* found = row.find(key);
  return found != nullptr ? *found : none;
}

/// json.loads refuses integers of more than 4,300 digits.
bool has_endless_int(const Json& value) {
  constexpr std::size_t kMaxDigits = 4300;
  switch (value.kind()) {
    case Json::Kind::BigInt: {
      const std::string& digits = value.digits();
      return digits.size() - (digits.starts_with('-') ? 1 : 0) > kMaxDigits;
    }
    case Json::Kind::Array:
      for (const Json& item : value.items()) {
        if (has_endless_int(item)) return true;
      }
      return false;
    case Json::Kind::Object:
      for (const Json::Member& member : value.members()) {
        if (has_endless_int(member.second)) return true;
      }
      return false;
    default:
      return false;
  }
}

Result<Json> parse_line(std::string_view line) {
  if (line.starts_with("\xef\xbb\xbf")) return refuse("begins with a byte order mark");
  if (trim(line).empty()) return refuse("blank line");
  if (!is_utf8(line)) return refuse("not UTF-8");
  Result<Json> value = codec::parse_json(line, codec::JsonMode::Python);
  if (!value) {
    std::string message = value.error().message;
    constexpr std::string_view kFirstLine = "line 1 ";  // the caller knows the file's line
    if (message.starts_with(kFirstLine)) message.erase(0, kFirstLine.size());
    return refuse("not JSON: " + message);
  }
  if (!value->is_object()) return refuse("not a JSON object");
  if (has_endless_int(*value)) return refuse("an integer of more than 4300 digits");
  return value;
}

/// A number where Python adds or sorts; `absent` values give None.
Result<PythonNumber> read_number(const Json& value, bool absent, std::string_view name) {
  if (absent) return PythonNumber{};
  const std::optional<PythonNumber> number = to_number(value);
  if (number) return *number;
  const bool big = value.kind() == Json::Kind::BigInt;
  return refuse(std::string(name) + (big ? " is an integer outside 64 bits" : " is not a number"));
}

/// len(row.get("floored") or [])
Result<std::uint32_t> count_floored(const Json& floored) {
  if (!is_true(floored)) return 0U;
  std::size_t n = 0;
  if (floored.is_array()) {
    n = floored.items().size();
  } else if (floored.is_object()) {
    n = floored.members().size();
  } else if (floored.is_string()) {
    for (char c : floored.as_string())
      n += (static_cast<unsigned char>(c) & 0xc0U) != 0x80U ? 1 : 0;
  } else {
    return refuse("floored is not a list");
  }
  if (n > std::numeric_limits<std::uint32_t>::max()) return refuse("floored is too long");
  return static_cast<std::uint32_t>(n);
}

/// Brier, the likeliest option's probability and its bin, for a row with label
/// and probs.
Result<void> read_probs(const Json& probs, const Json& label, SeedRow& row) {
  if (!probs.is_object()) return refuse("probs is not an object");
  std::optional<PythonNumber> top;
  for (const auto& [key, value] : probs.members()) {
    const Result<PythonNumber> p = read_number(value, false, "a value of probs");
    if (!p) return fail(p.error());
    if (!top || compare(*p, *top) > 0) top = *p;
    const bool hit = label.is_string() && label.as_string() == key;
    const double off = p->as_double() - (hit ? 1.0 : 0.0);
    const double square = python_square(off);
    if (std::isinf(square) && std::isfinite(off)) return refuse("a value of probs is too large");
    row.brier += square;
  }
  row.top_p = top->as_double();
  // An int times ten stays exact; in range both products agree, and out of
  // range both end up in the last bin or are refused.
  if (!find_seed_bin(row.top_p * static_cast<double>(kSeedBins), row.bin)) {
    return refuse("the largest of probs is not a probability");
  }
  row.flags |= SeedRow::kHasProbs;
  return {};
}

}  // namespace

void SeedRows::clear() {
  rows.clear();
  refusals.clear();
  problems.clear();
  lines = 0;
  bad_lines = 0;
}

bool find_seed_bin(double tenfold, std::uint8_t& bin) {
  constexpr int kBins = static_cast<int>(kSeedBins);
  if (!std::isfinite(tenfold)) return false;
  const double held = std::clamp(tenfold, -2.0 * kBins,
                                 2.0 * kBins);                    // fits an int, same outcome
  const int whole = std::min(static_cast<int>(held), kBins - 1);  // cut towards zero
  if (whole < -kBins) return false;
  bin = static_cast<std::uint8_t>(whole < 0 ? whole + kBins : whole);
  return true;
}

Result<SeedRow> read_seed_row(std::string_view line, std::vector<Json>& refusals) {
  const Result<Json> parsed = parse_line(line);
  if (!parsed) return fail(parsed.error());
  const Json& source = *parsed;
  SeedRow row;

  const Json& refused = get(source, "refused");
  if (is_true(refused)) {
    if (refused.is_array() || refused.is_object()) return refuse("refused is a list or an object");
    row.flags = SeedRow::kRefused;
    row.refusal = static_cast<std::uint32_t>(refusals.size());
    refusals.push_back(refused);
    return row;
  }

  const Json& seconds = get(source, "seconds");
  const Json& prompt_tokens = get(source, "prompt_tokens");
  const Json& eval_tokens = get(source, "eval_tokens");
  const Result<PythonNumber> seconds_read = read_number(seconds, seconds.is_null(), "seconds");
  if (!seconds_read) return fail(seconds_read.error());
  const Result<PythonNumber> prompt =
      read_number(prompt_tokens, !is_true(prompt_tokens), "prompt_tokens");
  if (!prompt) return fail(prompt.error());
  const Result<PythonNumber> eval = read_number(eval_tokens, !is_true(eval_tokens), "eval_tokens");
  if (!eval) return fail(eval.error());
  const Result<std::uint32_t> floored = count_floored(get(source, "floored"));
  if (!floored) return fail(floored.error());
  row.seconds = *seconds_read;
  row.prompt_tokens = *prompt;
  row.eval_tokens = *eval;
  row.floored = *floored;

  if (is_true(get(source, "error"))) row.flags |= SeedRow::kError;
  const Json& mode = get(source, "mode");
  const Json& parsed_reply = get(source, "parsed");
  if (mode.is_string() && mode.as_string() == "generate" && parsed_reply.is_bool() &&
      !parsed_reply.as_bool()) {
    row.flags |= SeedRow::kUnparsed;
  }

  const Json& label = get(source, "label");
  if (!is_true(label)) return row;
  row.flags |= SeedRow::kLabelled;
  const Json* choice = source.find("choice");
  if (choice == nullptr) return refuse("labelled, but has no choice");
  if (equal(*choice, label)) row.flags |= SeedRow::kCorrect;
  const Json& probs = get(source, "probs");
  if (is_true(probs)) {
    const Result<void> read = read_probs(probs, label, row);
    if (!read) return fail(read.error());
  }
  return row;
}

void read_seed_rows(std::string_view padded, SeedScanner& scanner, SeedRows& out) {
  scanner.begin(padded);
  for (std::size_t at = 0; at < padded.size();) {
    ++out.lines;
    SeedRow row;
    std::size_t stop = 0;
    if (const char* end = scanner.scan(padded.data() + at, row, out.refusals)) {
      out.rows.push_back(row);
      stop = static_cast<std::size_t>(end - padded.data());
    } else {
      stop = find_line_end(padded, at);
      const Result<SeedRow> read = read_seed_row(padded.substr(at, stop - at), out.refusals);
      if (read) {
        out.rows.push_back(*read);
      } else {
        ++out.bad_lines;
        if (out.problems.size() < SeedRows::kMaxProblems) {
          out.problems.push_back({out.lines, read.error().message});
        }
      }
    }
    at = next_line(padded, stop);
  }
}

}  // namespace deem::score
