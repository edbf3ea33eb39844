#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/digest.h"
#include "bench/arm.h"
#include "kit/kit.h"

namespace deem::bench {

inline decision::Template text_template(std::string_view text) {
  auto parsed = decision::Template::parse(text);
  EXPECT_TRUE(parsed) << text;
  return std::move(*parsed);
}

/// Two states with two choice items each, and one noul task on them with a gain reading.
inline kit::Kit small_kit() {
  kit::Kit kit{.name = "small",
               .version = "1",
               .licence = "CC0-1.0",
               .source = {},
               .path = "small",
               .digest = std::string(64, 'd'),
               .format = "deem",
               .layout = decision::reference_layout(),
               .states = {},
               .tasks = {}};
  for (const std::string id : {"north", "south"}) {
    const std::string text = "The " + id + " gate opens at nine.";
    kit.states.push_back({id, text, sha256_hex(text), {}});
  }
  const auto item = [](std::string id, std::size_t state, decision::QuestionType type,
                       std::vector<decision::Option> options, std::string label) {
    kit::Item out;
    out.id = std::move(id);
    out.state = state;
    out.question = {type, "Which one?", "Which one?", std::move(options)};
    out.label = std::move(label);
    return out;
  };
  const std::vector<decision::Option> three = {
      {"a", "alpha", ""}, {"b", "beta", ""}, {"c", "", ""}};
  kit::Task pick{.name = "pick",
                 .type = decision::QuestionType::Choice,
                 .empty = "N/A",
                 .readings = {},
                 .items = {}};
  pick.readings.push_back({.name = "cloze",
                           .given = text_template("{state} It is"),
                           .score = text_template(" {option}"),
                           .chat = false,
                           .empty = "N/A"});
  pick.readings.push_back({.name = "channel",
                           .given = text_template("{option}:"),
                           .score = text_template(" {state}"),
                           .chat = false,
                           .empty = "N/A"});
  for (int i = 0; i < 4; ++i) {
    pick.items.push_back(item("p" + std::to_string(i), static_cast<std::size_t>(i % 2),
                              decision::QuestionType::Choice, three, i % 3 == 0 ? "a" : "b"));
  }
  kit::Task yes{.name = "open",
                .type = decision::QuestionType::Noul,
                .empty = "N/A",
                .readings = {},
                .items = {}};
  yes.readings.push_back({.name = "gain",
                          .given = text_template("{state}"),
                          .score = text_template(" {question}"),
                          .chat = false,
                          .empty = "N/A"});
  for (int i = 0; i < 2; ++i) {
    yes.items.push_back(item("o" + std::to_string(i), static_cast<std::size_t>(i),
                             decision::QuestionType::Noul,
                             {{"yes", "True.", ""}, {"no", "False.", ""}}, i == 0 ? "yes" : "no"));
  }
  kit.tasks = {pick, yes};
  return kit;
}

inline Arm small_arm(std::string name, std::vector<ReadingChoice> readings) {
  Arm arm;
  arm.name = std::move(name);
  arm.seat.kind = "scripted";
  arm.seat.address = "nowhere";
  arm.readings = std::move(readings);
  if (arm.readings.front().name == "written") arm.mode = Mode::Generate;
  return arm;
}

}  // namespace deem::bench
