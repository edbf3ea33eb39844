#include "board/script.h"

#include <cmath>
#include <set>

#include "base/text.h"
#include "codec/json.h"

namespace deem::board {
namespace {

using codec::Json;

constexpr double kLeastPeriod_s = 0.001;  // of a sine

/// Reads members of one object; the first fault is kept with its place.
class Reader {
 public:
  Reader(const Json& json, std::string where, std::string& fault)
      : json_(json), where_(std::move(where)), fault_(fault) {
    if (!json.is_object()) note("", "is no object");
  }
  ~Reader() { check_names(); }
  /// Notes the first member that nobody asked for: before what follows from its absence.
  void check_names() {
    if (!json_.is_object()) return;
    for (const auto& [key, value] : json_.members()) {
      if (!known_.contains(key)) note(key, "is not known");
    }
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  const Json* find(std::string_view key) {
    known_.emplace(key);
    const Json* value = json_.find(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  }
  void text(std::string_view key, std::string& out) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_string()) return note(key, "is no text");
    out = value->as_string();
  }
  template <class T>
  void number(std::string_view key, T& out) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (const auto read = finite(*value, key)) out = *read;
  }
  template <class T>
  void whole(std::string_view key, T& out) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_int() || value->as_int() < 0) return note(key, "is no whole number");
    out = static_cast<typename T::value_type>(value->as_int());
  }
  template <class T>
  void flag(std::string_view key, T& out) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_bool()) return note(key, "is not true or false");
    out = value->as_bool();
  }
  /// Numbers, ascending, from 0 on.
  std::vector<double> times(std::string_view key) {
    std::vector<double> out;
    for (const Json& item : list(key)) {
      const auto value = finite(item, key);
      if (!value || *value < (out.empty() ? 0 : out.back())) {
        note(key, "wants ascending times, none before 0");
        return {};
      }
      out.push_back(*value);
    }
    return out;
  }
  /// [[from, until], …], from ascending and each before its until.
  std::vector<ScriptSpan> spans(std::string_view key) {
    std::vector<ScriptSpan> out;
    const Json* value = find(key);
    if (value == nullptr || (value->is_array() && value->items().empty())) return out;
    for (const auto& [from, until] : pairs(key, *value)) {
      if (until <= from) note(key, "wants [[from, until], …], each until after its from");
      out.push_back({from, until});
    }
    return out;
  }
  /// [[a, b], …], a ascending.
  std::vector<std::pair<double, double>> pairs(std::string_view key, const Json& value) {
    std::vector<std::pair<double, double>> out;
    if (value.is_array()) {
      for (const Json& item : value.items()) {
        if (!item.is_array() || item.items().size() != 2) break;
        const auto a = finite(item.items()[0], key), b = finite(item.items()[1], key);
        if (!a || !b || (!out.empty() && *a < out.back().first)) break;
        out.emplace_back(*a, *b);
      }
    }
    if (!value.is_array() || out.size() != value.items().size() || out.empty()) {
      note(key, "wants [[time, value], …] with ascending times");
      return {};
    }
    return out;
  }
  /// 300, {"mean": 300, "amplitude": 100, "period_s": 10} or {"steps": [[0, 100], [5, 300]]}.
  void wave(std::string_view key, std::optional<Wave>& out) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (value->is_number()) {
      if (const auto constant = finite(*value, key)) out = Wave::constant(*constant);
      return;
    }
    if (!value->is_object()) return note(key, "is neither a number nor an object");
    Reader in(*value, where_ + "." + std::string(key), fault_);
    if (const Json* steps = in.find("steps")) {
      if (auto points = in.pairs("steps", *steps); !points.empty()) {
        out = Wave::steps(std::move(points));
      }
      return;
    }
    std::optional<double> mean, amplitude, period;
    in.number("mean", mean);
    in.number("amplitude", amplitude);
    in.number("period_s", period);
    if (mean && amplitude && period && *period >= kLeastPeriod_s) {
      out = Wave::sine(*mean, *amplitude, *period);
    } else {
      note(key, "wants a number, steps, or mean, amplitude and a period_s of 0.001 or more");
    }
  }
  const std::vector<Json>& list(std::string_view key) {
    static const std::vector<Json> kNone;
    const Json* value = find(key);
    if (value == nullptr) return kNone;
    if (value->is_array()) return value->items();
    note(key, "is no list");
    return kNone;
  }
  void note(std::string_view key, std::string_view what) {
    if (!fault_.empty()) return;
    fault_ = where_ + (key.empty() ? "" : "." + printable(key, 60)) + " " + std::string(what);
  }
  const std::string& where() const { return where_; }

 private:
  std::optional<double> finite(const Json& value, std::string_view key) {
    if (value.is_number() && std::isfinite(value.as_double()) &&
        std::abs(value.as_double()) < 1e15) {
      return value.as_double();
    }
    note(key, "is no number");
    return std::nullopt;
  }

  const Json& json_;
  const std::string where_;
  std::string& fault_;
  std::set<std::string, std::less<>> known_;
};

