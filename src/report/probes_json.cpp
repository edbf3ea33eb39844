#include "report/json_parts.h"
#include "report/probes.h"

namespace deem::report {
namespace {

using codec::Json;
using score::PositionFigures;

Json to_json(const score::Rate& rate) {
  return Json::object(
      {{"value", known(rate.value)}, {"low", rate.low}, {"high", rate.high}, {"n", count(rate.n)}});
}

Json to_json(const std::vector<score::Rate>& rates) {
  Json out = Json::array();
  for (const score::Rate& rate : rates) out.push(to_json(rate));
  return out;
}

Json to_json(const score::WayToAnswer& way) {
  return Json::object({{"accuracy", to_json(way.accuracy)},
                       {"brier", known(way.brier)},
                       {"brier_95", interval(way.brier_95)}});
}

Json column_json(const auto& column) {
  return Json::object(
      {{"arm", column.arm}, {"reading", column.reading}, {"variant", column.variant}});
}

Json to_json(const PositionFigures& f) {
  Json out = Json::object();
  if (!f.task.empty()) out.set("task", f.task);
  for (const auto& [name, n] : {std::pair("n", f.n),
                                {"complete", f.complete},
                                {"orders", f.orders},
                                {"unanswered", f.unanswered},
                                {"labelled", f.labelled}}) {
    out.set(name, count(n));
  }
  out.set("accuracy_by_gold_position", to_json(f.by_gold));
  out.set("said_at_position", to_json(f.said_at));
  out.set("flipped_items", to_json(f.flipped_items));
  out.set("flipped_orders", to_json(f.flipped_orders));
  out.set("reverse_flips", to_json(f.reverse_flips));
  out.set("max_change", known(f.max_change));
  out.set("median_change", known(f.median_change));
  out.set("uniform_accuracy", known(f.uniform_accuracy));
  out.set("plain", to_json(f.plain));
  out.set("averaged", to_json(f.averaged));
  out.set("averaged_logprobs", to_json(f.averaged_logprobs));
  out.set("reversed", to_json(f.reversed));
  return out;
}

Json position_json(const score::ProbeFigures& probes) {
  Json out = Json::array();
  for (const auto& column : probes.position) {
    Json one = column_json(column);
    Json tasks = Json::array();
    for (const PositionFigures& f : column.tasks) tasks.push(to_json(f));
    one.set("tasks", std::move(tasks));
    one.set("all", to_json(column.all));
    out.push(std::move(one));
  }
  return out;
}

Json label_priors_json(const score::ProbeFigures& probes) {
  Json out = Json::array();
  for (const auto& prior : probes.label_priors) {
    Json p = Json::array();
    for (const double value : prior.p) p.push(value);
    out.push(Json::object({{"arm", prior.arm},
                           {"reading", prior.reading},
                           {"options", count(prior.p.size())},
                           {"rows", count(prior.rows)},
                           {"p", std::move(p)}}));
  }
  return out;
}

Json laws_json(const score::ProbeFigures& probes) {
  Json out = Json::array();
  for (const auto& f : probes.laws) {
    Json one = column_json(f);
    one.set("law", f.law);
    if (!f.task.empty()) one.set("task", f.task);
    one.set("n", count(f.n));
    one.set("unanswered", count(f.unanswered));
    one.set("violation_mean", known(f.mean));
    one.set("violation_max", known(f.max));
    one.set("changes", to_json(f.changes));
    one.set("accuracy", to_json(f.plain_accuracy));
    one.set("probe_accuracy", to_json(f.probe_accuracy));
    one.set("uniform_accuracy", known(f.uniform_accuracy));
    out.push(std::move(one));
  }
  return out;
}

Json interference_json(const score::ProbeFigures& probes) {
  Json out = Json::array();
  for (const auto& f : probes.interference) {
    Json one = column_json(f);
    one.set("n", count(f.n));
    one.set("changes", to_json(f.changes));
    one.set("mean_change", known(f.mean));
    one.set("max_change", known(f.max));
    out.push(std::move(one));
  }
  return out;
}

Json noise_json(const score::ProbeFigures& probes) {
  Json out = Json::array();
  for (const auto& f : probes.noise) {
    out.push(Json::object({{"arm", f.arm},
                           {"reading", f.reading},
                           {"asked", f.kind},
                           {"n", count(f.n)},
                           {"values", count(f.values)},
                           {"max_logprob_change", known(f.max_logprob)},
                           {"max_probability_change", known(f.max_probability)},
                           {"flips", to_json(f.flips)}}));
  }
  return out;
}

Json sustained_json(const score::ProbeFigures& probes) {
  Json out = Json::array();
  for (const auto& f : probes.sustained) {
    Json minutes = Json::array();
    for (const auto& minute : f.minutes) {
      minutes.push(Json::object({{"minute", count(minute.minute)},
                                 {"n", count(minute.n)},
                                 {"failed", count(minute.failed)},
                                 {"median_s", known(minute.median_s)}}));
    }
    out.push(Json::object({{"arm", f.arm},
                           {"reading", f.reading},
                           {"answered", count(f.answered)},
                           {"failed", count(f.failed)},
                           {"span_s", f.span_s},
                           {"longest_pause_s", f.longest_pause_s},
                           {"answers_per_s", known(f.answers_per_s)},
                           {"first_minute_median_s", known(f.first_minute_median_s)},
                           {"last_minute_median_s", known(f.last_minute_median_s)},
                           {"minutes", std::move(minutes)}}));
  }
  return out;
}

Json prefix_json(const score::ProbeFigures& probes) {
  Json out = Json::array();
  for (const auto& f : probes.prefix) {
    out.push(Json::object({{"arm", f.arm},
                           {"reading", f.reading},
                           {"cold_n", count(f.cold)},
                           {"cold_median_s", known(f.cold_median_s)},
                           {"warm_n", count(f.warm)},
                           {"warm_median_s", known(f.warm_median_s)},
                           {"warm_cached_share_median", known(f.warm_cached_share)},
                           {"unknown_n", count(f.unknown)}}));
  }
  return out;
}

Json costs_json(const std::vector<ArmCost>& costs) {
  Json out = Json::array();
  for (const ArmCost& cost : costs) {
    out.push(Json::object({{"arm", cost.arm},
                           {"load_s", known(cost.load_s)},
                           {"ready_s", known(cost.ready_s)},
                           {"first_answer_s", known(cost.first_answer_s)},
                           {"peak_bytes", known(cost.peak_bytes)},
                           {"memory", cost.memory}}));
  }
  return out;
}

}  // namespace

Json probes_json(const score::ProbeFigures& probes, const std::vector<ArmCost>& costs) {
  Json out = Json::object();
  out.set("rows", count(probes.rows));
  out.set("position", position_json(probes));
  out.set("label_priors", label_priors_json(probes));
  out.set("laws", laws_json(probes));
  out.set("interference", interference_json(probes));
  out.set("noise", noise_json(probes));
  out.set("sustained", sustained_json(probes));
  out.set("prefix", prefix_json(probes));
  out.set("seats", costs_json(costs));
  return out;
}

}  // namespace deem::report
