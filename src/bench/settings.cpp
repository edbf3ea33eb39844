#include <algorithm>
#include <charconv>

#include "bench/config.h"
#include "kit/readings.h"

namespace deem::bench {
namespace {

using codec::Json;

constexpr int kMostOrders = 1'000;
constexpr Order kOrders[] = {Order::Automatic, Order::State, Order::Item, Order::Shuffle,
                             Order::Block};

Json to_json(const std::string& task_and_name, const kit::LikelihoodReading& reading) {
  const std::size_t dot = task_and_name.rfind('.');
  Json out = Json::object();
  out.set("task", task_and_name.substr(0, dot));
  out.set("name", reading.name);
  out.set("given", reading.given.text());
  out.set("score", reading.score.text());
  out.set("chat", reading.chat);
  out.set("empty", reading.empty);
  return out;
}

}  // namespace

std::string_view to_string(Order order) {
  switch (order) {
    case Order::Automatic:
      return "auto";
    case Order::State:
      return "state";
    case Order::Item:
      return "item";
    case Order::Shuffle:
      return "shuffle";
    case Order::Block:
      return "block";
  }
  return "state";
}

std::optional<Order> parse_order(std::string_view name) {
  const auto found = std::ranges::find(kOrders, name, [](Order order) { return to_string(order); });
  return found == std::end(kOrders) ? std::nullopt : std::optional(*found);
}

std::string_view to_string(Doctor doctor) {
  return doctor == Doctor::Off ? "off" : doctor == Doctor::Quick ? "quick" : "require";
}

std::optional<Doctor> parse_doctor(std::string_view name) {
  for (const Doctor doctor : {Doctor::Off, Doctor::Quick, Doctor::Require}) {
    if (to_string(doctor) == name) return doctor;
  }
  return std::nullopt;
}

Result<int> parse_permute(std::string_view text) {
  if (text == "all") return kAllOrders;
  int n = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (problem != std::errc() || end != text.data() + text.size() || n < 0 || n > kMostOrders) {
    return fail(Error::Code::BadInput,
                "wants a number of orders, 0 to " + std::to_string(kMostOrders) + ", or all");
  }
  return n;
}

Result<double> parse_duration_s(std::string_view text) {
  double n = 0;
  const char* last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data(), last, n);
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  const double seconds = unit == "h" ? 3600 : unit == "m" || unit == "min" ? 60 : 1;
  const bool known = unit.empty() || unit == "s" || seconds > 1;
  if (problem != std::errc() || !known || !(n >= 0) || n * seconds > 7 * 86'400.0) {
    return fail(Error::Code::BadInput, "wants a time such as 90s, 10m or 1h, up to a week");
  }
  return n * seconds;
}

Result<void> add_reading(Config& config, const Json& json, std::string* at) {
  const auto note_member = [at](const std::string& key) {
    if (at != nullptr) *at = key;
  };
  if (!json.is_object()) return fail(Error::Code::BadInput, "a reading is no table");
  for (const auto& [key, value] : json.members()) {
    static constexpr std::string_view kKnown[] = {"task",  "name", "given",
                                                  "score", "chat", "empty"};
    if (std::ranges::find(kKnown, key) == std::end(kKnown)) {
      note_member(key);
      return fail(Error::Code::BadInput, "reading: no setting " + key +
                                             "; it takes task, name, given, score, chat and empty");
    }
  }
  for (const std::string_view key : {"task", "name", "given", "score", "empty"}) {
    const Json* value = json.find(key);
    if (value == nullptr && key != "empty") {
      return fail(Error::Code::BadInput, "a reading wants task, name, given and score");
    }
    if (value != nullptr && !value->is_string()) {
      note_member(std::string(key));
      return fail(Error::Code::BadInput, "reading: " + std::string(key) + " wants a text");
    }
  }
  if (const Json* chat = json.find("chat"); chat != nullptr && !chat->is_bool()) {
    note_member("chat");
    return fail(Error::Code::BadInput, "reading: chat wants true or false");
  }
  const auto text = [&](std::string_view key) { return json.get_string(key); };
  Result<kit::LikelihoodReading> reading =
      kit::make_reading(*text("name"), *text("given"), *text("score"),
                        json.get_bool("chat").value_or(false), text("empty").value_or("N/A"));
  if (!reading) {
    for (const std::string_view key : {"name", "given", "score"}) {
      if (reading.error().message.starts_with(key)) note_member(std::string(key));
    }
    return fail("reading " + *text("name"), reading.error());
  }
  const std::string path = *text("task") + "." + reading->name;
  config.kit_options.extra_readings[path] = std::move(*reading);
  return {};
}

Json settings_json(const Config& config) {
  Json out = Json::object();
  out.set("order", to_string(config.order));
  out.set("seed", config.seed);
  out.set("repeat", config.repeat);
  out.set("limit", config.limit);
  out.set("concurrency", config.concurrency);
  Json tasks = Json::array();
  for (const std::string& task : config.tasks) tasks.push(task);
  out.set("tasks", std::move(tasks));
  out.set("kit_format", config.kit_options.format);
  out.set("kit_task", config.kit_options.task);
  if (const auto& type = config.kit_options.type) out.set("kit_type", decision::to_string(*type));
  out.set("kit_instructions", config.kit_options.instructions);
  out.set("kit_seed", config.kit_options.seed);
  out.set("open_labels", config.kit_options.open_labels);
  Json columns = Json::object();
  for (const auto& [field, column] : config.kit_options.columns) columns.set(field, column);
  out.set("columns", std::move(columns));
  Json readings = Json::array();
  for (const auto& [name, reading] : config.kit_options.extra_readings) {
    readings.push(to_json(name, reading));
  }
  out.set("readings", std::move(readings));
  if (config.probes != Probes()) {  // absent in runs without, old ones among them
    Json probes = Json::object();
    probes.set("permute",
               config.probes.permute == kAllOrders ? Json("all") : Json(config.probes.permute));
    probes.set("laws", config.probes.laws);
    probes.set("noise", config.probes.noise);
    probes.set("sustained_s", config.probes.sustained_s);
    out.set("probes", std::move(probes));
  }
  return out;
}

