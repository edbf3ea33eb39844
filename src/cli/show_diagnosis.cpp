#include "cli/show_diagnosis.h"

#include <fmt/format.h>

#include <vector>

#include "base/text.h"

namespace deem::cli {
namespace {

using seat::ProbeResult;
using Verdict = ProbeResult::Verdict;

constexpr std::size_t kWidth = 80, kName = 14, kVerdict = 15;
constexpr std::size_t kLongest = 600;  // code points of one probe's words

/// Words in lines of at most `width` code points; a longer word is cut.
std::vector<std::string> wrap(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (const std::string_view part : split(text, ' ')) {
    if (part.empty()) continue;
    const std::string word = printable(part, width);
    std::string& line = lines.back();
    if (!line.empty() && count_code_points(line) + 1 + count_code_points(word) > width) {
      lines.push_back(word);
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
  }
  return lines;
}

void add_line(std::string& out, std::string_view name, std::string_view verdict,
              const std::string& words) {
  std::string head = fmt::format("{:<{}}{:<{}}", name, kName, verdict, kVerdict);
  for (const std::string& line : wrap(printable(words, kLongest), kWidth - kName - kVerdict)) {
    out += head + line + "\n";
    head.assign(kName + kVerdict, ' ');
  }
}

std::string identity_line(const seat::Identity& who) {
  std::string out = who.kind + ":" + who.address;
  const auto add = [&](std::string_view what, const std::optional<std::string>& value) {
    if (value) out += fmt::format(", {}{}", what, *value);
  };
  if (!who.model.empty()) add("", who.model);
  add("build ", who.build);
  add("", who.detail);
  if (who.context) add("context ", std::to_string(*who.context));
  return out;
}

}  // namespace

std::string diagnosis_text(const seat::Diagnosis& diagnosis) {
  std::string out;
  for (const std::string& line :
       wrap(printable(identity_line(diagnosis.identity), kLongest), kWidth)) {
    out += line + "\n";
  }
  out += "\n";
  for (const ProbeResult& probe : diagnosis.probes) {
    std::string words = probe.says;
    if (!probe.direction.empty()) words += " [" + probe.direction + "]";
    add_line(out, probe.name, to_string(probe.verdict), words);
  }
  out += "\n";
  for (const seat::ReadingAdvice& reading : diagnosis.readings) {
    const char* verdict = diagnosis.interrupted             ? "not measured"
                          : !reading.supported              ? "not supported"
                          : !reading.believed               ? "do not believe"
                          : reading.guesses.value_or(false) ? "like guessing"
                                                            : "believe";
    add_line(out, reading.name, std::string(verdict) + " ", reading.why);
  }
  const std::size_t findings = diagnosis.count(Verdict::Finding);
  const std::size_t all = seat::is_native_kind(diagnosis.identity.kind)
                              ? std::size(seat::kNativeProbes)
                              : std::size(seat::kProbes);
  const std::size_t asked = diagnosis.probes.size();  // more than all with --against
  out += fmt::format("\n{}{} ok, {} {}, {} not measured; {} requests in {:.1f} s\n",
                     asked < all ? fmt::format("quick: {} of {} probes; ", asked, all) : "",
                     diagnosis.count(Verdict::Ok), findings, findings == 1 ? "finding" : "findings",
                     diagnosis.count(Verdict::NotMeasured), diagnosis.requests, diagnosis.took_s);
  if (asked < all)
    out +=
        "Not asked: how it reads in a crowd, over-long prompts, whether its answers are like "
        "guessing; "
        "without --quick they are\n";
  return out;
}

}  // namespace deem::cli
