#pragma once

// For tests: whole runs on scripted servers.

#include <map>
#include <string>
#include <vector>

#include "bench/run.h"
#include "record/row.h"
#include "record/run.h"
#include "seat/fake/fake_server.h"

namespace deem::bench {

/// One run: a small kit on one server.
struct Case {
  seat::ServerKind kind = seat::ServerKind::Vllm;
  seat::FakeOptions options = {};
  std::vector<seat::FaultRule> faults = {};  // from the start
  std::vector<seat::FaultRule> later = {};   // once it was probed
  bool overlong = false;                     // an item is longer than the context
  int concurrency = 1;
  double timeout_s = 20;
  Doctor doctor = Doctor::Quick;
  std::vector<std::string> arms = {"read", "write", "cloze"};
};

struct Ran {
  std::string error = {};  // the run's
  Outcome outcome = {};
  std::map<std::string, record::Row> rows = {};  // by arm, task and id
  record::RunRecord record = {};
};

bool reads_likelihood(seat::ServerKind kind);
/// The arms of `one` that its server has a reading for: "read" by letters, "write", "cloze"; of a
/// decision endpoint "native".
std::vector<std::string> arm_names(const Case& one);
/// Runs all of `cases`, some at once: most of a run's time is waiting.
std::vector<Ran> run_all(const std::vector<Case>& cases);
/// Whether two rows say the same of their item.
bool same_answer(const record::Row& a, const record::Row& b);

}  // namespace deem::bench
