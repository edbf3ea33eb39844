#include "bench/config.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "codec/toml.h"

namespace deem::bench {
namespace {

using codec::Json;

constexpr std::string_view kTop[] = {
    "kit",     "kit-format",   "columns",     "out",         "order", "seed",
    "repeat",  "limit",        "concurrency", "max-errors",  "tasks", "arm",
    "reading", "open-labels",  "permute",     "laws",        "noise", "sustained",
    "power",   "power-period", "idle",        "require-pin", "doctor"};

std::string from_folder(const std::string& file, const std::string& path) {
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? path : join_path(file.substr(0, slash), path);
}

/// A local seat's model path is taken from the file's folder too.
std::string seat_from_folder(const std::string& file, const std::string& seat) {
  constexpr std::string_view kLocal = "local:";
  if (!seat.starts_with(kLocal)) return seat;
  return std::string(kLocal) + from_folder(file, seat.substr(kLocal.size()));
}

Result<std::int64_t> whole(const Json& value, std::int64_t low) {
  if (!value.is_int() || value.as_int() < low) {
    return fail(Error::Code::BadInput, "wants a whole number from " + std::to_string(low) + " up");
  }
  return value.as_int();
}

Result<std::string> text(const Json& value) {
  if (!value.is_string()) return fail(Error::Code::BadInput, "wants a text");
  return value.as_string();
}

template <class T>
Result<void> assign(T& target, const Result<T>& value) {
  if (!value) return fail(value.error());
  target = *value;
  return {};
}

/// An entry of [[arm]] at `place`; each fault is named at its own line.
Result<void> add_arm(Config& config, const std::string& path, const codec::TomlDoc& doc,
                     const std::string& place, const Json& table) {
  if (!table.is_object()) {
    return fail(Error::Code::BadInput, doc.where(place) + ": an arm is no table; write [[arm]]");
  }
  Arm arm;
  // The seat first: its kind says how an arm reads that names no readings.
  std::vector<codec::Json::Member> members = table.members();
  std::ranges::stable_partition(members, [](const auto& m) { return m.first == "seat"; });
  for (const auto& [key, value] : members) {
    const bool is_seat = key == "seat" && value.is_string();
    const bool is_file = key == "calibration" && value.is_string();
    const Json used = is_seat   ? Json(seat_from_folder(path, value.as_string()))
                      : is_file ? Json(from_folder(path, value.as_string()))
                                : value;
    if (Result<void> set = set_arm_member(arm, key, used); !set) {
      return fail(doc.where(place + "/" + key), set.error());
    }
  }
  if (Result<void> good = check_arm(arm); !good) return fail(doc.where(place), good.error());
  config.arms.push_back(std::move(arm));
  return {};
}

Result<void> set_top(Config& config, const std::string& path, std::string_view key,
                     const Json& value) {
  const auto number = [&](auto& target, std::int64_t low) -> Result<void> {
    Result<std::int64_t> n = whole(value, low);
    if (!n) return fail(n.error());
    using Target = std::remove_reference_t<decltype(target)>;
    if (!std::in_range<Target>(*n)) {
      return fail(Error::Code::BadInput,
                  "wants a number up to " + std::to_string(std::numeric_limits<Target>::max()));
    }
    target = static_cast<Target>(*n);
    return {};
  };
  if (key == "seed") return number(config.seed, 0);
  if (key == "repeat") return number(config.repeat, 1);
  if (key == "limit") return number(config.limit, 0);
  if (key == "concurrency") return number(config.concurrency, 1);
  if (key == "max-errors") return number(config.max_errors, 0);
  if (key == "noise") return number(config.probes.noise, 0);
  if (key == "permute" || key == "sustained") {
    if (!value.is_int() && !value.is_string()) {
      return fail(Error::Code::BadInput, key == "permute" ? "wants a whole number, or \"all\""
                                                          : "wants seconds, or \"10m\"");
    }
    const std::string typed = value.is_int() ? std::to_string(value.as_int()) : value.as_string();
    if (key == "permute") return assign(config.probes.permute, parse_permute(typed));
    return assign(config.probes.sustained_s, parse_duration_s(typed));
  }
  if (key == "power-period" || key == "idle") {
    if (!value.is_number() && !value.is_string())
      return fail(Error::Code::BadInput, "wants seconds, or \"10s\"");
    double& target = key == "idle" ? config.power.idle_s : config.power.period_s;
    if (value.is_number()) return assign(target, Result<double>(value.as_double()));
    return assign(target, parse_duration_s(value.as_string()));
  }
  if (key == "power" || key == "require-pin") {
    if (!value.is_bool()) return fail(Error::Code::BadInput, "wants true or false");
    if (key == "power") config.power.off = !value.as_bool();
    if (key == "require-pin") config.power.require_pin = value.as_bool();
    return {};
  }
  if (key == "open-labels" || key == "laws") {
    if (!value.is_bool()) return fail(Error::Code::BadInput, "wants true or false");
    (key == "laws" ? config.probes.laws : config.kit_options.open_labels) = value.as_bool();
    return {};
  }
  if (key == "tasks") {
    if (!value.is_array()) return fail(Error::Code::BadInput, "wants a list of task names");
    for (const Json& task : value.items()) {
      Result<std::string> name = text(task);
      if (!name) return fail(name.error());
      config.tasks.push_back(std::move(*name));
    }
    return {};
  }
  if (key == "columns") {
    if (!value.is_object())
      return fail(Error::Code::BadInput, "wants a table of field = \"column\"");
    for (const auto& [field, column] : value.members()) {
      Result<std::string> name = text(column);
      if (!name) return fail(name.error());
      config.kit_options.columns[field] = std::move(*name);
    }
    return {};
  }
  Result<std::string> word = text(value);
  if (!word) return fail(word.error());
  if (key == "kit") config.kit = from_folder(path, *word);
  if (key == "out") config.out = from_folder(path, *word);
  if (key == "kit-format") config.kit_options.format = *word;
  if (key == "doctor") {
    const auto doctor = parse_doctor(*word);
    if (!doctor) return fail(Error::Code::BadInput, "wants quick, require or off");
    config.doctor = *doctor;
  }
  if (key == "order") {
    const auto order = parse_order(*word);
    if (!order) return fail(Error::Code::BadInput, "wants auto, state, item, shuffle or block");
    config.order = *order;
  }
  return {};
}

std::string nearest(std::string_view key) {
  return std::string(*std::ranges::min_element(
      kTop, {}, [&](std::string_view known) { return edit_distance(known, key); }));
}

}  // namespace

Result<Config> load_config(const std::string& path) {
  constexpr std::size_t kMostBytes = 16 << 20;
  Result<std::string> bytes = read_file(path, kMostBytes);
  if (!bytes) return fail(bytes.error());
  Result<codec::TomlDoc> doc = codec::parse_toml(*bytes, path);
  if (!doc) return fail(doc.error());
  Config config;
  for (const auto& [key, value] : doc->root.members()) {
    if (std::ranges::find(kTop, key) == std::end(kTop)) {
      return fail(Error::Code::BadInput,
                  doc->where(key) + ": no setting " + key + "; did you mean " + nearest(key) + "?");
    }
    if (key == "arm" || key == "reading") {
      if (!value.is_array())
        return fail(Error::Code::BadInput, doc->where(key) + ": write [[" + key + "]]");
      for (std::size_t i = 0; i < value.items().size(); ++i) {
        const Json& table = value.items()[i];
        const std::string place = key + "/" + std::to_string(i);
        if (key == "arm") {
          if (Result<void> added = add_arm(config, path, *doc, place, table); !added)
            return fail(added.error());
          continue;
        }
        std::string member;
        if (Result<void> added = add_reading(config, table, &member); !added) {
          return fail(doc->where(member.empty() ? place : place + "/" + member), added.error());
        }
      }
      continue;
    }
    if (Result<void> set = set_top(config, path, key, value); !set) {
      return fail(doc->where(key) + ": " + key, set.error());
    }
  }
  return config;
}

}  // namespace deem::bench
