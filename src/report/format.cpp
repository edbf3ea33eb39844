#include "report/format.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/report.h"

namespace deem::report {

std::string share(std::optional<double> value) {
  if (!value) return "–";
  std::string text = fmt::format("{:.3f}", *value);
  return text.starts_with("0.") ? text.substr(1) : text;
}

std::string with_interval(const score::Rate& rate) {
  if (!rate.value) return "–";
  return share_with(rate.value, rate.low, rate.high);
}

std::string share_with(std::optional<double> value, std::optional<double> low,
                       std::optional<double> high) {
  const auto two = [](double x) {
    const std::string text = fmt::format("{:.2f}", x);
    return text.starts_with("0.") ? text.substr(1) : text;
  };
  if (!value || !low || !high) return share(value);
  return fmt::format("{} [{}, {}]", share(value), two(*low), two(*high));
}

std::string pad(std::string text, std::size_t width, bool right) {
  const std::size_t length = is_utf8(text) ? count_code_points(text) : text.size();
  if (length >= width) return text;
  const std::string space(width - length, ' ');
  return right ? space + text : text + space;
}

std::string cell(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(line, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  std::string out;
  for (const char c : printable(line, std::string::npos)) {
    if (c == '|' || c == '<') out += '\\';
    out += c;
  }
  return out;
}

std::string number(std::optional<double> value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "–";
}

std::string duration(std::optional<double> seconds) {
  if (!seconds) return "–";
  if (*seconds < 0.001) return fmt::format("{:.0f} µs", *seconds * 1e6);
  if (*seconds < 0.1) return fmt::format("{:.1f} ms", *seconds * 1e3);
  if (*seconds < 1) return fmt::format("{:.0f} ms", *seconds * 1e3);
  return fmt::format("{:.2f} s", *seconds);
}

const score::Figures* baselines(const score::Scores& scores, const std::string& task) {
  const score::Figures* best = nullptr;
  for (const auto& column : scores.columns) {
    for (const auto& figures : column.tasks) {
      if (figures.task != task) continue;
      if (best == nullptr || figures.labelled > best->labelled) best = &figures;
    }
  }
  return best;
}

namespace {

/// The first variant of a reading stands for it: counts do not differ between variants.
bool is_first_variant(const score::Scores& scores, const score::Column& column) {
  for (const auto& other : scores.columns) {
    if (other.arm == column.arm && other.reading == column.reading) return &other == &column;
  }
  return false;
}

}  // namespace

const Doubt* doubt_about(const std::vector<Doubt>& doubts, const score::Column& column) {
  const auto is_about = [&](const Doubt& doubt) {
    if (doubt.arm != column.arm) return false;
    const bool text = column.reading != "letters" && column.reading != "written" &&
                      column.reading != "native" && column.reading != "chosen";
    return text ? doubt.reading == "likelihood"
                : column.reading == "chosen" || doubt.reading == column.reading;
  };
  const auto found = std::ranges::find_if(doubts, is_about);
  return found == doubts.end() ? nullptr : &*found;
}

std::string doubt_text(const Doubt& doubt) {
  return fmt::format("{}: {} not to be believed: a probe of its seat speaks against it: {}",
                     doubt.arm, doubt.reading, doubt.why);
}

std::optional<double> ece_of(const score::Figures& figures) {
  if (!figures.detail.calibration) return std::nullopt;
  return figures.detail.calibration->equal_width;
}

std::vector<std::string> remarks(const score::Scores& scores) {
  std::vector<std::string> out;
  for (const auto& column : scores.columns) {
    for (const auto& f : column.tasks) {
      if (f.stuck_position) {
        out.push_back(fmt::format(
            "{} on {}: option {} in {:.0f} % of {} answers; stuck on a position", column.name(),
            f.task, *f.stuck_position + 1, f.stuck_share * 100, f.answered));
      }
    }
    if (!is_first_variant(scores, column)) continue;
    const std::string who = column.arm + " " + column.reading;
    for (const auto& f : column.tasks) {
      const std::string where = who + " on " + f.task;
      if (f.voids > 0) {
        std::string causes;
        for (const auto& [cause, n] : f.void_causes)
          causes += fmt::format("{}{} {}", causes.empty() ? "" : ", ", cause, n);
        out.push_back(fmt::format("{}: {} of {} void ({})", where, f.voids, f.asked, causes));
      }
      if (f.unparsed > 0)
        out.push_back(fmt::format("{}: {} of {} replies unparsed", where, f.unparsed, f.asked));
      if (f.errors > 0)
        out.push_back(fmt::format("{}: {} of {} ended in an error", where, f.errors, f.asked));
      if (f.unsupported > 0) {
        out.push_back(
            fmt::format("{}: {} of {} not supported by this seat", where, f.unsupported, f.asked));
      }
      if (f.refused > 0) {
        out.push_back(
            fmt::format("{}: {} of {} refused before asking (in the rows, out of every rate)",
                        where, f.refused, f.rows));
      }
    }
    if (column.all.cached_whole * 2 > column.all.asked) {
      out.push_back(
          fmt::format("{}: {} of {} prompts were in the seat's cache before they were asked (from "
                      "an earlier run "
                      "or reading); times and joules leave out reading them",
                      who, column.all.cached_whole, column.all.asked));
    }
    if (column.all.group > 1) {
      out.push_back(
          fmt::format("{}: up to {} items evaluated together; its times are shares of a group's",
                      who, column.all.group));
    }
  }
  return out;
}

}  // namespace deem::report
