#include "score/answer.h"

#include <algorithm>

#include "decision/readout.h"

namespace deem::score {
namespace {

using record::ReadingRecord;
using record::Row;
using Round = ReadingRecord::Round;

/// Scores of one round's options. With a prior, its logprobs are subtracted.
std::vector<double> round_scores(const Round& round, const Round* prior,
                                 decision::LetterPolicy policy) {
  std::vector<double> logprobs = decision::fill_missing(round.letters, policy).logprobs;
  if (prior != nullptr) {
    const std::vector<double> base = decision::fill_missing(prior->letters, policy).logprobs;
    for (std::size_t i = 0; i < logprobs.size(); ++i) logprobs[i] -= base[i];
  }
  return logprobs;
}

/// What a single round says, in its order; empty where it does not cover every option once.
std::vector<double> single_round(const Row& row, const ReadingRecord& reading, bool with_prior) {
  const Round& round = reading.rounds.front();
  if (round.options.size() != row.keys.size()) return {};
  const Round* prior = nullptr;
  if (with_prior) {
    if (!reading.prior_rounds || reading.prior_rounds->size() != 1) return {};
    prior = &reading.prior_rounds->front();
    if (prior->options != round.options || prior->letters.cause != decision::VoidCause::None)
      return {};
  }
  std::vector<double> scores = round_scores(round, prior, reading.policy);
  // Less its prior a letter that was not seen may come first: by its bound, so it is no answer.
  if (prior != nullptr && !round.letters.logprobs[decision::argmax(scores)]) return {};
  return scores;
}

/// The options of a tournament's groups one after another; empty where they or the final do not
/// cover every option once.
std::vector<std::size_t> tournament_order(const Row& row, const ReadingRecord& reading) {
  std::vector<std::size_t> order;
  if (reading.rounds.size() < 3) return order;
  for (std::size_t g = 0; g + 1 < reading.rounds.size(); ++g) {
    order.insert(order.end(), reading.rounds[g].options.begin(), reading.rounds[g].options.end());
  }
  if (order.size() != row.keys.size() ||
      reading.rounds.back().options.size() != reading.rounds.size() - 1) {
    return {};
  }
  return order;
}

/// By option; empty where the rounds do not cover every option once.
std::vector<double> letters_probs(const Row& row, const ReadingRecord& reading, bool with_prior) {
  const double t = row.constants.temperature;
  std::vector<double> out(row.keys.size());
  if (reading.rounds.size() == 1) {
    const std::vector<double> scores = single_round(row, reading, with_prior);
    if (scores.empty()) return {};
    const std::vector<double> p = decision::softmax(scores, t);
    for (std::size_t i = 0; i < p.size(); ++i) out[reading.rounds.front().options[i]] = p[i];
    return out;
  }
  const std::vector<std::size_t> order = tournament_order(row, reading);
  if (order.empty() || with_prior) return {};
  std::vector<std::vector<double>> groups;
  for (std::size_t g = 0; g + 1 < reading.rounds.size(); ++g) {
    groups.push_back(
        decision::softmax(round_scores(reading.rounds[g], nullptr, reading.policy), t));
  }
  const std::vector<double> p = decision::combine_tournament(
      groups, decision::softmax(round_scores(reading.rounds.back(), nullptr, reading.policy), t));
  for (std::size_t i = 0; i < p.size(); ++i) out[order[i]] = p[i];
  return out;
}

/// By option; a tournament's are the final's of its group's winner plus what it lies below that.
std::vector<double> letters_scores(const Row& row, const ReadingRecord& reading, bool with_prior) {
  std::vector<double> out(row.keys.size());
  if (reading.rounds.size() == 1) {
    const std::vector<double> scores = single_round(row, reading, with_prior);
    if (scores.empty()) return {};
    for (std::size_t i = 0; i < scores.size(); ++i)
      out[reading.rounds.front().options[i]] = scores[i];
    return out;
  }
  const std::vector<std::size_t> order = tournament_order(row, reading);
  if (order.empty() || with_prior) return {};
  const std::vector<double> final_round =
      round_scores(reading.rounds.back(), nullptr, reading.policy);
  std::size_t place = 0;
  for (std::size_t g = 0; g + 1 < reading.rounds.size(); ++g) {
    const std::vector<double> inside = round_scores(reading.rounds[g], nullptr, reading.policy);
    const double winner = inside[decision::argmax(inside)];
    for (const double score : inside) out[order[place++]] = final_round[g] + score - winner;
  }
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

/// Numbers of a native reading judged an answer; none of one that is none for these options.
std::optional<std::vector<double>> native_numbers(const Row& row, const ReadingRecord& reading,
                                                  std::string_view variant) {
  const auto judged = decision::judge_native(reading.native, row.type, row.keys.size(), 0);
  if (variant != "raw" || judged != decision::VoidCause::None) return std::nullopt;
  std::vector<double> out;
  for (const auto& p : reading.native.probs) out.push_back(*p);
  return out;
}

std::optional<Answer> native_answer(const Row& row, const ReadingRecord& reading,
                                    std::string_view variant) {
  const auto numbers = native_numbers(row, reading, variant);
  if (!numbers) return std::nullopt;
  Answer answer{.probs = decision::native_probs(*numbers, reading.native.choice, row.keys.size()),
                .choice = 0,
                .score = {}};
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
  if (reading.kind == Kind::Written || reading.kind == Kind::Native) return {"raw"};
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

std::optional<std::vector<double>> scores_of(const Row& row, const ReadingRecord& reading,
                                             std::string_view variant) {
  using Kind = ReadingRecord::Kind;
  if (reading.error || reading.cause != decision::VoidCause::None || row.keys.empty())
    return std::nullopt;
  if (reading.kind == Kind::Letters && (variant == "raw" || variant == "prior")) {
    std::vector<double> scores = letters_scores(row, reading, variant == "prior");
    if (!scores.empty()) return scores;
  } else if (reading.kind == Kind::Texts) {
    const auto parsed = decision::parse_variant(variant);
    auto scores =
        parsed ? decision::option_scores(reading.texts, reading.priors, *parsed) : std::nullopt;
    if (scores && (scores->size() == row.keys.size() ||
                   (scores->size() == 1 && row.type == decision::QuestionType::Noul))) {
      return scores;
    }
  } else if (reading.kind == Kind::Native) {
    if (const auto numbers = native_numbers(row, reading, variant))
      return decision::native_scores(*numbers, reading.native.choice, row.keys.size());
  } else if (reading.kind == Kind::Written) {
    if (const auto written = written_answer(row, reading, variant)) return written->probs;
  }
  return std::nullopt;
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
    case Kind::Native:
      return native_answer(row, reading, variant);
  }
  return std::nullopt;
}

}  // namespace deem::score
