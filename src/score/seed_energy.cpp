#include "score/seed_energy.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "record/stamp.h"
#include "score/lines.h"
#include "score/seed_summary.h"

namespace deem::score {
namespace {

using codec::Json;
constexpr std::string_view kWatts = ".watts.csv";
constexpr std::string_view kIdleWhat =
    "the draw of these cards immediately before the arm, with the model resident and no work in "
    "flight";

std::unexpected<Error> raises(std::string what) {
  return fail(Error::Code::Corrupt, "run.py ends here with " + std::move(what));
}

/// str.strip() of Python; of its white space past ASCII only what UTF-8 writes in two bytes.
std::string_view strip(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r\x1c\x1d\x1e\x1f";
  for (bool changed = true; changed;) {
    changed = false;
    const std::size_t first = std::min(text.find_first_not_of(kSpaces), text.size());
    changed = first > 0;
    text.remove_prefix(first);
    while (!text.empty() && kSpaces.contains(text.back())) text.remove_suffix(1);
    for (const std::string_view wide : {"\xc2\x85", "\xc2\xa0"}) {
      if (text.starts_with(wide)) text.remove_prefix(2), changed = true;
      if (text.ends_with(wide)) text.remove_suffix(2), changed = true;
    }
  }
  return text;
}

/// float(text) of Python for ASCII: underscores between digits, inf, infinity, nan; no hex.
std::optional<double> python_float(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const auto signed_value = [&](double value) { return negative ? -value : value; };
  const std::string lower = to_lower(text);
  if (lower == "inf" || lower == "infinity") {
    return signed_value(std::numeric_limits<double>::infinity());
  }
  if (lower == "nan") return signed_value(std::numeric_limits<double>::quiet_NaN());
  std::string digits;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      digits += text[i];
    } else if (i == 0 || i + 1 == text.size() || !is_digit(text[i - 1]) || !is_digit(text[i + 1])) {
      return std::nullopt;
    }
  }
  if (digits.empty() || (!is_digit(digits[0]) && digits[0] != '.')) return std::nullopt;
  double value = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end.ptr != digits.data() + digits.size()) return std::nullopt;
  if (end.ec == std::errc::result_out_of_range) value = std::strtod(digits.c_str(), nullptr);
  return signed_value(value);
}

struct BoardLines {
  std::vector<double> t, w;
};

/// Each board's readings in file order, boards by id.
std::map<std::string, BoardLines> read_lines(std::string_view bytes) {
  std::map<std::string, BoardLines> out;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = find_line_end(bytes, at);
    const std::vector<std::string_view> fields = split(bytes.substr(at, end - at), ',');
    at = next_line(bytes, end);
    if (fields.size() < 3) continue;
    const std::optional<record::Stamp> stamp = record::parse_stamp(strip(fields[1]));
    const std::optional<double> watts = python_float(strip(fields[2]));
    if (!stamp || !watts) continue;
    BoardLines& board = out[std::string(strip(fields[0]))];
    board.t.push_back(stamp->unix_s());
    board.w.push_back(*watts);
  }
  return out;
}

