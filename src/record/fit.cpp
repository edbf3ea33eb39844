#include "record/fit.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/file.h"
#include "record/fields.h"

namespace deem::record {
namespace {

using codec::Json;
using decision::Calibrator;

constexpr std::string_view kSchema = "deem.fit/1";
constexpr std::string_view kByOption = "option", kByDifference = "difference";
constexpr std::size_t kMostBytes = 64 << 20;

Json to_json(const Calibrator& calibrator) {
  using Method = Calibrator::Method;
  Json out = Json::object();
  out.set("method", decision::to_string(calibrator.method));
  if (calibrator.method == Method::Temperature || calibrator.method == Method::LabelPrior) {
    Json list = Json::array();
    for (const auto& [options, value] : calibrator.temperatures) {
      list.push(Json::object({{"options", static_cast<std::uint64_t>(options)}, {"t", value}}));
    }
    out.set("temperatures", std::move(list));
  }
  if (calibrator.method == Method::LabelPrior) {
    Json list = Json::array();
    for (const double value : calibrator.bias) list.push(value);
    out.set("bias", std::move(list));
  }
  if (calibrator.method == Method::Platt) {
    out.set("slope", calibrator.slope);
    out.set("offset", calibrator.offset);
  }
  if (calibrator.method == Method::Isotonic) {
    Json list = Json::array();
    for (const auto& [x, p] : calibrator.knots) list.push(Json::array({Json(x), Json(p)}));
    out.set("of", calibrator.by_option ? kByOption : kByDifference);
    out.set("knots", std::move(list));
  }
  return out;
}

Json to_json(const FitFigures& figures) {
  Json out = Json::object();
  out.set("n", figures.n);
  out.set("accuracy", figures.accuracy);
  set_optional(out, "accuracy_low", figures.accuracy_low);
  set_optional(out, "accuracy_high", figures.accuracy_high);
  out.set("brier", figures.brier);
  set_optional(out, "brier_low", figures.brier_low);
  set_optional(out, "brier_high", figures.brier_high);
  out.set("log_loss", figures.log_loss);
  out.set("ece", figures.ece);
  return out;
}

Json to_json(const FitEntry& entry) {
  Json out = Json::object();
  out.set("task", entry.task);
  out.set("type", decision::to_string(entry.type));
  if (entry.task.empty()) out.set("options", entry.options);
  out.set("mode", entry.mode);
  out.set("reading", entry.reading);
  out.set("variant", entry.variant);
  if (!entry.policy.empty()) out.set("policy", entry.policy);
  if (!entry.prompt_digest.empty()) out.set("prompt_digest", entry.prompt_digest);
  out.set("calibrator", to_json(entry.calibrator));
  out.set("n", entry.n);
  out.set("states", entry.states);
  out.set("held_out_by", entry.held_out_by);
  if (entry.before) out.set("before", to_json(*entry.before));
  if (entry.after) out.set("after", to_json(*entry.after));
  return out;
}

/// A member that must be a finite number within bounds.
double bounded(Fields& in, std::string_view key, double low, double high) {
  const double value = in.number(key);
  if (!(value >= low && value <= high)) in.note(std::string(key) + " is out of range");
  return value;
}

Result<Calibrator> parse_calibrator(const Json& json) {
  using Method = Calibrator::Method;
  Fields in(json);
  Calibrator out{.method = in.named("method", decision::parse_method)};
  if (out.method == Method::Temperature || out.method == Method::LabelPrior) {
    for (const Json& item : in.list("temperatures")) {
      Fields each(item);
      const std::int64_t options = each.integer("options");
      const double t = bounded(each, "t", 1e-6, 1e6);
      if (options < 0) each.note("options is below 0");
      if (each.problem()) in.note("temperatures: " + *each.problem());
      out.temperatures.push_back({static_cast<std::size_t>(std::max<std::int64_t>(0, options)), t});
    }
    if (out.temperatures.empty()) in.note("temperatures is empty");
  }
  if (out.method == Method::LabelPrior) {
    for (const Json& item : in.list("bias")) {
      if (!item.is_number() || !std::isfinite(item.as_double())) {
        in.note("bias holds no number");
        break;
      }
      out.bias.push_back(item.as_double());
    }
  }
  if (out.method == Method::Platt) {
    out.slope = bounded(in, "slope", 0, 1e12);
    out.offset = bounded(in, "offset", -1e12, 1e12);
  }
  if (out.method == Method::Isotonic) {
    const std::string of = in.text("of");
    out.by_option = of == kByOption;
    if (!out.by_option && of != kByDifference) in.note("of has an unknown value");
    for (const Json& item : in.list("knots")) {
      const bool pair = item.is_array() && item.items().size() == 2 &&
                        item.items()[0].is_number() && item.items()[1].is_number();
      const double x = pair ? item.items()[0].as_double() : 0;
      const double p = pair ? item.items()[1].as_double() : -1;
      const bool ascends = out.knots.empty() || (x > out.knots.back().x && p >= out.knots.back().p);
      if (!std::isfinite(x) || !(p >= 0 && p <= 1) || !ascends) {
        in.note("knots are no ascending pairs of x and p");
        break;
      }
      out.knots.push_back({x, p});
    }
    if (out.knots.empty()) in.note("knots is empty");
  }
  if (in.problem()) return fail(Error::Code::Corrupt, "calibrator: " + *in.problem());
  return out;
}

std::optional<FitFigures> parse_figures(const Json* json, Fields& in) {
  if (json == nullptr) return std::nullopt;
  Fields each(*json);
  FitFigures out{.n = each.integer("n"),
                 .accuracy = each.number("accuracy"),
                 .brier = each.number("brier"),
                 .log_loss = each.number("log_loss"),
                 .ece = each.number("ece"),
                 .accuracy_low = json->get_double("accuracy_low"),
                 .accuracy_high = json->get_double("accuracy_high"),
                 .brier_low = json->get_double("brier_low"),
                 .brier_high = json->get_double("brier_high")};
  if (each.problem()) in.note("figures: " + *each.problem());
  return out;
}

Result<FitEntry> parse_entry(const Json& json) {
  Fields in(json);
  FitEntry out{.task = in.text("task"),
               .type = in.named("type", decision::parse_question_type),
               .options = 0,
               .mode = in.text("mode"),
               .reading = in.text("reading"),
               .variant = in.text("variant"),
               .policy = json.get_string("policy").value_or(""),
               .prompt_digest = json.get_string("prompt_digest").value_or(""),
               .calibrator = {},
               .n = in.integer("n"),
               .states = in.integer("states"),
               .held_out_by = in.text("held_out_by"),
               .before = {},
               .after = {}};
  if (out.task.empty()) out.options = in.integer("options");
  if (out.mode != "readout" && out.mode != "generate") in.note("mode has an unknown value");
  if (out.n < 0 || out.states < 0) in.note("n or states is below 0");
  out.before = parse_figures(json.find("before"), in);
  out.after = parse_figures(json.find("after"), in);
  if (in.problem()) return fail(Error::Code::Corrupt, *in.problem());
  const Json* calibrator = json.find("calibrator");
  if (calibrator == nullptr) return fail(Error::Code::Corrupt, "calibrator is missing");
  Result<Calibrator> parsed = parse_calibrator(*calibrator);
  if (!parsed) return fail(parsed.error());
  out.calibrator = std::move(*parsed);
  return out;
}

auto key_of(const FitEntry& e) {
  return std::tie(e.task, e.type, e.options, e.mode, e.reading, e.variant, e.policy,
                  e.prompt_digest);
}

std::string told(const std::optional<std::string>& value) {
  return value && !value->empty() ? value->substr(0, 80) : "not told";
}

}  // namespace

std::optional<std::size_t> find_same_key(const std::vector<FitEntry>& entries,
                                         const FitEntry& entry) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (key_of(entries[i]) == key_of(entry)) return i;
  }
  return std::nullopt;
}

