#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "bench/config.h"
#include "bench/run.h"
#include "seat/doctor/doctor.h"

namespace deem::bench {

/// The readings of a diagnosis an arm lives by: "letters", "likelihood", "written", "native".
std::vector<std::string> diagnosed_readings(const Arm& arm);

/// The probes a run asks of a seat: the quick ones and those its arms require, in their order;
/// none when it is not to be diagnosed.
std::vector<std::string> probes_for(const Config& config, const seat::SeatSpec& spec);

/// Asks them of an opened seat; `boards` null: none can be read. None when there are none, or a
/// stop ended it. Errors: as Seat::identify.
Result<std::optional<seat::Diagnosis>> diagnose(const Config& config, const seat::SeatSpec& spec,
                                                seat::Seat& seat, board::Boards* boards,
                                                const std::stop_token& stop);

/// A note of a finding.
void tell_finding(const seat::ProbeResult& probe, const std::string& arm, Observer& observer);
/// One for each, then the counts.
void tell_diagnosis(const seat::Diagnosis& diagnosis, const std::string& arm, Observer& observer);

/// What run.json keeps of it: docs/formats/run.md, "doctor".
codec::Json diagnosis_json(const Config& config, const seat::Diagnosis& diagnosis);

/// The worse of what two sittings found, probe by probe; `changes` gets what differs.
codec::Json merge_diagnoses(const codec::Json& then, const codec::Json& now,
                            std::vector<std::string>& changes);

/// Asks a seat again once its rows are there (seat::examine_again); `readings`: of all its arms.
/// `requests` grows by what was asked.
seat::ProbeResult look_again(const Config& config, const seat::SeatSpec& spec, seat::Seat& seat,
                             const seat::Diagnosis& before, std::span<const std::string> readings,
                             int& requests, const std::stop_token& stop);

/// Adds one more probe to what run.json keeps; of two of one name the worse stays.
void add_probe(codec::Json& doctor, const seat::ProbeResult& probe, int requests);

/// Why an arm should not be believed after a probe; "" where that says nothing of its readings.
std::string doubt_of(const Arm& arm, const seat::ProbeResult& probe);

/// Why an arm is not to be asked.
struct Refusal {
  std::string why = {};
  bool found = false;  // a finding; else a probe that could not be measured
};

/// A probe the arm requires that is not ok, or, where the config says so, a finding that spoils one
/// of its readings. None: it may be asked.
std::optional<Refusal> refuse_diagnosis(const Config& config, const Arm& arm,
                                        const seat::Diagnosis& diagnosis);

}  // namespace deem::bench