Result<void> read_settings(const Json& settings, Config& config) {
  const auto order = parse_order(settings.get_string("order").value_or(""));
  const auto seed = settings.get_int("seed"), repeat = settings.get_int("repeat");
  const auto limit = settings.get_int("limit"), concurrency = settings.get_int("concurrency");
  const Json *tasks = settings.find("tasks"), *columns = settings.find("columns");
  const Json* readings = settings.find("readings");
  if (!order || !seed || !repeat || !limit || !concurrency || tasks == nullptr ||
      !tasks->is_array() || columns == nullptr || !columns->is_object() || readings == nullptr ||
      !readings->is_array()) {
    return fail(Error::Code::Corrupt, "settings lack a member or hold one of another kind");
  }
  config.order = *order;
  config.seed = static_cast<std::uint64_t>(*seed);
  config.repeat = static_cast<int>(*repeat);
  config.limit = *limit;
  config.concurrency = static_cast<int>(*concurrency);
  for (const Json& task : tasks->items()) {
    if (task.is_string()) config.tasks.push_back(task.as_string());
  }
  config.kit_options.format = settings.get_string("kit_format").value_or("");
  config.kit_options.task = settings.get_string("kit_task").value_or("");
  config.kit_options.type =
      decision::parse_question_type(settings.get_string("kit_type").value_or(""));
  config.kit_options.instructions = settings.get_string("kit_instructions").value_or("");
  config.kit_options.seed = static_cast<std::uint64_t>(settings.get_int("kit_seed").value_or(1));
  config.kit_options.open_labels = settings.get_bool("open_labels").value_or(false);
  for (const auto& [field, column] : columns->members()) {
    if (column.is_string()) config.kit_options.columns[field] = column.as_string();
  }
  if (const Json* probes = settings.find("probes"); probes != nullptr) {
    const Json* permute = probes->find("permute");
    const bool all = permute != nullptr && permute->is_string();
    const auto number = [&](std::string_view key) {
      return static_cast<int>(probes->get_int(key).value_or(0));
    };
    config.probes = {.permute = all ? kAllOrders : number("permute"),
                     .laws = probes->get_bool("laws").value_or(false),
                     .noise = number("noise"),
                     .sustained_s = probes->get_double("sustained_s").value_or(0)};
  }
  for (const Json& reading : readings->items()) {
    if (Result<void> added = add_reading(config, reading); !added) return fail(added.error());
  }
  return {};
}

Result<void> check_config(const Config& config) {
  const auto wrong = [](std::string what) { return fail(Error::Code::BadInput, std::move(what)); };
  if (config.kit.empty()) return wrong("no kit; try --kit kits/demo, or a deem.toml");
  if (config.arms.empty())
    return wrong("no arm; try --seat local:model.gguf, or --arm, or a deem.toml");
  if (config.out.empty()) return wrong("no run folder; try --out runs/one");
  if (config.concurrency < 1 || config.concurrency > 4096) return wrong("--concurrency: 1 to 4096");
  if (config.repeat < 1 || config.repeat > 10'000) return wrong("--repeat: 1 to 10000");
  if (config.limit < 0) return wrong("--limit: 0 (all) or more");
  if (config.probes.permute < kAllOrders || config.probes.permute > kMostOrders)
    return wrong("--permute: 0 to " + std::to_string(kMostOrders) + ", or all");
  if (config.probes.noise < 0) return wrong("--noise: 0 (none) or more items a task");
  if (!(config.probes.sustained_s >= 0)) return wrong("--sustained: a time such as 10m");
  if (config.max_errors < 0) return wrong("--max-errors: 0 (go on) or more");
  if (!(config.power.idle_s >= 0 && config.power.idle_s <= 3600))
    return wrong("--idle: 0 to 3600 seconds");
  if (!(config.power.period_s >= 0.1 && config.power.period_s <= 60))
    return wrong("--power-period: 0.1s to 60s");
  if (config.seed > INT64_MAX) return wrong("--seed: up to 9223372036854775807");
  for (std::size_t a = 0; a < config.arms.size(); ++a) {
    if (Result<void> good = check_arm(config.arms[a]); !good) return good;
    for (std::size_t b = 0; b < a; ++b) {
      if (config.arms[a].name == config.arms[b].name)
        return wrong("two arms named " + config.arms[a].name);
      if (config.arms[a].seat == config.arms[b].seat &&
          config.arms[a].boards != config.arms[b].boards) {
        return wrong("arms " + config.arms[b].name + " and " + config.arms[a].name +
                     " share a seat; name the same boards for both");
      }
    }
    if (config.doctor == Doctor::Off && !config.arms[a].require.empty()) {
      return wrong("--doctor off: arm " + config.arms[a].name +
                   " requires probes of its seat (require)");
    }
    if (config.power.require_pin && config.arms[a].boards.empty()) {
      return wrong("--require-pin: arm " + config.arms[a].name +
                   " names no board; say which with --board UUID (deem board list shows them)");
    }
  }
  return {};
}

}  // namespace deem::bench