Json to_json(const Fit& fit) {
  Json out = Json::object();
  out.set("schema", kSchema);
  out.set("name", fit.name);
  out.set("deem", fit.deem);
  out.set("made", fit.made);
  out.set("by", fit.by);
  Json model = Json::object();
  model.set("kind", fit.model.kind);
  model.set("model", fit.model.model);
  set_optional(model, "root", fit.model.root);
  set_optional(model, "digest", fit.model.digest);
  set_optional(model, "template_sha256", fit.model.template_sha256);
  set_optional(model, "detail", fit.model.detail);
  out.set("valid_for", std::move(model));
  Json sources = Json::array();
  for (const FitSource& source : fit.sources) {
    sources.push(Json::object({{"kit", source.kit_name},
                               {"kit_digest", source.kit_digest},
                               {"rows_sha256", source.rows_sha256},
                               {"rows", source.rows}}));
  }
  out.set("fitted_on", std::move(sources));
  Json entries = Json::array();
  for (const FitEntry& entry : fit.entries) entries.push(to_json(entry));
  out.set("entries", std::move(entries));
  return out;
}

std::string format_fit(const Fit& fit) {
  return codec::dump_json(to_json(fit), {.ascii = false, .indent = 1}) + "\n";
}

Result<Fit> parse_fit(const Json& json) {
  Fields in(json);
  if (in.text("schema") != kSchema) {
    return fail(Error::Code::Corrupt,
                "no fit file (its schema is not " + std::string(kSchema) + ")");
  }
  Fit out{.name = in.text("name"),
          .deem = in.text("deem"),
          .made = in.text("made"),
          .by = in.text("by"),
          .model = {},
          .sources = {},
          .entries = {}};
  if (out.by != "calibrate" && out.by != "choose") in.note("by has an unknown value");
  const Json* model = json.find("valid_for");
  if (model == nullptr || !model->is_object()) {
    return fail(Error::Code::Corrupt, "valid_for is missing");
  }
  Fields model_in(*model);
  out.model.kind = model_in.text("kind");
  out.model = fit_model(*model);
  if (model_in.problem()) in.note("valid_for: " + *model_in.problem());
  for (const Json& item : in.list("fitted_on")) {
    Fields each(item);
    out.sources.push_back({each.text("kit"), each.text("kit_digest"), each.text("rows_sha256"),
                           each.integer("rows")});
    if (each.problem()) in.note("fitted_on: " + *each.problem());
  }
  std::size_t place = 0;
  for (const Json& item : in.list("entries")) {
    ++place;
    Result<FitEntry> entry = parse_entry(item);
    if (!entry) return fail("entry " + std::to_string(place), entry.error());
    const auto twin = find_same_key(out.entries, *entry);
    if (twin) {
      in.note("entry " + std::to_string(place) + " is for the same answers as entry " +
              std::to_string(*twin + 1));
    }
    out.entries.push_back(std::move(*entry));
  }
  if (out.entries.empty()) in.note("entries is empty: nothing was fitted");
  if (in.problem()) return fail(Error::Code::Corrupt, *in.problem());
  return out;
}

