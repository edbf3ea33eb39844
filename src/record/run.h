#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json.h"

namespace deem::record {

/// One arm of a run as it was planned and found. Settings and identity are kept whole, so that
/// `resume` can compare them; nothing in them is secret (keys are named, never held).
struct ArmRecord {
  std::string name;
  std::string mode;      // readout, generate
  codec::Json settings;  // seat, readings, policy, constants, limits
  codec::Json identity;  // what the seat said of itself
  codec::Json capabilities;
  codec::Json letter_proof;      // ids per letter, or how it was checked
  codec::Json census;            // {"status": "ok"|"not measured (why)", "max_tokens", …}
  codec::Json calibration;       // null, or {"path", "sha256", "fit": docs/formats/fit.md}
  std::optional<double> wall_s;  // time spent asking, over all sittings
  codec::Json startup;           // null, or {"load_s", "ready_s", "first_answer_s"}
  codec::Json memory;            // null, or {"status", "what", "peak_bytes"}
  codec::Json process;           // null, or docs/formats/run.md "process"
  codec::Json doctor;            // null, or docs/formats/run.md "doctor"
  codec::Json pin;               // null, or docs/formats/run.md "pin"
};

/// run.json: what was run on what. Rows lie beside it in rows.jsonl.
struct RunRecord {
  std::string deem;  // version that wrote it
  std::string kit_name, kit_version, kit_path, kit_digest, kit_format, kit_licence;
  codec::Json settings;  // order, seed, repeat, limit, tasks, concurrency
  std::string host, cpu;
  int cores = 0;
  std::string started, ended;  // UTC; ended "" while it runs or was interrupted
  std::int64_t planned_rows = 0;
  codec::Json receipt;  // null in older runs, or docs/formats/run.md "receipt"
  codec::Json energy;   // null, or {"status", "boards", "idle_s", "period_s"}
  std::vector<ArmRecord> arms;
};

std::string format_run(const RunRecord& run);  // pretty JSON with a final newline
Result<RunRecord> parse_run(std::string_view text);

/// `folder`/run.json. Errors: NotFound "FOLDER: no run here (run.json is missing)", Corrupt.
Result<RunRecord> load_run(const std::string& folder);

}  // namespace deem::record
