#pragma once

#include <string>

#include "seat/doctor/doctor.h"

namespace deem::cli {

/// A table of at most 80 columns: the seat, its probes, which readings to believe, the counts.
std::string diagnosis_text(const seat::Diagnosis& diagnosis);

}  // namespace deem::cli