Result<Fit> parse_fit(std::string_view text) {
  Result<Json> json = codec::parse_json(text);
  if (!json) return fail(json.error());
  return parse_fit(*json);
}

Result<Fit> load_fit(const std::string& path) {
  Result<std::string> text = read_file(path, kMostBytes);
  if (!text) return fail(text.error());
  Result<Fit> fit = parse_fit(std::string_view(*text));
  if (!fit) return fail(path, fit.error());
  return fit;
}

FitModel fit_model(const Json& identity) {
  return {.kind = identity.get_string("kind").value_or(""),
          .model = identity.get_string("model").value_or(""),
          .root = identity.get_string("root"),
          .digest = identity.get_string("digest"),
          .template_sha256 = identity.get_string("template_sha256"),
          .detail = identity.get_string("detail")};
}

std::optional<std::string> difference(const FitModel& fitted, const FitModel& found) {
  const auto differs = [](const char* what, const std::optional<std::string>& then,
                          const std::optional<std::string>& now) {
    return std::string(what) + " " + told(then) + " there, " + told(now) + " here";
  };
  if (fitted.template_sha256 != found.template_sha256) {
    return differs("chat template", fitted.template_sha256, found.template_sha256);
  }
  if (fitted.digest && found.digest) {
    if (fitted.digest == found.digest) return std::nullopt;
    return differs("weights", fitted.digest, found.digest);
  }
  if (fitted.digest != found.digest) {
    return differs("weights", fitted.digest, found.digest) + ", so they may not be the same";
  }
  if (fitted.kind != found.kind) return differs("seat", fitted.kind, found.kind);
  if (fitted.model != found.model) return differs("model", fitted.model, found.model);
  if (fitted.root != found.root) return differs("root", fitted.root, found.root);
  if (fitted.detail != found.detail) return differs("quant", fitted.detail, found.detail);
  return std::nullopt;
}

const FitEntry* find_entry(const Fit& fit, const FitQuery& query) {
  const auto reads = [&](const FitEntry& entry) {
    return entry.reading == query.reading && entry.variant == query.variant &&
           entry.type == query.type && (entry.policy.empty() || entry.policy == query.policy) &&
           (entry.prompt_digest.empty() || entry.prompt_digest == query.prompt_digest);
  };
  for (const FitEntry& entry : fit.entries) {
    if (!query.task.empty() && entry.task == query.task && reads(entry)) return &entry;
  }
  for (const FitEntry& entry : fit.entries) {
    if (entry.task.empty() && entry.options == static_cast<std::int64_t>(query.options) &&
        reads(entry)) {
      return &entry;
    }
  }
  return nullptr;
}

const FitEntry* chosen_entry(const Fit& fit, std::string_view task) {
  if (fit.by != "choose") return nullptr;
  const auto found = std::ranges::find(fit.entries, task, &FitEntry::task);
  return found == fit.entries.end() ? nullptr : &*found;
}

}  // namespace deem::record
