#include "score/choose.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "score/calibrate.h"
#include "score/fit_sample.h"

namespace deem::score {
namespace {

using decision::Calibrator;
using record::ReadingRecord;
using record::Row;

/// Texts of three options whose likelihoods favour `said` by `gap` nats.
ReadingRecord texts(std::size_t said, double gap, double seconds) {
  ReadingRecord out;
  out.kind = ReadingRecord::Kind::Texts;
  for (std::size_t k = 0; k < 3; ++k)
    out.texts.push_back({.sum = -9 + (k == said ? gap : 0), .tokens = 3, .bytes = 9});
  out.priors.resize(3);
  out.prompt_sha256 = "templates";
  out.planned_to_done_s = seconds;
  out.prompt_tokens = 10;
  return out;
}

/// Letters of three options, `said` the likeliest by `gap` nats: a reading of one variant.
ReadingRecord letters(std::size_t said, double gap) {
  ReadingRecord out;
  out.kind = ReadingRecord::Kind::Letters;
  ReadingRecord::Round round;
  round.options = {0, 1, 2};
  for (std::size_t k = 0; k < 3; ++k) round.letters.logprobs.push_back(-3 + (k == said ? gap : 0));
  out.rounds = {round};
  return out;
}

Row row_of(std::size_t i, std::size_t label) {
  Row row;
  row.arm = "a";
  row.task = "t";
  row.id = std::to_string(i);
  row.mode = "readout";
  row.keys = {"x", "y", "z"};
  row.label = row.keys[label];
  row.state_sha256 = "state " + std::to_string(i);
  return row;
}

/// `good` is right in three of four, `bad` in one of three, `slow` as `good` and slower; all are
/// surer than they should be.
std::vector<Row> rows_of(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t label = random.below(3);
    Row row = row_of(i, label);
    const std::size_t said = random.unit() < .75 ? label : (label + 1 + random.below(2)) % 3;
    row.readings["good"] = texts(said, 6, .1);
    row.readings["slow"] = texts(said, 6, .5);
    row.readings["bad"] = texts(random.below(3), 6, .01);
    rows.push_back(std::move(row));
  }
  return rows;
}

const Candidate* find(const Choice& choice, const std::string& reading, bool fitted) {
  const auto found = std::ranges::find_if(choice.candidates, [&](const Candidate& c) {
    return c.column.reading == reading && c.column.variant == "raw-sum" && c.fitted == fitted;
  });
  return found == choice.candidates.end() ? nullptr : &*found;
}

TEST(Choose, FindsThePlantedReadingAndSaysWhatItCosts) {
  const std::vector<Row> rows = rows_of(300, 5);
  const std::vector<Choice> choices = choose(rows);
  ASSERT_EQ(choices.size(), 1U);
  const Choice& choice = choices.front();
  ASSERT_EQ(choice.refused, "");
  EXPECT_EQ(choice.n, 300U);
  EXPECT_EQ(choice.states, 300U);
  EXPECT_EQ(choice.parts, 5U);
  const Candidate& best = choice.candidates.front();
  EXPECT_NE(best.column.reading, "bad");
  EXPECT_TRUE(best.fitted);
  EXPECT_NE(best.calibrator.method, Calibrator::Method::None);
  const Candidate* bad = find(choice, "bad", true);
  ASSERT_NE(bad, nullptr);
  EXPECT_FALSE(bad->within_noise);
  EXPECT_GT(bad->behind, 0.2);
  // Six nats say .995; right is .75: own constants lose.
  const Candidate* own = find(choice, "good", false);
  ASSERT_NE(own, nullptr);
  EXPECT_GT(own->held_out.brier, best.held_out.brier + 0.05);
  EXPECT_NEAR(choice.procedure.accuracy, 0.75, 0.08);
  EXPECT_NEAR(choice.price, choice.procedure.brier - best.held_out.brier, 1e-12);
  EXPECT_NEAR(choice.no_model.uniform, 1.0 / 3, 1e-12);
  EXPECT_EQ(choice.entry.task, "t");
  EXPECT_EQ(choice.entry.reading, best.column.reading);
  EXPECT_EQ(choice.entry.prompt_digest, "templates");
  // As good and faster: within the noise, and the cheapest.
  EXPECT_EQ(choice.candidates[choice.cheapest].column.reading, "good");
}

TEST(Choose, TakesTheCheapestWhereAsked) {
  const std::vector<Choice> choices = choose(rows_of(120, 2), {.cheapest = true});
  const Choice& choice = choices.front();
  EXPECT_EQ(choice.chosen, choice.cheapest);
  EXPECT_EQ(choice.entry.reading, "good");
}

TEST(Choose, RefusesBelowTheStatedNumbers) {
  EXPECT_EQ(choose(rows_of(29, 1)).front().refused, "29 labelled answers, 30 are needed");
  std::vector<Row> rows = rows_of(60, 1);
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i].state_sha256 = "state " + std::to_string(i % 4);
  EXPECT_EQ(choose(rows).front().refused, "answers on 4 states, 5 are needed");
}

