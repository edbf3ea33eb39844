// Who answers, and by which weights.
#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "seat/doctor/session.h"

namespace deem::seat {
namespace {

/// A name as shown: of a long one, as paths are, its end.
std::string shown(std::string_view name) {
  constexpr std::size_t kMost = 40;
  std::string text = printable(name, 4'000);
  while (count_code_points(text) > kMost) {
    const std::size_t cut = text.size() - kMost;
    text.erase(0, std::max<std::size_t>(1, cut));
    while (!text.empty() && (static_cast<unsigned char>(text[0]) & 0xC0) == 0x80) text.erase(0, 1);
    if (count_code_points(text) <= kMost) return "…" + text;
  }
  return text;
}

std::string quoted(std::string_view name) { return "\"" + shown(name) + "\""; }

bool is_between(std::string_view digits, int low, int high) {
  int value = 0;
  const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return ec == std::errc() && end == digits.data() + digits.size() && value >= low && value <= high;
}

/// A release's date, as names end in one: -0613, -2407, -20240806, -2024-08-06.
bool is_date(std::string_view end) {
  std::string digits;
  if (end.size() != 5 && end.size() != 9 && end.size() != 11) return false;
  for (std::size_t i = 0; i < end.size(); ++i) {
    const bool dash = i == 0 || (end.size() == 11 && (i == 5 || i == 8));
    if (dash ? end[i] != '-' : end[i] < '0' || end[i] > '9') return false;
    if (!dash) digits += end[i];
  }
  const std::string_view all = digits;
  const auto month = [](std::string_view two) { return is_between(two, 1, 12); };
  const auto day = [](std::string_view two) { return is_between(two, 1, 31); };
  if (all.size() == 4) {
    return (month(all.substr(0, 2)) && day(all.substr(2))) ||
           (is_between(all.substr(0, 2), 20, 39) && month(all.substr(2)));
  }
  return is_between(all.substr(0, 4), 2015, 2099) && month(all.substr(4, 2)) && day(all.substr(6));
}

/// "llama" and "llama:latest" are one name; "gpt-4o-2024-08-06" is a dated form of "gpt-4o", and of
/// "gpt-4o-latest".
bool is_form_of(std::string_view answered, std::string_view asked) {
  if (answered == asked) return true;
  const auto extends = [](std::string_view longer, std::string_view shorter) {
    constexpr std::string_view kLatest = "-latest";
    if (shorter.ends_with(kLatest)) shorter.remove_suffix(kLatest.size());
    if (!longer.starts_with(shorter)) return false;
    const std::string_view rest = longer.substr(shorter.size());
    return rest == ":latest" || is_date(rest);
  };
  // A gateway names the provider of what was asked for without.
  const auto bare = [](std::string_view name) { return name.substr(name.rfind('/') + 1); };
  const bool provider =
      answered.find('/') != asked.find('/') &&
      (answered.find('/') == std::string_view::npos || asked.find('/') == std::string_view::npos);
  if (provider) {
    answered = bare(answered);
    asked = bare(asked);
  }
  return answered == asked || extends(answered, asked) || extends(asked, answered);
}

bool is_known(const Session& session, std::string_view answered) {
  const auto matches = [&](const std::string& name) { return is_form_of(answered, name); };
  return matches(session.out.identity.model) ||
         std::ranges::any_of(session.lineage.names, matches) ||
         std::ranges::any_of(session.lineage.aliases, matches);
}

/// Whether a name nobody serves is answered.
void check_any_name(Session& session, Probe& probe) {
  if (!session.no_answers.empty()) return;
  const std::string nobody = "deem-no-such-model";
  const auto answered = session.seat.answers_to(nobody);
  if (!answered) return;  // it has no names, or did not answer: another probe's finding
  probe.note("answers_any_name", *answered);
  if (*answered) {
    probe.find("answers to a name it does not serve (" + nobody + "): its name proves nothing",
               "false comfort", {});
  } else {
    probe.well("refuses a name it does not serve");
  }
}

std::string chain(const Lineage& lineage) {
  std::string out;
  for (const std::string& name : lineage.names) {
    out += (out.empty() ? "" : " → ") + shown(name);
  }
  return out;
}

codec::Json list(const std::vector<std::string>& names) {
  codec::Json out = codec::Json::array();
  for (const std::string& name : names) out.push(name);
  return out;
}

/// The members that differ, with both values.
std::string changes(const Identity& before, const Identity& after) {
  std::string out;
  const auto compare = [&](const char* what, const std::optional<std::string>& a,
                           const std::optional<std::string>& b) {
    if (a == b) return;
    out += (out.empty() ? "" : ", ") + std::string(what) + " " + quoted(a.value_or("not told")) +
           " then " + quoted(b.value_or("not told"));
  };
  const auto number = [](const std::optional<std::int64_t>& value) {
    return value ? std::optional(std::to_string(*value)) : std::nullopt;
  };
  compare("model", before.model, after.model);
  compare("root", before.root, after.root);
  compare("digest", before.digest, after.digest);
  compare("build", before.build, after.build);
  compare("context", number(before.context), number(after.context));
  compare("template", before.template_sha256, after.template_sha256);
  return out;
}

}  // namespace

void check_served(Session& session, Probe& probe) {
  const Usage* usage = session.first     ? &session.first->usage
                       : session.written ? &session.written->usage
                                         : nullptr;
  if (usage == nullptr || !usage->served_model) return;
  probe.note("served_model", *usage->served_model);
  if (is_known(session, *usage->served_model)) {
    probe.well("answers as " + quoted(*usage->served_model));
    return;
  }
  probe.find("asked for " + quoted(session.out.identity.model) + ", " +
                 quoted(*usage->served_model) + " answered",
             "false comfort", {"letters", "likelihood", "written"});
}

void check_digest(const Lineage& lineage, Probe& probe) {
  if (!lineage.digest || !lineage.loaded || *lineage.digest == *lineage.loaded) return;
  probe.find("the name means digest " + printable(*lineage.digest, 20) + ", loaded is " +
                 printable(*lineage.loaded, 20),
             "false comfort", {"letters", "likelihood", "written"});
}

std::string identity_changes(Seat& seat, const Identity& before) {
  const auto after = seat.identify();
  return after ? changes(before, *after) : "";
}

ProbeResult probe_identity(Session& session) {
  Probe probe("identity");
  const Identity& identity = session.out.identity;
  if (auto lineage = session.seat.lineage()) session.lineage = std::move(*lineage);
  const Lineage& lineage = session.lineage;
  probe.note("names", list(lineage.names));
  probe.note("aliases", list(lineage.aliases));
  if (lineage.names.size() > 1) {
    probe.well(chain(lineage));
  } else if (identity.root) {
    probe.well("serves " + shown(*identity.root));
  }
  if (identity.digest) {
    probe.well(printable(*identity.digest, 20));
  } else if (!identity.root) {
    probe.skip("no file, repository or digest behind the name is told");
  }
  if (!lineage.aliases.empty()) probe.well("also served as " + shown(lineage.aliases.front()));
  check_digest(lineage, probe);
  check_served(session, probe);
  check_any_name(session, probe);
  if (!lineage.looks_like.empty()) {
    probe.advise("it seems to be a " + lineage.looks_like + ": that kind of seat reads more");
    probe.note("looks_like", lineage.looks_like);
  }
  return probe.close();
}

namespace {

/// Replies that name another model than the first, and none the seat is known by.
std::string strangers(const Session& session) {
  int all = 0, strange = 0;
  std::string name;
  for (const auto& [served, times] : session.served) {
    all += times;
    if (is_known(session, served) || is_form_of(served, *session.first_served)) continue;
    if (name.empty()) name = served;
    strange += times;
  }
  if (strange == 0) return "";
  return std::to_string(strange) + " of " + std::to_string(all) + " replies were of " +
         quoted(name);
}

}  // namespace

void compare_identity(Session& session, ProbeResult& identity) {
  const auto after = session.seat.identify();
  const std::string changed = after ? changes(session.out.identity, *after) : "";
  const std::string others = strangers(session);
  if (!after && identity.verdict == ProbeResult::Verdict::Ok)
    identity.says +=
        "; not measured: whether it is the same still: " + printable(after.error().message, 120);
  if (changed.empty() && others.empty()) return;
  Probe probe("identity");
  const auto find = [&](std::string says) {
    probe.find(std::move(says), "false comfort", {"letters", "likelihood", "written"});
  };
  if (!changed.empty()) find("it changed meanwhile: " + changed);
  if (!others.empty()) find(others);
  ProbeResult found = probe.close();
  if (identity.verdict == ProbeResult::Verdict::Finding) {
    found.says = identity.says + "; " + found.says;
  }
  found.evidence = std::move(identity.evidence);
  identity = std::move(found);
}

}  // namespace deem::seat
