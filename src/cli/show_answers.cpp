#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "cli/show_score.h"
#include "cli/verbs.h"
#include "score/answer.h"
#include "score/fitted.h"

namespace deem::cli {

int answers_code(const record::Row& row) {
  int code = kDone;
  for (const auto& [name, reading] : row.readings) {
    if (reading.error && !reading.unsupported) return kOutsideFailed;
    for (const std::string& variant : score::variants_of(reading)) {
      if (!score::answer_of(row, reading, variant)) code = kNotMeasured;
    }
    if (reading.unsupported || reading.cause != decision::VoidCause::None) code = kNotMeasured;
  }
  return code;
}

namespace {

void print_answer(const record::Row& row, const std::string& name, const score::Answer& answer,
                  const std::string& calibrated) {
  if (answer.probs.empty()) {
    fmt::print("{}  {:.6g}  (a bare score; calibrated: {})\n", name, answer.score.value_or(0),
               calibrated);
    return;
  }
  fmt::print("{}  {}  calibrated: {}\n", name, printable(row.keys[answer.choice], 80), calibrated);
  for (std::size_t i = 0; i < answer.probs.size(); ++i) {
    fmt::print("    {:.4f}  {}\n", answer.probs[i], printable(row.keys[i], 80));
  }
}

/// The entry for a reading of an asked row. A likelihood reading is known by its texts, whatever
/// the kit calls it.
const record::FitEntry* entry_of(const record::Fit& fit, const record::Row& row,
                                 const std::string& name, const record::ReadingRecord& reading,
                                 const std::string& variant) {
  if (name != "likelihood") return score::entry_for(fit, row, name, reading, variant);
  for (const record::FitEntry& entry : fit.entries) {
    if (entry.prompt_digest.empty() || entry.prompt_digest != reading.prompt_sha256) continue;
    const auto* found = score::entry_for(fit, row, entry.reading, reading, variant);
    if (found != nullptr) return found;
    if (entry.variant == variant && entry.type == row.type) return &entry;
  }
  return nullptr;
}

}  // namespace

bool any_fitted(const record::Row& row, const record::Fit& fit) {
  for (const auto& [name, reading] : row.readings) {
    for (const std::string& variant : score::variants_of(reading)) {
      const record::FitEntry* entry = entry_of(fit, row, name, reading, variant);
      if (entry != nullptr && score::fitted_answer(row, reading, variant, *entry)) return true;
    }
  }
  return false;
}

std::string answers_json(const record::Row& row, const record::Fit* fit) {
  codec::Json list = codec::Json::array();
  const auto add = [&](const std::string& column, const score::Answer& answer, bool calibrated) {
    codec::Json one = codec::Json::object();
    one.set("column", column);
    one.set("calibrated", calibrated);
    if (calibrated) one.set("fit", fit->name);
    one.set("choice", answer.probs.empty() ? codec::Json() : codec::Json(row.keys[answer.choice]));
    codec::Json probs = codec::Json::array();
    for (const double p : answer.probs) probs.push(p);
    one.set("probs", std::move(probs));
    if (answer.score) one.set("score", *answer.score);
    list.push(std::move(one));
  };
  for (const auto& [name, reading] : row.readings) {
    for (const std::string& variant : score::variants_of(reading)) {
      const auto answer = score::answer_of(row, reading, variant);
      if (!answer) continue;
      add(name + ":" + variant, *answer, false);
      const record::FitEntry* entry =
          fit == nullptr ? nullptr : entry_of(*fit, row, name, reading, variant);
      const auto fitted =
          entry == nullptr ? std::nullopt : score::fitted_answer(row, reading, variant, *entry);
      if (fitted) add(name + ":" + variant + std::string(score::kFitSuffix), *fitted, true);
    }
  }
  Result<codec::Json> out = codec::parse_json(record::format_row(row));
  DEEM_CHECK(out);
  std::erase_if(out->members(), [](const auto& member) { return member.first == "crc"; });
  out->set("answers", std::move(list));
  return codec::dump_json(*out, {.ascii = false});
}

int print_answers(const record::Row& row, const record::Fit* fit) {
  for (const auto& [name, reading] : row.readings) {
    if (reading.error) {
      fmt::print(stderr, "deem: {}: {}\n", name, printable(*reading.error, 1'000));
      continue;
    }
    if (reading.cause != decision::VoidCause::None) {
      fmt::print(stderr, "deem: {}: void: {}\n", name, decision::to_string(reading.cause));
      continue;
    }
    if (reading.kind == record::ReadingRecord::Kind::Written)
      fmt::print("reply  {}\n", printable(reading.reply, 1'000));
    for (const std::string& variant : score::variants_of(reading)) {
      const std::string column = name + ":" + variant;
      const auto answer = score::answer_of(row, reading, variant);
      if (!answer) {
        fmt::print("{}  no answer{}\n", column,
                   reading.kind == record::ReadingRecord::Kind::Written ? " (unparsed)" : "");
        continue;
      }
      print_answer(row, column, *answer, "false");
      const record::FitEntry* entry =
          fit == nullptr ? nullptr : entry_of(*fit, row, name, reading, variant);
      if (entry == nullptr) continue;
      if (const auto fitted = score::fitted_answer(row, reading, variant, *entry)) {
        print_answer(row, column + std::string(score::kFitSuffix), *fitted,
                     "true (" + printable(fit->name, 80) +
                         (entry->task.empty() ? "" : ", task " + printable(entry->task, 80)) + ")");
      }
    }
    fmt::print("{:.0f} ms", reading.planned_to_done_s * 1e3);
    if (reading.prompt_tokens) fmt::print(", {} prompt tokens", *reading.prompt_tokens);
    fmt::print("\n");
  }
  return answers_code(row);
}

}  // namespace deem::cli