TEST(Choose, AReadingDoesNotLookBetterForFailing) {
  // "shy" answers only where it is right: accuracy 1 of its answers, but it leaves half open.
  std::vector<Row> rows = rows_of(200, 3);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto label = static_cast<std::size_t>(std::ranges::find(rows[i].keys, *rows[i].label) -
                                                rows[i].keys.begin());
    rows[i].readings["shy"] = texts(label, 6, .1);
    if (i % 2 == 0) rows[i].readings["shy"].cause = decision::VoidCause::LowLabelMass;
  }
  const Choice choice = choose(rows).front();
  const Candidate* shy = find(choice, "shy", false);
  ASSERT_NE(shy, nullptr);
  EXPECT_EQ(shy->unanswered, 100U);
  EXPECT_NEAR(shy->held_out.accuracy, 0.5, 1e-12);
  EXPECT_EQ(shy->held_out.n, 200);
  EXPECT_NE(choose(rows, {.by = Criterion::Accuracy}).front().candidates.front().column.reading,
            "shy");
}

TEST(Choose, LeavesOutWhatWasAskedFewItems) {
  std::vector<Row> rows = rows_of(100, 4);
  for (std::size_t i = 0; i < 5; ++i) rows[i].readings["few"] = texts(0, 1, .1);
  const Choice choice = choose(rows).front();
  EXPECT_EQ(find(choice, "few", true), nullptr);
  EXPECT_EQ(choice.n, 100U);
  EXPECT_TRUE(std::ranges::any_of(choice.notes, [](const std::string& note) {
    return note.find("asked only 5 of 100 items") != std::string::npos;
  }));
}

TEST(Choose, NamesWhatAnsweredNothing) {
  std::vector<Row> rows = rows_of(60, 4);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].readings["void"] = texts(0, 1, .1);
    if (i > 0) rows[i].readings["void"].cause = decision::VoidCause::NoLogprobs;
  }
  rows[0].task = "another";
  const Choice choice = choose(rows).back();
  EXPECT_EQ(choice.task, "t");
  EXPECT_EQ(find(choice, "void", false), nullptr);
  EXPECT_TRUE(std::ranges::any_of(choice.notes, [](const std::string& note) {
    return note.find("void:raw-sum: left out, no answer to any of 59 items") != std::string::npos;
  }));
}

TEST(Choose, ATaskWithoutLabelsHasNoColumnToName) {
  std::vector<Row> rows = rows_of(40, 4);
  for (Row& row : rows) row.label.reset();
  const Choice choice = choose(rows).front();
  EXPECT_EQ(choice.refused, "no labelled answers");
  EXPECT_TRUE(choice.notes.empty());
}

TEST(Choose, TimesAndTokensAreOfTheItemsThatAllWereAsked) {
  std::vector<Row> rows = rows_of(60, 5);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].readings["good"].planned_to_done_s = i < 6 ? 3 : i % 2 == 0 ? 1 : 2;
    if (i >= 6) continue;
    rows[i].readings["good"].prompt_tokens = 1'000;
    rows[i].readings.erase("slow");  // asked nine tenths, so it stays
  }
  const Choice choice = choose(rows).front();
  EXPECT_EQ(choice.n, 54U);
  const Candidate* good = find(choice, "good", false);
  ASSERT_NE(good, nullptr);
  EXPECT_EQ(good->median_s, 1);  // 27 of 54; of all 60 it would be 2
  EXPECT_EQ(good->mean_tokens, 10);
}

