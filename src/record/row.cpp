#include "record/row.h"

#include <cmath>
#include <cstdio>

#include "base/digest.h"
#include "record/fields.h"

namespace deem::record {
namespace {

using codec::Json;

std::string_view to_string(Row::Status status) {
  switch (status) {
    case Row::Status::Asked:
      return "asked";
    case Row::Status::Refused:
      return "refused";
    case Row::Status::Error:
      return "error";
  }
  return "asked";
}

std::optional<Row::Status> parse_status(std::string_view name) {
  for (const auto status : {Row::Status::Asked, Row::Status::Refused, Row::Status::Error}) {
    if (to_string(status) == name) return status;
  }
  return std::nullopt;
}

constexpr std::string_view kCrcMark = ",\"crc\":\"";

Json to_json(const Row& row) {
  Json out = Json::object();
  out.set("v", 1);
  out.set("arm", row.arm);
  out.set("task", row.task);
  out.set("id", row.id);
  out.set("repeat", row.repeat);
  if (!row.probe.empty()) out.set("probe", row.probe);
  out.set("status", to_string(row.status));
  if (!row.reason.empty()) out.set("reason", lossy_utf8(row.reason));
  if (row.reason_number) out.set("reason_number", *row.reason_number);
  out.set("type", decision::to_string(row.type));
  out.set("mode", row.mode);
  Json keys = Json::array();
  for (const std::string& key : row.keys) keys.push(key);
  out.set("keys", std::move(keys));
  set_optional(out, "label", row.label);
  if (!row.kind.empty()) out.set("kind", row.kind);
  out.set("state_id", row.state_id);
  out.set("state_sha256", row.state_sha256);
  set_optional(out, "state_chars", row.state_chars);
  if (!row.language.empty()) out.set("language", row.language);
  if (row.overlap_choice >= 0) out.set("overlap_choice", row.overlap_choice);
  Json readings = Json::object();
  for (const auto& [name, reading] : row.readings) readings.set(name, to_json(reading));
  out.set("readings", std::move(readings));
  if (!row.primary.empty()) {
    out.set("primary", row.primary);
    set_optional(out, "choice", row.choice);
    Json probs = Json::array();
    for (const double p : row.probs) probs.push(finite(p));
    out.set("probs", std::move(probs));
  }
  Json constants = Json::object();
  constants.set("temperature", row.constants.temperature);
  constants.set("noul_slope", row.constants.noul_slope);
  constants.set("noul_bias", row.constants.noul_bias);
  out.set("constants", std::move(constants));
  out.set("stamp", row.stamp);
  return out;
}

Result<Row> from_json(const Json& json) {
  Fields in(json);
  Row row;
  if (in.integer("v") != 1) in.note("v is not 1");
  row.arm = in.text("arm");
  row.task = in.text("task");
  row.id = in.text("id");
  row.repeat = static_cast<int>(in.integer("repeat"));
  if (const Json* probe = json.find("probe")) {
    if (!probe->is_string() || probe->as_string().empty()) in.note("probe is no name");
    row.probe = json.get_string("probe").value_or("");
  }
  row.status = in.named("status", parse_status);
  row.reason = json.get_string("reason").value_or("");
  row.reason_number = json.get_double("reason_number");
  row.type = in.named("type", decision::parse_question_type);
  row.mode = in.text("mode");
  for (const Json& key : in.list("keys")) {
    if (key.is_string())
      row.keys.push_back(key.as_string());
    else
      in.note("keys holds something that is no string");
  }
  row.label = json.get_string("label");
  row.kind = json.get_string("kind").value_or("");
  row.state_id = in.text("state_id");
  row.state_sha256 = in.text("state_sha256");
  row.state_chars = json.get_int("state_chars");
  row.language = json.get_string("language").value_or("");
  row.overlap_choice = static_cast<int>(json.get_int("overlap_choice").value_or(-1));
  if (const Json* readings = json.find("readings"); readings && readings->is_object()) {
    for (const auto& [name, value] : readings->members()) {
      Result<ReadingRecord> reading = parse_reading(value);
      if (!reading) return fail("readings." + name, reading.error());
      if (reading->texts.size() > row.keys.size() && reading->texts.size() != 1) {
        in.note("readings." + name + " has more texts than keys");
      }
      for (const auto& round : reading->rounds) {
        for (const std::size_t option : round.options) {
          if (option >= row.keys.size()) in.note("readings." + name + " names an option past keys");
        }
      }
      row.readings.emplace(name, std::move(*reading));
    }
  } else {
    in.note("readings is missing");
  }
  row.primary = json.get_string("primary").value_or("");
  row.choice = json.get_string("choice");
  if (const Json* probs = json.find("probs"); probs && probs->is_array()) {
    for (const Json& p : probs->items()) {
      if (p.is_number())
        row.probs.push_back(p.as_double());
      else
        in.note("probs holds something that is no number");
    }
  }
  if (const Json* constants = json.find("constants")) {
    row.constants.temperature = constants->get_double("temperature").value_or(0.85);
    row.constants.noul_slope = constants->get_double("noul_slope").value_or(1.829074);
    row.constants.noul_bias = constants->get_double("noul_bias").value_or(0);
    const decision::Constants& c = row.constants;
    if (!(c.temperature >= 1e-6 && c.temperature <= 1e6)) in.note("temperature is out of range");
    if (!(c.noul_slope >= 1e-6 && c.noul_slope <= 1e6)) in.note("noul_slope is out of range");
    if (!(std::abs(c.noul_bias) <= 1e6)) in.note("noul_bias is out of range");
  } else {
    in.note("constants is missing");
  }
  row.stamp = json.get_string("stamp").value_or("");
  if (in.problem()) return fail(Error::Code::Corrupt, *in.problem());
  return row;
}

Result<void> verify_checksum(std::string_view line) {
  const std::size_t mark = line.rfind(kCrcMark);
  if (mark == std::string_view::npos || line.size() != mark + kCrcMark.size() + 8 + 2 ||
      !line.ends_with("\"}")) {
    return fail(Error::Code::Corrupt, "torn or no row: it does not end with its checksum");
  }
  char crc[9];
  std::snprintf(crc, sizeof crc, "%08x", crc32c(line.substr(0, mark)));
  if (line.substr(mark + kCrcMark.size(), 8) != crc) {
    return fail(Error::Code::Corrupt,
                "checksum differs: the line was changed after it was written");
  }
  return {};
}

}  // namespace

std::string format_row(const Row& row) {
  std::string line = codec::dump_json(to_json(row), {.ascii = false, .compact = true});
  line.pop_back();  // the closing brace
  char crc[9];
  std::snprintf(crc, sizeof crc, "%08x", crc32c(line));
  line += kCrcMark;
  line += crc;
  line += "\"}";
  return line;
}

Result<Row> parse_row(std::string_view line, Checksum checksum) {
  if (checksum == Checksum::Verify) {
    if (Result<void> good = verify_checksum(line); !good) return fail(good.error());
  }
  Result<codec::Json> json = codec::parse_json(line);
  if (!json) return fail(json.error());
  return from_json(*json);
}

}  // namespace deem::record
