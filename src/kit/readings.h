#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kit/draft.h"
#include "kit/kit.h"

namespace deem::kit {

/// A reading from its written parts. Errors: BadInput for a bad template, {options}, an empty
/// `score` or a name that can not be asked for; the message begins with the part's name.
Result<LikelihoodReading> make_reading(std::string name, std::string_view given,
                                       std::string_view score, bool chat, std::string empty);

// The readings a format brings along where its files name none.
LikelihoodReading gain_reading();      // of a question by a state
LikelihoodReading question_channel();  // of a question given an option's own text
std::vector<LikelihoodReading> answered_readings();
std::vector<LikelihoodReading> said_readings();
std::vector<LikelihoodReading> message_readings();  // JSONL and tables

/// Adds LoadOptions::extra_readings ("task.name"), replacing readings of the same name; an entry
/// for a task the kit does not have is refused.
void apply_extra_readings(Draft& draft, const LoadOptions& options);

}  // namespace deem::kit
