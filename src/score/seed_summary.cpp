#include "score/seed_summary.h"

#include <algorithm>
#include <utility>

#include "codec/json.h"
#include "score/seed_scan.h"

namespace deem::score {
namespace {

void append_float(std::string& out, std::optional<double> value) {
  if (value) {
    codec::append_python_float(out, *value);
  } else {
    out += "null";
  }
}

std::optional<double> share(double part, std::int64_t whole) {
  if (whole == 0) return std::nullopt;
  return part / static_cast<double>(whole);
}

void append_bin(std::string& out, std::size_t i, const SeedSummary::Bin& bin) {
  constexpr auto kBins = static_cast<double>(kSeedBins);
  const std::optional<double> mean_p = share(bin.sum_p, bin.n);
  const std::optional<double> accuracy = share(static_cast<double>(bin.correct), bin.n);
  out += "{\"lo\": ";
  append_float(out, static_cast<double>(i) / kBins);
  out += ", \"hi\": ";
  append_float(out, static_cast<double>(i + 1) / kBins);
  out += ", \"n\": " + std::to_string(bin.n) + ", \"sum_p\": ";
  append_float(out, bin.sum_p);
  out += ", \"correct\": " + std::to_string(bin.correct) + ", \"mean_p\": ";
  append_float(out, mean_p);
  out += ", \"accuracy\": ";
  append_float(out, accuracy);
  out += ", \"gap\": ";
  append_float(out, bin.n > 0 ? std::optional(*mean_p - *accuracy) : std::nullopt);
  out += '}';
}

}  // namespace

void SeedFold::add(const SeedRows& rows) {
  for (const SeedRow& row : rows.rows) {
    ++summary_.n;
    if ((row.flags & SeedRow::kRefused) != 0) {
      summary_.refused.add(rows.refusals[row.refusal]);
      continue;
    }
    ++summary_.n_reached;
    const bool correct = (row.flags & SeedRow::kCorrect) != 0;
    summary_.n_labelled += (row.flags & SeedRow::kLabelled) != 0 ? 1 : 0;
    summary_.correct += correct ? 1 : 0;
    summary_.errors += (row.flags & SeedRow::kError) != 0 ? 1 : 0;
    summary_.unparsed += (row.flags & SeedRow::kUnparsed) != 0 ? 1 : 0;
    summary_.floored_rows += row.floored > 0 ? 1 : 0;
    summary_.letters_floored += row.floored;
    if (row.seconds.kind != PythonNumber::Kind::None) seconds_.add(row.seconds);
    summary_.prompt_tokens.add(row.prompt_tokens);
    summary_.eval_tokens.add(row.eval_tokens);
    if ((row.flags & SeedRow::kHasProbs) != 0) {
      brier_.add(row.brier);
      ++brier_n_;
      SeedSummary::Bin& bin = summary_.reliability[row.bin];
      ++bin.n;
      bin.sum_p += row.top_p;
      bin.correct += correct ? 1 : 0;
    }
  }
}

Result<SeedSummary> SeedFold::finish() {
  SeedFold whole = std::exchange(*this, {});
  SeedSummary& summary = whole.summary_;
  const std::optional<double> brier = whole.brier_.value();
  if (!brier) {
    return fail(Error::Code::Corrupt, "the Brier scores add up to more than a double holds");
  }
  if (whole.brier_n_ > 0) summary.brier = share(*brier, whole.brier_n_);
  const auto [median, p95] = whole.seconds_.take_quantiles();
  summary.median_seconds = median;
  summary.p95_seconds = p95;
  return std::move(summary);
}

std::string format_seed_summary(const SeedSummary& summary) {
  std::int64_t refused = 0;
  for (const PythonCounter::Entry& entry : summary.refused.entries()) refused += entry.count;

  std::string out = "{\"n\": " + std::to_string(summary.n);
  const auto count = [&out](std::string_view name, std::int64_t value) {
    out.append(", \"").append(name).append("\": ").append(std::to_string(value));
  };
  count("n_reached", summary.n_reached);
  count("n_labelled", summary.n_labelled);
  count("refused", refused);
  out += ", \"refused_by_reason\": {";
  for (bool first = true; const PythonCounter::Entry& entry : summary.refused.entries()) {
    if (!std::exchange(first, false)) out += ", ";
    append_key(out, entry.key);
    out += ": " + std::to_string(entry.count);
  }
  out += '}';
  count("correct", summary.correct);
  count("errors", summary.errors);
  out += ", \"brier\": ";
  append_float(out, summary.brier);
  out += ", \"reliability\": [";
  for (std::size_t i = 0; i < kSeedBins; ++i) {
    if (i > 0) out += ", ";
    append_bin(out, i, summary.reliability[i]);
  }
  out += "], \"median_seconds\": ";
  append_number(out, summary.median_seconds);
  out += ", \"p95_seconds\": ";
  append_number(out, summary.p95_seconds);
  out += ", \"prompt_tokens_total\": ";
  summary.prompt_tokens.append_to(out);
  out += ", \"eval_tokens_total\": ";
  summary.eval_tokens.append_to(out);
  count("unparsed", summary.unparsed);
  count("floored_rows", summary.floored_rows);
  count("letters_floored_total", summary.letters_floored);
  out += ", \"accuracy\": ";
  append_float(out, share(static_cast<double>(summary.correct), summary.n_labelled));
  out += '}';
  return out;
}

Result<SeedSummary> summarise_seed_rows(std::string_view bytes) {
  std::string padded(kSeedPadding, '\0');
  padded.append(bytes).append(kSeedPadding, '\0');
  SeedRows rows;
  SeedScanner scanner;
  read_seed_rows(std::string_view(padded).substr(kSeedPadding, bytes.size()), scanner, rows);
  if (!rows.problems.empty()) {
    const SeedProblem& problem = rows.problems.front();
    return fail(std::to_string(problem.line), Error{Error::Code::Corrupt, problem.message});
  }
  SeedFold fold;
  fold.add(rows);
  return fold.finish();
}

}  // namespace deem::score