/// max() and min() of Python: the first of equals, and a NaN wins only when it comes first.
template <class Better>
double extreme(const std::vector<double>& values, Better better) {
  double out = values.front();
  for (const double value : values) {
    if (better(value, out)) out = value;
  }
  return out;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// What is wrong with figures that were made as run.py makes them.
std::string label_of(const std::string& name, const Json& energy) {
  std::string out = name + ": as run.py counts it: energy covers first to last sample";
  if (const auto seconds = energy.get_double("seconds")) out += " (" + number(*seconds) + " s)";
  out += ", not the run";
  const std::vector<Json::Member>& cards = energy.find("per_card")->members();
  const auto peak = energy.get_double("peak_watts");
  if (cards.size() > 1 && peak) {
    out += "; peak_watts (" + number(*peak) + ") is of one board, mean_watts (" +
           number(energy.get_double("mean_watts").value_or(0)) + ") of the sum";
  }
  for (const auto& [card, figures] : cards) {
    if (figures.find("joules")->is_null()) {
      out += "; " + printable(card, 60) + " has under two samples and adds nothing";
    }
  }
  return out + "; stamps are local time: wrong by what the clocks were changed";
}

/// What of a csv no meter says, and run.py counts all the same; "" for nothing.
std::string doubts_of(std::string_view csv, std::string_view bytes) {
  std::size_t odd = 0, back = 0;
  for (const auto& [board, lines] : read_lines(bytes)) {
    for (std::size_t i = 0; i < lines.w.size(); ++i) {
      odd += lines.w[i] >= 0 && std::isfinite(lines.w[i]) ? 0U : 1U;
      back += i > 0 && lines.t[i] < lines.t[i - 1] ? 1U : 0U;
    }
  }
  std::string out;
  const auto add = [&](const std::string& what) { out += "; " + std::string(csv) + " " + what; };
  if (odd > 0) add("has " + std::to_string(odd) + " negative, infinite or missing watts");
  if (back > 0) add("goes back in time " + std::to_string(back) + " times");
  if (!bytes.empty() && bytes.back() != '\n') add("ends inside a line, which may be cut");
  return out;
}

bool same_boards(const Json& energy, const Json& idle) {
  return codec::dump_json(*energy.find("cards")) == codec::dump_json(*idle.find("cards"));
}

class SeedEnergy {
 public:
  explicit SeedEnergy(std::string folder) : folder_(std::move(folder)) {}

  void add(const std::string& name) {
    const std::string base = name.substr(0, name.size() - kWatts.size());
    std::string doubts;
    std::optional<Json> energy = integrate(base + std::string(kWatts), "watts.csv", doubts);
    if (!energy) return;
    Json idle;
    if (exists(base + ".idle.csv")) {
      std::optional<Json> read = integrate(base + ".idle.csv", "idle.csv", doubts);
      if (!read) return;
      idle = std::move(*read);
      idle.set("what", kIdleWhat);
    }
    std::string label = label_of(base, *energy) + doubts;
    if (!idle.is_null() && !same_boards(*energy, idle)) label += "; idle.csv is of other boards";
    if (idle.is_null()) label += "; no idle.csv: no net joules";
    if (!add_decisions(base, idle, *energy, label)) return;
    const Json line = Json::object({{"energy", std::move(*energy)}, {"idle", std::move(idle)}});
    report_.lines.push_back(base + " " + codec::dump_json(line, {.sort_keys = true}));
    report_.labels.push_back(std::move(label));
  }

  SeedEnergyReport take_report() { return std::move(report_); }

 private:
  bool exists(const std::string& name) const { return file_exists(join_path(folder_, name)); }

  void problem(const std::string& name, const std::string& what) {
    report_.problems.push_back(join_path(folder_, name) + ": " + what);
  }

  std::optional<Json> integrate(const std::string& name, std::string_view csv,
                                std::string& doubts) {
    const Result<MappedFile> file = MappedFile::open(join_path(folder_, name));
    if (!file) {
      report_.problems.push_back(file.error().message);
      return std::nullopt;
    }
    Result<Json> out = integrate_seed_watts(file->bytes());
    if (!out) {
      problem(name, out.error().message);
      return std::nullopt;
    }
    doubts += doubts_of(csv, file->bytes());
    return std::move(*out);
  }

  /// Whether there is a report at all.
  bool add_decisions(const std::string& base, const Json& idle, Json& energy, std::string& label) {
    const std::string name = base + ".jsonl";
    if (!exists(name)) {
      label += "; no rows: no joules per decision";
      return true;
    }
    const Result<MappedFile> rows = MappedFile::open(join_path(folder_, name));
    if (!rows) {
      report_.problems.push_back(rows.error().message);
      return false;
    }
    const Result<SeedSummary> summary = summarise_seed_rows(rows->bytes());
    if (!summary) {
      problem(name, summary.error().message);
      return false;
    }
    const std::optional<double> joules = energy.get_double("joules");
    if (!joules || summary->n_reached == 0) return true;
    const std::optional<double> seconds = energy.get_double("seconds");
    if (!seconds) {
      problem(base + std::string(kWatts),
              raises("a TypeError: under two samples a board, so no seconds").error().message);
      return false;
    }
    const auto reached = static_cast<double>(summary->n_reached);
    energy.set("joules_per_decision", *joules / reached);
    if (!idle.is_null()) {
      const double net = *joules - idle.get_double("mean_watts").value_or(0) * *seconds;
      energy.set("net_joules_per_decision", net / reached);
    }
    energy.set("decisions", summary->n_reached);
    return true;
  }

  std::string folder_;
  SeedEnergyReport report_;
};

}  // namespace

Result<Json> integrate_seed_watts(std::string_view bytes) {
  if (!is_utf8(bytes)) return raises("a UnicodeDecodeError");
  std::vector<Json::Member> cards;  // by name already
  std::vector<Json> names;
  double total = 0, span = 0;
  std::int64_t samples = 0;
  Json peak;
  for (const auto& [board, lines] : read_lines(bytes)) {
    const auto& [t, w] = lines;
    const auto n = static_cast<std::int64_t>(t.size());
    samples += n;
    Json card = Json::object({{"samples", n}});
    Json highest = 0;  // what `peak or 0` gives, an int
    if (n < 2) {
      card.set("joules", nullptr);
    } else {
      double joules = 0;
      for (std::size_t i = 0; i + 1 < t.size(); ++i) {
        joules += (w[i] + w[i + 1]) / 2 * (t[i + 1] - t[i]);
      }
      const double seconds = t.back() - t.front();
      if (seconds == 0)
        return raises("a ZeroDivisionError: first and last stamp of a board are one");
      card.set("seconds", seconds);
      card.set("joules", joules);
      card.set("mean_watts", joules / seconds);
      card.set("peak_watts", extreme(w, std::greater<>()));
      card.set("min_watts", extreme(w, std::less<>()));
      if (const double most = extreme(w, std::greater<>()); most != 0) highest = most;
      total += joules;
      span = std::max(span, seconds);
    }
    if (peak.is_null() || highest.as_double() > peak.as_double()) peak = std::move(highest);
    names.emplace_back(board);
    cards.emplace_back(board, std::move(card));
  }
  Json out = Json::object();
  const bool any = !cards.empty();
  out.set("per_card", Json::object(std::move(cards)));
  out.set("cards", Json::array(std::move(names)));
  out.set("joules", any ? Json(total) : Json());
  out.set("seconds", span != 0 ? Json(span) : Json());
  out.set("samples", samples);
  if (span != 0) {
    out.set("mean_watts", total / span);
    out.set("peak_watts", std::move(peak));
  }
  return out;
}

Result<SeedEnergyReport> seed_energy_folder(const std::string& folder) {
  Result<std::vector<std::string>> names = list_folder(folder);
  if (!names) return fail(names.error());
  SeedEnergy energy(folder);
  for (const std::string& name : *names) {
    if (name.ends_with(kWatts)) energy.add(name);
  }
  return energy.take_report();
}

}  // namespace deem::score
