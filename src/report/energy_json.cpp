#include "report/energy_parts.h"
#include "report/json_parts.h"

namespace deem::report {
namespace {

using codec::Json;
using score::EnergyFigures;

Json texts(const std::vector<std::string>& list) {
  Json out = Json::array();
  for (const std::string& text : list) out.push(text);
  return out;
}

Json to_json(const std::vector<score::EnergyReason>& reasons) {
  Json out = Json::array();
  for (const score::EnergyReason& reason : reasons) {
    out.push(Json::object(
        {{"code", reason.code}, {"text", reason.text}, {"net_only", reason.net_only}}));
  }
  return out;
}

void set_price(Json& out, const EnergyFigures& f, const EnergyPrice& price) {
  if (!price.any()) return;
  const std::optional<PricedJoules> by = priced(f);
  const auto per_thousand = [&](std::optional<double> per_kwh) {
    return by && per_kwh ? Json(score::per_thousand_decisions(by->per_decision, *per_kwh)) : Json();
  };
  if (price.per_kwh) out.set("cost_per_1000", per_thousand(price.per_kwh));
  if (price.grams_per_kwh) out.set("co2_g_per_1000", per_thousand(price.grams_per_kwh));
  out.set("priced_by", by ? Json(to_string(*by)) : Json());
}

Json to_json(const EnergyFigures& f, const EnergyPrice& price) {
  Json out = Json::object();
  for (const auto& [name, value] :
       {std::pair("arm", &f.arm), {"task", &f.task}, {"probe", &f.probe}}) {
    if (!value->empty()) out.set(name, *value);
  }
  out.set("blocks", count(f.blocks));
  out.set("seconds", f.seconds);
  out.set("decisions", f.decisions);
  out.set("prompt_tokens", known(f.prompt_tokens));
  out.set("gross_j", known(f.gross_j));
  out.set("net_j", known(f.net_j));
  out.set("counter_j", known(f.counter_j));
  out.set("counter_ratio", known(f.counter_ratio));
  out.set("gross_j_per_decision", known(f.gross_per_decision()));
  out.set("gross_j_per_decision_95", interval(f.gross_per_decision_95));
  out.set("net_j_per_decision", known(f.net_per_decision()));
  out.set("net_j_per_decision_95", interval(f.net_per_decision_95));
  out.set("gross_j_per_prompt_token", known(f.gross_per_prompt_token()));
  out.set("net_j_per_prompt_token", known(f.net_per_prompt_token()));
  out.set("mean_w", known(f.mean_w));
  out.set("peak_w", known(f.peak_w));
  out.set("idle_before_w", known(f.idle_before_w));
  out.set("idle_after_w", known(f.idle_after_w));
  out.set("gross_valid", f.gross_valid());
  out.set("energy_valid", f.net_valid());
  out.set("reasons", to_json(f.reasons));
  out.set("notes", to_json(f.notes));
  set_price(out, f, price);
  Json boards = Json::array();
  for (const score::BoardEnergy& board : f.boards) {
    boards.push(Json::object({{"board", board.board},
                              {"gross_j", known(board.gross_j)},
                              {"counter_j", known(board.counter_j)},
                              {"samples", count(board.samples)}}));
  }
  out.set("boards", std::move(boards));
  return out;
}

/// Of a block or a load: when it was.
Json timed_json(const EnergyFigures& f, const EnergyPrice& price) {
  Json out = to_json(f, price);
  out.set("segment", count(f.segment));
  out.set("begin_s", f.begin_s);
  out.set("end_s", f.end_s);
  return out;
}

Json to_json(const ArmPin& pin) {
  return Json::object({{"arm", pin.arm},
                       {"status", pin.status},
                       {"method", pin.method},
                       {"boards", texts(pin.boards)},
                       {"findings", texts(pin.findings)},
                       {"notes", texts(pin.notes)}});
}

Json to_json(const RunJoules& run, const EnergyPrice& price) {
  const score::RunEnergy& energy = run.energy;
  Json out = Json::object();
  out.set("run", run.run);
  out.set("status", energy.status);
  Json unmeasured = Json::array();
  for (const score::ArmStatus& arm : energy.unmeasured) {
    unmeasured.push(Json::object({{"arm", arm.arm}, {"status", arm.status}}));
  }
  out.set("unmeasured_arms", std::move(unmeasured));
  out.set("seed", energy.seed);
  out.set("price_per_kwh", known(price.per_kwh));
  out.set("co2_g_per_kwh", known(price.grams_per_kwh));
  out.set("all", to_json(energy.all, price));
  for (const auto& [name, list] : {std::pair("arms", &energy.arms), {"tasks", &energy.tasks}}) {
    Json figures = Json::array();
    for (const EnergyFigures& f : *list) figures.push(to_json(f, price));
    out.set(name, std::move(figures));
  }
  for (const auto& [name, list] : {std::pair("blocks", &energy.blocks), {"loads", &energy.loads}}) {
    Json figures = Json::array();
    for (const EnergyFigures& f : *list) figures.push(timed_json(f, price));
    out.set(name, std::move(figures));
  }
  out.set("notes", texts(energy.notes));
  Json pins = Json::array();
  for (const ArmPin& pin : run.pins) pins.push(to_json(pin));
  out.set("pins", std::move(pins));
  return out;
}

}  // namespace

codec::Json energy_json(const std::vector<RunJoules>& runs, const EnergyPrice& price) {
  Json out = Json::array();
  for (const RunJoules& run : runs) out.push(to_json(run, price));
  return out;
}

}  // namespace deem::report
