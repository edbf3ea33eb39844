#include "score/answer.h"

#include <algorithm>

#include "decision/readout.h"

namespace deem::score {
namespace {

using record::ReadingRecord;
using record::Row;
using Round = ReadingRecord::Round;

/// Probabilities of one round's options. With a prior, its logprobs are subtracted first.
std::vector<double> round_probs(const Round& round, const Round* prior,
                                decision::LetterPolicy policy, double temperature) {
  std::vector<double> logprobs = decision::fill_missing(round.letters, policy).logprobs;
  if (prior != nullptr) {
    const std::vector<double> base = decision::fill_missing(prior->letters, policy).logprobs;
    for (std::size_t i = 0; i < logprobs.size(); ++i) logprobs[i] -= base[i];
  }
  return decision::softmax(logprobs, temperature);
}

/// By option; empty where the rounds do not cover every option once.
std::vector<double> letters_probs(const Row& row, const ReadingRecord& reading, bool with_prior) {
  const double t = row.constants.temperature;
  const std::size_t n = row.keys.size();
  std::vector<double> out(n);
  if (reading.rounds.size() == 1) {
    const Round& round = reading.rounds.front();
    if (round.options.size() != n) return {};
    const Round* prior = nullptr;
    if (with_prior) {
      if (!reading.prior_rounds || reading.prior_rounds->size() != 1) return {};
      prior = &reading.prior_rounds->front();
      if (prior->options != round.options || prior->letters.cause != decision::VoidCause::None)
        return {};
    }
    const std::vector<double> p = round_probs(round, prior, reading.policy, t);
    // Less its prior a letter that was not seen may come first: by its bound, so it is no answer.
    if (prior != nullptr && !round.letters.logprobs[decision::argmax(p)]) return {};
    for (std::size_t i = 0; i < p.size(); ++i) out[round.options[i]] = p[i];
    return out;
  }
  if (reading.rounds.size() < 3 || with_prior) return {};
  std::vector<std::vector<double>> groups;
  std::vector<std::size_t> order;
  for (std::size_t g = 0; g + 1 < reading.rounds.size(); ++g) {
    groups.push_back(round_probs(reading.rounds[g], nullptr, reading.policy, t));
    order.insert(order.end(), reading.rounds[g].options.begin(), reading.rounds[g].options.end());
  }
  const Round& final_round = reading.rounds.back();
  if (order.size() != n || final_round.options.size() != groups.size()) return {};
  const std::vector<double> p =
      decision::combine_tournament(groups, round_probs(final_round, nullptr, reading.policy, t));
  for (std::size_t i = 0; i < n; ++i) out[order[i]] = p[i];
  return out;
}

std::optional<Answer> letters_answer(const Row& row, const ReadingRecord& reading,
                                     std::string_view variant) {
  if (variant != "raw" && variant != "prior") return std::nullopt;
  Answer answer{.probs = letters_probs(row, reading, variant == "prior"), .choice = 0, .score = {}};
  if (answer.probs.empty()) return std::nullopt;
  if (row.type == decision::QuestionType::Noul && answer.probs.size() == 2) {
    // True is the first option, but where its order was turned round.
    const std::size_t first = row.probe == "order:reverse" ? 1 : 0;
    const double yes = decision::calibrate_noul(answer.probs[first], row.constants);
    answer.probs[first] = yes;
    answer.probs[1 - first] = 1 - yes;
  }
  answer.choice = decision::argmax(answer.probs);
  return answer;
}

std::optional<Answer> texts_answer(const Row& row, const ReadingRecord& reading,
                                   std::string_view name) {
  const auto variant = decision::parse_variant(name);
  if (!variant) return std::nullopt;
  const auto scores = decision::option_scores(reading.texts, reading.priors, *variant);
  if (!scores || scores->empty()) return std::nullopt;
  if (scores->size() == 1 && row.keys.size() != 1) {
    if (row.type != decision::QuestionType::Noul) return std::nullopt;
    return Answer{.probs = {}, .choice = 0, .score = scores->front()};
  }
  if (scores->size() != row.keys.size()) return std::nullopt;
  Answer answer{.probs = decision::softmax(*scores), .choice = 0, .score = {}};
  answer.choice = decision::argmax(answer.probs);
  return answer;
}

std::optional<Answer> written_answer(const Row& row, const ReadingRecord& reading,
                                     std::string_view variant) {
  if (variant != "raw" || !reading.answer.option || *reading.answer.option >= row.keys.size()) {
    return std::nullopt;
  }
  Answer answer{
      .probs = std::vector<double>(row.keys.size()), .choice = *reading.answer.option, .score = {}};
  answer.probs[answer.choice] = 1;
  return answer;
}

}  // namespace

std::vector<std::string> variants_of(const ReadingRecord& reading) {
  using Kind = ReadingRecord::Kind;
  if (reading.kind == Kind::Written) return {"raw"};
  if (reading.kind == Kind::Letters) {
    return reading.prior_rounds ? std::vector<std::string>{"raw", "prior"}
                                : std::vector<std::string>{"raw"};
  }
  std::vector<std::string> out = {"raw-sum", "raw-mean", "raw-bytes"};
  if (std::ranges::any_of(reading.priors, [](const auto& prior) { return prior.has_value(); })) {
    out.insert(out.end(), {"prior-sum", "prior-mean", "prior-bytes"});
  }
  return out;
}

std::optional<std::size_t> label_index(const Row& row) {
  if (!row.label) return std::nullopt;
  const auto found = std::ranges::find(row.keys, *row.label);
  return static_cast<std::size_t>(found - row.keys.begin());
}

const std::string& state_of(const Row& row) {
  return row.state_sha256.empty() ? row.state_id : row.state_sha256;
}

std::optional<Answer> answer_of(const Row& row, const ReadingRecord& reading,
                                std::string_view variant) {
  using Kind = ReadingRecord::Kind;
  if (reading.error || reading.cause != decision::VoidCause::None || row.keys.empty())
    return std::nullopt;
  switch (reading.kind) {
    case Kind::Letters:
      return letters_answer(row, reading, variant);
    case Kind::Texts:
      return texts_answer(row, reading, variant);
    case Kind::Written:
      return written_answer(row, reading, variant);
  }
  return std::nullopt;
}

}  // namespace deem::score
