#include "bench/arm.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "seat/doctor/doctor.h"
#include "seat/local_seat.h"

namespace deem::bench {
namespace {

using codec::Json;

constexpr std::array<std::string_view, 27> kMembers = {"name",       "seat",
                                                       "model",      "mode",
                                                       "readings",   "reading",
                                                       "policy",     "temperature",
                                                       "noul-slope", "noul-bias",
                                                       "min-mass",   "top-k",
                                                       "group",      "max-tokens",
                                                       "context",    "threads",
                                                       "gpu-layers", "timeout",
                                                       "key-env",    "key-file",
                                                       "ca-file",    "template-kwargs",
                                                       "limit",      "calibration",
                                                       "boards",     "board",
                                                       "require"};

std::optional<double> number_of(const Json& value) {
  if (value.is_number()) {
    return std::isfinite(value.as_double()) ? std::optional(value.as_double()) : std::nullopt;
  }
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.as_string();
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(out)) {
    return std::nullopt;
  }
  return out;
}

std::unexpected<Error> bad(std::string_view key, std::string_view want) {
  return fail(Error::Code::BadInput, "arm: " + std::string(key) + " wants " + std::string(want));
}

Result<void> set_integer(int& target, std::string_view key, const Json& value, int low, int high) {
  const auto number = number_of(value);
  if (!number || *number != std::floor(*number) || *number < low || *number > high) {
    return bad(key, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  target = static_cast<int>(*number);
  return {};
}

Result<void> set_number(double& target, std::string_view key, const Json& value, double low,
                        double high) {
  const auto number = number_of(value);
  if (!number || *number < low || *number > high) {
    return bad(key, "a number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  target = *number;
  return {};
}

Result<void> set_readings(Arm& arm, const Json& value) {
  std::vector<std::string> names;
  if (value.is_string()) {
    // In a flag readings are joined by "+"; "+prior" belongs to the reading before it.
    for (const std::string_view part : split(value.as_string(), '+')) {
      if (part == "prior" && !names.empty())
        names.back() += "+prior";
      else
        names.emplace_back(part);
    }
  } else if (value.is_array()) {
    for (const Json& name : value.items()) {
      if (!name.is_string()) return bad("readings", "names");
      names.push_back(name.as_string());
    }
  } else {
    return bad("readings", "names");
  }
  arm.readings.clear();
  for (const std::string& name : names) {
    if (name == "reference") {
      arm.policy = decision::LetterPolicy::Reference;
      arm.readings.push_back({"letters", false});
      continue;
    }
    Result<ReadingChoice> choice = parse_reading_choice(name);
    if (!choice) return fail(choice.error());
    arm.readings.push_back(std::move(*choice));
  }
  return {};
}

/// Names: a list, or in a flag joined by "+".
Result<void> set_names(std::vector<std::string>& target, std::string_view key, const Json& value,
                       std::string_view want) {
  target.clear();
  if (value.is_string()) {
    for (const std::string_view name : split(value.as_string(), '+')) {
      target.emplace_back(trim(name));
    }
  } else if (value.is_array()) {
    for (const Json& name : value.items()) {
      if (!name.is_string()) return bad(key, want);
      target.push_back(name.as_string());
    }
  } else {
    return bad(key, want);
  }
  if (std::ranges::find(target, "") != target.end()) return bad(key, want);
  return {};
}

Result<void> set_kwargs(Arm& arm, const Json& value) {
  Json object = value;
  if (value.is_string()) {
    Result<Json> parsed = codec::parse_json(value.as_string());
    if (!parsed) return fail("arm: template-kwargs", parsed.error());
    object = std::move(*parsed);
  }
  if (!object.is_object()) return bad("template-kwargs", "an object");
  for (const auto& [name, item] : object.members()) {
    arm.seat.chat_template_kwargs[name] = codec::dump_json(item, {.ascii = false});
  }
  return {};
}

Result<void> set_text(Arm& arm, std::string_view key, const std::string& text) {
  if (key == "name") {
    arm.name = text;
  } else if (key == "seat") {
    Result<seat::SeatSpec> spec = seat::parse_seat(text);
    if (!spec) return fail(spec.error());
    arm.seat.kind = spec->kind;
    arm.seat.address = spec->address;
    if (is_native(arm)) arm.readings = {{std::string(kNativeReading), false}};
  } else if (key == "model") {
    arm.seat.model = text;
  } else if (key == "mode") {
    if (text != "readout" && text != "generate") return bad(key, "readout or generate");
    arm.mode = text == "readout" ? Mode::Readout : Mode::Generate;
    if (arm.mode == Mode::Generate) arm.readings = {{"written", false}};
  } else if (key == "policy") {
    const auto policy = decision::parse_letter_policy(text);
    if (!policy) return bad(key, "exact, sum-exact, fold or reference");
    arm.policy = *policy;
  } else if (key == "calibration") {
    arm.calibration = text;
  } else if (key == "key-env") {
    arm.seat.key_env = text;
  } else if (key == "key-file") {
    arm.seat.key_file = text;
  } else if (key == "ca-file") {
    arm.seat.ca_file = text;
  }
  return {};
}

}  // namespace

std::string_view to_string(Mode mode) { return mode == Mode::Readout ? "readout" : "generate"; }

Result<ReadingChoice> parse_reading_choice(std::string_view text) {
  ReadingChoice choice;
  const std::size_t plus = text.find('+');
  choice.name = std::string(text.substr(0, plus));
  if (plus != std::string_view::npos) {
    if (text.substr(plus) != "+prior") {
      return fail(Error::Code::BadInput,
                  "reading " + std::string(text) + ": only +prior may follow a reading's name");
    }
    choice.prior = true;
  }
  if (choice.name.empty()) return fail(Error::Code::BadInput, "a reading without a name");
  return choice;
}

bool is_native(const Arm& arm) { return seat::is_native_kind(arm.seat.kind); }

bool is_all(const Arm& arm) {
  return std::ranges::any_of(arm.readings, [](const auto& r) { return r.name == "all"; });
}

Result<void> set_arm_member(Arm& arm, std::string_view key, const Json& value) {
  if (std::ranges::find(kMembers, key) == kMembers.end()) {
    std::string_view best = key == "key" || key == "api-key" ? "key-env" : kMembers[0];
    if (best == kMembers[0])
      for (const std::string_view member : kMembers) {
        if (edit_distance(member, key) < edit_distance(best, key)) best = member;
      }
    return fail(Error::Code::BadInput, "arm: no setting " + std::string(key) + "; did you mean " +
                                           std::string(best) + "?");
  }
  if (key == "readings" || key == "reading") return set_readings(arm, value);
  if (key == "boards" || key == "board")
    return set_names(arm.boards, "boards", value, "UUIDs or PCI addresses");
  if (key == "require") return set_names(arm.require, key, value, "names of probes");
  if (key == "template-kwargs") return set_kwargs(arm, value);
  if (key == "temperature") return set_number(arm.constants.temperature, key, value, 1e-6, 1e6);
  if (key == "noul-slope") return set_number(arm.constants.noul_slope, key, value, 1e-6, 1e6);
  if (key == "noul-bias") return set_number(arm.constants.noul_bias, key, value, -1e6, 1e6);
  if (key == "min-mass") return set_number(arm.min_mass, key, value, 0, 1);
  if (key == "timeout") return set_number(arm.seat.timeout_s, key, value, 0.001, 86'400);
  if (key == "top-k") return set_integer(arm.top_k, key, value, 1, 1'000'000);
  if (key == "group") return set_integer(arm.group, key, value, 1, 4'096);
  if (key == "max-tokens") return set_integer(arm.max_tokens, key, value, 1, 65'536);
  if (key == "threads") return set_integer(arm.seat.threads, key, value, 0, seat::kMostThreads);
  if (key == "gpu-layers") return set_integer(arm.seat.gpu_layers, key, value, 0, 100'000);
  if (key == "context" || key == "limit") {
    int number = 0;
    Result<void> set = set_integer(number, key, value, 0, 100'000'000);
    if (set) (key == "limit" ? arm.limit : arm.seat.context) = number;
    return set;
  }
  if (!value.is_string()) return bad(key, "a text");
  return set_text(arm, key, value.as_string());
}

Result<Arm> parse_arm_flag(std::string_view text) {
  Arm arm;
  std::vector<std::string_view> seen;
  // The seat first: its kind says how an arm reads that names no readings.
  std::vector<std::string_view> parts = split(text, ',');
  std::ranges::stable_partition(parts, [](auto part) { return trim(part).starts_with("seat="); });
  for (const std::string_view part : parts) {
    const std::size_t equals = part.find('=');
    if (std::ranges::find(seen, part.substr(0, equals)) != seen.end()) {
      return fail(Error::Code::BadInput,
                  "--arm: " + std::string(part.substr(0, equals)) + " is given twice");
    }
    seen.push_back(part.substr(0, equals));
    if (equals == std::string_view::npos) {
      return fail(Error::Code::BadInput, "--arm " + std::string(text) +
                                             ": wants name=value pairs joined by commas, as in "
                                             "name=a,seat=local:model.gguf,readings=letters+cloze");
    }
    Result<void> set = set_arm_member(arm, trim(part.substr(0, equals)),
                                      Json(std::string(part.substr(equals + 1))));
    if (!set) return fail("--arm", set.error());
  }
  if (Result<void> good = check_arm(arm); !good) return fail("--arm", good.error());
  return arm;
}

bool suits(const seat::SeatSpec& seat, std::string_view key) {
  const bool local = seat.kind == "local";
  if (key == "key-env" || key == "key-file") return !local;
  if (key == "ca-file") return seat.address.starts_with("https:");
  if (key == "threads" || key == "gpu-layers") return local;
  if (key == "beside") return local;  // several items in one evaluation
  if (key == "beside-state") return local || seat::is_native_kind(seat.kind);
  if (key == "cold") return local || seat.kind == "llama-server";
  if (key == "context") return local || seat.kind == "ollama";
  return true;
}

namespace {

/// A decision endpoint is asked by the reading native, and nothing else is.
Result<void> check_native(const Arm& arm) {
  if (is_native(arm) && arm.mode == Mode::Generate) {
    return fail(Error::Code::BadInput, "the seat " + arm.seat.kind +
                                           " answers decisions and writes nothing: mode readout");
  }
  for (const ReadingChoice& choice : arm.readings) {
    const bool native = choice.name == kNativeReading;
    if (native && choice.prior) {
      return fail(Error::Code::BadInput, "the reading native has no prior");
    }
    if (native && !is_native(arm)) {
      return fail(Error::Code::BadInput,
                  "the reading native wants a seat that answers decisions itself, systemone:URL or "
                  "decisions:URL");
    }
    if (!native && is_native(arm) && choice.name != kChosenReading && !is_all(arm)) {
      return fail(Error::Code::BadInput, "the seat " + arm.seat.kind +
                                             " answers decisions itself: by the reading native, "
                                             "not by " +
                                             choice.name);
    }
  }
  return {};
}

}  // namespace

namespace {

/// Probes an arm requires are those its seat has.
Result<void> check_required(const Arm& arm) {
  const auto check = [&](const auto& known) -> Result<void> {
    for (const std::string& name : arm.require) {
      if (std::ranges::find(known, name) != std::end(known)) continue;
      std::string all;
      for (const std::string_view probe : known)
        all += (all.empty() ? "" : ", ") + std::string(probe);
      return fail(Error::Code::BadInput, "require: the seat " + arm.seat.kind + " has no probe " +
                                             printable(name, 40) + "; there are " + all);
    }
    return {};
  };
  return is_native(arm) ? check(seat::kNativeProbes) : check(seat::kProbes);
}

}  // namespace

Result<void> check_arm(const Arm& arm) {
  const auto wrong = [&](std::string_view what) {
    return fail(Error::Code::BadInput, "arm " + arm.name + ": " + std::string(what));
  };
  if (arm.name.empty()) return fail(Error::Code::BadInput, "an arm without a name");
  if (arm.name.find_first_of("/\\\n\t\"") != std::string::npos)
    return wrong("its name may hold no / \\ quote or control characters");
  if (arm.seat.kind.empty()) return wrong("has no seat; try seat=local:model.gguf");
  const std::pair<std::string_view, bool> set[] = {
      {"key-env", !arm.seat.key_env.empty()},   {"key-file", !arm.seat.key_file.empty()},
      {"ca-file", !arm.seat.ca_file.empty()},   {"threads", arm.seat.threads != 0},
      {"gpu-layers", arm.seat.gpu_layers != 0}, {"context", arm.seat.context != 0}};
  for (const auto& [key, is_set] : set) {
    if (is_set && !suits(arm.seat, key)) {
      return wrong(std::string(key) + " has no meaning for the seat " + arm.seat.kind + ":" +
                   arm.seat.address);
    }
  }
  if (arm.readings.empty()) return wrong("has no readings");
  if (Result<void> good = check_native(arm); !good) return wrong(good.error().message);
  if (Result<void> good = check_required(arm); !good) return wrong(good.error().message);
  const bool chosen =
      std::ranges::any_of(arm.readings, [](const auto& r) { return r.name == kChosenReading; });
  if (chosen && (arm.readings.size() != 1 || arm.readings.front().prior)) {
    return wrong("the reading chosen stands alone");
  }
  if (chosen && arm.mode == Mode::Generate)
    return wrong("the reading chosen wants mode readout; it writes where writing was chosen");
  const bool written =
      std::ranges::any_of(arm.readings, [](const auto& r) { return r.name == "written"; });
  if (arm.mode == Mode::Generate && (!written || arm.readings.size() != 1)) {
    return wrong("mode generate takes the reading written and no other");
  }
  if (arm.mode == Mode::Readout && written) return wrong("the reading written wants mode generate");
  for (std::size_t i = 0; i < arm.readings.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (arm.readings[i].name == arm.readings[j].name) return wrong("names a reading twice");
    }
  }
  return {};
}

}  // namespace deem::bench
