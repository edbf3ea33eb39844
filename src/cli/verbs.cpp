#include "cli/verbs.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/text.h"

namespace deem::cli {
namespace {

constexpr std::array kVerbs = {
    Verb{"demo", "the bundled kit on the bundled model, report at the end", run_demo},
    Verb{"run", "ask a kit of arms; rows and a scored table", run_run},
    Verb{"resume", "ask only what a run still lacks", run_resume},
    Verb{"ask", "one decision, one seat", run_ask},
    Verb{"doctor", "what a seat's readings can be trusted for", run_doctor},
    Verb{"score", "figures from rows on disk, no seat needed", run_score},
    Verb{"compare", "columns of one run or of several, item by item, with gates", run_compare},
    Verb{"choose", "which reading of a run to trust, task by task; writes a fit file", run_choose},
    Verb{"calibrate", "fit calibration constants on a run's rows; writes a fit file",
         run_calibrate},
    Verb{"report", "a page to look at, from rows on disk", run_report},
    Verb{"kit check", "is a kit sound: every problem with file and line", run_kit_check},
    Verb{"kit show", "what is in a kit; one item's prompt", run_kit_show},
    Verb{"kit import", "turn another format into a kit of ours", run_kit_import},
    Verb{"kit freeze", "write a kit's manifest of digests", run_kit_freeze},
    Verb{"board list", "the boards of this box, their processes, and findings", run_board_list},
    Verb{"board log", "log what the boards draw, for days", run_board_log},
    Verb{"board pin", "is a seat's model on the named boards and nowhere else", run_board_pin},
    Verb{"receipt check", "what differs between two runs' boxes, kits and builds",
         run_receipt_check},
    Verb{"completions", "shell completions for bash, zsh or fish", run_completions},
};

void print_help() {
  std::string out =
      "deem: an instrument for typed decisions made by language models on hardware you own\n\n"
      "  deem demo\n"
      "  deem run --kit kits/demo --seat local:model.gguf --reading letters --reading cloze+prior\n"
      "  deem run --kit kits/demo --seat vllm:http://127.0.0.1:8000 --mode readout --mode "
      "generate\n"
      "  deem score runs/2026-12-01-demo\n\nVerbs:\n";
  for (const Verb& verb : kVerbs) {
    std::string name(verb.name);
    name.resize(14, ' ');
    out += "  " + name + std::string(verb.summary) + "\n";
  }
  out +=
      "\ndeem VERB --help says more. deem --version prints the version.\n"
      "Exit codes: 0 done, 1 a check found something, 2 usage, 3 not measured, 4 something outside "
      "failed,\n70 our bug, 130 interrupted (what was measured is kept).\n";
  std::fputs(out.c_str(), stdout);
}

bool is_help(std::string_view word) { return word == "--help" || word == "-h" || word == "help"; }

/// Whether verbs of two words begin with it ("kit").
bool is_noun(std::string_view word) {
  return std::ranges::any_of(
      kVerbs, [&](const Verb& verb) { return verb.name.starts_with(std::string(word) + " "); });
}

void print_verbs_of(std::string_view noun) {
  std::string out;
  for (const Verb& verb : kVerbs) {
    if (!verb.name.starts_with(std::string(noun) + " ")) continue;
    std::string name(verb.name);
    name.resize(14, ' ');
    out += "  deem " + name + std::string(verb.summary) + "\n";
  }
  std::fputs(out.c_str(), stdout);
}

int unknown_verb(const Args& args) {
  const std::string typed =
      args[0] + (args.size() > 1 && !args[1].starts_with('-') ? " " + args[1] : "");
  std::string_view best = kVerbs[0].name;
  std::size_t least = 1000;
  for (const Verb& verb : kVerbs) {
    for (const std::string& text : {args[0], typed}) {
      const std::size_t d = edit_distance(text, verb.name);
      if (d < least) {
        least = d;
        best = verb.name;
      }
    }
  }
  constexpr std::size_t kFar = 3;  // a guess this far off is none
  if (least >= kFar) {
    std::fprintf(stderr, "deem: no verb %s (deem --help lists them)\n",
                 printable(args[0], 40).c_str());
    return kUsage;
  }
  std::fprintf(stderr, "deem: no verb %s; did you mean deem %s? (deem --help lists them)\n",
               printable(is_noun(args[0]) ? typed : args[0], 40).c_str(),
               std::string(best).c_str());
  return kUsage;
}

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

int report_error(const Error& error) {
  constexpr std::size_t kLongest = 4'000;  // what a server said may be long, and hostile
  std::fprintf(stderr, "deem: %s\n", printable(error.message, kLongest).c_str());
  switch (error.code) {
    case Error::Code::BadInput:
    case Error::Code::NotFound:
      return kUsage;
    case Error::Code::Corrupt:
    case Error::Code::Unsupported:
      return kNotMeasured;
    case Error::Code::Unavailable:
    case Error::Code::Timeout:
      return kOutsideFailed;
  }
  return kOurBug;
}

int run_command_line(const Args& args) {
  if (args.empty() || (is_help(args[0]) && args.size() == 1)) {
    print_help();
    return args.empty() ? kUsage : kDone;
  }
  if (args[0] == "help") {
    Args asked(args.begin() + 1, args.end());
    asked.emplace_back("--help");
    return run_command_line(asked);
  }
  if (args[0] == "--version") {
    std::puts("deem " DEEM_VERSION);
    return kDone;
  }
  if (is_noun(args[0]) && (args.size() == 1 || is_help(args[1]))) {
    print_verbs_of(args[0]);
    return args.size() == 1 ? kUsage : kDone;
  }
  for (const Verb& verb : kVerbs) {
    const std::vector<std::string_view> words = split(verb.name, ' ');
    if (words.size() > args.size() || !std::equal(words.begin(), words.end(), args.begin()))
      continue;
    return verb.run(Args(args.begin() + static_cast<std::ptrdiff_t>(words.size()), args.end()));
  }
  return unknown_verb(args);
}

}  // namespace deem::cli
