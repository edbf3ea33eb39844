#pragma once

#include "bench/config.h"
#include "kit/kit.h"
#include "seat/seat.h"

namespace deem::bench {

/// Whether an arm is asked by the reading its fit chose for each task.
bool reads_chosen(const Arm& arm);

/// Reads the fit file of every arm that names one and has no fit yet. Errors: NotFound,
/// Unavailable, Corrupt; BadInput where "chosen" is read and the fit chooses nothing.
Result<void> load_fits(Config& config);

/// Whether the arm's fit is for this seat and for what the arm reads of this kit. Errors: BadInput
/// that names the fit and what differs: weights, quant, template, letter policy, a task's type, or
/// the texts of a kit reading.
Result<void> check_fit(const Arm& arm, const seat::Identity& identity, const kit::Kit& kit);

/// What run.json keeps of an arm's fit: null without one.
codec::Json calibration_json(const Arm& arm);
/// Reads it back. Errors: Corrupt.
Result<void> read_calibration(const codec::Json& json, Arm& arm);

}  // namespace deem::bench