TEST(Choose, APartHasNoSayInItsOwnChoice) {
  // One item tells the two apart; without its part they are equal, and the first as they come is
  // taken, which is wrong there.
  std::vector<Row> rows;
  for (std::size_t i = 0; i < 50; ++i) {
    Row row = row_of(i, 0);
    row.readings["one"] = letters(i == 7 ? 1 : 0, 2);
    row.readings["two"] = letters(0, 2);
    rows.push_back(std::move(row));
  }
  const Choice choice = choose(rows, {.by = Criterion::Accuracy}).front();
  EXPECT_EQ(choice.candidates.front().column.reading, "two");
  EXPECT_EQ(choice.candidates.front().chosen_in, 4U);
  EXPECT_NEAR(choice.price, 1.0 / 50, 1e-12);
}

TEST(Choose, EqualChoicesGoToTheFirstWhateverTheRounding) {
  // Where a fit of the other parts keeps the reading's own constants it equals them, though its
  // losses are added up part by part. Then own constants, which come first, are what was chosen.
  Random random(2);
  std::size_t seen = 0;
  for (int draw = 0; draw < 40; ++draw) {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < 60; ++i) {
      const std::size_t label = random.below(3);
      Row row = row_of(i, label);
      row.constants.temperature = 1;
      row.readings["one"] = letters(random.unit() < .6 ? label : random.below(3), 1.7);
      rows.push_back(std::move(row));
    }
    const Choice choice = choose(rows, {.by = Criterion::LogLoss}).front();
    if (choice.candidates.size() < 2) continue;
    std::vector<const Row*> all;
    for (const Row& row : rows) all.push_back(&row);
    std::ranges::sort(all, {}, &Row::id);  // the order items are taken in
    const RawSample sample = fit_sample(all, {"a", "one", "raw"}).sample;
    std::size_t own = 0;
    const auto fold_of = assign_folds(sample, sample.all(), kFolds, kScoreSeed);
    for (std::size_t fold = 0; fold < kFolds; ++fold) {
      const Split parts = split(sample, sample.all(), fold_of, fold);
      const auto best = fit_best(sample, parts.train, methods_for(sample), kScoreSeed);
      own += best->calibrator.method == Calibrator::Method::None ? 1U : 0U;
    }
    const auto raw = std::ranges::find(choice.candidates, false, &Candidate::fitted);
    EXPECT_GE(raw->chosen_in, own);
    seen += own;
  }
  EXPECT_GT(seen, 0U);
}

TEST(Choose, TwoEqualReadingsAreWithinTheNoise) {
  // In 25 campaigns of readings that are equally good, the runner-up is rarely set apart.
  int apart = 0;
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    Random random(seed);
    std::vector<Row> rows;
    for (std::size_t i = 0; i < 100; ++i) {
      const std::size_t label = random.below(3);
      Row row = row_of(i, label);
      for (const char* name : {"one", "two"}) {
        row.readings[name] = letters(random.unit() < .6 ? label : (label + 1) % 3, 1.2);
      }
      rows.push_back(std::move(row));
    }
    const Choice choice = choose(rows).front();
    ASSERT_TRUE(choice.next);
    apart += choice.candidates[*choice.next].within_noise ? 0 : 1;
  }
  EXPECT_LE(apart, 5);  // 5 % of 25 is 1; the best of two is picked, so somewhat more
}

TEST(Choose, TheNumberOfItemsNeededIsThatOfTheDifference) {
  // One reading right in 7 of 10 states, the other in 6, by accuracy, no other difference: the
  // mean difference is .1 with a variance of (d² mean .1 − .01) 100/99 / 100 a state.
  std::vector<Row> rows;
  for (std::size_t i = 0; i < 100; ++i) {
    Row row = row_of(i, 0);
    row.readings["one"] = letters(i % 10 < 7 ? 0 : 1, 2);
    row.readings["two"] = letters(i % 10 < 6 ? 0 : 1, 2);
    rows.push_back(std::move(row));
  }
  const Choice choice = choose(rows, {.by = Criterion::Accuracy}).front();
  ASSERT_TRUE(choice.items_needed);
  const double variance = (0.1 - 0.01) / 99;
  const double power = 1.959963984540054 + 0.8416212335729143;  // scipy: norm.ppf(.975) + ppf(.8)
  EXPECT_NEAR(*choice.items_needed, 100 * power * power * variance / 0.01, 1e-9);
}

