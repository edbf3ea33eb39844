#include <optional>

#include "bench/arm.h"

namespace deem::bench {
namespace {

using codec::Json;

template <class T>
void set_told(Json& out, std::string_view key, const std::optional<T>& value) {
  if (value) out.set(key, Json(*value));
}

std::string_view to_string(seat::Capabilities::Letters letters) {
  using Letters = seat::Capabilities::Letters;
  switch (letters) {
    case Letters::None:
      return "none";
    case Letters::TopK:
      return "top-k";
    case Letters::ExactIds:
      return "exact-ids";
    case Letters::FullVocabulary:
      return "full-vocabulary";
  }
  return "none";
}

}  // namespace

Json to_json(const Arm& arm) {
  Json out = Json::object();
  out.set("name", arm.name);
  out.set("seat", arm.seat.kind + ":" + arm.seat.address);
  out.set("model", arm.seat.model);
  out.set("mode", to_string(arm.mode));
  Json readings = Json::array();
  for (const ReadingChoice& choice : arm.readings) {
    readings.push(choice.name + (choice.prior ? "+prior" : ""));
  }
  out.set("readings", std::move(readings));
  out.set("policy", decision::to_string(arm.policy));
  out.set("temperature", arm.constants.temperature);
  out.set("noul-slope", arm.constants.noul_slope);
  out.set("noul-bias", arm.constants.noul_bias);
  out.set("min-mass", arm.min_mass);
  out.set("top-k", arm.top_k);
  out.set("group", arm.group);
  out.set("max-tokens", arm.max_tokens);
  out.set("limit", arm.limit);
  if (!arm.calibration.empty()) out.set("calibration", arm.calibration);
  if (!arm.boards.empty()) {
    Json boards = Json::array();
    for (const std::string& board : arm.boards) boards.push(board);
    out.set("boards", std::move(boards));
  }
  if (!arm.require.empty()) {
    Json require = Json::array();
    for (const std::string& probe : arm.require) require.push(probe);
    out.set("require", std::move(require));
  }
  out.set("context", arm.seat.context);
  out.set("threads", arm.seat.threads);
  out.set("gpu-layers", arm.seat.gpu_layers);
  out.set("timeout", arm.seat.timeout_s);
  out.set("key-env", arm.seat.key_env);
  out.set("key-file", arm.seat.key_file);
  out.set("ca-file", arm.seat.ca_file);
  Json kwargs = Json::object();
  for (const auto& [name, text] : arm.seat.chat_template_kwargs) {
    Result<Json> value = codec::parse_json(text);
    kwargs.set(name, value ? *value : Json(text));
  }
  out.set("template-kwargs", std::move(kwargs));
  return out;
}

Result<Arm> parse_arm(const Json& json) {
  Arm arm;
  if (!json.is_object()) return fail(Error::Code::Corrupt, "an arm's settings are no object");
  // mode sets the readings and "reference" the policy, so both come before what may override them.
  for (const auto& [key, value] : json.members()) {
    if (Result<void> set = set_arm_member(arm, key, value); !set) {
      return fail(Error::Code::Corrupt, set.error().message);
    }
  }
  return arm;
}

Json to_json(const seat::Identity& identity) {
  Json out = Json::object();
  out.set("kind", identity.kind);
  out.set("address", identity.address);
  out.set("model", identity.model);
  set_told(out, "root", identity.root);
  set_told(out, "digest", identity.digest);
  set_told(out, "build", identity.build);
  set_told(out, "context", identity.context);
  set_told(out, "template_sha256", identity.template_sha256);
  set_told(out, "detail", identity.detail);
  return out;
}

Json to_json(const seat::Capabilities& capabilities) {
  Json out = Json::object();
  out.set("letters", to_string(capabilities.letters));
  if (capabilities.letters == seat::Capabilities::Letters::TopK) {
    out.set("top_k", capabilities.top_k);
  }
  out.set("likelihood", capabilities.likelihood);
  if (!capabilities.likelihood_note.empty()) {
    out.set("likelihood_note", capabilities.likelihood_note);
  }
  out.set("census", capabilities.census);
  out.set("written", capabilities.written);
  if (capabilities.native) out.set("native", true);
  return out;
}

Json to_json(const seat::LetterProof& proof) {
  Json out = Json::object();
  out.set("how", proof.how);
  Json ids = Json::array();
  for (const auto& letter : proof.ids) {
    Json list = Json::array();
    for (const std::int64_t id : letter) list.push(id);
    ids.push(std::move(list));
  }
  out.set("ids", std::move(ids));
  return out;
}

}  // namespace deem::bench
