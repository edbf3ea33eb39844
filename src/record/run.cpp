#include "record/run.h"

#include <algorithm>

#include "base/file.h"
#include "record/fields.h"

namespace deem::record {
namespace {

using codec::Json;
constexpr std::string_view kSchema = "deem.run/1";

Json member(const Json& json, std::string_view key) {
  const Json* value = json.find(key);
  return value == nullptr ? Json() : *value;
}

Json to_json(const ArmRecord& arm) {
  Json out = Json::object();
  out.set("name", arm.name);
  out.set("mode", arm.mode);
  out.set("settings", arm.settings);
  out.set("identity", arm.identity);
  out.set("capabilities", arm.capabilities);
  out.set("letter_proof", arm.letter_proof);
  out.set("census", arm.census);
  if (!arm.calibration.is_null()) out.set("calibration", arm.calibration);
  set_optional(out, "wall_s", arm.wall_s);
  if (!arm.startup.is_null()) out.set("startup", arm.startup);
  if (!arm.memory.is_null()) out.set("memory", arm.memory);
  if (!arm.process.is_null()) out.set("process", arm.process);
  if (!arm.pin.is_null()) out.set("pin", arm.pin);
  if (!arm.doctor.is_null()) out.set("doctor", arm.doctor);
  return out;
}

}  // namespace

std::string format_run(const RunRecord& run) {
  Json out = Json::object();
  out.set("schema", kSchema);
  out.set("deem", run.deem);
  Json kit = Json::object();
  kit.set("name", run.kit_name);
  kit.set("version", run.kit_version);
  kit.set("path", run.kit_path);
  kit.set("digest", run.kit_digest);
  kit.set("format", run.kit_format);
  kit.set("licence", run.kit_licence);
  out.set("kit", std::move(kit));
  out.set("settings", run.settings);
  Json host = Json::object();
  host.set("name", run.host);
  host.set("cpu", run.cpu);
  host.set("cores", run.cores);
  out.set("host", std::move(host));
  out.set("started", run.started);
  out.set("ended", run.ended);
  out.set("planned_rows", run.planned_rows);
  if (!run.receipt.is_null()) out.set("receipt", run.receipt);
  if (!run.energy.is_null()) out.set("energy", run.energy);
  Json arms = Json::array();
  for (const ArmRecord& arm : run.arms) arms.push(to_json(arm));
  out.set("arms", std::move(arms));
  return codec::dump_json(out, {.ascii = false, .indent = 1}) + "\n";
}

Result<RunRecord> parse_run(std::string_view text) {
  Result<Json> json = codec::parse_json(text);
  if (!json) return fail(json.error());
  Fields in(*json);
  if (in.text("schema") != kSchema) {
    return fail(Error::Code::Corrupt, "schema is not " + std::string(kSchema));
  }
  RunRecord run;
  run.deem = in.text("deem");
  const Json kit = member(*json, "kit");
  Fields kit_in(kit);
  run.kit_name = kit_in.text("name");
  run.kit_version = kit_in.text("version");
  run.kit_path = kit_in.text("path");
  run.kit_digest = kit_in.text("digest");
  run.kit_format = kit_in.text("format");
  run.kit_licence = kit_in.text("licence");
  if (kit_in.problem()) return fail("kit", Error{Error::Code::Corrupt, *kit_in.problem()});
  run.settings = member(*json, "settings");
  const Json host = member(*json, "host");
  run.host = host.get_string("name").value_or("");
  run.cpu = host.get_string("cpu").value_or("");
  run.cores = static_cast<int>(host.get_int("cores").value_or(0));
  run.started = in.text("started");
  run.ended = in.text("ended");
  run.planned_rows = in.integer("planned_rows");
  run.receipt = member(*json, "receipt");
  run.energy = member(*json, "energy");
  for (const Json& item : in.list("arms")) {
    Fields arm_in(item);
    ArmRecord arm;
    arm.name = arm_in.text("name");
    arm.mode = arm_in.text("mode");
    arm.settings = member(item, "settings");
    arm.identity = member(item, "identity");
    arm.capabilities = member(item, "capabilities");
    arm.letter_proof = member(item, "letter_proof");
    arm.census = member(item, "census");
    arm.calibration = member(item, "calibration");
    arm.wall_s = item.get_double("wall_s");
    arm.startup = member(item, "startup");
    arm.memory = member(item, "memory");
    arm.process = member(item, "process");
    arm.pin = member(item, "pin");
    arm.doctor = member(item, "doctor");
    if (arm_in.problem()) in.note("arms: " + *arm_in.problem());
    if (std::ranges::find(run.arms, arm.name, &ArmRecord::name) != run.arms.end()) {
      in.note("arms: two are named " + arm.name);
    }
    run.arms.push_back(std::move(arm));
  }
  if (in.problem()) return fail(Error::Code::Corrupt, *in.problem());
  return run;
}

Result<RunRecord> load_run(const std::string& folder) {
  const std::string path = join_path(folder, "run.json");
  if (!file_exists(path)) {
    return fail(Error::Code::NotFound, folder + ": no run here (run.json is missing)");
  }
  Result<std::string> text = read_file(path);
  if (!text) return fail(text.error());
  Result<RunRecord> run = parse_run(*text);
  if (!run) return fail(path, run.error());
  return run;
}

}  // namespace deem::record