TEST(Choose, LimitsItemsByWholeStates) {
  std::vector<Row> rows = rows_of(300, 6);
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i].state_sha256 = "state " + std::to_string(i / 3);
  const Choice choice = choose(rows, {.most_items = 100}).front();
  EXPECT_LE(choice.n, 100U);
  EXPECT_EQ(choice.n % 3, 0U);
  EXPECT_EQ(choice.n + choice.left_out, 300U);
}

TEST(Calibrate, ImprovesAnOversureReadingOnItemsHeldOut) {
  const auto fits = calibrate(rows_of(300, 8), {.columns = {{"a", "good", "raw-sum"}}});
  ASSERT_EQ(fits.size(), 1U);
  const Calibrated& one = fits.front();
  ASSERT_EQ(one.refused, "");
  ASSERT_TRUE(one.entry.before && one.entry.after && one.picked);
  EXPECT_LT(one.entry.after->log_loss, one.entry.before->log_loss - 0.2);
  ASSERT_TRUE(one.picked->brier_difference);
  EXPECT_LT(one.picked->brier_difference->high, 0);
  EXPECT_LE(one.own_after, one.own_before.value());
  EXPECT_EQ(one.entry.held_out_by, "state");
  EXPECT_EQ(one.entry.n, 300);
}

TEST(Calibrate, IsTheSameForTheSameRows) {
  const std::vector<Row> rows = rows_of(90, 9);
  const auto a = calibrate(rows), b = calibrate(rows);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].entry, b[i].entry);
}

TEST(Calibrate, LeavesProbeRowsOutAsChooseDoes) {
  const std::vector<Row> plain = rows_of(60, 9);
  std::vector<Row> probed = plain;
  for (Row row : rows_of(60, 10)) {  // other answers to the same items
    row.probe = "order:reverse";
    row.readings["only here"] = texts(0, 6, .1);
    probed.push_back(std::move(row));
  }
  const auto a = calibrate(plain), b = calibrate(probed);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].entry, b[i].entry);
  const auto x = choose(plain, {}), y = choose(probed, {});
  ASSERT_EQ(x.at(0).candidates.size(), y.at(0).candidates.size());
}

TEST(Calibrate, RepeatsOfAnItemAreNoFurtherEvidence) {
  const std::vector<Row> plain = rows_of(60, 9);
  std::vector<Row> repeated = plain;
  for (int repeat = 1; repeat < 4; ++repeat) {
    for (Row row : rows_of(60, static_cast<unsigned>(20 + repeat))) {
      row.repeat = repeat;
      repeated.push_back(std::move(row));
    }
  }
  const auto a = calibrate(plain), b = calibrate(repeated);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].entry, b[i].entry);
}

TEST(Calibrate, DoesNotDependOnTheOrderOfRows) {
  std::vector<Row> rows = rows_of(90, 9);
  const auto a = calibrate(rows);
  std::ranges::reverse(rows);
  std::ranges::rotate(rows, rows.begin() + 17);
  const auto b = calibrate(rows);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].entry, b[i].entry);
}

TEST(Calibrate, RefusesBelowTheStatedNumber) {
  for (const Calibrated& one : calibrate(rows_of(20, 1)))
    EXPECT_EQ(one.refused, "20 labelled answers, 30 are needed");
}

TEST(Calibrate, HoldsWholeTasksOutForAnyTask) {
  std::vector<Row> rows;
  for (const char* task : {"p", "q", "r"}) {
    for (Row row : rows_of(40, 12)) {
      row.task = task;
      rows.push_back(std::move(row));
    }
  }
  const auto fits = calibrate(rows, {.columns = {{"a", "good", "raw-sum"}}});
  ASSERT_EQ(fits.size(), 4U);
  EXPECT_EQ(fits[3].entry.task, "");
  EXPECT_EQ(fits[3].entry.options, 3);
  EXPECT_EQ(fits[3].entry.held_out_by, "task");
  EXPECT_EQ(fits[3].entry.n, 120);
}

TEST(Calibrate, SaysWhereAMethodDoesNotSuit) {
  const auto fits = calibrate(
      rows_of(60, 1), {.columns = {{"a", "good", "raw-sum"}}, .method = Calibrator::Method::Platt});
  EXPECT_EQ(fits.front().refused, "platt does not suit it");
}

}  // namespace
}  // namespace deem::score