ScriptedProcess read_process(const Json& json, const std::string& board, const std::string& where,
                             std::string& fault) {
  ScriptedProcess out;
  Reader in(json, where, fault);
  std::optional<std::int64_t> pid;
  std::string kind = "compute";
  in.whole("pid", pid);
  in.text("kind", kind);
  in.number("used_mib", out.process.used_mib);
  in.text("instance", out.process.instance);
  in.text("command", out.process.command);
  in.text("container", out.process.container);
  in.text("unit", out.process.unit);
  in.text("owner_note", out.process.owner_note);
  in.number("from_s", out.span.from_s);
  in.number("until_s", out.span.until_s);
  if (!pid) in.note("pid", "is missing");
  if (out.span.until_s <= out.span.from_s) in.note("until_s", "is not after from_s");
  if (kind == "graphics") {
    out.process.kind = BoardProcess::Kind::Graphics;
  } else if (kind == "mps") {
    out.process.kind = BoardProcess::Kind::Mps;
  } else if (kind != "compute") {
    in.note("kind", "is not compute, graphics or mps");
  }
  out.process.board = board;
  out.process.pid = pid.value_or(0);
  return out;
}

Instance read_instance(const Json& json, const std::string& where, std::string& fault) {
  Instance out;
  Reader in(json, where, fault);
  in.text("id", out.id);
  in.text("name", out.name);
  in.whole("gpu_instance", out.gpu_instance);
  in.whole("compute_instance", out.compute_instance);
  in.number("memory_total_mib", out.memory_total_mib);
  in.number("memory_used_mib", out.memory_used_mib);
  if (out.id.empty()) in.note("id", "is missing");
  return out;
}

void read_figures(Reader& in, BoardInfo& info) {
  in.number("memory_total_mib", info.memory_total_mib);
  in.number("memory_reserved_mib", info.memory_reserved_mib);
  in.number("limit_enforced_w", info.limit_enforced_w);
  in.number("limit_default_w", info.limit_default_w);
  in.number("limit_min_w", info.limit_min_w);
  in.number("limit_max_w", info.limit_max_w);
  in.number("limit_requested_w", info.limit_requested_w);
  in.number("sm_mhz", info.sm_mhz);
  in.number("memory_mhz", info.memory_mhz);
  in.number("temperature_c", info.temperature_c);
  in.number("utilisation_percent", info.utilisation_percent);
  in.whole("clock_reasons", info.clock_reasons);
  in.whole("link_generation", info.link_generation);
  in.whole("link_generation_max", info.link_generation_max);
  in.whole("link_width", info.link_width);
  in.whole("link_width_max", info.link_width_max);
  in.text("driver", info.driver);
  in.text("cuda", info.cuda);
  in.text("compute_capability", info.compute_capability);
  in.flag("ecc", info.ecc);
  in.flag("persistence", info.persistence);
  in.text("power_source", info.power_source);
  in.flag("mig", info.mig);
  in.number("reading_period_s", info.reading_period_s);
}

ScriptedBoard read_board(const Json& json, const std::string& where, std::string& fault) {
  ScriptedBoard out;
  BoardInfo& info = out.info;
  Reader in(json, where, fault);
  in.text("id", info.id);
  in.text("name", info.name);
  in.text("pci", info.pci);
  info.source = "scripted";
  read_figures(in, info);
  in.wave("power_w", out.power_w);
  in.wave("memory_used_mib", out.memory_mib);
  in.flag("counter", out.counter);
  in.number("counter_start_j", out.counter_start_j);
  out.resets_s = in.times("counter_resets_s");
  out.lost = in.spans("lost_s");
  std::size_t n = 0;
  for (const Json& item : in.list("instances")) {
    const std::string place = where + ".instances[" + std::to_string(n++) + "]";
    info.instances.push_back(read_instance(item, place, fault));
  }
  n = 0;
  for (const Json& item : in.list("processes")) {
    const std::string place = where + ".processes[" + std::to_string(n++) + "]";
    out.processes.push_back(read_process(item, info.id, place, fault));
  }
  in.check_names();
  if (info.id.empty()) in.note("id", "is missing");
  if (out.counter && !out.power_w) in.note("counter", "needs power_w");
  info.has_counter = out.counter;
  return out;
}

}  // namespace

bool ScriptedBoard::is_lost(double t_s) const {
  return std::ranges::any_of(lost, [&](const ScriptSpan& span) { return span.holds(t_s); });
}

std::optional<double> ScriptedBoard::energy_j(double t_s) const {
  if (!counter || !power_w) return std::nullopt;
  double begin = 0, start = counter_start_j;
  for (const double at : resets_s) {
    if (at > t_s) break;
    begin = at;
    start = 0;
  }
  return start + power_w->integral(t_s) - power_w->integral(begin);
}

Result<std::vector<ScriptedBoard>> parse_boards_script(std::string_view text) {
  const Result<Json> json = codec::parse_json(text);
  if (!json) return fail(json.error());
  std::string fault;
  std::vector<ScriptedBoard> boards;
  {
    Reader in(*json, "script", fault);
    std::string schema;
    in.text("schema", schema);
    if (schema != "deem.boards-script/1") in.note("schema", "is not deem.boards-script/1");
    std::set<std::string> ids;
    std::size_t n = 0;
    for (const Json& item : in.list("boards")) {
      const std::string place = "boards[" + std::to_string(n++) + "]";
      boards.push_back(read_board(item, place, fault));
      const std::string& id = boards.back().info.id;
      if (!ids.insert(id).second && fault.empty()) {
        fault = place + ".id is " + printable(id, 60) + ", as that of a board before it";
      }
    }
  }
  if (!fault.empty()) return fail(Error::Code::Corrupt, fault);
  return boards;
}

}  // namespace deem::board
