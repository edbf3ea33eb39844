#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "decision/question.h"

namespace deem::seat {

/// One decision that most models get right: its answer stands in the state.
struct SanityItem {
  std::string_view state, question;
  std::array<std::string_view, 4> options = {};  // the first `size` of them
  std::size_t size = 0, label = 0;
  bool noul = false;  // options yes, no

  decision::Question asked() const {
    decision::Question out;
    out.type = noul ? decision::QuestionType::Noul : decision::QuestionType::Choice;
    out.instructions = question;
    for (std::size_t i = 0; i < size; ++i) out.options.push_back({.key = std::string(options[i])});
    if (noul) {
      out.options[0].description = "The statement is true.";
      out.options[1].description = "The statement is false.";
    }
    return out;
  }
};

constexpr SanityItem sane_noul(std::string_view state, std::string_view question, bool holds) {
  return {state, question, {"yes", "no"}, 2, holds ? 0U : 1U, true};
}

template <std::size_t N>
constexpr SanityItem sane_choice(std::string_view state, std::string_view question,
                                 const std::string_view (&options)[N], std::size_t label) {
  SanityItem out{state, question, {}, N, label};
  std::ranges::copy(options, out.options.begin());
  return out;
}

/// Labels of each number of options stand at its places equally often, or as nearly as can be.
/// Options are few words, so that their likelihoods without a state are few.
inline constexpr SanityItem kSanityItems[] = {
    sane_noul("The shop opens at nine and closes at five.",
              "Is it true that the shop opens at nine?", true),
    sane_noul("Anna has a dog. She has no other animals.", "Is it true that Anna has a cat?",
              false),
    sane_noul("The bridge over the river is made of stone.",
              "Is it true that the bridge is made of wood?", false),
    sane_noul("It rained all day on Sunday.", "Is it true that it rained on Sunday?", true),
    sane_noul("The blue bag is full. The red bag is empty.",
              "Is it true that the red bag is empty?", true),
    sane_noul("Nobody came to the meeting last night.",
              "Is it true that many people came to the meeting?", false),
    sane_choice("Ben has a blue bicycle and rides it to work.", "What colour is the bicycle?",
                {"red", "blue"}, 1),
    sane_choice("A small bird sat on the fence and sang.", "Which animal sat on the fence?",
                {"bird", "cat"}, 0),
    sane_choice("The museum is closed on Monday.", "On which day is the museum closed?",
                {"Monday", "Sunday"}, 0),
    sane_choice("Lena has her piano lesson on Tuesday.", "On which day is the piano lesson?",
                {"Friday", "Tuesday"}, 1),
    sane_choice("Ivan waits at the station for the next train.", "Where does Ivan wait?",
                {"kitchen", "station"}, 1),
    sane_choice("There are two chairs in the room.", "How many chairs are in the room?",
                {"two", "nine"}, 0),
    sane_choice("Snow fell all night, and now the roofs are white.",
                "What colour are the roofs now?", {"white", "red", "green"}, 0),
    sane_choice("Ella painted her boat red last summer.", "What colour is the boat?",
                {"green", "blue", "red"}, 2),
    sane_choice("The dog next door barks at every car.", "Which animal barks at every car?",
                {"cat", "horse", "dog"}, 2),
    sane_choice("Our cat sleeps on the sofa all day.", "Which animal sleeps on the sofa?",
                {"cat", "dog", "bird"}, 0),
    sane_choice("The market is held in the square every Friday.", "On which day is the market?",
                {"Monday", "Friday", "Sunday"}, 1),
    sane_choice("The keys lie on the table in the kitchen.", "Where are the keys?",
                {"school", "kitchen", "garden"}, 1),
    sane_choice("The children are at school until three.", "Where are the children?",
                {"school", "garden", "station"}, 0),
    sane_choice("Nora has five brothers and no sisters.", "How many brothers does Nora have?",
                {"two", "five", "three"}, 1),
    sane_choice("The front door of the old house is green.", "What colour is the front door?",
                {"red", "green", "blue", "white"}, 1),
    sane_choice("The farmer keeps one animal, a horse called Star.",
                "Which animal does the farmer keep?", {"dog", "cat", "horse", "bird"}, 2),
    sane_choice("The boat to the island sails only on Sunday.", "On which day does the boat sail?",
                {"Tuesday", "Monday", "Friday", "Sunday"}, 3),
    sane_choice("Grandfather is in the garden, where he waters the roses.", "Where is grandfather?",
                {"garden", "kitchen", "school", "station"}, 0),
};

}  // namespace deem::seat
